"""Many algorithms on the same trials, with one error level for all verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from poise import arguments
from poise.algorithms.as_algorithm import as_algorithm
from poise.errors import ArgumentError, TrialError
from poise.procedures.checked_question import StabilityQuestion
from poise.protocol.randomness import RandomStateLike
from poise.questions.choose_test import Choice
from poise.questions.ledger_questions import PutQuestions, put_questions
from poise.questions.measurement import Measurement
from poise.questions.set_aside import resolved
from poise.questions.settings import MeasureSettings, refuse_unknown
from poise.results import CompareResult, Trials
from poise.results.relative_epsilon import Relative
from poise.storage.journal import Journal, JournalFolder, begun_design
from poise.storage.ledger import AnyLedger, Ledger

__all__ = ["compare"]


def compare(
    algorithms: Iterable[Any] | Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    n: int,
    epsilon: float | str | Relative,
    delta: float,
    alpha: float = 0.05,
    randomized: bool = False,
    test: str = "auto",
    random_state: RandomStateLike = None,
    journal: str | Path | JournalFolder | None = None,
    ledger: AnyLedger = None,
    **settings: Unpack[MeasureSettings],
) -> CompareResult:
    """Test several algorithms on the same trials, with one error level for all of them.

    P(any algorithm that is not (ε, δ)-stable is declared stable) ≤ α, and the
    same holds for "unstable". This follows from Holm's method on the p-values of
    Theorem 1, or on the e-values of the averaged test, each of which aims at α divided by the
    number of algorithms. It is valid although the algorithms share rows. In each trial every
    algorithm gets the same training rows, test points and random terms, so different
    results come from the algorithms and not from the trials.

    It is not a ranking. If one algorithm is declared stable and another is not, this
    does not mean that the first is more stable. Every trial is run for every
    algorithm; no run stops early.

    Parameters
    ----------
    algorithms : list, or dict from names to algorithms
        Estimators, functions or :class:`~poise.Algorithm` objects. In a list
        the name of each is its own description.
    X, y : array, data frame, sparse matrix or list
        Labelled rows.
    n, epsilon, delta, alpha, randomized
        The question, as in :func:`stability_test`.
    test : {"auto", "binomial", "averaged"}
        As in :func:`stability_test`, the same for every algorithm. "auto" chooses before the
        first fit, from the number of trials, δ and the level of one algorithm.
    random_state : None, int, Generator or RandomState
        Decides the trials, once for all algorithms.
    journal : str or Path, optional
        A folder with a journal for each algorithm; it is created if it does not exist.
        The same call continues where an earlier one was interrupted, also with
        ``random_state=None``. An algorithm that is added later is measured on the
        same trials.
    ledger : str, Path or :class:`Ledger`, optional
        As in :func:`stability_test`: each algorithm is a question.
    **settings
        Any other argument of :func:`measure`: ``X_unlabeled``, ``coupling``,
        ``distance``, ``n_jobs``, …

    Returns
    -------
    CompareResult

    See Also
    --------
    stability_test, stability_curve, Ledger

    Examples
    --------
    >>> import poise
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> result = poise.compare(
    ...     [Ridge(), LinearRegression()], X, y, n=12, epsilon=20, delta=0.2, random_state=0)
    >>> print(result.table().text())
    algorithm           verdict   larger changes  p, adjusted  delta at most  epsilon at most
    Ridge()             stable    0 of 34         0.001014     0.1029         11.02
    LinearRegression()  unstable  27 of 34        3.228e-13    0.913          1,176
    """
    refuse_unknown("compare", settings)
    if settings.get("name") is not None:
        raise ArgumentError("name is for one algorithm; give a dict from names to algorithms")
    named = _named(algorithms)
    folder = JournalFolder.of(journal)
    drawn = folder.randomness(random_state)
    given = {"X": X, "y": y, "n": n, "random_state": drawn, **settings}
    first = Measurement.of({"algorithm": next(iter(named.values())), **given})
    common, epsilon = resolved(first, epsilon)
    # Each algorithm is tested at its share of the level.
    level = arguments.alpha(arguments.scalar("alpha", alpha)) / len(named)
    question = StabilityQuestion(n, epsilon, delta, float(level), randomized, test=test)
    measurements = {name: _about(common, name, each) for name, each in named.items()}
    one, *others = measurements.values()
    for other in others:
        other.refuse(question)
    # Not in a function of its own: a warning names the line of the caller.
    one.check(question, len(named))
    folder.expect(len(named), "algorithm")
    journals = {name: folder.journal(name) for name in named}
    chosen = _chosen(measurements, question, journals)
    ready = {name: each.with_choice(chosen) for name, each in measurements.items()}
    book = Ledger.of(ledger)
    put = None if book is None else _put(book, list(ready.values()), replace(question, alpha=alpha))
    trials = {name: _measured(name, each, journals[name]) for name, each in ready.items()}
    about = epsilon, delta, alpha, randomized
    result = CompareResult.judge(trials, *about, test=chosen.test, why=chosen.why)
    return result if put is None else _noted(result, put)


def _put(
    ledger: Ledger, measurements: list[Measurement], question: StabilityQuestion
) -> PutQuestions:
    return put_questions(ledger, [(each, question) for each in measurements])


def _noted(result: CompareResult, put: PutQuestions) -> CompareResult:
    """Write the answers into the ledger, and its note into the result."""
    said = [row.verdict.value for row in result.rows]
    put.answer(said, result.trials, (result.epsilon, result.delta), result.randomized, result.test)
    return put.noted(result)


def _chosen(
    measurements: dict[str, Measurement],
    question: StabilityQuestion,
    journals: Mapping[str, Journal | None],
) -> Choice:
    """Choose one test for all algorithms, or keep what was chosen when a journal was begun."""
    first = next(iter(measurements.values()))
    begun = (log for log in journals.values() if log is not None and begun_design(log) is not None)
    choice = first.for_question(question, next(begun, None), alone=False).choice
    assert choice is not None  # `for_question` makes one
    return choice


def _about(common: Measurement, name: str, algorithm: Any) -> Measurement:
    """Return the measurement of one algorithm; all algorithms have the same trials.

    Headlines use the name that the user gave; a description is not such a name.
    """
    described = name == as_algorithm(algorithm).name or not name.strip()
    return common.with_algorithm(algorithm, None if described else name)


def _named(algorithms: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Give every algorithm a name of its own."""
    if isinstance(algorithms, Mapping):
        pairs = [(str(name), algorithm) for name, algorithm in algorithms.items()]
    else:
        pairs = [(as_algorithm(algorithm).name, algorithm) for algorithm in algorithms]
    if not pairs:
        raise ArgumentError("algorithms must hold at least one algorithm, got none")
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ArgumentError(
            f"algorithms must have different names, got {[name for name, _ in pairs]}; "
            "give a dict from names to algorithms"
        )
    return named


def _measured(name: str, measurement: Measurement, journal: Journal | None) -> Trials:
    try:
        return measurement.run(journal, called=name)
    except TrialError as error:
        error.add_note(f"The algorithm is {name!r}.")
        raise
