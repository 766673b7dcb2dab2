"""Scalars in, scalars out: the last step of every vectorised function.

The mathematics is written once, for arrays.  A caller who passes plain
numbers gets plain Python numbers back, not zero-dimensional arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FloatOrArray", "IntOrArray", "plain"]

# A union would force every caller to narrow a type that is already known from
# what was passed in; numpy's own stubs answer Any in the same place.
FloatOrArray: TypeAlias = Any
IntOrArray: TypeAlias = Any


def plain(array: NDArray[Any]) -> Any:
    """Turn a zero-dimensional array into a Python number; leave others alone."""
    return array if array.ndim else array.item()
