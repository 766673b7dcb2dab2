"""The Binomial distribution, accurate to ten digits also in its tails.

With 1e9 trials, probabilities of 1e-9 or levels of 1e-12, the textbook pmf (a difference of
log-gammas of order 1e10) and ``1 - cdf`` lose every digit.  So the pmf is Loader's
saddle-point form, whose terms are all small, and each tail is computed directly.

Arguments are arrays (or scalars) that broadcast and are already checked:
``k`` successes out of ``m`` trials, each with probability ``p`` in [0, 1].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "NIL",
    "QUICK_TRIALS",
    "cdf",
    "log_pmf",
    "pmf",
    "quick_cdf",
    "quick_upper_tail",
    "upper_tail",
    "weighted_cdf",
]

Floats: TypeAlias = "NDArray[np.float64]"
Numbers: TypeAlias = "float | NDArray[Any]"

# log n! minus Stirling's main terms (n + 1/2) log n - n + log(2π)/2, for n = 0 … 15,
# from 40-digit arithmetic; the entry at 0 is never used.  Beyond 15 the asymptotic
# series below is exact to the last digit.
_STIRLING_TABLE = np.array(
    [
        0.0,
        0.08106146679532725822,
        0.04134069595540929409,
        0.02767792568499833915,
        0.02079067210376509311,
        0.01664469118982119216,
        0.01387612882307074800,
        0.01189670994589177010,
        0.01041126526197209650,
        0.00925546218271273292,
        0.00833056343336287126,
        0.00757367548795184079,
        0.00694284010720952987,
        0.00640899418800420707,
        0.00595137011275884774,
        0.00555473355196280137,
    ]
)


# Probabilities near the smallest double are as good as 0, and their inverses overflow.
NIL = 1e-300
# Up to this many trials scipy's fast functions are accurate to 1e-11 or better.
QUICK_TRIALS = 1e4
# Beyond this many times the mean, terms of the upper tail fall by this factor or more.
_FAR = 32


def _stirling_error(n: Floats) -> Floats:
    """Compute log n! - [(n + 1/2) log n - n + log(2π)/2] for whole n >= 1."""
    small = _STIRLING_TABLE[np.minimum(n, 15).astype(np.intp)]
    x = np.maximum(n, 1.0)
    s = 1.0 / (x * x)
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / x
    return np.where(n <= 15, small, series)


def _deviance_unit(t: Floats) -> Floats:
    """Compute (1 + t) log(1 + t) - t without cancellation near 0 (t > -1)."""
    v = t / (2 + t)
    w = v * v
    # 2 atanh(v) = log(1 + t); what is left of it beyond its first term
    rest = w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * (1 / 9 + w * (1 / 11 + w / 13)))))
    near = v * (t + 2 * (1 + t) * rest)
    return np.where(np.abs(t) < 0.1, near, (1 + t) * np.log1p(t) - t)


def log_pmf(k: Numbers, m: Numbers, p: Numbers) -> Floats:
    """Compute log P(Bin(m, p) = k) for 0 <= k <= m (Loader 2000)."""
    k, m, p = _of_one_shape(k, m, p)
    inside = (k > 0) & (k < m) & (p > NIL) & (p < 1)
    if inside.all():
        return _log_pmf_inside(k, m, p)
    k_, m_, p_ = np.where(inside, k, 1.0), np.where(inside, m, 2.0), np.where(inside, p, 0.5)
    return np.where(inside, _log_pmf_inside(k_, m_, p_), _log_pmf_at_the_ends(k, m, p))


def _of_one_shape(*numbers: Numbers) -> tuple[Floats, ...]:
    """Turn numbers into floats of one shape."""
    arrays = [np.asarray(x, dtype=np.float64) for x in numbers]
    if all(array.shape == arrays[0].shape for array in arrays):  # broadcasting takes longer
        return tuple(arrays)
    return np.broadcast_arrays(*arrays)


def _log_pmf_inside(k: Floats, m: Floats, p: Floats) -> Floats:
    """Compute the log-pmf where 0 < k < m and 0 < p < 1."""
    mean, mean_failures = m * p, m * (1 - p)
    # Both sides use one difference, computed on the rarer side, where rounding matters
    # least.
    excess = np.where(p < 0.5, k - mean, mean_failures - (m - k))
    deviance = mean * _deviance_unit(excess / mean)
    deviance += mean_failures * _deviance_unit(-excess / mean_failures)
    stirling = _stirling_error(m) - _stirling_error(k) - _stirling_error(m - k)
    return np.asarray(stirling - deviance - 0.5 * np.log(2 * np.pi * k * ((m - k) / m)))


def _log_pmf_at_the_ends(k: Floats, m: Floats, p: Floats) -> Floats:
    """Compute the log-pmf where k is 0 or m, or p is 0 or 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        none = np.where(m > 0, m * np.log1p(-p), 0.0)
        every = np.where(m > 0, m * np.log(p), 0.0)
    return np.where(k == 0, none, np.where(k == m, every, -np.inf))


@np.errstate(under="ignore")
def pmf(k: Numbers, m: Numbers, p: Numbers) -> Floats:
    """Compute P(Bin(m, p) = k) for 0 <= k <= m."""
    return np.exp(log_pmf(k, m, p))


@np.errstate(under="ignore")
def cdf(k: Numbers, m: Numbers, p: Numbers) -> Floats:
    """Compute P(Bin(m, p) <= k) for any whole k, also negative or beyond m."""
    from scipy import special

    k, m, p = _of_one_shape(k, m, p)
    inside = (k >= 0) & (k < m)
    tail = special.betaincc(np.where(inside, k + 1, 1.0), np.where(inside, m - k, 1.0), p)
    return np.where(inside, tail, np.where(k < 0, 0.0, 1.0))


@np.errstate(under="ignore")
def quick_cdf(k: Numbers, m: Numbers, p: Numbers) -> Floats:
    """Compute P(Bin(m, p) <= k) for 0 <= k < m faster, to 1e-12 up to QUICK_TRIALS trials.

    scipy runs ``betaincc`` in long doubles, ``betainc`` in doubles and five times faster;
    but it needs 1 - p, which rounds.
    """
    from scipy import special

    return np.asarray(special.betainc(m - k, k + 1, 1 - p), dtype=np.float64)


@np.errstate(under="ignore")
def quick_upper_tail(k: Numbers, m: Numbers, p: Numbers) -> Floats:
    """Compute P(Bin(m, p) >= k) for 0 < k <= m faster, to 1e-12 up to QUICK_TRIALS trials."""
    from scipy import special

    return np.asarray(special.betainc(k, m - k + 1, p), dtype=np.float64)


@np.errstate(under="ignore")
def weighted_cdf(
    k: Numbers, m: Numbers, p: Numbers, weight: Numbers, atom: Floats | None = None
) -> Floats:
    """Compute P(Bin(m, p) < k) + weight P(Bin(m, p) = k) for 0 <= k <= m, weight in [0, 1].

    The p-value (weight ζ) and the power (weight a*) of the test both have this form. Whoever
    knows P(Bin(m, p) = k) gives it as ``atom``.
    """
    # With weight 1 the two terms are one tail, which rounds once instead of three times.
    whole = np.asarray(weight) == 1
    if whole.ndim == 0 and whole:  # the plain test: no atom is needed
        return np.minimum(cdf(k, m, p), 1.0)
    atom = pmf(k, m, p) if atom is None else atom
    part = np.where(whole, 0.0, weight * atom)
    return np.minimum(cdf(np.where(whole, k, np.asarray(k) - 1), m, p) + part, 1.0)


@np.errstate(under="ignore")
def upper_tail(k: Numbers, m: Numbers, p: Numbers) -> Floats:
    """Compute P(Bin(m, p) >= k) for any whole k, also negative or beyond m.

    It is the lower tail of the m - k failures, whose probability 1 - p rounds.  The
    rounding error of 1 - p is known exactly, and the derivative corrects for it.  Far
    beyond the mean that is not accurate enough, and there a few terms of the sum are
    enough.
    """
    k, m, p = _of_one_shape(k, m, p)
    inside = (k > 0) & (k <= m) & (p > NIL)
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
