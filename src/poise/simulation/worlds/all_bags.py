"""All bags of b of n rows, for n so small that every base fit can be tried."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

__all__ = ["AllBags"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AllBags:
    """Every bag of ``size`` of ``n`` rows, and the change that each removal makes.

    A base algorithm is a vector with its prediction for each bag. The changes d_i of
    Theorems K and L are linear in it.

    Parameters
    ----------
    n : int
        Rows, at least 2; the number of bags grows quickly.
    size : int
        Rows in a bag, from 1 to n - 1.

    Examples
    --------
    >>> bags = AllBags(4, 1)  # two rows say 0, two say 1
    >>> (bags.changes @ [0.0, 0.0, 1.0, 1.0]).round(4).tolist()
    [-0.1667, -0.1667, 0.1667, 0.1667]
    """

    n: int
    size: int

    @cached_property
    def members(self) -> Floats:
        """One row per bag: 1 for its members, 0 for the others."""
        members = np.zeros((comb(self.n, self.size), self.n))
        for row, bag in enumerate(combinations(range(self.n), self.size)):
            members[row, list(bag)] = 1
        return members

    @cached_property
    def changes(self) -> Floats:
        """The matrix that turns predictions of the bags into d_i = f - f^{∖i}."""
        without = (1 - self.members) / (1 - self.members).sum(axis=0)
        changes: Floats = (1 / len(self.members) - without).T
        return changes

    def signs(self, plus: int, minus: int) -> Floats:
        """Return directions: +1 for the first rows, -1 for the next, 0 for the rest."""
        rest = self.n - plus - minus
        return np.repeat([1.0, -1.0, 0.0], [plus, minus, rest])

    def hardest(self, signs: Floats) -> float:
        """Find the largest t such that some base fit in [0, 1] moves every signed row by t.

        A linear programme over all base fits at once.
        """
        from scipy.optimize import linprog

        moved = np.flatnonzero(signs)
        n_bags = len(self.members)
        answer = linprog(
            np.append(np.zeros(n_bags), -1.0),
            A_ub=np.column_stack([-signs[moved, None] * self.changes[moved], np.ones(len(moved))]),
            b_ub=np.zeros(len(moved)),
            bounds=[(0, 1)] * n_bags + [(None, None)],
        )
        return float(np.asarray(answer.x, dtype=np.float64)[-1])

    def reach(self, k: int) -> float:
        """Find how far k removals can all move the average, in the worst of the directions."""
        splits = (self.signs(plus, k - plus) for plus in range((k + 1) // 2, k + 1))
        return max(self.hardest(signs) for signs in splits)
