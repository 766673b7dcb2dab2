"""How much the averaged test bets at each trial.

The hedge bets as a Binomial test would bet that has only the *remaining* trials and whose
level is the *current* value u.  An exceedance counts v instead of 1.  Let (k, a) be the
critical value of the randomised Binomial test with r trials at p = δ/v and level w; the
fraction is proportional to

    (1 − a) b(k − 1; r − 1, p) + a b(k; r − 1, p),        b(j; r, p) = P(Bin(r, p) = j),

which is what one exceedance costs that test.  The mirror bets as the mirror test does, so
it counts the trials that do *not* exceed.

The fraction affects power only: the averaged test is valid with any fraction in [0, 1] that
is chosen before its share is seen.  So ordinary floats are accurate enough here, and a
fraction that they cannot represent becomes 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise import arguments
from poise.theory.rounding import less_rounding
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats
    from poise.theory.scalars import FloatOrArray

__all__ = ["fraction", "mirror_fraction"]

# The spread v starts from five imaginary trials whose share is 0 or 1.  With fewer of them,
# power is lost if a share of 1 is rare but possible.  With more, the test learns too late
# that shares are fractions.
_PRETENDED_TRIALS = 5.0
# The test aims a little beyond 1, so that the values end above 1 and not just below it.
_SURPLUS = 0.1
# Below this level the test cannot accept any more, and the Binomial probabilities
# underflow.
_HOPELESS = 1e-200
# A fraction this close to 1 differs from 1 only by rounding.  With 1, a share of 1 leaves
# exactly 0.
_ALL = 1 - 1e-12
# Steps from count to count are cheap, but their rounding errors add up.  After more than a
# few steps, or where little is left of the tail, the tail is computed again.
_FEW_STEPS = 3
_CANCELLED = 0.01
_MAX_STEPS = 1000
_MAX_LOOKS = 8
_TINY = 1e-290


def fraction(
    u: ArrayLike,
    trials_left: ArrayLike,
    sum: ArrayLike,
    sum_of_squares: ArrayLike,
    delta: ArrayLike,
) -> FloatOrArray:
    """Compute the fraction c that the hedge bets on the next trial.

    On shares that are all 0 or 1 the hedge is then the randomised Binomial test
    (Theorem C(b)); where u ≤ (1 − δ)^r it is 1, which no strategy beats (Theorem C(c)).
    Validity does not depend on it (Theorem A): a poor fraction costs power only.

    Parameters
    ----------
    u : float or array, at least 0
        Current value of the process.
    trials_left : int or array of int, at least 1
        Trials still to come, the next one included.
    sum, sum_of_squares : float or array, at least 0
        Σ S and Σ S² over the trials seen so far.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float or ndarray of float
        c in [0, 1].

    Examples
    --------
    >>> round(fraction(0.05, 100, 0.0, 0.0, delta=0.1), 4)
    0.5677
    >>> fraction(0.05, 10, 0.0, 0.0, delta=0.1)  # too few trials left for anything but 1
    1.0
    """
    return _checked_fraction(False, u, trials_left, sum, sum_of_squares, delta)


def mirror_fraction(
    u: ArrayLike,
    trials_left: ArrayLike,
    sum: ArrayLike,
    sum_of_squares: ArrayLike,
    delta: ArrayLike,
) -> FloatOrArray:
    """Compute the fraction c that the mirror bets on the next trial.

    The mirror collects evidence for δ* > δ.  On shares that are all 0 or 1 it is the
    randomised mirror test; validity does not depend on the fraction.

    Parameters
    ----------
    u : float or array, at least 0
        Current value of the mirror's process.
    trials_left : int or array of int, at least 1
        Trials still to come, the next one included.
    sum, sum_of_squares : float or array, at least 0
        Σ S and Σ S² over the trials seen so far.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float or ndarray of float
        c in [0, 1].

    Examples
    --------
    >>> round(mirror_fraction(0.05, 100, 0.0, 0.0, delta=0.1), 4)
    0.073
    """
    return _checked_fraction(True, u, trials_left, sum, sum_of_squares, delta)


def _checked_fraction(mirror: bool, *state: ArrayLike) -> FloatOrArray:
    u, left, s1, s2, p = np.broadcast_arrays(*state)
    left, p = arguments.count("trials_left", left, 1).astype(np.float64), arguments.delta(p)
    u, s1, s2 = (np.asarray(x, dtype=np.float64) for x in (u, s1, s2))
    if not u.ndim:
        return fraction_of_one(mirror, u.item(), left.item(), s1.item(), s2.item(), p.item())
    return plain(fraction_of_many(mirror, u, left, s1, s2, p))


def fraction_of_one(
    mirror: bool, u: float, left: float, s1: float, s2: float, delta: float
) -> float:
    """Compute one fraction from checked floats; thousands of trials need it fast."""
    if u >= 1:
        return 0.0
    if delta == 0 or less_rounding(u) <= (delta if mirror else 1 - delta) ** left:
        return 1.0
    v = (_PRETENDED_TRIALS * delta + s2) / (_PRETENDED_TRIALS * delta + s1)
    if v <= delta:
        if not mirror:
            return 1.0
        v = 1.0
    p, level = delta / v, u / (1 + _SURPLUS * (1 - v))
    counted, other = (1 - p, p) if mirror else (p, 1 - p)
    if not (level >= _HOPELESS and counted > 0 and other > 0):
        return 1.0
    c = (delta if mirror else 1 - delta) * _price_of_one(left, counted, other, level) / (v * level)
    return c if 0 <= c < _ALL else (0.0 if c < 0 else 1.0)  # nan becomes 1


def _price_of_one(r: float, p: float, q: float, level: float) -> float:
    """Compute (1 − a) b(k−1; r−1, p) + a b(k; r−1, p), where q = 1 − p; nan if out of reach."""
    from scipy.special import betainc, ndtri

    k = _start(r, p, q, level, ndtri)
    for _ in range(_MAX_LOOKS):
        log_choose = math.lgamma(r + 1) - math.lgamma(k + 1) - math.lgamma(r - k + 1)
        atom = math.exp(log_choose + k * math.log(p) + (r - k) * math.log(q))
        if atom < _TINY:
            k = _likeliest(r, p)  # the search goes on from there
            continue
        reached = float(betainc(r - k, k + 1, q)) if k < r else 1.0
        start, reached_there = k, reached
        while reached < level and k < r and k - start < _MAX_STEPS:
            k, atom = k + 1, atom * (r - k) / (k + 1) * p / q
            reached += atom
        while reached - atom >= level and k > 0 and start - k < _MAX_STEPS:
            k, atom, reached = k - 1, atom * k / (r - k + 1) * q / p, reached - atom
        if abs(k - start) <= _FEW_STEPS and reached > _CANCELLED * reached_there:
            tie = min(max((level - reached + atom) / atom, 0.0), 1.0)
            return atom * ((1 - tie) * k / (r * p) + tie * (r - k) / (r * q))
    return math.nan


def _likeliest(r: float, p: float) -> float:
    return min(float(math.floor((r + 1) * p)), r)


def _start(r: float, p: float, q: float, level: float, ndtri: Callable[[float], float]) -> float:
    """Guess the critical count, a whole number from 0 to r."""
    root = math.sqrt(r * p * q)
    if root < _FEW_STEPS:
        return _likeliest(r, p)
    guess = _cornish_fisher(r, p, q, float(ndtri(level)), root)
    return float(min(max(math.ceil(guess), 0), r))


def _cornish_fisher(
    r: FloatOrArray, p: FloatOrArray, q: FloatOrArray, score: FloatOrArray, root: FloatOrArray
) -> FloatOrArray:
    """Approximate a quantile of Bin(r, p) from its first four moments; root is its deviation."""
    z2, skewed = score * score, q - p
    flat = (1 - 6 * p * q) * (z2 - 3) / 24 - skewed * skewed * (2 * z2 - 5) / 36
    return r * p + root * score + skewed * (z2 - 1) / 6 + score * flat / root - 0.5


class _Bets(NamedTuple):
    """The Binomial tests whose prices are wanted: trials, probabilities p and 1 − p, levels."""

    r: Floats
    p: Floats
    q: Floats
    level: Floats


@np.errstate(under="ignore")
def fraction_of_many(
    mirror: bool, u: Floats, left: Floats, s1: Floats, s2: Floats, delta: Floats
) -> Floats:
    """Compute many fractions at once, for the estimates that run many processes side by side."""
    c, won = np.where(u >= 1, 0.0, 1.0), delta if mirror else 1 - delta
    at = np.nonzero((u < 1) & (delta > 0) & (less_rounding(u) > won**left))
    if not at[0].size:
        return c
    u, left, s1, s2, delta, won = (x[at] for x in (u, left, s1, s2, delta, won))
    v = (_PRETENDED_TRIALS * delta + s2) / (_PRETENDED_TRIALS * delta + s1)
    small, v = v <= delta, np.where(v <= delta, 1.0, v)
    p, level = delta / v, u / (1 + _SURPLUS * (1 - v))
    counted, other = (1 - p, p) if mirror else (p, 1 - p)
    usual = (mirror | ~small) & (level >= _HOPELESS) & (counted > 0) & (other > 0)
    bets = _Bets(*(np.where(usual, x, 0.5) for x in (left, counted, other, level)))
    with np.errstate(all="ignore"):  # at the ends of the number range; what is nan becomes 1
        prices = won * _prices(bets) / (v * level)
    c[at] = np.where(usual & (prices < _ALL), np.maximum(prices, 0.0), 1.0)
    return c


def _prices(bets: _Bets) -> Floats:
    """Do for arrays what :func:`_price_of_one` does for one."""
    from scipy.special import betainc, ndtri

    r, p, q, level = bets
    root, likeliest = np.sqrt(r * p * q), np.minimum(np.floor((r + 1) * p), r)
    guess = np.clip(np.ceil(_cornish_fisher(r, p, q, ndtri(level), np.maximum(root, 1.0))), 0, r)
    k, settled = np.where(root < _FEW_STEPS, likeliest, guess), np.zeros(r.shape, dtype=bool)
    for _ in range(_MAX_LOOKS):
        atom = _pmf(k, r, p, q)
        k = np.where(atom < _TINY, likeliest, k)
        atom = np.where(atom < _TINY, _pmf(k, r, p, q), atom)
        reached = np.where(k < r, betainc(np.maximum(r - k, 1.0), k + 1, q), 1.0)
        start, reached_there = k, reached
        k, atom, reached = _walk(bets, k, atom, reached)
        settled = (np.abs(k - start) <= _FEW_STEPS) & (reached > _CANCELLED * reached_there)
        if settled.all():
            break
    tie = np.clip((level - reached + atom) / np.maximum(atom, _TINY), 0.0, 1.0)
    prices = atom * ((1 - tie) * k / (r * p) + tie * (r - k) / (r * q))
    return np.where(settled, prices, np.nan)


def _walk(bets: _Bets, k: Floats, atom: Floats, reached: Floats) -> tuple[Floats, Floats, Floats]:
    """Step from count to count until P(Bin < k) < level ≤ P(Bin ≤ k)."""
    r, p, q, level = bets
    for _ in range(_MAX_STEPS):
        up = (reached < level) & (k < r)
        down = (reached - atom >= level) & (k > 0)
        if not (up.any() or down.any()):
            break
        below = np.where(down, reached - atom, reached)
        ratio = np.where(up, (r - k) / (k + 1) * p / q, k / (r - k + 1) * q / p)
        atom = np.where(up | down, atom * ratio, atom)
        k = k + up - down
        reached = np.where(up, reached + atom, below)
    return k, atom, reached


def _pmf(k: Floats, r: Floats, p: Floats, q: Floats) -> Floats:
    from scipy.special import gammaln, xlogy

    log_choose = gammaln(r + 1) - gammaln(k + 1) - gammaln(r - k + 1)
    return np.asarray(np.exp(log_choose + xlogy(k, p) + xlogy(r - k, q)))
