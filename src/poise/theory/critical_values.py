"""Critical counts of one-sided Binomial tests, for whole arrays at once.

The smallest count whose tail reaches the level is found by search.  The tail is
nearly linear on the normal scale, so a Cornish-Fisher start lands on the count or
next to it, and Newton steps on that scale correct the rest.  The search always keeps a
bracket, and the tail itself decides: the answer never depends on how good the approximation
was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from poise.theory import binomial_law, near_ties
from poise.theory.binomial_law import QUICK_TRIALS
from poise.theory.rounding import CLEARLY_APART
from poise.theory.scalars import pieces

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from poise.theory.binomial_law import Floats

    Indices: TypeAlias = NDArray[np.intp]
    # of (k, m, p): cumulative, or at one count
    _Law: TypeAlias = Callable[[Floats, Floats, Floats], Floats]

__all__ = ["EXCEEDANCES", "FAILURES", "Counted", "critical"]

# The tie probability is a difference: where it cancels two digits the tail is computed
# with care, and where it cancels six in decimal arithmetic.
_CLOSE = 1e-2
_NEAR_TIE = 1e-6
# Newton needs two or three rounds; if it does not converge, bisection takes over.
_NEWTON_ROUNDS = 8
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Counted:
    """What is counted out of m trials: those that exceed, or the m - B that do not.

    The mirror test is the test itself with the two exchanged.  Both are functions of
    the probability p of exceeding, because 1 - p would round.
    """

    cdf: _Law
    quick_cdf: _Law
    pmf: _Law
    failures: bool

    def mean(self, m: Floats, p: Floats) -> Floats:
        """Compute the expected count."""
        return m * (1 - p) if self.failures else m * p

    def odds(self, p: Floats) -> Floats:
        """Compute the odds of counting one trial."""
        return (1 - p) / np.maximum(p, _TINY) if self.failures else p / (1 - p)


EXCEEDANCES = Counted(binomial_law.cdf, binomial_law.quick_cdf, binomial_law.pmf, failures=False)
FAILURES = Counted(
    lambda j, m, p: binomial_law.upper_tail(m - j, m, p),
    lambda j, m, p: binomial_law.quick_upper_tail(m - j, m, p),
    lambda j, m, p: binomial_law.pmf(m - j, m, p),
    failures=True,
)


def critical(what: Counted, m: Floats, p: Floats, level: Floats) -> tuple[Floats, Floats]:
    """Find k* and a* in (0, 1] with P(count < k*) + a* P(count = k*) = level.

    The arguments are arrays of one shape; 0 <= p < 1, 0 < level < 1.
    """
    if m.size == 1:
        one = _critical_of_one(what, m.item(), p.item(), level.item())
        return np.full(m.shape, one[0]), np.full(m.shape, one[1])
    return _critical_of_many(what, m, p, level)


@lru_cache(maxsize=4096)
def _critical_of_one(what: Counted, m: float, p: float, level: float) -> tuple[float, float]:
    """Cache single questions: a test, a curtailed run and an audit ask them many times."""
    count, tie = _critical_of_many(what, np.array([m]), np.array([p]), np.array([level]))
    return float(count[0]), float(tie[0])


def _critical_of_many(what: Counted, m: Floats, p: Floats, level: Floats) -> tuple[Floats, Floats]:
    count, tie = np.empty(m.size), np.empty(m.size)
    p = np.where(p > binomial_law.NIL, p, 0.0)
    for where, piece in pieces(m.ravel(), p.ravel(), level.ravel()):
        count[where], tie[where] = _critical(what, *piece)
    return count.reshape(m.shape), tie.reshape(m.shape)


def _critical(what: Counted, m: Floats, p: Floats, level: Floats) -> tuple[Floats, Floats]:
    count, below, atom = _search(what, m, p, level)
    close = np.flatnonzero(level - below < _CLOSE * (below + atom))
    below[close] = what.cdf(count[close] - 1, m[close], p[close])
    tie = (level - below) / atom
    gap = np.minimum(np.abs(level - below), np.abs(level - below - atom))
    near = (gap < _NEAR_TIE * level) & (m <= near_ties.MOST_TRIALS) & (m > 0) & (p > 0)
    for i in np.flatnonzero(near):
        count[i], tie[i] = near_ties.settle(
            int(m[i]), float(p[i]), float(level[i]), int(count[i]), what.failures
        )
    return count, np.clip(tie, _TINY, 1.0)


def _search(what: Counted, m: Floats, p: Floats, level: Floats) -> tuple[Floats, Floats, Floats]:
    """Find the smallest k with P(count <= k) >= level; return k, P(count < k), P(count = k)."""
    from scipy import special

    bracket = _Bracket(m, atom=what.pmf(m, m, p))
    score, odds = special.ndtri(level), what.odds(p)
    proposal = _cornish_fisher(what.mean(m, p), m, score)
    active, rounds = bracket.still_open(np.arange(m.size)), 0
    while active.size:
        m_, p_, level_ = m[active], p[active], level[active]
        k = bracket.inside(active, proposal[active])
        reached, atom = _tail(what, k, m_, p_, level_), what.pmf(k, m_, p_)
        next_atom = atom * ((m_ - k) / (k + 1)) * odds[active]
        bracket.narrow(active, k, level_, reached, atom, next_atom)
        rounds += 1
        if rounds < _NEWTON_ROUNDS:
            proposal[active] = _newton(k, reached, atom, score[active])
        else:
            proposal[active] = bracket.middle(active)
        active = bracket.still_open(active)
    return bracket.high, np.where(bracket.high == 0, 0.0, bracket.below), bracket.atom


class _Bracket:
    """For each element counts low < k* <= high, with P(count <= low) and P(count = high)."""

    def __init__(self, m: Floats, atom: Floats) -> None:
        self.low, self.high = np.full(m.shape, -1.0), m.copy()
        self.below, self.atom = np.zeros(m.shape), atom

    def still_open(self, at: Indices) -> Indices:
        """Select the elements whose ends are not yet neighbours."""
        is_open: NDArray[np.bool_] = self.high[at] - self.low[at] > 1
        return at[is_open]

    def inside(self, at: Indices, k: Floats) -> Floats:
        """Move proposals strictly between the ends."""
        return np.clip(k, self.low[at] + 1, self.high[at] - 1)

    def middle(self, at: Indices) -> Floats:
        """Halve the brackets."""
        return np.floor((self.low[at] + self.high[at]) / 2)

    def narrow(
        self,
        at: Indices,
        k: Floats,
        level: Floats,
        reached: Floats,
        atom: Floats,
        next_atom: Floats,
    ) -> None:
        """Move one end to k, and the other next to it where a single atom settles it."""
        above = reached >= level
        is_k = above & (reached - atom + CLEARLY_APART * reached < level)
        is_next = ~above & (reached + next_atom > level * (1 + CLEARLY_APART))
        self.low[at] = np.where(is_k, k - 1, np.where(above, self.low[at], k))
        self.high[at] = np.where(is_next, k + 1, np.where(above, k, self.high[at]))
        below = np.where(above, self.below[at], reached)
        self.below[at] = np.where(is_k, reached - atom, below)
        last = np.where(above, atom, self.atom[at])
        self.atom[at] = np.where(is_next, next_atom, last)


def _tail(what: Counted, k: Floats, m: Floats, p: Floats, level: Floats) -> Floats:
    """Compute P(count <= k) quickly, and again with care where that might decide wrongly."""
    reached = what.quick_cdf(k, m, p)
    # Few trials: the quick tail decides, unless it is very close to the level.
    careful = np.flatnonzero((m > QUICK_TRIALS) | (np.abs(reached - level) < CLEARLY_APART * level))
    reached[careful] = what.cdf(k[careful], m[careful], p[careful])
    return reached


def _cornish_fisher(mean: Floats, m: Floats, score: Floats) -> Floats:
    """Approximate a quantile of the count from its mean, variance and skewness."""
    share = mean / np.maximum(m, 1)
    skewness = (1 - 2 * share) * (score * score - 1) / 6
    return np.ceil(mean + np.sqrt(mean * (1 - share)) * score + skewness - 0.5)


def _newton(k: Floats, reached: Floats, atom: Floats, score: Floats) -> Floats:
    """Step from k towards the level on the normal scale; stay where that is impossible."""
    from scipy import special

    with np.errstate(all="ignore"):
        here = special.ndtri(reached)
        density = np.exp(-0.5 * here * here) / np.sqrt(2 * np.pi)
        target = np.ceil(k + (score - here) * density / atom)
    return np.where(np.isnan(target), k, target)
