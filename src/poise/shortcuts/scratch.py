"""Memory that is used again from block to block.

Blocks of trials follow one another by the thousand. Large arrays go back to the
operating system after each of them and are handed out page by page for the next,
which can take several times as long as the arithmetic. So the shortcuts work in
place where they can, and keep what cannot be avoided.
"""

from __future__ import annotations

import threading

import numpy as np

from poise.shortcuts.protocol import Floats

__all__ = ["scratch_copy"]

_MOST_KEPT = 1 << 22  # numbers: 32 MiB for each thread


class _Memory(threading.local):
    """One buffer for each thread."""

    buffer: Floats = np.empty(0)


_memory = _Memory()


def scratch_copy(array: Floats) -> Floats:
    """Copy an array to a place that the next call on the same thread overwrites."""
    if array.size > _MOST_KEPT:
        return array.copy()
    if _memory.buffer.size < array.size:
        _memory.buffer = np.empty(array.size)
    copy = _memory.buffer[: array.size].reshape(array.shape)
    copy[...] = array
    return copy
