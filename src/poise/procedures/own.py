"""Tests of your own (Definitions 2 and 3 of the paper): generators that ask, and conclude."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import GeneratorType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from poise import checks
from poise.algorithms.algorithm import as_algorithm, blaming_user_code, without_addresses
from poise.algorithms.distances import as_distance
from poise.data.randomness import Ids, Randomness, as_coupling
from poise.data.sample import Sample
from poise.engine.execution import Execution
from poise.engine.journal import Journal, seed_in
from poise.engine.log import require_same
from poise.engine.messages import Answers, Batch, Query, Trial, queries_of
from poise.engine.oracle import Oracle, converse
from poise.errors import ArgumentError, RecordError, ValidityWarning, note
from poise.results.file import made_now
from poise.results.result import Verdict
from poise.settings import Every, checked, documented
from poise.theory.binomial import CountRule

Asking = Generator[Batch, Answers, Any]
Permit = Callable[[object], None]


class Procedure(Protocol):
    """A black-box test: yields batches, is sent their answers, returns what it concludes."""

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Ask about the algorithm; every random number comes from ``randomness``."""


@dataclass(frozen=True)
class Claim:
    """What a procedure concludes, and what that is worth.

    Attributes
    ----------
    verdict : {"stable", "unstable", "inconclusive"}
        Stated by the procedure.
    certified : bool
        Whether P(the verdict is wrong) <= alpha, under what ``reason`` says.
    reason : str
        Why the verdict is valid, or why it certifies nothing.
    n_trials, statistic : int
        Comparisons that were counted, and how many of them failed or moved by more.
    found : dict
        Whatever else the procedure found.
    """

    verdict: Verdict
    certified: bool
    reason: str
    n_trials: int
    statistic: int
    found: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stable(self) -> bool:
        """Whether the verdict is "stable"."""
        return self.verdict == "stable"

    def __bool__(self) -> bool:
        raise TypeError("a claim is neither true nor false: say claim.stable")

    def __str__(self) -> str:
        if self.verdict == "inconclusive":
            return f"INCONCLUSIVE: {self.reason}"
        worth = "certified" if self.certified else "certifies nothing"
        return f"{self.verdict.upper()} ({worth}): {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Asks:
    """Is A (epsilon, delta)-stable at n? What procedures are asked, and how they count."""

    n: int
    epsilon: float
    delta: float
    alpha: float = 0.05
    coupling: Any = "shared"

    def __post_init__(self) -> None:
        checks.count("n", self.n, 2)
        checks.epsilon(self.epsilon)
        checks.delta(self.delta)
        checks.alpha(self.alpha)
        as_coupling(self.coupling)

    def judge(
        self,
        changes: ArrayLike,
        *,
        certified: bool,
        reason: str,
        upper: bool = False,
        zeta: float = 1.0,
        **found: Any,
    ) -> Claim:
        """Compare the number of larger changes with the Binomial law (Example 1).

        A failure (nan) counts against "stable" and not for "unstable". Changes that may only be
        too large (``upper``) never show instability.
        """
        values = np.asarray(changes, dtype=np.float64)
        moved, failed = int((values > self.epsilon).sum()), int(np.isnan(values).sum())
        rule = CountRule.of(values.size, self.delta, self.alpha, zeta)
        said = rule.verdict(moved, values.size, failed)
        verdict: Any = "inconclusive" if upper and said == "unstable" else said
        return Claim(verdict, certified, reason, values.size, moved + failed, found)

    def pairs(
        self, trains: Sequence[Any], points: Sequence[Any], randomness: Randomness, role: str = "xi"
    ) -> list[Trial]:
        """Compare training on each of these sets of rows with training on all but its last."""
        words = randomness.block(role, 0, len(trains))
        xi, reduced = (part.tolist() for part in as_coupling(self.coupling).pairs(words))
        return [
            Trial((Query(rows, point, full),), (Query(rows[:-1], point, less),))
            for rows, point, full, less in zip(trains, points, xi, reduced, strict=True)
        ]

    def trials(self, labeled: Ids, unlabeled: Ids, randomness: Randomness) -> list[Trial]:
        """Return the trials of Example 1 on these rows, in this order."""
        n, rows = self.n, len(labeled) + len(unlabeled)
        m = min(len(labeled) // n, rows // (n + 1))
        points = np.concatenate([labeled[m * n :], unlabeled])
        trains = [labeled[k * n : (k + 1) * n] for k in range(m)]
        return self.pairs(trains, [points[k : k + 1] for k in range(m)], randomness)

    def split(self, sample: Sample, randomness: Randomness) -> list[Trial]:
        """Return the trials of Example 1 on all rows, in a random order."""
        return self.trials(*orders(sample, randomness), randomness)


def orders(sample: Sample, randomness: Randomness) -> tuple[Ids, Ids]:
    """Return the labelled and the unlabelled rows, each in a random order."""
    labeled = randomness.order("order of labelled rows", sample.n_labeled)
    unlabeled = randomness.order("order of unlabelled rows", sample.n_unlabeled)
    return labeled, sample.n_labeled + unlabeled


def asked(trials: list[Trial]) -> Generator[Batch, Answers, Any]:
    """Ask for trials of one change each; return the changes, nan where one failed."""
    if not trials:
        return np.empty(0)
    answers = yield Batch(trials)
    return answers.changes[:, 0, 0]


@dataclass(frozen=True, kw_only=True)
class BinomialTest(Asks):
    """The paper's test (Example 1, Theorem 1): as many trials as there are that share no row.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question, and how the two fits of a trial share randomness.
    randomized : bool
        Whether a tie is decided by a coin, which is one of the random numbers of the run: leave
        ``random_state`` None then, or the coin is known beforehand.
    """

    randomized: bool = False

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Ask for all trials at once."""
        changes = yield from asked(self.split(sample, randomness))
        zeta = 1.0 - randomness.uniform("coin") if self.randomized else 1.0
        reason = "The trials share no row, so the number of larger changes is Binomial."
        return self.judge(changes, certified=True, reason=reason, zeta=zeta)


@documented()
def run(
    procedure: Procedure,
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    budget: int | None = None,
    models: Literal["black-box", "transparent"] = "black-box",
    X_unlabeled: Any = None,
    response: Literal["predict", "predict_proba", "decision_function"] = "predict",
    distance: Any = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    fit_timeout: float | None = None,
    on_error: Literal["raise", "record"] = "raise",
    journal: Any = None,
    progress: bool | None = None,
) -> Any:
    """Run a black-box test of your own, or one of :mod:`poise.research`.

    What the procedure returns is its claim, not one of poise: it is worth what the procedure
    proves. :func:`poise.research.audit` looks for what is wrong with it.

    Parameters
    ----------
    procedure : Procedure
        Its method ``ask(sample, randomness)`` is a generator that yields batches of queries or
        trials, is sent their answers, and returns a verdict (Definition 2).
    algorithm : estimator, function or Algorithm
        As in :func:`poise.stability_test`.
    X : array, sparse matrix, data frame or list
        Labelled rows.
    y : array or str
        Responses, or the name of their column in X.
    budget : int, optional
        Most fits; a batch beyond it is refused before any of it is computed.
    models : {"black-box", "transparent"}
        Whether queries may look at fitted models (Definition 3).
    {settings}

    Returns
    -------
    object
        What the procedure returns; those of poise return a Claim.

    Examples
    --------
    >>> from poise import research
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> test = research.BinomialTest(n=10, epsilon=25, delta=0.2)
    >>> claim = research.run(test, Lasso(), X, y, random_state=0)
    >>> claim.verdict, claim.certified, claim.n_trials
    ('stable', True, 40)
    """
    checks.choice("models", models, ("black-box", "transparent"))
    given = {"n_jobs": n_jobs, "fit_timeout": fit_timeout, "on_error": on_error}
    settings = checked("run", {**given, "journal": journal, "progress": progress}, Every)
    sample = Sample.of(X, y, X_unlabeled=X_unlabeled)
    prepared = as_algorithm(algorithm, response).prepared(sample)
    measured = as_distance(distance, prepared.natural_distance, prepared.n_outputs)
    if measured.needs_response or measured.panel:
        raise ArgumentError(
            "must compare predictions at one point", argument="distance", got=distance
        )
    execution = Execution(**{name: settings[name] for name in (*given, "progress")})
    oracle = Oracle(prepared, sample, measured.prepared(sample), execution)
    most = math.inf if budget is None else checks.count("budget", budget)
    with ExitStack() as after:
        after.callback(oracle.heard.warn)
        if random_state is None and journal is not None:
            random_state = seed_in(journal)
        randomness = Randomness.from_state(random_state)
        if journal is not None:
            oracle.journal = after.enter_context(Journal(journal, staged=True))
            _begin(oracle.journal, procedure, oracle, randomness)
        return _concluded(procedure, oracle, randomness, _permit(most, models == "transparent"))


def _begin(journal: Journal, procedure: Procedure, oracle: Oracle, randomness: Randomness) -> None:
    """Begin a journal, or make sure that it is one of this run."""
    identity = journal.identified(oracle, seed=randomness.root)
    if journal.header is None:
        journal.begin({"procedure": _described(procedure), **made_now(), **identity})
    for text in journal.warnings:
        note(ValidityWarning, text)


def _concluded(procedure: Procedure, oracle: Oracle, randomness: Randomness, permit: Permit) -> Any:
    """Answer what a procedure asks until it concludes; a journal keeps the verdict."""
    conversation = procedure.ask(oracle.sample, randomness)
    if not isinstance(conversation, GeneratorType):
        kind = type(conversation).__name__
        raise TypeError(f"procedure.ask must be a generator (it has to yield), but returned {kind}")
    found = converse(conversation, oracle, permit)
    if oracle.journal is not None:
        oracle.journal.conclude(_described(procedure), _described(found))
    return found


def _described(value: object) -> str:
    """Say what a procedure is, or concludes, in one line."""
    with blaming_user_code("the procedure cannot be described"):
        if type(value).__repr__ is object.__repr__:
            return f"{type(value).__qualname__}({without_addresses(repr(vars(value)))})"
        return without_addresses(repr(value))


def _permit(budget: float = math.inf, looks: bool = True) -> Permit:
    """Return what refuses a batch before any of it is computed."""
    made = 0

    def permit(batch: object) -> None:
        nonlocal made
        if not isinstance(batch, Batch) or not len(batch.tasks):
            raise TypeError(f"a procedure must yield a Batch of at least one task, got {batch!r}")
        if not looks and any(getattr(task, "look", None) for task in batch.tasks):
            problem = "must be 'transparent' for a procedure that looks at models"
            raise ArgumentError(problem, argument="models")
        cost = sum(len(queries_of(task)) for task in batch.tasks)
        if made + cost > budget:
            asks = f"the procedure asks for {cost:,} fits after {made:,}"
            raise ArgumentError(f"is exceeded: {asks}", argument="budget", got=budget)
        made += cost

    return permit


def replay(
    journal: str | Path, procedure: Procedure, X: Any, y: Any = None, *, X_unlabeled: Any = None
) -> Any:
    """Run a procedure again on the answers of a journal; the algorithm is not needed.

    That its verdict is a function of what it asked and was answered (Definition 2) is checked
    here: it must ask the same, stage by stage, and conclude the same.

    Parameters
    ----------
    journal : str or Path
        What ``poise.research.run(..., journal=...)`` wrote.
    procedure : Procedure
        The one that was run, or one that asks the same and concludes in another way, such as with
        another epsilon.
    X, y, X_unlabeled : array, sparse matrix, data frame or list
        The rows of the run.

    Returns
    -------
    object
        What the procedure returns.

    Raises
    ------
    RecordError
        If the procedure asks anything else, in a stage that is named, stops earlier or later, or
        comes to another verdict.

    Examples
    --------
    >>> from poise import research
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> test = research.BinomialTest(n=10, epsilon=25, delta=0.2)
    >>> claim = research.run(test, Lasso(), X, y, random_state=0, journal="run.journal")
    >>> research.replay("run.journal", test, X, y) == claim
    True
    """
    sample, kept = Sample.of(X, y, X_unlabeled=X_unlabeled), Journal(journal, replayed=True)
    header, seed = kept.header or {}, seed_in(journal)
    if "procedure" not in header or seed is None:
        raise RecordError(f"{journal} is not a journal of a procedure: poise.load reads it")
    require_same(journal, header["run"], {"rows": sample.digest()[:16]})
    algorithm, distance = as_algorithm(_never), as_distance("absolute", "absolute")
    oracle = Oracle(algorithm, sample, distance, Execution(on_error="record", progress=False))
    oracle.journal = kept
    return _concluded(procedure, oracle, Randomness(seed), _permit())


def _never(X: Any, y: Any, seed: int) -> Any:
    """Stand where the algorithm was: nothing is left to be fitted."""
    raise AssertionError
