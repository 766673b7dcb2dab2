"""``poise.conditional_test`` and ``poise.measure_conditional``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.algorithms.distance import Distance
from poise.protocol.randomness import RandomStateLike
from poise.questions.conditional.conditional_measurement import ConditionalMeasurement
from poise.questions.conditional.conditional_question import ConditionalQuestion, epsilon_in_units
from poise.questions.settings import from_settings
from poise.results.relative_epsilon import Relative
from poise.storage.journal import Journal

if TYPE_CHECKING:
    from poise.results.conditional_result import ConditionalResult
    from poise.results.conditional_trials import ConditionalTrials

__all__ = ["checked_for", "conditional_test", "measure_conditional"]


def conditional_test(
    algorithm: Any,
    X: Any,
    y: Any,
    X_fresh: Any,
    y_fresh: Any = None,
    *,
    notion: str = "deployed",
    epsilon: float | str | Relative,
    delta: float,
    alpha: float = 0.05,
    gamma: float | None = None,
    points: int = 1,
    distance: str | Distance = "auto",
    shuffle: bool = True,
    stop_early: bool = True,
    on_error: str = "raise",
    on_timeout: str = "raise",
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    address: str | None = None,
    timeout: float | None = None,
    fast: bool = True,
    journal: str | Path | Journal | None = None,
    check: bool = True,
    progress: bool | None = None,
    response: str = "predict",
    fit_params: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> ConditionalResult:
    """Test whether the model that you deploy is stable: this training set, and no other.

    All rows of X are the training set D. Fresh rows are the trials, so their number is not divided
    by n. A trial has a share S of larger changes, and the test is about E[S | D] (the averaged
    test, Theorem A) or, with a tolerated share γ, about P(S > γ | D) (the Binomial test,
    Theorem 1). Given D and the seed of the fits, "stable" and "unstable" are each said falsely
    with probability at most α, for every algorithm and distribution.

    The verdict says nothing about another training set: an algorithm can be certified on almost
    every training set and be unstable on the others (Proposition I). For a statement about new
    training sets of a smaller size see :func:`stability_test`.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        The black box, as in :func:`stability_test`.
    X, y : array, data frame, sparse matrix or list
        The training set D, at least 2 rows.
    X_fresh : same kind as X
        Rows that were not used for training: independent draws from the distribution of the rows
        that the model will be used for.
    y_fresh : same kind as y, optional
        Their responses; needed for "add-one" and "jackknife", and for losses.
    notion : {"deployed", "add-one", "jackknife"}
        "deployed": at a fresh point, the share of training rows whose removal moves the prediction
        by more than ε; n + 1 fits in all. "add-one": whether adding a fresh labelled row moves the
        predictions at fresh points; one fit per trial. "jackknife": the share of training rows
        whose leave-one-out prediction moves when a fresh labelled row is added; n fits per trial,
        for algorithms that ignore the order of the rows.
    epsilon : float, or :func:`relative`
        Allowed change of a prediction, >= 0; or a share of the spread of y.
    delta : float
        Allowed mean share or, with ``gamma``, allowed probability of a share beyond γ; in [0, 1).
    alpha : float
        Error level, in (0, 1).
    gamma : float, optional
        Tolerated share of larger changes, in [0, 1).
    points : int
        For "add-one": number of fresh points of each trial, at least 1.
    distance : str or callable
        How far apart two predictions are, or a loss, as in :func:`stability_test`.
    shuffle : bool
        Whether fresh rows are used in random order.
    stop_early : bool
        For "add-one" and "jackknife": stop as soon as no later trial can change the verdict.
    on_error, on_timeout : {"raise", "unstable"}
        What to do about a fit that fails or takes too long: end the run, or count what it leaves
        unknown against "stable" (but never for "unstable").
    random_state : None, int, Generator or RandomState
        Decides the seed of all fits, which they share, and the order of fresh rows. The
        seed is ``result.design.training_seed``: the verdict is about the model with this seed.
    n_jobs, backend, address, timeout, fast, check, progress, response, name
        As in :func:`stability_test`.
    journal : str or Path, optional
        A file to which every trial (for "deployed": every removal) is written as soon as it is
        known. The same call continues an interrupted run.
    fit_params : dict, optional
        Further arguments of ``fit``; only for "deployed" without losses.

    Returns
    -------
    ConditionalResult

    See Also
    --------
    measure_conditional, stability_test, JackknifeRegressor

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, fresh = rng.normal(size=(300, 3)), rng.normal(size=(100, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=300)
    >>> result = poise.conditional_test(
    ...     Ridge(), X, y, fresh, epsilon=0.05, delta=0.05, random_state=0)
    >>> result.verdict.value, result.n_trials, result.design.path
    ('stable', 100, 'closed form of ridge')
    """
    measurement, question = checked_for(locals())
    return measurement.run(journal, question).test(**question.for_trials)


def checked_for(
    given: Mapping[str, Any],
) -> tuple[ConditionalMeasurement, ConditionalQuestion]:
    """Refuse what cannot be measured or answered, before the first fit.

    Parameters
    ----------
    given : mapping
        Keywords of :func:`conditional_test`; those that are missing have its defaults.
    """
    measurement = ConditionalMeasurement.of(given)
    change = epsilon_in_units(given["epsilon"], measurement.setup, measurement.rows.given.y)
    question = from_settings(ConditionalQuestion, {**given, "epsilon": change})
    measurement.check(question)
    return measurement, question


def measure_conditional(
    algorithm: Any,
    X: Any,
    y: Any,
    X_fresh: Any,
    y_fresh: Any = None,
    *,
    notion: str = "deployed",
    points: int = 1,
    distance: str | Distance = "auto",
    shuffle: bool = True,
    on_error: str = "raise",
    on_timeout: str = "raise",
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    address: str | None = None,
    timeout: float | None = None,
    fast: bool = True,
    journal: str | Path | Journal | None = None,
    progress: bool | None = None,
    response: str = "predict",
    fit_params: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> ConditionalTrials:
    """Measure the changes of one training set at every fresh row, without a verdict.

    :meth:`ConditionalTrials.test` judges them, and fits nothing again;
    :meth:`ConditionalTrials.influence` tells which training rows matter.

    Parameters are those of :func:`conditional_test`.

    Returns
    -------
    ConditionalTrials

    See Also
    --------
    conditional_test, ConditionalTrials, measure

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, y, fresh = rng.normal(size=(40, 2)), rng.normal(size=40), rng.normal(size=(60, 2))
    >>> record = poise.measure_conditional(KNeighborsRegressor(5), X, y, fresh, random_state=0)
    >>> record.changes.shape, record.n_fits, bool((record.shares(0.0) == 5 / 40).all())
    ((60, 40), 41, True)
    """
    measurement = ConditionalMeasurement.of(locals())
    measurement.check()
    return measurement.run(journal)
