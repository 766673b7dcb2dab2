"""Critical counts of one-sided Binomial tests, for whole arrays at once.

The smallest count whose tail reaches the level is found by search.  The tail is
nearly linear on the normal scale, so a Cornish-Fisher start and one Newton step on
that scale land on the count or next to it.  A bracket is kept all along and the tail
itself has the last word: the answer never depends on how good the approximation was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.theory import law, ties

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from poise.theory.law import Floats

    # of (k, m, p): cumulative, or at one count
    _Law: TypeAlias = Callable[[Floats, Floats, Floats], Floats]

__all__ = ["EXCEEDANCES", "FAILURES", "Counted", "critical"]

# A neighbour's tail found by adding one atom is trusted only this far from the level.
_CLEAR = 1e-9
# Newton needs two or three rounds; should it ever wander, bisection takes over.
_NEWTON_ROUNDS = 8
# Doubles give the tie probability to ten digits unless level and cdf are this close.
_NEAR_TIE = 1e-6
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Counted:
    """What is counted out of m trials: those that exceed, or the m - B that do not.

    The mirror test is the test itself with the two exchanged.  Both are functions of
    the probability p of exceeding, because 1 - p would round.
    """

    cdf: _Law
    pmf: _Law
    failures: bool

    def mean(self, m: Floats, p: Floats) -> Floats:
        """Compute the expected count."""
        return m * (1 - p) if self.failures else m * p

    def odds(self, p: Floats) -> Floats:
        """Compute the odds of counting one trial."""
        return (1 - p) / np.maximum(p, _TINY) if self.failures else p / (1 - p)


def _failures_cdf(j: Floats, m: Floats, p: Floats) -> Floats:
    return law.upper_tail(m - j, m, p)


def _failures_pmf(j: Floats, m: Floats, p: Floats) -> Floats:
    return law.pmf(m - j, m, p)


EXCEEDANCES = Counted(law.cdf, law.pmf, failures=False)
FAILURES = Counted(_failures_cdf, _failures_pmf, failures=True)


def critical(what: Counted, m: Floats, p: Floats, level: Floats) -> tuple[Floats, Floats]:
    """Find k* and a* in (0, 1] with P(count < k*) + a* P(count = k*) = level.

    All arguments are flat arrays of one length; 0 <= p < 1, 0 < level < 1.
    """
    count = _smallest(what, m, p, level)
    below, atom = what.cdf(count - 1, m, p), what.pmf(count, m, p)
    tie = (level - below) / atom
    gap = np.minimum(np.abs(level - below), np.abs(level - below - atom))
    near = (gap < _NEAR_TIE * level) & (m <= ties.LARGEST) & (m > 0) & (p > 0)
    for i in np.flatnonzero(near):
        count[i], tie[i] = ties.settle(
            int(m[i]), float(p[i]), float(level[i]), int(count[i]), what.failures
        )
    return count, np.clip(tie, _TINY, 1.0)


def _smallest(what: Counted, m: Floats, p: Floats, level: Floats) -> Floats:
    """Find the smallest k with P(count <= k) >= level."""
    from scipy import special

    low, high = np.full(m.shape, -1.0), m.copy()
    odds, score = what.odds(p), special.ndtri(level)
    proposal = _cornish_fisher(what.mean(m, p), m, score)
    active = np.flatnonzero(high - low > 1)
    rounds = 0
    while active.size:
        low_, high_, m_, p_ = low[active], high[active], m[active], p[active]
        k = np.clip(proposal[active], low_ + 1, high_ - 1)
        reached, atom = what.cdf(k, m_, p_), what.pmf(k, m_, p_)
        next_atom = atom * ((m_ - k) / (k + 1)) * odds[active]
        low_, high_ = _narrow(k, reached, atom, next_atom, level[active], low_, high_)
        rounds += 1
        middle = np.floor((low_ + high_) / 2)
        ahead = _newton(k, reached, atom, score[active]) if rounds < _NEWTON_ROUNDS else middle
        low[active], high[active], proposal[active] = low_, high_, ahead
        active = active[high_ - low_ > 1]
    return high


def _cornish_fisher(mean: Floats, m: Floats, score: Floats) -> Floats:
    """Approximate a quantile of the count from its mean, variance and skewness."""
    share = mean / np.maximum(m, 1)
    skewness = (1 - 2 * share) * (score * score - 1) / 6
    return np.ceil(mean + np.sqrt(mean * (1 - share)) * score + skewness - 0.5)


def _narrow(
    k: Floats,
    reached: Floats,
    atom: Floats,
    next_atom: Floats,
    level: Floats,
    low: Floats,
    high: Floats,
) -> tuple[Floats, Floats]:
    """Move the bracket to k, or to k and its neighbour where one more atom settles it."""
    above: NDArray[np.bool_] = reached >= level
    k_is_first = above & (reached - atom < level * (1 - _CLEAR))
    next_is_first = ~above & (reached + next_atom > level * (1 + _CLEAR))
    low = np.where(k_is_first, k - 1, np.where(above, low, k))
    high = np.where(next_is_first, k + 1, np.where(above, k, high))
    return low, high


def _newton(k: Floats, reached: Floats, atom: Floats, score: Floats) -> Floats:
    """Step from k towards the level on the normal scale; stay where that is impossible."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        here = special.ndtri(reached)
        density = np.exp(-0.5 * here * here) / np.sqrt(2 * np.pi)
        target = np.ceil(k + (score - here) * density / atom)
    return np.where(np.isnan(target), k, target)
