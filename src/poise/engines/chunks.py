"""Ranges of tasks, made when a worker is free, each about as long as the others."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Chunks"]

_CHUNK_SECONDS = 0.05  # long enough to hide dispatch, short enough to stop early


class Chunks:
    """Cuts a range of tasks by what the fits measured so far have taken.

    Cheap fits are grouped by the hundred; a fit of ten minutes travels alone. Work
    that does ``grain`` tasks at the price of one is cut into multiples of that.

    Examples
    --------
    >>> chunks = Chunks(0, 100, workers=2)
    >>> ranges = iter(chunks)
    >>> next(ranges)
    (0, 1)
    >>> chunks.learn(seconds_per_task=0.005)
    >>> next(ranges)
    (1, 11)
    >>> list(Chunks(0, 100, workers=2, grain=40))
    [(0, 40), (40, 80), (80, 100)]
    """

    def __init__(self, start: int, stop: int, workers: int, grain: int = 1) -> None:
        self.position, self.stop, self.workers = start, stop, workers
        self.size = self.grain = grain

    def learn(self, seconds_per_task: float) -> None:
        """Size the chunks to come by what the last one took."""
        self.size = self._whole_grains(int(_CHUNK_SECONDS / max(seconds_per_task, 1e-7)))

    def close(self) -> None:
        """Hand out nothing more."""
        self.stop = self.position

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while self.position < self.stop:
            # Near the end the chunks shrink, so that no worker is left waiting for another.
            fair = self._whole_grains((self.stop - self.position) // (2 * self.workers))
            first = self.position
            self.position = min(first + min(self.size, fair), self.stop)
            yield first, self.position

    def _whole_grains(self, tasks: int) -> int:
        return max(1, tasks // self.grain) * self.grain
