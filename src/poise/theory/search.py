"""Invert a Binomial tail over the counts, for whole arrays at once.

The tail is nearly linear on the normal scale, so a Cornish-Fisher start and one
Newton step on that scale land on the count or next to it.  A bracket is kept
all along and the tail itself has the last word, so the answer never depends on
how good the approximation was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.theory import law

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from poise.theory.law import Floats

    # of (k, m, p): cumulative, or at one count
    _Law: TypeAlias = Callable[[Floats, Floats, Floats], Floats]

__all__ = ["lower_count", "upper_failures"]

# A neighbour's tail found by adding one atom is trusted only this far from the level.
_CLEAR = 1e-9
# Newton needs two or three rounds; should it ever wander, bisection takes over.
_NEWTON_ROUNDS = 8


def lower_count(m: Floats, p: Floats, level: Floats) -> Floats:
    """Find the smallest k with P(Bin(m, p) <= k) >= level."""
    return _smallest(law.cdf, law.pmf, m, p, level, mean=m * p, odds=p / (1 - p))


def upper_failures(m: Floats, p: Floats, level: Floats) -> Floats:
    """Find the smallest j with P(Bin(m, p) >= m - j) >= level."""

    def tail(j: Floats, m: Floats, p: Floats) -> Floats:
        return law.upper_tail(m - j, m, p)

    def atom(j: Floats, m: Floats, p: Floats) -> Floats:
        return law.pmf(m - j, m, p)

    odds = np.where(p > 0, (1 - p) / np.maximum(p, np.finfo(np.float64).tiny), 0.0)
    return _smallest(tail, atom, m, p, level, mean=m * (1 - p), odds=odds)


def _smallest(
    tail: _Law, atom: _Law, m: Floats, p: Floats, level: Floats, *, mean: Floats, odds: Floats
) -> Floats:
    """Find the smallest k with tail(k) >= level; all arguments are flat arrays."""
    from scipy import special

    low, high = np.full(m.shape, -1.0), m.copy()
    score = special.ndtri(level)
    proposal = _cornish_fisher(mean, p, m, score)
    active = np.flatnonzero(high - low > 1)
    rounds = 0
    while active.size:
        k = np.clip(proposal[active], low[active] + 1, high[active] - 1)
        m_, p_, level_ = m[active], p[active], level[active]
        reached, mass = tail(k, m_, p_), atom(k, m_, p_)
        above = reached >= level_
        high[active] = np.where(above, k, high[active])
        low[active] = np.where(above, low[active], k)
        # The neighbours' tails differ by one atom: often that settles it.
        clear_below = above & (reached - mass < level_ * (1 - _CLEAR))
        next_mass = mass * ((m_ - k) / (k + 1)) * odds[active]
        clear_above = ~above & (reached + next_mass > level_ * (1 + _CLEAR))
        low[active] = np.where(clear_below, k - 1, low[active])
        high[active] = np.where(clear_above, k + 1, high[active])
        rounds += 1
        if rounds < _NEWTON_ROUNDS:
            proposal[active] = _newton(k, reached, mass, score[active], above)
        else:
            proposal[active] = np.floor((low[active] + high[active]) / 2)
        active = active[high[active] - low[active] > 1]
    return high


def _cornish_fisher(mean: Floats, p: Floats, m: Floats, score: Floats) -> Floats:
    """Approximate the quantile from mean, variance and skewness."""
    spread = np.sqrt(m * p * (1 - p))
    skew = (1 - 2 * mean / np.maximum(m, 1)) * (score * score - 1) / 6
    return np.ceil(mean + spread * score + skew - 0.5)


def _newton(
    k: Floats, reached: Floats, mass: Floats, score: Floats, above: NDArray[np.bool_]
) -> Floats:
    """Step from k towards the level on the normal scale; stay where that is impossible."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        here = special.ndtri(reached)
        density = np.exp(-0.5 * here * here) / np.sqrt(2 * np.pi)
        target = np.ceil(k + (score - here) * density / mass)
    target = np.where(np.isnan(target), k, target)
    # k itself is known by now: look at the neighbour on the open side instead
    return np.where(above, np.minimum(target, k - 1), np.maximum(target, k + 1))
