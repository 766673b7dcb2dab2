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
from poise.storage.ledger import AnyLedger, Ledger

if TYPE_CHECKING:
    from poise.results import StabilityResult, Trials

__all__ = ["measure", "stability_test"]


def stability_test(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    n: int,
    epsilon: float | str | Relative,
    delta: float,
    alpha: float = 0.05,
    target: str | None = None,
    X_unlabeled: Any = None,
    coupling: str | Coupling = "shared",
    distance: str | Distance = "auto",
    randomized: bool = False,
    shuffle: bool = True,
    stop_early: bool | str = True,
    test: str = "auto",
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
    ledger: AnyLedger = None,
) -> StabilityResult:
    """Test whether an algorithm is (ε, δ)-stable at training size n.

    It runs the Binomial test of Kim & Barber (Theorem 1) or the averaged test, whichever is
    better for so many rows: for every algorithm and every distribution,
    P(verdict "stable") ≤ α unless ``P(|μ̂_n(X) − μ̂_{n−1}(X)| > ε) ≤ δ``. A second test,
    for "unstable", is its mirror image, so there are three verdicts. "stable" and "unstable"
    are each wrong with probability at most α.

    A verdict "stable" says nothing about accuracy, other training sizes or other
    distributions; "inconclusive" is not "unstable".

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        The black box: any object with ``fit(X, y)`` and ``predict(X)``, or a function
        ``fit(X, y, seed)`` that returns a prediction function.
    X, y : array, data frame, sparse matrix or list
        Labelled rows: independent draws from one distribution.
    n : int
        Training size that the question is about, 2 ≤ n ≤ number of rows.
    epsilon : float, or :func:`relative`
        Allowed change of a prediction, >= 0, in its units; or a share of the spread of the
        responses, also as text: ``"5% of spread"``.
    delta : float
        Allowed probability of a larger change, in [0, 1).
    alpha : float
        Error level, in (0, 1).
    target : str, optional
        The column of X that holds the responses, in place of y, if X is a data frame. X may then
        also be a ``dask.dataframe.DataFrame`` or a ``ray.data.Dataset``, whose rows stay on the
        workers of their cluster, or a path (a file, a folder, a pattern or an address), which the
        workers read themselves if ``backend`` is ``"dask"`` or ``"ray"``. ``groups`` and values of
        ``fit_params`` may be column names.
    X_unlabeled : same kind as X, optional
        More rows, without a response. They serve as test points, so that more labelled
        rows are left for training.
    coupling : {"shared", "independent"} or Coupling
        Whether both fits of a trial use the same random seed (Appendix E).
    distance : {"auto", "absolute", "euclidean", "label", "total_variation"} or callable
        How far apart two predictions are, or a :class:`LossChange`; ``"loss:squared"``
        and the other names of losses are short for one. The default is the absolute
        difference or Euclidean distance for numbers, 0 or 1 for the labels of
        classifiers, and the total variation distance for their probabilities.
    randomized : bool
        Toss the coin ζ in a tie, as in the paper; the size of the test is then exactly α.
    shuffle : bool
        Put the rows in random order before they are split into trials. Turn it off for
        exactly the split of the paper, or if the rows are already in random order.
    stop_early : bool or "stable"
        True stops as soon as no later trial can change the verdict, so the verdict is that
        of the full run. It does not stop if the verdict is "inconclusive", or if this would
        save less than a tenth of the trials, because more trials give better limits.
        "stable" stops as soon as it is known whether the verdict is "stable"; if it is not,
        the verdict is "not certified stable". False runs every trial.
    test : {"auto", "binomial", "averaged"}
        "binomial" is the paper's test. In the averaged test, each trial gives the share of
        its ``removals`` and ``points`` at which the prediction moved by more than ε; it has
        the same guarantee and can have several times the power on the same rows. "auto"
        chooses before the first fit: the averaged test if there are spare rows for more points
        and enough trials (or the coin), the paper's test otherwise. The result says which, and
        why.
    on_error : {"raise", "unstable"}
        What to do if a fit fails or a prediction is NaN: end the run, or count the trial
        against the verdict "stable" (but never for "unstable"). A trial is never dropped.
    on_timeout : {"raise", "unstable"}
        The same for a fit that takes longer than ``timeout``. It is a separate argument
        because time depends on the machine.
    random_state : None, int, Generator or RandomState
        The same value gives exactly the same changes, for every ``n_jobs``.
    n_jobs, backend : int, str
        As in joblib; None uses what ``joblib.parallel_config`` says. The backend may be
        ``"loky"``, ``"threading"``, ``"dask"`` or ``"ray"``.
    address : str, optional
        Address of the scheduler of a Dask or Ray cluster; by default a scheduler on this
        machine is used.
    timeout : float, optional
        Seconds that one fit may take; needs worker processes (``n_jobs`` of 2 or more).
    fast : bool
        Compute many trials at once where the formula is exact for this estimator and these
        data; the result says how it was computed. False fits every trial.
    journal : str or Path, optional
        A file to which every trial is written as soon as it is known. The same call
        with the same journal continues where an earlier call was interrupted, and gives
        exactly the same result; a different call is refused. ``random_state=None``
        continues with the seed in the journal. The trials of a journal may be used for
        another question (``epsilon``, ``delta``, ``alpha``).
    check : bool
        Run the first trial again at the end, and warn if its result is different. This is
        done if fits take less than 50 ms and the algorithm may keep state or use a seed of
        its own; not where all trials are read from a journal. :func:`check_algorithm`
        checks more.
    progress : bool, optional
        Progress goes to stderr: a bar in a terminal or notebook, one line per minute
        elsewhere. False shows nothing.
    response : {"predict", "predict_proba", "decision_function"}
        Which method of a fitted estimator is called. Probabilities and scores are
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
        Replace the removed rows (or groups) by fresh ones.
    removals : int or "all"
        For the averaged test: how many of the n rows of a trial are removed, one after the
        other. Each costs two fits, or one fit if row order is known not to matter.
    points : int or "spare", optional
        For the averaged test: at how many points each trial compares predictions. Points
        cost rows but no fits; "spare" takes as many as possible without fewer trials. By
        default the averaged test uses at most 20 spare points, and the other test uses 1.
    name : str, optional
        The name of the algorithm in headlines; the record keeps its description too.
    ledger : str, Path or :class:`Ledger`, optional
        A file in which every question put to these rows is written down. The result says how
        many they have answered, and which verdicts hold together (``result.ledger``). A question
        that failed on some of these rows is refused. Every trial is run.

    Returns
    -------
    StabilityResult

    See Also
    --------
    measure, compare, conditional_test, advise, plan

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
    given = locals()  # all keywords by name: each is a field of one of three objects
    measurement, given["epsilon"] = resolved(Measurement.of(given), epsilon)
    question = from_settings(StabilityQuestion, given)
    measurement.check(question)
    return measurement.test(question, journal, Ledger.of(ledger))


def measure(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    n: int,
    target: str | None = None,
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
) -> Trials:
    """Measure the change in every independent trial that the data allow, without a verdict.

    The changes are i.i.d. copies of ``Δ = |μ̂_n(X) − μ̂_{n−1}(X)|``.
    :meth:`Trials.test`, :meth:`Trials.delta_hat`, :meth:`Trials.epsilon_hat` and
    :meth:`Trials.profile` use them and fit nothing again.

    Parameters are those of :func:`stability_test`.

    Returns
    -------
    Trials

    See Also
    --------
    stability_test, Trials, measure_conditional

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(1100, 2)), rng.normal(size=1100)
    >>> trials = poise.measure(KNeighborsRegressor(5), X, y, n=50, random_state=0)
    >>> trials.n_trials, int((trials.changes > 0).sum())
    (21, 3)
    >>> round(trials.delta_hat(epsilon=0.0, alpha=0.1), 3)
    0.291
    """
    measurement = Measurement.of(locals())
    measurement.check()
    return measurement.run(journal)
