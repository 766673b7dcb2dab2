"""How many rows one trial uses, also in variants of the paper's setting.

A trial trains on n units, rows or groups of them, and is evaluated at one more row, or at
several for the averaged test. If units are replaced instead of removed, the trial also takes
as many fresh ones. If losses are compared, its test rows must have a response.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction

from poise.theory import averaged_design
from poise.theory.number_of_trials import kappa
from poise.theory.power_bounds import power_bound

__all__ = ["RowsPerTrial"]


@dataclass(frozen=True)
class RowsPerTrial:
    """The variant of a trial, and the arithmetic of rows that follows from it.

    Attributes
    ----------
    remove : int
        How many of the n units are removed or replaced.
    replace : bool
        Whether fresh units take their place.
    losses : bool
        Whether the test row needs a response.
    groups : bool
        Whether units are groups.
    points : int
        Test rows of a trial.

    Examples
    --------
    >>> paper, replaced = RowsPerTrial(), RowsPerTrial(replace=True)
    >>> paper.n_trials(100, 1000), replaced.n_trials(99, 1000), replaced.size_for(9, 1000)
    (9, 9, 109)
    """

    remove: int = 1
    replace: bool = False
    losses: bool = False
    groups: bool = False
    points: int = 1

    @property
    def is_papers(self) -> bool:
        """Whether one row is removed and predictions are compared, at however many points."""
        return dataclasses.replace(self, points=1) == RowsPerTrial()

    @property
    def unit(self) -> str:
        """What n counts."""
        return "group" if self.groups else "row"

    @property
    def fresh(self) -> int:
        """Units that a trial takes beside its n."""
        return self.remove if self.replace else 0

    def n_trials(self, n: int, n_labeled: int, n_unlabeled: int = 0) -> int:
        """Count the independent trials that the rows hold."""
        rows = n_labeled, self._unlabeled(n_unlabeled)
        return int(averaged_design.trials(n + self.fresh, *rows, self.points))

    def kappa(self, n: int, n_labeled: int, n_unlabeled: int = 0) -> Fraction:
        """Compute the number of trials before it is rounded down."""
        more = self._unlabeled(n_unlabeled)
        by_points = Fraction(int(n_labeled) + int(more), n + self.fresh + self.points)
        return min(kappa(n + self.fresh, n_labeled, more), by_points)

    def rows_for(self, count: int, n: int, n_unlabeled: int = 0) -> int:
        """Compute the fewest labelled units that hold this many trials."""
        size, more = n + self.fresh, self._unlabeled(n_unlabeled)
        return int(max(count * size, count * (size + self.points) - more))

    def size_for(self, count: int, n_labeled: int, n_unlabeled: int = 0) -> int:
        """Compute the largest n for which the rows hold this many trials; it may be too small."""
        rows = n_labeled + self._unlabeled(n_unlabeled)
        return int(min(n_labeled // count, rows // count - self.points)) - self.fresh

    def ceiling(
        self,
        n: int,
        n_labeled: int,
        n_unlabeled: int,
        delta: float,
        delta_star: float,
        level: float,
    ) -> float | None:
        """Compute the ceiling of Theorem 2; None for a variant, for which no ceiling is known."""
        if not self.is_papers:
            return None
        rows = n, n_labeled, n_unlabeled
        return float(power_bound(*rows, delta=delta, delta_star=delta_star, alpha=level))

    def _unlabeled(self, n_unlabeled: int) -> int:
        return 0 if self.losses else n_unlabeled
