"""Memory that is used again from block to block, and blocks that fit the cache.

Blocks of trials follow one another by the thousand. Large arrays go back to the
operating system after each of them and are handed out page by page for the next,
which can take several times as long as the arithmetic. So the shortcuts work in
place where they can, and keep what cannot be avoided.
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
_CACHE_BYTES = 1 << 19  # bytes: what a second pass finds in the cache, with as much again beside it


class _Memory(threading.local):
    """One buffer for each thread and purpose."""

    def __init__(self) -> None:
        self.buffers: dict[str, Floats] = {}


_memory = _Memory()


def scratch(purpose: str, shape: tuple[int, ...]) -> Floats:
    """Return an array of any content, which the next call for the same purpose overwrites.

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
    """Let the C library keep what is freed for the next block, as far as it can be made to.

    The GNU library gives the end of its heap back to the operating system once it
    is twice as long as the longest array it has seen come and go. So let it see one.
    """
    np.empty(_NUMBERS_KEPT - 4096)


def cached_slices(X: Floats) -> Iterator[slice]:
    """Cut a stack of trials so that several passes over the rows of a slice read memory once.

    Examples
    --------
    >>> list(cached_slices(np.zeros((5, 1000, 20))))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    trials = max(1, _CACHE_BYTES * len(X) // max(1, X.nbytes))
    return (slice(start, min(start + trials, len(X))) for start in range(0, len(X), trials))
