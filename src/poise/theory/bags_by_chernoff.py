"""How many random bags are enough, by Theorem L and Chernoff's inequality.

Theorem L (:mod:`poise.theory.subbagging`) bounds the whole list of changes at a point: the j-th
largest |d_i| is at most r_j = W·M_j/(2(1 - p)j), with all bags. M random bags add noise, and each
row pays for it by its own distance from ε. Let c(d) bound the probability that a mean of M
independent differences with mean d, each in [-W, W], reaches ε. Then M random bags are
(ε, δ)-stable with

    δ = (1/n) Σ_j min{1, c(r_j) + c(0)}.

*Proof.* Given the rows and the point, let D_i be the change without row i. It is the mean of M
independent differences, one for each pair of bags, with mean d_i and values in [-W, W]; so
P(|D_i| >= ε) <= c(|d_i|) + c(-|d_i|) <= c(|d_i|) + c(0), because c is non-decreasing. Sort the
rows by |d_i| and average over them: they are exchangeable. ∎

c(d) is Chernoff's bound. If the two bags of a pair are equal unless the first holds the removed
row (*coupled* bags), a difference is 0 with probability 1 - p at least. Convexity of the
exponential gives, for W = 1 and a, b = (p ± d)/2,

    E exp(λX) <= 1 - p + a exp(λ) + b exp(-λ),

and for other bags the same with 1 for p. The best λ solves a quadratic equation. The two bags of
a pair may depend on each other in any way; the pairs must be independent, as they are for equal
seeds and for independent ones.

The sum is taken over blocks of j, with the largest r_j of each block. Beyond 1,000 rows, and for
j far beyond δn, r_j comes from Theorem K: |d|_(j) <= W√(np/(4(n - 1)(1 - p)j)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.theory.bag_deviation import checked_bag, reach
from poise.theory.decimals import NOISE, ceiling
from poise.theory.subbagging import EXACT_UP_TO, largest

if TYPE_CHECKING:
    from poise.theory.binomial_law import Floats

__all__ = ["RandomBags", "bags_needed_chernoff"]

# Blocks of j: up to δn, to three times δn, and beyond. Theorem L is costly for large j.
_BLOCKS, _TIMES, _AT_LEAST = (32, 12, 12), 3, 32
_MOST_BAGS = 2**60


def bags_needed_chernoff(
    n: int, b: int, eps: float, delta: float, width: float = 1.0, coupled: bool = False
) -> int:
    """Compute a number of random bags that is enough by Theorem L and Chernoff's inequality.

    The smallest M with (1/n) Σ_j min{1, c(r_j) + c(0)} <= δ, where r_j bounds the j-th largest
    change with all bags and c(d) the probability that M bags move it from d to ε. It needs fewer
    bags than :func:`bags_needed` where δ is small, and allows larger ones: nearly those of
    :func:`largest_admissible_bag`. Theorem K replaces L beyond 1,000 rows.

    Parameters
    ----------
    n, b, eps, delta, width, coupled
        As in :func:`bags_needed`; one number each.

    Returns
    -------
    int
        Number of bags; 0 if no number is enough.

    Examples
    --------
    >>> from poise.theory import bags_needed
    >>> bags_needed_chernoff(200, 50, 0.1, 0.05), bags_needed(200, 50, 0.1, 0.05)
    (2960, 12310)
    >>> bags_needed_chernoff(200, 50, 0.1, 0.05, coupled=True)
    737
    >>> bags_needed_chernoff(200, 70, 0.1, 0.05), bags_needed(200, 70, 0.1, 0.05)
    (29377, 0)
    """
    rows = arguments.training_size(n)
    size = int(checked_bag(np.asarray(rows), arguments.scalar("b", b)))
    relative = float(arguments.epsilon(eps, "eps") / arguments.positive("width", width))
    share = size / rows if arguments.flag("coupled", coupled) else 1.0
    return RandomBags(rows, size, relative, float(arguments.delta(delta)), share).needed()


@dataclass(frozen=True)
class RandomBags:
    """Random bags of one size, and the changes that they may make.

    Parameters
    ----------
    n, b : int
        Training rows, and rows in a bag.
    relative : float
        ε as a share of the width of the base fits' range.
    delta : float
        The δ that is asked for; blocks are finest below it.
    share : float
        Largest probability that the two bags of a pair differ.
    """

    n: int
    b: int
    relative: float
    delta: float
    share: float

    def needed(self) -> int:
        """Count the bags that are enough for δ; 0 if no number is."""
        if not (self.relative and self.delta):
            return 0
        sizes, moved = self._blocks()

        def too_few(n_bags: int) -> bool:
            # A sum that equals δ but for rounding may be above it.
            return self._chance(n_bags, sizes, moved) > self.delta * (1 - NOISE)

        return 0 if too_few(_MOST_BAGS) else largest(_MOST_BAGS, too_few) + 1

    def reached(self, n_bags: int) -> float:
        """Compute the δ of this many bags."""
        return self._chance(n_bags, *self._blocks())

    @np.errstate(under="ignore")
    def _chance(self, n_bags: int, sizes: Floats, moved: Floats) -> float:
        if not self.relative:
            return 1.0
        each, still = (self._crosses(n_bags, d) for d in (moved, np.zeros(1)))
        return float(sizes @ np.minimum(1.0, each + still) / self.n)

    @np.errstate(under="ignore")
    def _crosses(self, n_bags: int, moved: Floats) -> Floats:
        """Bound the probability that a mean of differences with mean ``moved`` reaches ε."""
        e, p = min(self.relative, 1.0), self.share
        d = np.minimum(moved, e)
        a, b = (p + d) / 2, (p - d) / 2
        if e == 1.0:  # all differences must be 1
            return np.asarray(np.exp(n_bags * np.log(a)))
        root = np.sqrt((e * (1 - p)) ** 2 + 4 * a * b * (1 - e * e))
        s = np.maximum((e * (1 - p) + root) / (2 * a * (1 - e)), 1.0)
        exponent = e * np.log(s) - np.log1p(a * (s - 1) + b * (1 / s - 1))
        return np.asarray(np.exp(-n_bags * np.maximum(exponent, 0.0)))

    def _blocks(self) -> tuple[Floats, Floats]:
        """Divide 1 … n into blocks; return their sizes and the largest change in each."""
        at = max(1, int(ceiling(self.delta * self.n)))
        to = min(max(_TIMES * at, _AT_LEAST), self.n)
        near, middle, far = _BLOCKS
        parts = (
            np.linspace(1, at, near),
            np.geomspace(at, to, middle),
            np.geomspace(to, self.n, far),
        )
        starts = np.unique(np.concatenate(parts).round())
        sizes = np.diff(np.append(starts, self.n + 1))
        moved = [self.reach(int(j), exact=j <= to) for j in starts]
        return sizes, np.minimum.accumulate(moved)

    def reach(self, j: int, exact: bool = True) -> float:
        """Bound the j-th largest change, with all bags: by Theorem L, or else by Theorem K."""
        if exact and self.n <= EXACT_UP_TO:
            return reach(self.n, self.b, j)
        by_k = math.sqrt(self.b * self.n / (4 * (self.n - 1) * (self.n - self.b) * j))
        # No removal moves the average further than the share of the bags that hold the row.
        return min(by_k, self.b / self.n)
