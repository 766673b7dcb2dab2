"""Search of a finite, known support (sections 4.2 and 5.1): no ceiling limits its power."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.engine.messages import Answers, Batch, Made, Query, Trial
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.procedures.own import Asking, Asks, Claim, asked

_CERTAIN = (
    "no training set that can occur moves a prediction, for an algorithm that ignores the order of "
    "its rows and its random term, as was checked."
)
_FELL_BACK = "some training set that can occur moves a prediction, so the Binomial test decided."
_REPETITIONS = 64  # of a check: a coin of 1 in 5 passes it with probability 6e-7


@dataclass(frozen=True, kw_only=True)
class ExhaustiveTest(Asks):
    """Try every training set that can occur; if none moves a prediction, declare stable.

    For algorithms that ignore the order of their rows and their random term: both are changed
    on many of the sets, and the search is refused where that shows. If a row's removal moves a
    prediction, the Binomial test decides.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question, and how the two fits of a comparison share randomness.
    support_X, support_y : array
        Every row (x, y) that can occur.
    max_fits : int
        A search that needs more is refused.
    """

    support_X: Any  # noqa: N815 - as X everywhere
    support_y: Any
    max_fits: int = 100_000

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Search; where something moves, ask for the trials of the Binomial test."""
        rows = self._support(sample)
        sets = np.array(list(combinations_with_replacement(range(len(rows)), self.n)))
        cost = len(sets) * (self.n + 1)
        if cost > self.max_fits:
            short = f"is less than the {cost:,} fits of this search"
            raise ArgumentError(short, argument="max_fits", got=self.max_fits)
        yield from self._check(rows, sets, randomness)
        less = [[np.delete(chosen, j) for j in range(self.n)] for chosen in sets]
        answers = yield _compared(rows, [[chosen] for chosen in sets], less)
        largest = float(np.nan_to_num(answers.changes, nan=np.inf).max())
        if largest <= self.epsilon:
            return Claim("stable", True, _CERTAIN, len(sets), 0, {"largest_change": largest})
        changes = yield from asked(self.split(sample, randomness))
        return self.judge(changes, certified=True, reason=_FELL_BACK, largest_change=largest)

    def _support(self, sample: Sample) -> Made:
        """Return the rows that can occur; refuse a sample that holds another one."""
        X, y, _ = sample.training(np.arange(sample.n_labeled))
        seen, given = _listed(X, y), dict.fromkeys(_listed(self.support_X, self.support_y))
        outside = [k for k, row in enumerate(seen) if row not in given]
        if outside:
            raise DataError(f"row {outside[0]}, {seen[outside[0]]}, is not in the support given")
        return Made(np.array([x for x, _ in given]), np.array([label for _, label in given]))

    def _check(self, rows: Made, sets: Any, randomness: Randomness) -> Generator[Batch, Answers]:
        """Refuse an algorithm that uses the order of its rows or its random term."""
        chosen = np.resize(sets, (max(len(sets), _REPETITIONS), self.n))
        other = randomness.generator("orders of the check").permuted(chosen, axis=1)
        terms = randomness.block("terms of the check", 0, len(chosen))[:, :2].tolist()
        answers = yield _compared(rows, chosen[:, None], other[:, None], terms)
        if not (answers.changes <= 1e-6 * self.epsilon).all():  # sums in another order may differ
            used = "the order of its rows or its random term"
            raise AlgorithmError(f"cannot be searched: the algorithm uses {used}")


def _compared(rows: Made, full: Any, less: Any, terms: Any = None) -> Batch:
    """Compare fits on some rows with fits on others, wherever a prediction can be asked for."""
    points, y = Made(np.unique(rows.X, axis=0)), np.asarray(rows.y)
    pairs = [(0, 0)] * len(full) if terms is None else terms

    def fits(sets: Any, xi: int) -> tuple[Query, ...]:
        return tuple(Query(Made(rows.X[chosen], y[chosen]), points, xi) for chosen in sets)

    each = zip(full, less, pairs, strict=True)
    return Batch([Trial(fits(one, xi), fits(other, xj)) for one, other, (xi, xj) in each])


def _listed(X: Any, y: Any) -> list[Any]:
    features = np.asarray(X).reshape(len(X), -1).tolist()
    return list(zip(map(tuple, features), np.asarray(y).tolist(), strict=True))
