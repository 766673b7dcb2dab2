"""One trial after the other, in this process (``n_jobs=1``)."""

from __future__ import annotations

from collections.abc import Generator

from poise.protocol.messages import Answer
from poise.protocol.work import Work
from poise.running.workers.inner_threads import one_inner_thread

__all__ = ["SerialEngine"]


class SerialEngine:
    """Computes each answer when it is needed, so an early stop wastes nothing.

    Examples
    --------
    >>> list(SerialEngine().map(lambda start, stop: iter(range(start, stop)), 0, 3))
    [0, 1, 2]
    """

    backend = None

    def map(self, work: Work, start: int, stop: int) -> Generator[Answer, None, None]:
        """Yield the answers in order."""
        with one_inner_thread():
            yield from work(start, stop)
