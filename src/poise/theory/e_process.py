"""E-processes: evidence that may be examined after every trial.

With no fixed number of trials, E_t(δ) compares the exceedances seen so far with δ,
averaging the likelihood over all smaller probabilities q:

    E_t(δ) = (1/δ) ∫_0^δ q^B (1−q)^(t−B) dq / (δ^B (1−δ)^(t−B)).

For each q ≤ δ the ratio is a supermartingale if δ* ≥ δ, and so is their average:
E_t(δ) is an e-process for H0: δ* > δ, and by Ville's inequality P(E_t ≥ 1/α for some
t) ≤ α.  The integral is an upper tail of Bin(t+1, δ), so

    E_t(δ) = P(Bin(t+1, δ) ≥ B+1) / ((B+1) P(Bin(t+1, δ) = B+1)),

which grows with δ: the values that are not rejected form an interval [0, U_t).
If m trials are planned, φ_t/α is also such evidence, where φ_t is the chance that the full
test will accept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_law, binomial_test
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from poise.theory.binomial_law import Floats
    from poise.theory.scalars import FloatOrArray

__all__ = ["acceptance_martingale", "confidence_sequence", "e_value", "log_e_value"]

# Below this the upper tail nears underflow; further out the continued fraction is fast.
_FAR_TAIL = 1e-100
_SMALLEST_LOG_ODDS = -80.0  # δ = 2e-35: no smaller one is found
_LARGEST_LOG_ODDS = 36.0  # beyond it 1/(1 + exp(-x)) rounds to 1


def e_value(exceedances: ArrayLike, trials: ArrayLike, delta: ArrayLike) -> FloatOrArray:
    """Compute the evidence E_t(δ) that the algorithm is stable, valid at any time.

    P(E_t(δ) ≥ 1/α for some t) ≤ α whenever δ* > δ (Ville's inequality): declare stable
    once E_t ≥ 1/α, looking after every trial. A small value does not mean that the
    algorithm is unstable.

    Parameters
    ----------
    exceedances, trials : int or array of int
        B exceedances in the first t trials, taken in plan order.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float or ndarray of float
        E_t(δ) > 0; infinite where it exceeds the largest float.

    Examples
    --------
    >>> e_value(0, 0, delta=0.1)
    1.0
    >>> round(e_value(0, 60, delta=0.1), 2)
    91.08
    """
    with np.errstate(over="ignore", under="ignore"):
        return plain(np.asarray(np.exp(log_e_value(exceedances, trials, delta))))


def log_e_value(exceedances: ArrayLike, trials: ArrayLike, delta: ArrayLike) -> FloatOrArray:
    """Compute log E_t(δ), see :func:`e_value`; it does not overflow.

    Parameters
    ----------
    exceedances, trials : int or array of int
        B exceedances in the first t trials, taken in plan order.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> round(log_e_value(0, 100_000, delta=0.1), 1)
    10526.8
    """
    b, t = _checked(exceedances, trials)
    b, t, p = np.broadcast_arrays(b, t, arguments.delta(delta))
    return plain(_log_e(b, t, p))


def _checked(exceedances: ArrayLike, trials: ArrayLike) -> tuple[Floats, Floats]:
    b, t = np.broadcast_arrays(
        arguments.count("exceedances", exceedances), arguments.count("trials", trials)
    )
    if (b > t).any():
        first = np.flatnonzero(b > t)[0]
        raise ArgumentError(
            f"exceedances must be at most trials, got {b.flat[first]} of {t.flat[first]}"
        )
    return b.astype(np.float64), t.astype(np.float64)


@np.errstate(under="ignore")
def _log_e(b: Floats, t: Floats, p: Floats) -> Floats:
    """Log of tail over atom at B + 1 of Bin(t + 1, p), less log(B + 1)."""
    tail = binomial_law.upper_tail(b + 1, t + 1, p)
    far = tail < _FAR_TAIL
    log_tail = np.log(np.where(far, 1.0, tail))
    log_ratio = np.asarray(log_tail - binomial_law.log_pmf(b + 1, t + 1, p))
    if far.any():
        log_ratio[far] = np.log(_tail_over_atom(b[far] + 1, t[far] + 1, p[far]))
    return np.asarray(log_ratio - np.log(b + 1))


def _tail_over_atom(k: Floats, m: Floats, p: Floats) -> Floats:
    """P(Bin(m, p) ≥ k) / P(Bin(m, p) = k) far above the mean.

    It is (1 − p) ₂F₁(m + 1, 1; k + 1; p), by Gauss's continued fraction, which is
    evaluated from the front (modified Lentz) until nothing changes any more.
    """
    tiny = np.finfo(np.float64).tiny
    value = ratio = np.ones_like(p)
    inverse = np.zeros_like(p)
    for i in range(1, 10_000):
        term = -p * _gauss_coefficient(i, m + 1, k + 1)
        inverse = 1 / _away_from_zero(1 + term * inverse, tiny)
        ratio = _away_from_zero(1 + term / ratio, tiny)
        value = value * inverse * ratio
        if (np.abs(inverse * ratio - 1) < 1e-15).all():
            break
    return np.asarray((1 - p) / value)


def _gauss_coefficient(i: int, b: Floats, c: Floats) -> Floats:
    """Compute the i-th coefficient of Gauss's continued fraction of ₂F₁(b, 1; c; z)."""
    half, even = divmod(i, 2)
    top = half * (c - b + half - 1) if not even else (b + half) * (c + half - 1)
    return np.asarray(top / ((c + i - 2) * (c + i - 1)))


def _away_from_zero(x: Floats, tiny: float) -> Floats:
    return np.where(x == 0, tiny, x)


def confidence_sequence(
    exceedances: ArrayLike, trials: ArrayLike, alpha: ArrayLike
) -> FloatOrArray:
    """Compute upper limits U_t for δ* that hold at all times together.

    U_t = sup{δ : E_t(δ) < 1/α}, and P(δ* ≤ U_t for all t) ≥ 1 − α. So the smallest limit
    seen so far (``np.minimum.accumulate``) holds as well. Without trials, U_0 = 1.

    Parameters
    ----------
    exceedances, trials : int or array of int
        B exceedances in the first t trials, taken in plan order.
    alpha : float or array in (0, 1)
        Probability that some limit fails.

    Returns
    -------
    float or ndarray of float
        In (0, 1].

    Examples
    --------
    >>> confidence_sequence([0, 0, 1], [0, 60, 61], alpha=0.05).round(3)
    array([1.   , 0.072, 0.107])
    """
    b, t, level = np.broadcast_arrays(*_checked(exceedances, trials), arguments.alpha(alpha))
    low, high = np.full(b.shape, _SMALLEST_LOG_ODDS), np.full(b.shape, _LARGEST_LOG_ODDS)
    for _ in range(60):  # 116 / 2**60 is less than the spacing of the log odds
        middle = (low + high) / 2
        rejected = _log_e(b, t, _probability(middle)) >= -np.log(level)
        low, high = np.where(rejected, low, middle), np.where(rejected, middle, high)
    # With exceedances only, E_t = 1/(B + 1) for every delta: nothing is ever rejected.
    return plain(np.where(b == t, 1.0, _probability(low)))


def _probability(log_odds: NDArray[np.float64]) -> Floats:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def acceptance_martingale(
    exceedances: ArrayLike, trials: ArrayLike, n_trials: int, delta: float, alpha: float
) -> FloatOrArray:
    """Compute φ_t, the chance at δ* = δ that the full randomised test will accept.

    φ_0 = α, and φ_t is a martingale at δ* = δ and a supermartingale for every δ* > δ, so
    φ_t/α is an e-value at any time t; φ_t ∈ {0, 1} is the forced verdict. It is
    not the probability that the algorithm is stable.

    Parameters
    ----------
    exceedances, trials : int or array of int
        b exceedances in the first t trials, 0 ≤ b ≤ t ≤ m.
    n_trials : int
        Number of trials m of the full test.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.

    Returns
    -------
    float or ndarray of float
        In [0, 1].

    Examples
    --------
    >>> acceptance_martingale([0, 0, 1], [0, 10, 10], 30, delta=0.1, alpha=0.05).round(3)
    array([0.05 , 0.136, 0.007])
    """
    b, t = _checked(exceedances, trials)
    if (t > n_trials).any():
        raise ArgumentError(f"trials must be at most n_trials = {n_trials}, got {int(t.max())}")
    critical, tie = binomial_test.critical_value(n_trials, delta, alpha)
    below = binomial_law.cdf(critical - 1 - b, n_trials - t, delta)
    return plain(np.asarray(below + tie * binomial_law.pmf(critical - b, n_trials - t, delta)))
