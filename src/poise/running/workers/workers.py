"""The interface of workers: they compute spans of tasks, and one of them may die."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Protocol

from poise.running.workers.chunk_job import Report, Span

__all__ = ["WorkerDied", "Workers"]


class WorkerDied(Exception):
    """A worker was killed.

    Attributes
    ----------
    span : (int, int) or None
        The chunk it was computing, where the backend can tell.
    """

    def __init__(self, span: Span | None = None) -> None:
        super().__init__(span)
        self.span = span


class Workers(Protocol):
    """The workers of one run."""

    def submit(self, spans: Iterable[Span]) -> Generator[Report, None, None]:
        """Compute spans of tasks, and yield their reports in order.

        A span is taken only when a worker will soon be free for it, so that its length
        can depend on the time of the spans before. Closing the generator cancels what
        was not begun, and what is running if that is possible and useful.
        Raises :class:`WorkerDied` if a worker was killed.
        """
        ...

    def recover(self) -> None:
        """Send again what a worker that died may have held."""
        ...
