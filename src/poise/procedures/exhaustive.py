"""Search of a finite, known support (sections 4.2 and 5.1): no ceiling limits its power."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from poise.data.randomness import Randomness, as_coupling
from poise.data.sample import Sample
from poise.engine.messages import Answers, Batch, Made, Query, Trial
from poise.errors import ArgumentError, DataError
from poise.procedures.own import Asking, Asks, Claim, asked

_CERTAIN = (
    "no training set that can occur moves a prediction, for an algorithm that ignores the order of "
    "its rows and its random term, as was declared and checked."
)
_UNDER_TERMS = "under none of the random terms drawn did a training set that can occur move."
_FELL_BACK = "some training set that can occur moves a prediction, so the Binomial test decided."
_REPETITIONS = 64  # of a check: a coin of 1 in 5 passes it with probability 6e-7


@dataclass(frozen=True, kw_only=True)
class ExhaustiveTest(Asks):
    """Try every training set that can occur; if none moves a prediction, declare stable.

    Every multiset of n rows of the support is tried in a random order under R random terms. If
    P(change > epsilon) > delta, nothing is seen with probability at most (1 - delta)^R <= alpha/2.
    If something moves, the Binomial test decides at alpha/2.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question, and how the two fits of a comparison share randomness.
    support_X, support_y : array
        Every row (x, y) that can occur.
    deterministic : bool
        Declares that neither the order of rows nor the random term is used. Then one search is a
        proof, and the Binomial test keeps alpha.
    max_fits : int
        A search that needs more is refused.
    """

    support_X: Any  # noqa: N815 - as X everywhere
    support_y: Any
    deterministic: bool = False
    max_fits: int = 100_000

    @property
    def terms(self) -> int:
        """R, the number of random terms tried."""
        if self.deterministic:
            return 1
        if self.delta == 0:
            raise ArgumentError("must be > 0 unless deterministic=True", argument="delta", got=0)
        return math.ceil(math.log(self.alpha / 2) / math.log1p(-self.delta))

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Search; where something moves, ask for the trials of the Binomial test."""
        rows = self._support(sample)
        sets = list(combinations_with_replacement(range(len(rows)), self.n))
        cost = self.terms * len(sets) * (self.n + 1 if self.deterministic else 2)
        if cost > self.max_fits:
            short = f"is less than the {cost:,} fits of this search"
            raise ArgumentError(short, argument="max_fits", got=self.max_fits)
        if self.deterministic:
            yield from self._check(rows, sets, randomness)
        largest = yield from self._search(rows, sets, randomness)
        if largest <= self.epsilon:
            reason = _CERTAIN if self.deterministic else _UNDER_TERMS
            return Claim("stable", True, reason, len(sets), 0, {"largest_change": largest})
        rest = replace(self, alpha=self.alpha if self.deterministic else self.alpha / 2)
        changes = yield from asked(rest.split(sample, randomness))
        return rest.judge(changes, certified=True, reason=_FELL_BACK, largest_change=largest)

    def _support(self, sample: Sample) -> Made:
        """Return the rows that can occur; refuse a sample that holds another one."""
        X, y, _ = sample.training(np.arange(sample.n_labeled))
        seen, given = _listed(X, y), dict.fromkeys(_listed(self.support_X, self.support_y))
        outside = [k for k, row in enumerate(seen) if row not in given]
        if outside:
            raise DataError(f"row {outside[0]}, {seen[outside[0]]}, is not in the support given")
        return Made(np.array([x for x, _ in given]), np.array([label for _, label in given]))

    def _check(self, rows: Made, sets: Any, randomness: Randomness) -> Generator[Batch, Answers]:
        """Refuse an algorithm that uses its random term, though the opposite was declared."""
        count = max(len(sets), _REPETITIONS)
        terms = randomness.block("terms of the check", 0, count)[:, :2].tolist()
        queries = [
            [_query(rows, sets[k % len(sets)], rows.X, xi) for xi in pair]
            for k, pair in enumerate(terms)
        ]
        answers = yield Batch([Trial((one,), (other,)) for one, other in queries])
        if not (answers.changes == 0).all():
            rule = "must be False: two random terms gave different predictions on the same rows"
            raise ArgumentError(rule, argument="deterministic", got=True)

    def _search(
        self, rows: Made, sets: Any, randomness: Randomness
    ) -> Generator[Batch, Answers, float]:
        """Return the largest change under one term after the other, or the first that is larger."""
        largest, points = 0.0, np.unique(rows.X, axis=0)
        words = randomness.block("xi of the search", 0, self.terms)
        leave = range(self.n) if self.deterministic else [self.n - 1]
        for r, terms in enumerate(zip(*as_coupling(self.coupling).pairs(words), strict=True)):
            xi, reduced = map(int, terms)
            drawn = randomness.generator("orders of the search", r).permuted(sets, axis=1)
            answers = yield Batch(
                [
                    Trial(
                        (_query(rows, chosen, points, xi),),
                        tuple(_query(rows, np.delete(chosen, j), points, reduced) for j in leave),
                    )
                    for chosen in drawn
                ]
            )
            largest = max(largest, float(np.nan_to_num(answers.changes, nan=np.inf).max()))
            if largest > self.epsilon:
                break
        return largest


def _query(rows: Made, chosen: Any, points: Any, xi: int) -> Query:
    chosen = np.asarray(chosen)
    return Query(Made(rows.X[chosen], np.asarray(rows.y)[chosen]), Made(points), xi)


def _listed(X: Any, y: Any) -> list[Any]:
    features = np.asarray(X).reshape(len(X), -1).tolist()
    return list(zip(map(tuple, features), np.asarray(y).tolist(), strict=True))
