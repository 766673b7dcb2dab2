"""Exhaustive search of a finite, known support (sections 4.2 and 5.1)."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from poise import arguments
from poise.algorithms.distance import Distance
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError, BudgetError
from poise.procedures.binomial import BinomialTest
from poise.procedures.checked_question import Question
from poise.procedures.compare_predictions import largest_observed_change
from poise.procedures.search_space import Chosen, SearchSpace
from poise.protocol.messages import Answers, Batch, Failure
from poise.protocol.randomness import Randomness
from poise.results import Outcome, ProcedureResult
from poise.theory.decision import of_search

__all__ = ["ExhaustiveTest"]

_CERTAIN = (
    "Certain, given the support and an algorithm that ignores the order of rows and its random "
    "term (the second was declared and checked): no training set of this size that can occur "
    "moves any prediction by more than epsilon."
)
_UNDER_TERMS = (
    "Valid, given the support: under none of the random terms drawn did a training set that can "
    "occur move any prediction by more than epsilon, and an algorithm that is not stable passes "
    "that with probability at most alpha / 2. The other half of alpha was kept for the Binomial "
    "test, which would have decided otherwise."
)
_FELL_BACK = (
    "Valid, given the support: some training set that can occur does move a prediction by more "
    "than epsilon, which says nothing about how often, so the Binomial test decided."
)

_REPETITIONS = 64  # of sets of one size, at least: 0.8^64 = 6e-7

Found = dict[str, Any]
ComparedFits = tuple[tuple[int, ...], Any, Any]


@dataclass(frozen=True)
class ExhaustiveTest(Question):
    """Try every training set that can occur; if none moves a prediction, declare stable.

    - A randomised algorithm is tried under R terms ξ, each time on every multiset of
      n rows of the support, in a random order, with and without its last row. If
      δ*_ε > δ, one term shows nothing with probability below 1 − δ, so R terms show
      nothing with probability at most (1 − δ)^R ≤ α/2, whatever the distribution on
      the support. If one does, the Binomial test decides at level α/2: in all
      P(false "stable") ≤ α, also where the order of rows matters.
    - ``deterministic=True`` declares that the algorithm uses no random term. Then
      ``|μ̂_D(x) − μ̂_{D∖i}(x)| ≤ ε`` for every multiset D, every i and every x is
      a proof that δ*_ε = 0; otherwise the Binomial test decides at level α. As in the
      paper, the algorithm is assumed to ignore the order of its rows.
    - The declaration is checked: each set is fitted again under another term, those of n rows
      at least 64 times in all and those of n − 1 rows too, and an algorithm whose predictions
      on one set differ at all is refused. One that gives, on each set of one size,
      its most frequent predictions with probability at most 1 − q passes with probability at
      most (1 − q)^64: 6e-7 for a coin that falls on the other side once in five times, 0.04
      for once in twenty. No check finds a coin that is rarer than the fits are many, or that
      is tossed on a few sets only: there the certainty is that of the declaration.

    With X and Y finite and known no ceiling applies: the power may exceed that
    of Theorem 2. Fits share ξ, so the verdict is about the shared notion.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`.
    support_X, support_y : sequences of equal length
        Every row (x, y) that can occur.
    deterministic : bool
        Declare that the algorithm does not use its random term.
    max_fits : int
        Refuse, before the first fit, a search that needs more.
    distance : str
        How far apart two predictions are.

    Examples
    --------
    >>> import poise
    >>> from sklearn.dummy import DummyRegressor
    >>> support = {"support_X": [[0], [1]] * 2, "support_y": [0.0, 0.0, 1.0, 1.0]}
    >>> test = ExhaustiveTest(n=4, epsilon=0.5, delta=0.1, **support, deterministic=True)
    >>> test.n_fits
    183
    >>> X, y = [[0], [1], [1], [0]], [0.0, 1.0, 0.0, 1.0]
    >>> run = poise.run(test, DummyRegressor(), X, y, random_state=0)
    >>> run.verdict.value, run.result.certain, run.result.details["worst_change"]
    ('stable', True, 0.25)
    >>> test = ExhaustiveTest(n=4, epsilon=0.5, delta=0.1, **support)
    >>> test.n_terms, test.n_fits
    (36, 2520)
    """

    support_X: Any = field(kw_only=True)  # noqa: N815 - X is what everyone calls the features
    support_y: Any = field(kw_only=True)
    deterministic: bool = field(default=False, kw_only=True)
    max_fits: int = field(default=100_000, kw_only=True)
    distance: str | Distance = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.count("max_fits", self.max_fits, 1)
        arguments.flag("deterministic", self.deterministic)
        space = SearchSpace.of(self.support_X, self.support_y)
        object.__setattr__(self, "support_X", space.X)
        object.__setattr__(self, "support_y", space.y)
        if self.delta == 0 and not self.deterministic:
            raise ArgumentError(
                "delta must be > 0 for an algorithm that may be randomised, got 0: no number of "
                "draws shows that a random term never moves a prediction; declare "
                "deterministic=True if it uses none"
            )

    def measured_by(self, distance: str | Distance) -> ExhaustiveTest:
        """Return the same test with the distance of the run, unless that is left open."""
        return self if distance == "auto" else replace(self, distance=distance)

    @property
    def n_terms(self) -> int:
        """Random terms under which the whole space is searched, at least: (1 − δ)^R ≤ α/2."""
        if self.deterministic:
            return 2
        return math.ceil(math.log(self.alpha / 2) / math.log1p(-self.delta))

    @property
    def n_fits(self) -> int:
        """What a search costs at most: sets of n and of n − 1 rows, each under its terms."""
        sizes = [self._space.n_multisets(size) for size in (self.n, self.n - 1)]
        if self.deterministic:
            return sum(size + max(size, _REPETITIONS) for size in sizes)
        return self.n_terms * 2 * sizes[0]

    @property
    def _space(self) -> SearchSpace:
        return SearchSpace(self.support_X, self.support_y)

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Yield every fit; if one training set is unstable, yield the Binomial test after them."""
        self._space.require(sample)
        self._check_cost()
        search = self._search_all if self.deterministic else self._search_under_terms
        found = yield from search(randomness)
        said = of_search(found["worst_change"], self.epsilon)
        if said is not None:
            return self._declared(Outcome(said), found)
        alpha = self.alpha if self.deterministic else self.alpha / 2
        test = BinomialTest(self.n, self.epsilon, self.delta, alpha)
        result = yield from test.ask(sample, randomness)
        told = ProcedureResult.from_test(
            self, result, certifies=True, reason=_FELL_BACK, decided_by="Binomial test", **found
        )
        return replace(told, alpha=self.alpha)

    def _check_cost(self) -> None:
        if self.n_fits > self.max_fits:
            raise BudgetError(
                f"exhaustive search over {self._space.size} possible rows at n = {self.n} needs "
                f"{self.n_fits:,} fits, more than max_fits = {self.max_fits:,}; nothing was "
                "computed. Raise max_fits, or ask about a smaller n",
                partial=[],
            )

    def _search_all(self, randomness: Randomness) -> Generator[Batch, Answers, Found]:
        """Fit every set under two terms or more, and compare each with the same less one row."""
        space = self._space
        sets = space.multisets(self.n), space.multisets(self.n - 1)
        first = [*sets[0], *sets[1]]
        again = [rows for some in sets for rows in _repeated(some)]
        terms = randomness.block("xi of the search", 0, len(first) + len(again))[:, 0]
        tasks = zip(first + again, terms, strict=True)
        said = (yield Batch([space.query(rows, xi) for rows, xi in tasks])).predictions
        predictions = dict(zip(first, said, strict=False))
        for rows, prediction in zip(again, said[len(first) :], strict=True):
            _require_equal(rows, predictions[rows], prediction)
        worst = self._worst(self._removals(predictions))
        return self._found(*worst, 2, self.n_fits)

    def _removals(self, predictions: dict[tuple[int, ...], Any]) -> Iterator[ComparedFits]:
        """Yield every set of n rows, the removed one last, with predictions with and without it."""
        for rows in self._space.multisets(self.n):
            for removed in sorted(set(rows)):
                place = rows.index(removed)
                rest = rows[:place] + rows[place + 1 :]
                yield (*rest, removed), predictions[rows], predictions[rest]

    def _search_under_terms(self, randomness: Randomness) -> Generator[Batch, Answers, Found]:
        """Fit every set with and without its last row, term by term, until a prediction moves."""
        space = self._space
        worst: tuple[float, Chosen] = (0.0, ())
        for term in range(self.n_terms):
            xi = randomness.words("xi of the search", term)
            orders = self._orders(randomness.generator("orders of the search", term))
            tasks = [space.query(part, xi) for rows in orders for part in (rows, rows[:-1])]
            said = (yield Batch(tasks)).predictions
            found = self._worst(zip(orders, said[::2], said[1::2], strict=True))
            worst = max(worst, found, key=lambda change: change[0])
            if of_search(worst[0], self.epsilon) is None:
                break
        return self._found(*worst, term + 1, (term + 1) * 2 * len(orders))

    def _orders(self, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Return every set of n rows in a random order: the one in which i.i.d. rows come."""
        sets = np.array(self._space.multisets(self.n))
        return [tuple(rows) for rows in rng.permuted(sets, axis=1).tolist()]

    def _worst(self, pairs: Iterable[ComparedFits]) -> tuple[float, Chosen]:
        """Return the largest change, and the rows (the removed one last) in which it occurs."""
        changes = (
            (largest_observed_change(full, reduced, self.distance), rows)
            for rows, full, reduced in pairs
        )
        return max(changes, key=lambda change: change[0])

    def _found(self, worst: float, at: Chosen, terms: int, fits: int) -> Found:
        return {"worst_change": worst, "worst_rows": list(at), "n_terms": terms, "n_fits": fits}

    def _declared(self, said: Outcome, found: Found) -> ProcedureResult:
        sets = self._space.n_multisets(self.n)
        passes = 0.0 if self.deterministic else 2 * (1 - self.delta) ** self.n_terms
        return ProcedureResult(
            type(self).__name__,
            said,
            certifies=True,
            reason=_CERTAIN if self.deterministic else _UNDER_TERMS,
            n=self.n,
            epsilon=self.epsilon,
            delta=self.delta,
            alpha=self.alpha,
            statistic=0,
            n_trials=sets if self.deterministic else self.n_terms * sets,
            pvalue=min(1.0, passes),
            pvalue_unstable=1.0,
            details={"decided_by": "exhaustive search"} | found,
            certain=self.deterministic,
            measured="the prediction moved, at any point of the support,",
        )


def _repeated(sets: list[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Yield every set once, and again from the first on until there are enough repetitions."""
    return islice(cycle(sets), max(len(sets), _REPETITIONS))


def _require_equal(rows: Chosen, one: object, other: object) -> None:
    """Refuse an algorithm that was declared deterministic but depends on its random term."""
    failed = [isinstance(prediction, Failure) for prediction in (one, other)]
    if all(failed) or (not any(failed) and _same(one, other)):
        return
    raise AlgorithmError(
        "deterministic=True declares an algorithm that does not use its random term, but two terms "
        f"gave different predictions on the rows {list(rows)} of the support; leave deterministic "
        "out, and the search draws as many random terms as the level needs"
    )


def _same(one: object, other: object) -> bool:
    first, second = np.asarray(one), np.asarray(other)
    if first.dtype.kind == "f" and second.dtype.kind == "f":
        return np.array_equal(first, second, equal_nan=True)
    return np.array_equal(first, second)
