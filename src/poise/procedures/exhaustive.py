"""Exhaustive search of a finite space whose support is known (paper, sections 4.2 and 5.1)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.distance import Distance, as_distance
from poise.data.sample import Sample
from poise.data.synthetic_rows import SyntheticRows
from poise.errors import ArgumentError, BudgetError, DataError
from poise.procedures.binomial import BinomialTest
from poise.procedures.checked_question import Question
from poise.protocol.messages import Answers, Batch, Failure, Query
from poise.protocol.randomness import Randomness
from poise.results import Outcome, ProcedureResult

__all__ = ["ExhaustiveTest"]

_CERTAIN = (
    "Certain, given the support and an algorithm that ignores the order of rows and its random "
    "term: no training set of this size that can occur moves any prediction by more than epsilon."
)
_FELL_BACK = (
    "Valid, given the support: some training set that can occur does move a prediction by more "
    "than epsilon, which says nothing about how often, so the Binomial test decided."
)

Multiset = tuple[int, ...]


@dataclass(frozen=True)
class ExhaustiveTest(Question):
    """Try every training set that can occur; if none is unstable, say so with certainty.

    If ``|μ̂_D(x) − μ̂_{D∖i}(x)| ≤ ε`` for every multiset D of n rows of the support,
    every i and every x, then δ*_ε = 0 whatever the distribution on that
    support. Otherwise the Binomial test decides, so P(false "stable") ≤ α
    either way. With X and Y finite and known no ceiling applies: the power may
    exceed that of Theorem 2. It assumes that the algorithm ignores the order of
    its rows, as the paper does, and its random term.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`.
    support_X, support_y : sequences of equal length
        Every row (x, y) that can occur.
    max_fits : int
        Refuse, before the first fit, a search that needs more.
    distance : str
        How far apart two predictions are.

    Examples
    --------
    >>> import poise
    >>> from sklearn.dummy import DummyRegressor
    >>> test = ExhaustiveTest(n=4, epsilon=0.5, delta=0.1,
    ...     support_X=[[0], [1]] * 2, support_y=[0.0, 0.0, 1.0, 1.0])
    >>> test.n_fits
    55
    >>> X, y = [[0], [1], [1], [0]], [0.0, 1.0, 0.0, 1.0]
    >>> run = poise.run(test, DummyRegressor(), X, y, random_state=0)
    >>> run.verdict.value, run.result.details["worst_change"]
    ('stable', 0.25)
    """

    support_X: Any = field(kw_only=True)  # noqa: N815 - X is what everyone calls the features
    support_y: Any = field(kw_only=True)
    max_fits: int = field(default=100_000, kw_only=True)
    distance: str | Distance = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.count("max_fits", self.max_fits, 1)
        X, y = _tuples(self.support_X, "support_X"), _tuples(self.support_y, "support_y")
        if len(X) != len(y) or not X:
            raise ArgumentError(
                "support_X and support_y must be of equal length, at least 1, got "
                f"{len(X)} and {len(y)}"
            )
        rows = list(dict.fromkeys(zip(X, y, strict=True)))
        object.__setattr__(self, "support_X", tuple(x for x, _ in rows))
        object.__setattr__(self, "support_y", tuple(label for _, label in rows))

    def measured_by(self, distance: str | Distance) -> ExhaustiveTest:
        """Return the same test with the distance of the run, unless that is left open."""
        return self if distance == "auto" else replace(self, distance=distance)

    @property
    def n_fits(self) -> int:
        """Number of multisets of n and of n − 1 rows: what a search costs."""
        size = len(self.support_X)
        return comb(size + self.n - 1, self.n) + comb(size + self.n - 2, self.n - 1)

    @cached_property
    def _arrays(self) -> tuple[NDArray[Any], NDArray[Any], SyntheticRows]:
        """The rows that can occur, and the distinct points among them."""
        points = np.array(list(dict.fromkeys(self.support_X)))
        return np.array(self.support_X), np.array(self.support_y), SyntheticRows(points)

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Yield every fit at once; if one is unstable, yield the Binomial test after them."""
        self._check_sample(sample)
        self._check_cost()
        sets = self._multisets(self.n) + self._multisets(self.n - 1)
        answers = yield Batch([self._query(rows, i, randomness) for i, rows in enumerate(sets)])
        worst, at = self._worst(dict(zip(sets, answers.predictions, strict=True)))
        found = {"worst_change": worst, "worst_rows": list(at), "n_fits": self.n_fits}
        if worst <= self.epsilon:
            return self._certain(found)
        test = BinomialTest(self.n, self.epsilon, self.delta, self.alpha)
        result = yield from test.ask(sample, randomness)
        return ProcedureResult.from_test(
            self, result, certifies=True, reason=_FELL_BACK, decided_by="Binomial test", **found
        )

    def _certain(self, found: dict[str, Any]) -> ProcedureResult:
        return ProcedureResult(
            type(self).__name__,
            Outcome.STABLE,
            certifies=True,
            reason=_CERTAIN,
            n=self.n,
            epsilon=self.epsilon,
            delta=self.delta,
            alpha=self.alpha,
            statistic=0,
            n_trials=comb(len(self.support_X) + self.n - 1, self.n),
            pvalue=0.0,
            pvalue_unstable=1.0,
            details={"decided_by": "exhaustive search"} | found,
            certain=True,
        )

    def _check_cost(self) -> None:
        if self.n_fits > self.max_fits:
            raise BudgetError(
                f"exhaustive search over {len(self.support_X)} possible rows at n = {self.n} needs "
                f"{self.n_fits:,} fits, more than max_fits = {self.max_fits:,}; nothing was "
                "computed. Raise max_fits, or ask about a smaller n",
                partial=[],
            )

    def _check_sample(self, sample: Sample) -> None:
        """Refuse data that contradict the support."""
        possible = set(zip(self.support_X, self.support_y, strict=True))
        X, y = _tuples(sample.X.native, "X"), _tuples(sample.y.native, "y")
        for index, row in enumerate(zip(X, y, strict=True)):
            if row not in possible:
                raise DataError(f"row {index} of the data, {row}, is not in the support given")
        if sample.X_unlabeled is not None:
            outside = set(_tuples(sample.X_unlabeled.native, "X_unlabeled")) - set(self.support_X)
            if outside:
                raise DataError(f"X_unlabeled holds {outside.pop()}, which is not in the support")

    def _multisets(self, size: int) -> list[Multiset]:
        return list(combinations_with_replacement(range(len(self.support_X)), size))

    def _query(self, rows: Multiset, index: int, randomness: Randomness) -> Query:
        X, y, points = self._arrays
        chosen = list(rows)
        # A term of its own: an algorithm that does use it then differs from itself, and shows.
        xi = randomness.words("xi of the search", index)
        return Query(SyntheticRows(X[chosen], y[chosen]), points, xi)

    def _worst(self, predictions: dict[Multiset, Any]) -> tuple[float, Multiset]:
        """Return the largest change, and the multiset (removed row last) in which it occurs."""
        worst, at = 0.0, Multiset()
        for rows in self._multisets(self.n):
            for removed in sorted(set(rows)):
                place = rows.index(removed)
                rest = rows[:place] + rows[place + 1 :]
                change = self._change(predictions[rows], predictions[rest])
                if change > worst or not at:
                    worst, at = change, (*rest, removed)
        return worst, at

    def _change(self, full: Any, reduced: Any) -> float:
        """Return the largest change over all points; a failed call is an infinite one."""
        if isinstance(full, Failure) or isinstance(reduced, Failure):
            return float("inf")
        distance = as_distance(self.distance)
        return max(distance(a, b) for a, b in zip(full, reduced, strict=True))


def _tuples(rows: Any, name: str) -> Sequence[Any]:
    """Return rows as plain values that can be compared and looked up."""
    if hasattr(rows, "indptr"):
        raise DataError(f"{name} must be dense to be searched exhaustively, got a sparse matrix")
    values = np.asarray(rows).tolist()
    return tuple(tuple(row) if isinstance(row, list) else row for row in values)
