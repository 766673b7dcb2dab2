"""Ranges of tasks, made when a worker is free, each about as long as the others."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Chunks"]

_CHUNK_SECONDS = 0.05  # long enough to hide dispatch, short enough to stop early


class Chunks:
    """Cuts a range of tasks by what the fits measured so far have taken.

    Cheap fits are grouped by the hundred; a fit of ten minutes travels alone.

    Examples
    --------
    >>> chunks = Chunks(0, 100, workers=2)
    >>> ranges = iter(chunks)
    >>> next(ranges)
    (0, 1)
    >>> chunks.learn(seconds_per_task=0.005)
    >>> next(ranges)
    (1, 11)
    """

    def __init__(self, start: int, stop: int, workers: int) -> None:
        self.position, self.stop, self.workers = start, stop, workers
        self.size = 1

    def learn(self, seconds_per_task: float) -> None:
        """Size the chunks to come by what the last one took."""
        self.size = max(1, int(_CHUNK_SECONDS / max(seconds_per_task, 1e-7)))

    def close(self) -> None:
        """Hand out nothing more."""
        self.stop = self.position

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while self.position < self.stop:
            # Near the end the chunks shrink, so that no worker is left waiting for another.
            fair = max(1, (self.stop - self.position) // (2 * self.workers))
            first = self.position
            self.position = first + min(self.size, fair)
            yield first, self.position
