"""One trial after the other, in this process."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from poise.running.workers.inner_threads import one_inner_thread

__all__ = ["SerialEngine"]


class SerialEngine:
    """Computes each answer when it is asked for, so an early stop wastes nothing.

    Examples
    --------
    >>> list(SerialEngine().map(lambda start, stop: iter(range(start, stop)), 0, 3))
    [0, 1, 2]
    """

    def map(self, work: Any, start: int, stop: int) -> Generator[Any, None, None]:
        """Yield the answers in order."""
        with one_inner_thread():
            yield from work(start, stop)
