"""Rounding: how much of it comparisons grant, and beyond how much it decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from poise.theory.binomial_law import Floats

__all__ = ["CLEARLY_APART", "less_rounding", "reaches"]

# Every comparison of a bet with 1 tolerates this much rounding; it multiplies α by 1 + 1e-9.
TOLERANCE = 1e-9

CLEARLY_APART = 1e-9
"""Relative difference of two probabilities beyond which rounding cannot change their order."""


@overload
def less_rounding(value: float) -> float: ...
@overload
def less_rounding(value: Floats) -> Floats: ...
def less_rounding(value: Any) -> Any:
    """Return a threshold, or a p-value, less the rounding that bets are granted.

    Parameters
    ----------
    value : float or array of float
        What a bet must reach, or a p-value that is to be compared with a level.

    Examples
    --------
    >>> 0.05 + 1e-15 <= 0.05, less_rounding(0.05 + 1e-15) <= 0.05
    (False, True)
    """
    return (1 - TOLERANCE) * value


def reaches(value: float, threshold: float = 1.0) -> bool:
    """Say whether a value reaches 1 (or the coin ζ), apart from rounding.

    Examples
    --------
    >>> reaches(1 - 1e-12), reaches(0.999)
    (True, False)
    """
    return bool(value >= less_rounding(threshold))
