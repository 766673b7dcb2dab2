"""Stability at several training sizes, like a learning curve."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Unpack

from poise import arguments
from poise.data.sample import Sample
from poise.errors import ArgumentError, TrialError
from poise.procedures.binomial import refuse_averages
from poise.procedures.checked_question import StabilityQuestion
from poise.protocol.randomness import RandomStateLike
from poise.questions.ledger_questions import PutQuestions, put_questions
from poise.questions.measurement import Measurement
from poise.questions.power_warnings import warn_of_few_trials
from poise.questions.set_aside import resolved
from poise.questions.settings import MeasureSettings, refuse_unknown
from poise.results import StabilityCurve, Trials
from poise.results.relative_epsilon import Relative
from poise.storage.journal import Journal, JournalFolder
from poise.storage.ledger import AnyLedger, Ledger
from poise.theory.decision import three_way

__all__ = ["check_curve_question", "stability_curve"]

_USUAL_DELTA = 0.1  # for the choice of the test, where no δ is asked about


def stability_curve(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    n: Iterable[float],
    epsilon: float | str | Relative | None = None,
    delta: float | None = None,
    alpha: float = 0.05,
    test: str = "auto",
    random_state: RandomStateLike = None,
    journal: str | Path | JournalFolder | None = None,
    ledger: AnyLedger = None,
    **settings: Unpack[MeasureSettings],
) -> StabilityCurve:
    """Measure stability at several training sizes, with limits that hold at all of them.

    With probability at least 1 − α, ε*_δ ≤ ε̂ and δ*_ε ≤ δ̂ at every n of the
    list at once (Proposition 1, Bonferroni), although the sizes share rows. If both ε and δ
    are given, sizes are certified to be stable by Holm's method:
    P(any of them is not (ε, δ)-stable) ≤ α.

    Nothing is certified at other sizes, neither between these nor beyond them. For a
    guess at a larger n, which assumes how changes shrink, see
    :meth:`StabilityCurve.extrapolate`.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        The black box.
    X, y : array, data frame, sparse matrix or list
        Labelled rows.
    n : list of int or float
        Training sizes, each at least 2 and at most the number of labelled rows, or
        shares of them below 1, as in ``learning_curve``. A larger n leaves fewer trials:
        about (rows) / (n + 1). If there are too few for any limit, a
        :class:`~poise.errors.PowerWarning` says so.
    epsilon : float or :func:`relative`, optional
        Asks for δ̂, the upper limit for the probability of a change larger than this. >= 0.
    delta : float, optional
        Asks for ε̂, the upper limit for the change that is exceeded with this
        probability. In [0, 1).
    alpha : float
        Error level of all limits together, and of all certified sizes together; in (0, 1).
    test : {"auto", "binomial", "averaged"}
        As in :func:`stability_test`. "auto" chooses for each size, before its first fit; if δ
        is not given, as for δ = 0.1.
    random_state : None, int, Generator or RandomState
        The same value gives the same curve.
    journal : str or Path, optional
        A folder with a journal for each training size; it is created if it does not
        exist. The same call continues where an earlier one was interrupted. A call with
        more sizes measures only the new ones.
    ledger : str, Path or :class:`Ledger`, optional
        As in :func:`stability_test`: each size is a question. Needs both ε and δ, because
        without them there is no verdict.
    **settings
        Any other argument of :func:`measure`.

    Returns
    -------
    StabilityCurve

    See Also
    --------
    stability_test, compare, advise

    Examples
    --------
    >>> import poise
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> curve = poise.stability_curve(
    ...     Ridge(), X, y, n=[5, 10, 20], delta=0.3, random_state=0)
    >>> [round(limit, 1) for limit in curve.epsilon_hat]
    [22.7, 10.3, 5.5]
    """
    refuse_unknown("stability_curve", settings)
    wanted = check_curve_question(n, epsilon, delta, alpha)
    book = Ledger.of(ledger)
    if book is not None and (epsilon is None or delta is None):
        raise ArgumentError("a ledger is for verdicts: give both epsilon and delta, or no ledger")
    folder = JournalFolder.of(journal)
    # The sizes are not known yet: each is checked together with the settings below.
    given = {"algorithm": algorithm, "X": X, "y": y, "n": sys.maxsize, **settings}
    drawn = folder.randomness(random_state)
    whole = Measurement.of({**given, "random_state": drawn})
    common, allowed = (whole, None) if epsilon is None else resolved(whole, epsilon)
    sizes = _sizes(wanted, common.sample)
    measurements = [_at(common, size, check=size == sizes[0]) for size in sizes]
    for measurement in reversed(measurements):  # the largest is checked first
        measurement.check()
    if test == "binomial":
        refuse_averages(common.setup)
    asked = (epsilon is not None) + (delta is not None)
    warn_of_few_trials([m.design for m in measurements], delta, alpha / (asked * len(sizes)))
    folder.expect(len(sizes), "training size")
    about = allowed or 0.0, _USUAL_DELTA if delta is None else delta, alpha / len(sizes)
    asked_of = [
        _ready(measurement, StabilityQuestion(size, *about, test=test), folder)
        for size, measurement in zip(sizes, measurements, strict=True)
    ]
    put = None if book is None else _put(book, asked_of, alpha)
    trials = tuple(_measured(*each) for each in asked_of)
    curve = StabilityCurve(trials, allowed, delta, alpha)
    return curve if put is None else _noted(curve, put)


def _at(measurement: Measurement, size: int, *, check: bool) -> Measurement:
    """Return the measurement at one size; fits are repeated at the first size, where it is cheap.

    What they show is about the algorithm, so that once is enough.
    """
    execution = replace(measurement.execution, check=check and measurement.execution.check)
    setup = replace(measurement.setup, n=size)
    return replace(measurement, setup=setup, execution=execution)


def check_curve_question(
    n: Any, epsilon: float | str | Relative | None, delta: float | None, alpha: float
) -> list[float]:
    """Refuse a question that no curve answers; return its training sizes and shares."""
    _check_limits(epsilon, delta, alpha)
    if not isinstance(n, Iterable):
        raise ArgumentError(f"n must be a list of training sizes such as [10, 20, 40], got {n!r}")
    wanted = [size if _is_share(size) else arguments.training_size(size) for size in n]
    if not wanted:
        raise ArgumentError("n must hold at least one training size, got none")
    return wanted


def _is_share(size: Any) -> bool:
    return isinstance(size, Real) and not isinstance(size, Integral) and 0 < float(size) < 1


def _sizes(wanted: list[float], sample: Sample) -> list[int]:
    """Return the training sizes in order, each once; shares are of the labelled rows or groups."""
    rows = sample.n_labeled if sample.groups is None else len(sample.groups)
    sizes = {round(size * rows) if size < 1 else int(size) for size in wanted}
    if min(sizes) < 2:
        raise ArgumentError(
            f"n must be at least 2 (one row is removed from n), and {min(wanted)} of {rows} is less"
        )
    return sorted(sizes)


def _check_limits(
    epsilon: float | str | Relative | None, delta: float | None, alpha: float
) -> None:
    if epsilon is None and delta is None:
        raise ArgumentError("give epsilon (for delta_hat), delta (for epsilon_hat) or both")
    if epsilon is not None and not isinstance(epsilon, (str, Relative)):
        arguments.epsilon(epsilon)
    if delta is not None:
        arguments.delta(delta)
    arguments.alpha(alpha)


def _ready(
    measurement: Measurement, question: StabilityQuestion, folder: JournalFolder
) -> tuple[Measurement, StabilityQuestion, Journal | None]:
    """Choose the test for this size."""
    journal = folder.journal(f"n {question.n}")
    return measurement.for_question(question, journal, alone=False), question, journal


def _measured(
    measurement: Measurement, question: StabilityQuestion, journal: Journal | None
) -> Trials:
    """Run the trials that the test chosen for this size needs."""
    try:
        return measurement.run(journal)
    except TrialError as error:
        error.add_note(f"The training size is n = {question.n}.")
        raise


def _put(
    ledger: Ledger, asked: Iterable[tuple[Measurement, StabilityQuestion, Any]], alpha: float
) -> PutQuestions:
    """Put a question for each size to the ledger; the level is that of all of them."""
    return put_questions(ledger, [(each, replace(q, alpha=alpha)) for each, q, _ in asked])


def _noted(curve: StabilityCurve, put: PutQuestions) -> StabilityCurve:
    """Write the answers into the ledger, and its note into the curve."""
    # A curve says at which sizes an algorithm is stable; it calls none unstable.
    said = [three_way(size in curve.certified, says_unstable=False) for size in curve.n]
    put.answer(said, curve.trials, (curve.epsilon or 0.0, curve.delta or 0.0))
    return put.noted(curve)
