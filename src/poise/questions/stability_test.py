"""``poise.stability_test`` and ``poise.measure``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.algorithms.distance import Distance
from poise.procedures.checked_question import StabilityQuestion
from poise.protocol.randomness import Coupling, RandomStateLike
from poise.questions.measurement import Measurement
from poise.questions.set_aside import resolved
from poise.questions.settings import from_settings
from poise.results.relative_epsilon import Relative
from poise.storage.journal import Journal

if TYPE_CHECKING:
    from poise.results import StabilityResult, Trials

__all__ = ["measure", "stability_test"]


def stability_test(
    algorithm: Any,
    X: Any,
    y: Any,
    *,
    n: int,
    epsilon: float | str | Relative,
    delta: float,
    alpha: float = 0.05,
    X_unlabeled: Any = None,
    coupling: str | Coupling = "shared",
    distance: str | Distance = "auto",
    randomized: bool = False,
    shuffle: bool = True,
    stop_early: bool | str = True,
    test: str = "binomial",
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
    groups: Any = None,
    remove: int = 1,
    replace: bool = False,
    removals: int | str = 1,
    points: int | str | None = None,
    name: str | None = None,
) -> StabilityResult:
    """Test whether an algorithm is (ε, δ)-stable at training size n.

    The Binomial test of Kim & Barber (Theorem 1): for every algorithm and every
    distribution, P(verdict "stable") ≤ α unless
    ``P(|μ̂_n(X) − μ̂_{n−1}(X)| > ε) ≤ δ``. The mirror test makes the verdict
    three-valued; it is wrong with probability at most α either way.

    A verdict "stable" says nothing about accuracy, other training sizes or other
    distributions; "inconclusive" is not "unstable".

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        Anything with ``fit(X, y)`` and ``predict(X)``, or a function
        ``fit(X, y, seed)`` returning a prediction function. A black box.
    X, y : array, data frame, sparse matrix or list
        Labelled rows: independent draws from one distribution.
    n : int
        Training size whose stability is asked, 2 ≤ n ≤ number of rows.
    epsilon : float, or :func:`relative`
        Allowed change of a prediction, >= 0, in its units; or a share of the spread of the
        responses, also as text: ``"5% of spread"``.
    delta : float
        Allowed probability of a larger change, in [0, 1).
    alpha : float
        Error level, in (0, 1).
    X_unlabeled : same kind as X, optional
        More rows without a response: test points, which leave more rows to train on.
    coupling : {"shared", "independent"} or Coupling
        Whether both fits of a trial use the same random seed (Appendix E).
    distance : {"auto", "absolute", "euclidean", "label", "total_variation"} or callable
        How far apart two predictions are, or :class:`LossChange`, for which
        ``"loss:squared"`` and the other losses by name are short. By default the absolute
        difference or Euclidean distance of numbers, 0 or 1 for the labels
        of classifiers, the total variation of their probabilities.
    randomized : bool
        Toss the coin ζ in a tie, as in the paper; size exactly α.
    shuffle : bool
        Put rows in random order before splitting. Turn off for the paper's split
        to the letter, or if the rows are already in random order.
    stop_early : bool or "stable"
        True stops once no trial still to come can change the verdict, which is that of
        the full run; it goes on if the verdict is "inconclusive", or if less than a tenth
        of the trials would be saved, for the sake of the limits. "stable" stops once it is
        known whether the verdict is "stable"; if not, all that is said is "not certified
        stable". False runs every trial.
    test : {"binomial", "averaged", "auto"}
        The paper's test; the averaged test, whose trials answer with the share of their
        ``removals`` and ``points`` at which the prediction moved by more than ε, with the
        same guarantee and up to twice the power on the same rows; or whichever is better
        here, decided before the first fit.
    on_error : {"raise", "unstable"}
        What a failing fit or a NaN prediction means; it is never dropped. With
        "unstable" it counts against the verdict "stable" and never for "unstable".
    on_timeout : {"raise", "unstable"}
        What a fit beyond ``timeout`` means; asked for by itself, because time
        depends on the machine.
    random_state : None, int, Generator or RandomState
        The same value gives the same changes bit for bit, whatever ``n_jobs``.
    n_jobs, backend : int, str
        As in joblib; None honours ``joblib.parallel_config``. The backend may be
        ``"loky"``, ``"threading"``, ``"dask"`` or ``"ray"``.
    address : str, optional
        Where the scheduler of a Dask or Ray cluster is; by default one on this machine.
    timeout : float, optional
        Seconds that one fit may take; needs worker processes (``n_jobs`` of 2 or more).
    fast : bool
        Compute many trials at once where that is exact for this estimator and these
        data; the result says which path was taken. False fits every trial.
    journal : str or Path, optional
        A file that every trial is written to as soon as it is known. The same call
        with the same journal goes on where an earlier one was cut short, and gives
        the same result bit for bit; another call is refused. ``random_state=None``
        goes on with the seed in the journal. Another question (``epsilon``,
        ``delta``, ``alpha``) may be put to the trials of a journal.
    check : bool
        Compute the first trial once more at the end, where fits take less than 50 ms
        and may have a memory or a seed of their own; warn if it comes out different.
        See :func:`check_algorithm` for more.
    progress : bool, optional
        Progress goes to stderr: a bar in a terminal or notebook, a line a minute
        elsewhere. False shows nothing.
    response : {"predict", "predict_proba", "decision_function"}
        Which method of a fitted estimator is asked. Probabilities and scores are
        put in the order of all classes in ``y`` before they are compared.
    fit_params : dict, optional
        Further arguments of ``fit``; those with one value per labelled row, such
        as ``sample_weight``, are sliced with the rows.
    groups : array, column or list, optional
        One label per labelled row (a patient, a user). Groups are kept and removed
        as a whole: n, and the trials, are then counted in groups, and the test
        point is a row drawn from a fresh group. An unlabelled row is its own group.
    remove : int
        How many of the n rows (or groups) are removed, 1 ≤ remove < n.
    replace : bool
        Put fresh rows (or groups) in the place of those removed.
    removals : int or "all"
        For the averaged test: how many of the n rows of a trial are removed in turn. Each
        costs two fits, or one where the order of the rows is known not to matter.
    points : int or "spare", optional
        For the averaged test: at how many points each trial compares predictions. They
        cost no fits but rows; "spare" takes as many as leave the number of trials as it
        is. By default the test chooses: at most 20 spare ones if it averages, else 1.
    name : str, optional
        What headlines call the algorithm; the record keeps its description too.

    Returns
    -------
    StabilityResult

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1500, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=1500)
    >>> result = poise.stability_test(
    ...     Ridge(), X, y, n=40, epsilon=0.5, delta=0.1, random_state=0)
    >>> result.verdict.value, result.n_trials
    ('stable', 36)
    """
    given = locals()  # every keyword by its name: each is a field of one of three objects
    measurement, given["epsilon"] = resolved(Measurement.of(given), epsilon)
    question = from_settings(StabilityQuestion, given)
    measurement.check(question)
    return measurement.test(question, journal)


def measure(
    algorithm: Any,
    X: Any,
    y: Any,
    *,
    n: int,
    X_unlabeled: Any = None,
    coupling: str | Coupling = "shared",
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
    groups: Any = None,
    remove: int = 1,
    replace: bool = False,
    removals: int | str = 1,
    points: int | str | None = None,
    name: str | None = None,
) -> Trials:
    """Measure the change in every independent trial the data hold; judge nothing.

    The changes are i.i.d. copies of ``Δ = |μ̂_n(X) − μ̂_{n−1}(X)|``: what
    :meth:`Trials.test`, :meth:`Trials.delta_hat`, :meth:`Trials.epsilon_hat` and
    :meth:`Trials.profile` need, without fitting anything again.

    Parameters are those of :func:`stability_test`.

    Returns
    -------
    Trials

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(1100, 2)), rng.normal(size=1100)
    >>> trials = poise.measure(KNeighborsRegressor(5), X, y, n=50, random_state=0)
    >>> trials.n_trials, int((trials.changes > 0).sum())
    (21, 1)
    >>> round(trials.delta_hat(epsilon=0.0, alpha=0.1), 3)
    0.173
    """
    measurement = Measurement.of(locals())
    measurement.check()
    return measurement.run(journal)
