"""Rounding: how much of it comparisons grant, and beyond how much it decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from poise.theory.binomial_law import Floats

__all__ = [
    "CLEARLY_APART",
    "LARGEST_WHOLE",
    "NEAR_WHOLE",
    "OTHER_LIBRARIES",
    "less_rounding",
    "reaches",
]

# Every comparison of a bet with 1 tolerates this much rounding; it multiplies α by 1 + 1e-9.
TOLERANCE = 1e-9

CLEARLY_APART = 1e-9
"""Relative difference of two probabilities beyond which rounding cannot change their order."""

NEAR_WHOLE = 1e-9
"""By how much a product of a share and a count may miss the whole number it stands for."""

LARGEST_WHOLE = 2**53
"""Beyond this number floats skip whole numbers, so nothing can be counted in them."""

OTHER_LIBRARIES = 1e-6
"""Relative difference below which two libraries, or two versions, computed the same number."""


@overload
def less_rounding(value: float) -> float: ...
@overload
def less_rounding(value: Floats) -> Floats: ...
def less_rounding(value: Any) -> Any:
    """Return a number less the rounding that comparisons are granted.

    Two numbers that are equal in exact arithmetic then compare as equal ones do, also if
    rounding made this one a little larger.

    Parameters
    ----------
    value : float or array of float
        What a bet, or a product of e-value and rank, must reach; a p-value or a bet that must
        not exceed something; or a number of steps, of which not one too many may be skipped.

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
