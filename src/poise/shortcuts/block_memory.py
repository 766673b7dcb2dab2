"""Memory that blocks of trials reuse, and blocks that fit the cache.

A run has thousands of blocks. Without this module, large arrays would go back to the
operating system after each block and be allocated page by page for the next, which can
take several times as long as the arithmetic. So the shortcuts work in place if they
can, and reuse the other arrays.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from math import prod

import numpy as np

from poise.shortcuts.shortcut import Floats

__all__ = ["cached_slices", "keep_freed_memory", "scratch"]

_NUMBERS_KEPT = 1 << 22  # numbers: 32 MiB for each thread and purpose
_CACHE_BYTES = 1 << 19  # bytes: so much fits the cache, beside as much other data


class _Memory(threading.local):
    """One buffer for each thread and purpose."""

    def __init__(self) -> None:
        self.buffers: dict[str, Floats] = {}


_memory = _Memory()


def scratch(purpose: str, shape: tuple[int, ...]) -> Floats:
    """Return an array with undefined content; the next call for the same purpose overwrites it.

    Examples
    --------
    >>> scratch("sums", (2, 3)).shape
    (2, 3)
    """
    size = prod(shape)
    if size > _NUMBERS_KEPT:
        return np.empty(shape)
    buffer = _memory.buffers.get(purpose)
    if buffer is None or buffer.size < size:
        buffer = _memory.buffers[purpose] = np.empty(size)
    return buffer[:size].reshape(shape)


@functools.cache
def keep_freed_memory() -> None:
    """Make the C library keep freed memory for the next block, if that is possible.

    The GNU library returns the end of its heap to the operating system when that end is
    twice as long as the longest array freed before. So a long array is freed once.
    """
    np.empty(_NUMBERS_KEPT - 4096)


def cached_slices(X: Floats) -> Iterator[slice]:
    """Cut a stack of trials into slices that fit the cache, so that memory is read once.

    Examples
    --------
    >>> list(cached_slices(np.zeros((5, 1000, 20))))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    trials = max(1, _CACHE_BYTES * len(X) // max(1, X.nbytes))
    return (slice(start, min(start + trials, len(X))) for start in range(0, len(X), trials))
