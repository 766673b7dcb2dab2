"""The Binomial test: p-values and power (section 3.1, Theorem 1).

Out of m trials, B = #{k : Δ_k > ε} is Binomial(m, δ*).  The test declares
stability if B is small: B < k*, or B = k* and ζ <= a*, where

    P(Bin(m, δ) < k*) + a* P(Bin(m, δ) = k*) = α,    a* in (0, 1].

ζ is the test's own uniform random number.  With ζ = 1 the test is the ordinary,
conservative one that tosses no coin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_law
from poise.theory.critical_values import EXCEEDANCES, FAILURES, critical
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from poise.theory.binomial_law import Floats
    from poise.theory.scalars import FloatOrArray, IntOrArray

__all__ = [
    "acceptance_probability",
    "critical_count",
    "critical_count_unstable",
    "critical_value",
    "power",
    "pvalue",
    "pvalue_unstable",
]


def critical_value(
    n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike
) -> tuple[IntOrArray, FloatOrArray]:
    """Compute k* and a*, the critical count of the Binomial test and its tie probability.

    P(Bin(m, δ) < k*) + a* P(Bin(m, δ) = k*) = α with a* in (0, 1]: the test that
    declares stability if B < k*, or with probability a* if B = k*, errs with
    probability exactly α when δ* = δ (Theorem 1).

    Parameters
    ----------
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float or array in (0, 1)
        Level of the test.

    Returns
    -------
    count : int or ndarray of int
        k*, the smallest k with P(Bin(m, δ) <= k) >= α.
    tie_probability : float or ndarray of float
        a*, the probability of declaring stability when B = k*.

    Examples
    --------
    >>> critical_value(20, delta=0.5, alpha=0.01)
    (5, 0.276687306501...)
    >>> critical_value(0, delta=0.5, alpha=0.05)  # no data: a coin decides
    (0, 0.05)
    """
    m, p, level = _checked(n_trials, delta, alpha)
    count, tie = critical(EXCEEDANCES, m, p, level)
    return plain(count.astype(np.int64)), plain(tie)


def _checked(
    n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    m = arguments.count("n_trials", n_trials).astype(np.float64)
    p, level, m = np.broadcast_arrays(arguments.delta(delta), arguments.alpha(alpha), m)
    return m, p, level


def critical_count(n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike) -> IntOrArray:
    """Compute the largest count at which the plain test declares stability.

    c = max{c : P(Bin(m, δ) <= c) <= α}, or -1 if even B = 0 is not enough: then the
    plain test never declares stability, whatever the algorithm does.

    Parameters
    ----------
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float or array in (0, 1)
        Level of the test.

    Returns
    -------
    int or ndarray of int
        c, or -1.

    Examples
    --------
    >>> critical_count(20, delta=0.5, alpha=0.01)
    4
    >>> critical_count(20, delta=0.1, alpha=0.05)
    -1
    """
    m, p, level = _checked(n_trials, delta, alpha)
    count, tie = critical(EXCEEDANCES, m, p, level)
    return plain((count - (tie < 1)).astype(np.int64))


def critical_count_unstable(n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike) -> IntOrArray:
    """Compute the smallest count at which the mirror test declares instability.

    c = min{c : P(Bin(m, δ) >= c) <= α}, or m + 1 if even B = m is not enough.  The
    mirror test errs with probability at most α whenever δ* <= δ.

    Parameters
    ----------
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float or array in (0, 1)
        Level of the mirror test.

    Returns
    -------
    int or ndarray of int
        c, or m + 1.

    Examples
    --------
    >>> critical_count_unstable(20, delta=0.5, alpha=0.05)
    15
    >>> critical_count_unstable(10, delta=0.0, alpha=0.05)
    1
    """
    m, p, level = _checked(n_trials, delta, alpha)
    failures, tie = critical(FAILURES, m, p, level)
    return plain((m - failures + (tie < 1)).astype(np.int64))


def power(
    n_trials: ArrayLike,
    delta: ArrayLike,
    delta_star: ArrayLike,
    alpha: ArrayLike,
    randomized: bool = False,
) -> FloatOrArray:
    """Compute the probability that the Binomial test declares stability.

    P(Bin(m, δ*) <= c) for the plain test, the default here as in ``stability_test`` and
    ``plan``.  With ``randomized=True`` P(Bin(m, δ*) < k*) + a* P(Bin(m, δ*) = k*) for the
    test of Theorem 1, which tosses a coin; where δ <= 1 - α^(1/m) or δ* = 0 that equals
    min{1, α ((1 - δ*) / (1 - δ))^m}.  For δ* > δ it is the probability of error, at most α.

    Parameters
    ----------
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float or array in [0, 1]
        True probability of a change beyond ε.
    alpha : float or array in (0, 1)
        Level of the test.
    randomized : bool, default False
        True for the test of Theorem 1, which declares stable at B = k* with probability a*.
        The plain test declares stable at B <= c only; its power is not monotone in the
        number of trials: it falls at most steps and jumps at some.

    Returns
    -------
    float or ndarray of float
        Probability in [0, 1].

    Examples
    --------
    >>> power(10, delta=0.1, delta_star=0.0, alpha=0.05)
    0.0
    >>> power(10, delta=0.1, delta_star=0.0, alpha=0.05, randomized=True)
    0.143398...
    """
    m, p, level = _checked(n_trials, delta, alpha)
    m, p, level, truth = np.broadcast_arrays(
        m, p, level, arguments.probability("delta_star", delta_star)
    )
    count, tie = critical(EXCEEDANCES, m, p, level)
    if not randomized:
        return plain(binomial_law.cdf(count - (tie < 1), m, truth))
    return plain(binomial_law.weighted_cdf(count, m, truth, tie))


def pvalue(
    exceedances: ArrayLike, n_trials: ArrayLike, delta: ArrayLike, zeta: ArrayLike = 1.0
) -> FloatOrArray:
    """Compute the p-value against H0: δ* > δ, "the algorithm is not stable".

    p = P(Bin(m, δ) < B) + ζ P(Bin(m, δ) = B).  With ζ uniform it is exactly uniform at
    δ* = δ; with ζ = 1 it is the ordinary p-value, P(p <= α) <= α.  A large p-value
    does not mean that the algorithm is unstable: see ``pvalue_unstable``.

    Parameters
    ----------
    exceedances : int or array of int, from 0 to n_trials
        B, the number of trials whose change exceeds ε.
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.
    zeta : float or array in [0, 1], default 1
        The test's own uniform random number.

    Returns
    -------
    float or ndarray of float
        p-value in [0, 1].

    Examples
    --------
    >>> pvalue(0, 59, delta=0.05)
    0.048494...
    >>> pvalue(0, 59, delta=0.05, zeta=0.5)
    0.024247...
    """
    count, m, p = _checked_data(exceedances, n_trials, delta)
    return plain(binomial_law.weighted_cdf(count, m, p, arguments.probability("zeta", zeta)))


def pvalue_unstable(exceedances: ArrayLike, n_trials: ArrayLike, delta: ArrayLike) -> FloatOrArray:
    """Compute the p-value of the mirror test against H0: δ* <= δ, "the algorithm is stable".

    p = P(Bin(m, δ) >= B); P(p <= α) <= α for every stable algorithm.  A large p-value
    does not mean that the algorithm is stable: see ``pvalue``.

    Parameters
    ----------
    exceedances : int or array of int, from 0 to n_trials
        B, the number of trials whose change exceeds ε.
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float or ndarray of float
        p-value in [0, 1].

    Examples
    --------
    >>> pvalue_unstable(3, 20, delta=0.05)
    0.075483...
    """
    return plain(binomial_law.upper_tail(*_checked_data(exceedances, n_trials, delta)))


def _checked_data(
    exceedances: ArrayLike, n_trials: ArrayLike, delta: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    count = arguments.count("exceedances", exceedances)
    m = arguments.count("n_trials", n_trials)
    check_within(count, m)
    return count, m, arguments.delta(delta)


def check_within(exceedances: NDArray[np.int64], n_trials: NDArray[np.int64]) -> None:
    """Check that no count of exceedances is larger than its number of trials."""
    count, m = np.broadcast_arrays(exceedances, n_trials)
    beyond = count > m
    if beyond.any():
        raise ArgumentError(
            f"exceedances must be at most n_trials, got {count[beyond][0]} of {m[beyond][0]}"
        )


def acceptance_probability(
    exceedances: ArrayLike, n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike
) -> FloatOrArray:
    """Compute the chance, given B, that the randomised test declares stability.

    It is 1, a* or 0 if B is below, at or above k*.  It says what the paper's test does with
    these data without tossing its coin; averaged over B at δ* = δ it is α.

    Parameters
    ----------
    exceedances : int or array of int, from 0 to n_trials
        B, the number of trials whose change exceeds ε.
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float or array in (0, 1)
        Level of the test.

    Returns
    -------
    float or ndarray of float
        Probability in [0, 1].

    Examples
    --------
    >>> acceptance_probability([4, 5, 6], 20, delta=0.5, alpha=0.01)
    array([1.        , 0.27668731, 0.        ])
    """
    count, m, p = _checked_data(exceedances, n_trials, delta)
    critical, tie = critical_value(m, p, alpha)
    at_tie = np.where(count == critical, tie, 0.0)
    return plain(np.asarray(np.where(count < critical, 1.0, at_tie)))
