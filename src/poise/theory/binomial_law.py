"""The Binomial distribution with ten digits, also far out, and its critical values.

With 1e9 trials, probabilities of 1e-9 or levels of 1e-12 a pmf by log-gammas and ``1 - cdf`` lose
every digit. Here the pmf is Loader's saddle-point form, and each tail is computed directly.

Arguments are arrays (or numbers) that broadcast and are already checked: ``k`` out of ``m``
trials, each with probability ``p``. Whatever rounding is granted anywhere stands here too.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, gammaln, ndtri, xlog1py, xlogy

Floats = NDArray[np.float64]

# Rounding. Numbers a user writes are decimals: 0.29 * 100 means 29, although doubles say less.
NOISE = 1e-12
# A process that reaches 1 in exact arithmetic may miss it by this much, which costs a factor
# 1 + 1e-9 of the level. Binomial counts are compared exactly.
ONE = 1 - 1e-9


def floor(value: ArrayLike) -> NDArray[np.int64]:
    """Round non-negative numbers down, except those that only noise keeps below an integer."""
    return np.floor(np.asarray(value) * (1 + NOISE)).astype(np.int64)


def ceiling(value: ArrayLike) -> NDArray[np.int64]:
    """Round non-negative numbers up, except those that only noise puts above an integer."""
    return np.ceil(np.asarray(value) * (1 - NOISE)).astype(np.int64)


def plain(array: Any) -> Any:
    """Turn an array without dimensions into a Python number: scalars in, scalars out."""
    return array if np.ndim(array) else np.asarray(array).item()


# The law.

_TINY = np.finfo(np.float64).tiny
_NIL = 1e-300  # probabilities below are 0: their inverses overflow
_FAR = 32  # times the mean; from there on the terms of an upper tail fall by this factor


@np.errstate(under="ignore")
def pmf(k: ArrayLike, m: ArrayLike, p: ArrayLike) -> Floats:
    """Compute P(Bin(m, p) = k) for 0 <= k <= m (Loader 2000)."""
    k, m, p = _floats(k, m, p)
    inside = (k > 0) & (k < m) & (p > _NIL) & (p < 1)
    ends = np.where(k == 0, xlog1py(m, -p), np.where(k == m, xlogy(m, p), -np.inf))
    usual = np.where(inside, k, 1.0), np.where(inside, m, 2.0), np.where(inside, p, 0.5)
    return np.exp(np.where(inside, _log_pmf_inside(*usual), ends))


def _floats(*numbers: ArrayLike) -> tuple[Floats, ...]:
    return np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in numbers))


def _log_pmf_inside(k: Floats, m: Floats, p: Floats) -> Floats:
    mean, mean_rest = m * p, m * (1 - p)
    # one difference for both sides, formed where rounding matters least: on the rarer side
    excess = np.where(p < 0.5, k - mean, mean_rest - (m - k))
    deviance = mean * _deviance(excess / mean) + mean_rest * _deviance(-excess / mean_rest)
    stirling = _stirling_error(m) - _stirling_error(k) - _stirling_error(m - k)
    return np.asarray(stirling - deviance - 0.5 * np.log(2 * np.pi * k * ((m - k) / m)))


def _stirling_error(n: Floats) -> Floats:
    """Compute log n! - [(n + 1/2) log n - n + log(2π)/2] for whole n >= 1."""
    s = 1.0 / (n * n)
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / n
    exact = gammaln(n + 1) - (n + 0.5) * np.log(n) + n - 0.5 * math.log(2 * math.pi)
    return np.where(n <= 15, exact, series)


def _deviance(t: Floats) -> Floats:
    """Compute (1 + t) log(1 + t) - t without cancellation near 0 (t > -1)."""
    v = t / (2 + t)
    w = v * v  # log(1 + t) is 2 atanh(v): a series in v
    rest = w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * (1 / 9 + w * (1 / 11 + w / 13)))))
    near = v * (t + 2 * (1 + t) * rest)
    return np.where(np.abs(t) < 0.1, near, (1 + t) * np.log1p(t) - t)


@np.errstate(under="ignore")
def cdf(k: ArrayLike, m: ArrayLike, p: ArrayLike) -> Floats:
    """Compute P(Bin(m, p) <= k) for any whole k, also negative or beyond m."""
    k, m, p = _floats(k, m, p)
    inside = (k >= 0) & (k < m)
    tail = betaincc(np.where(inside, k + 1, 1.0), np.where(inside, m - k, 1.0), p)
    return np.where(inside, tail, np.where(k < 0, 0.0, 1.0))


@np.errstate(under="ignore")
def weighted_cdf(k: ArrayLike, m: ArrayLike, p: ArrayLike, weight: ArrayLike) -> Floats:
    """Compute P(Bin(m, p) < k) + weight P(Bin(m, p) = k) for 0 <= k <= m."""
    k, m, p, weight = _floats(k, m, p, weight)
    whole = weight == 1  # then it is one tail, which rounds once
    part = np.where(whole, 0.0, weight * pmf(k, m, p))
    return np.minimum(cdf(np.where(whole, k, k - 1), m, p) + part, 1.0)


@np.errstate(under="ignore")
def upper_tail(k: ArrayLike, m: ArrayLike, p: ArrayLike) -> Floats:
    """Compute P(Bin(m, p) >= k) for any whole k, also negative or beyond m.

    It is the lower tail of the m - k others, whose probability 1 - p rounds: the derivative
    corrects for that. Far beyond the mean a few terms of the sum are more accurate.
    """
    k, m, p = _floats(k, m, p)
    inside = (k > 0) & (k <= m) & (p > _NIL)
    k_, m_, p_ = np.where(inside, k, 1.0), np.where(inside, m, 1.0), np.where(inside, p, 0.5)
    far = inside & (m_ * p_ * _FAR < k_)
    atom, q = pmf(k_, m_, p_), 1 - p_
    corrected = (p_ - (1 - q)) * (k_ / np.where(far, 1.0, p_)) * atom
    corrected = np.clip(cdf(m_ - k_, m_, q) + corrected, 0.0, 1.0)
    tail = np.where(far, atom * _sum_upwards(k_, m_, p_), corrected)
    return np.where(inside, tail, np.where(k <= 0, 1.0, 0.0))


def _sum_upwards(k: Floats, m: Floats, p: Floats) -> Floats:
    """Compute P(Bin >= k) / P(Bin = k) for k > _FAR m p, where ten terms are plenty."""
    odds, total = p / np.maximum(1 - p, 0.5), np.ones_like(k)
    for j in range(10, -1, -1):
        total = 1 + total * np.maximum(m - k - j, 0) / (k + j + 1) * odds
    return total


# Critical values.


Part = Callable[[Floats, Floats, Floats, Floats], Floats]  # of k, m, p and q = 1 - p
Law = tuple[Part, Part]  # the cdf and the pmf of what is counted

EXCEEDING: Law = (lambda k, m, p, q: cdf(k, m, p), lambda k, m, p, q: pmf(k, m, p))
# Trials that do not exceed: only the probability q of the others is exact.
NOT_EXCEEDING: Law = (
    lambda k, m, p, q: upper_tail(m - k, m, q),
    lambda k, m, p, q: pmf(m - k, m, q),
)
# Several times faster and good to 1e-12 up to 1e4 trials: all that the averaged test needs.
QUICK: Law = (
    lambda k, m, p, q: np.where(k < m, betainc(np.maximum(m - k, 1.0), k + 1, q), 1.0),
    lambda k, m, p, q: np.exp(
        gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1) + xlogy(k, p) + xlogy(m - k, q)
    ),
)


@np.errstate(all="ignore")
def search(
    m: Floats, p: Floats, q: Floats, level: Floats, law: Law
) -> tuple[Floats, Floats, Floats]:
    """Find the smallest k with P(count <= k) >= level; return k, P(count < k), P(count = k).

    The logarithm of the tail is concave, so Newton steps upwards never go too far.
    """
    sd, rising = np.sqrt(m * p * q), np.zeros(np.shape(m), dtype=bool)
    z = ndtri(level)
    k = np.ceil(m * p + sd * z + (q - p) * (z * z - 1) / 6 - 0.5)  # Cornish and Fisher's quantile
    k = np.clip(np.nan_to_num(k), 0, m)
    for _ in range(100):
        tail, atom = (part(k, m, p, q) for part in law)
        below = np.where(k > 0, tail - atom, 0.0)
        up, down = (tail < level) & (k < m), (below >= level) & (k > 0) & ~rising
        if not (up | down).any():
            break
        rising |= up
        step = np.log(level / tail) / np.log(tail / below)
        step = np.where(np.isfinite(step), step, np.where(up, sd, -sd))
        step = np.where(up, np.maximum(np.floor(step), 1), np.minimum(np.ceil(step), -1))
        k = np.clip(np.where(up | down, k + step, k), 0, m)
    return k, below, atom


_NEAR_TIE = 1e-6  # where a* is a difference that cancels six digits, decimals settle it
_MOST_SETTLED = 4096  # trials; beyond, an atom is so small a part of the level that doubles do


def critical_values(
    m: ArrayLike, p: ArrayLike, level: ArrayLike, *, mirror: bool = False
) -> tuple[NDArray[np.int64], Floats]:
    """Find k* and a* in (0, 1] with P(count < k*) + a* P(count = k*) = level.

    Trials that exceed are counted, each with probability p; with ``mirror`` those that do not.
    """
    shaped = _floats(m, p, level)
    shape, one = shaped[0].shape, shaped[0].size == 1
    of = _of_one(*(each.item() for each in shaped), mirror) if one else _of_all(shaped, mirror)
    k, a = (np.array(each).reshape(shape) for each in of)
    return k.astype(np.int64), a


@lru_cache(maxsize=1024)
def _of_one(m: float, p: float, level: float, mirror: bool) -> tuple[Floats, Floats]:
    """Remember those of one test: every number of a result asks for them again."""
    return _of_all(_floats([m], [p], [level]), mirror)


def _of_all(shaped: tuple[Floats, ...], mirror: bool) -> tuple[Floats, Floats]:
    m, p, level = (each.ravel() for each in shaped)
    known = (p < _NIL) | (m == 0)  # nothing is random: k* is sure, and a* the level
    usual = np.where(known, 0.5, p)
    law = NOT_EXCEEDING if mirror else EXCEEDING
    p_, q_ = (1 - usual, usual) if mirror else (usual, 1 - usual)
    k, below, atom = search(m, p_, q_, level, law)
    gap = np.minimum(np.abs(level - below), np.abs(level - below - atom))
    near = (gap < _NEAR_TIE * level) & (m <= _MOST_SETTLED) & ~known
    a = (level - below) / atom
    for i in np.flatnonzero(near):
        k[i], a[i] = _settled(int(m[i]), float(p[i]), float(level[i]), int(k[i]), mirror)
    k = np.where(known, m if mirror else 0.0, k)
    return k, np.clip(np.where(known, level, a), _TINY, 1.0)


# Different values of a cdf never come this close; the sums below are accurate to 1e-56.
_EQUAL = Decimal("1e-50")


def _settled(m: int, p: float, level: float, guess: int, mirror: bool) -> tuple[int, float]:
    """Find k* and a* next to ``guess``, where the level nearly equals a value of the cdf.

    An exact tie (δ = 1/2, α = 1/2, odd m is one) may lie on either side of it in doubles.
    """
    with localcontext() as context:
        context.prec = 60
        p_, wanted = 1 - Decimal(p) if mirror else Decimal(p), Decimal(level)
        atoms = [
            math.comb(m, k) * p_**k * (1 - p_) ** (m - k) for k in range(min(guess + 1, m) + 1)
        ]
        cdf = list(accumulate(atoms))
        k = bisect_left(cdf, wanted * (1 - _EQUAL), hi=len(cdf) - 1)
        return k, float(min(Decimal(1), (wanted - cdf[k]) / atoms[k] + 1))
