"""Functions that take scalars or arrays, and treat long arrays in pieces.

The mathematics is written once, for arrays.  A caller who passes plain
numbers gets plain Python numbers back, not zero-dimensional arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["FloatOrArray", "IntOrArray", "pieces", "plain"]

# Temporaries of this length stay in the processor's cache, which halves the time.
_NUMBERS_PER_PIECE = 1 << 14

# A union would force every caller to narrow a type that is already known from
# what was passed in; numpy's own stubs return Any in the same place.
FloatOrArray: TypeAlias = Any
IntOrArray: TypeAlias = Any


def plain(array: NDArray[Any]) -> Any:
    """Turn a zero-dimensional array into a Python number; leave others alone."""
    return array if array.ndim else array.item()


def pieces(*arrays: NDArray[np.float64]) -> Iterator[tuple[slice, list[NDArray[np.float64]]]]:
    """Cut flat arrays of one length into short pieces; yield where each lies and what it holds."""
    for start in range(0, arrays[0].size, _NUMBERS_PER_PIECE):
        where = slice(start, start + _NUMBERS_PER_PIECE)
        yield where, [array[where] for array in arrays]
