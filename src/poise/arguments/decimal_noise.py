"""Sums, differences and products of decimals as written by hand: 0.1 + 0.2 is 0.3.

Doubles hold most decimals inexactly, so 1 - 0.9 is 0.09999999999999998. Printed, or rounded to
the safe side, such noise would become a wrong digit.
"""

from __future__ import annotations

from decimal import Decimal

__all__ = ["complement", "three_times", "without_noise"]


def without_noise(probability: float) -> float:
    """Return a sum or product of decimals with twelve digits, as nobody gives more of them.

    For probabilities that were added up. An observed change keeps its last digit: whether a
    change exceeds ε may depend on it.

    Examples
    --------
    >>> 0.1 + 0.2, without_noise(0.1 + 0.2)
    (0.30000000000000004, 0.3)
    """
    return float(f"{probability:.12g}")


def complement(probability: float) -> float:
    """Return 1 - p: the share of misses for a level of coverage, and the other way round.

    Examples
    --------
    >>> 1 - 0.9, complement(0.9), complement(0.123456)
    (0.09999999999999998, 0.1, 0.876544)
    """
    return float(1 - Decimal(repr(float(probability))))


def three_times(value: float) -> float:
    """Return 3 x with all digits: a limit that is rounded to fewer may become too small.

    Examples
    --------
    >>> 3 * 0.1, three_times(0.1), three_times(0.12345678901234)
    (0.30000000000000004, 0.3, 0.37037036703702)
    """
    return float(3 * Decimal(repr(float(value))))
