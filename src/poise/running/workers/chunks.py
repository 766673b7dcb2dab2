"""Ranges of tasks for one worker each, cut so that they take about the same time."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Chunks"]

_SHORTEST_SECONDS = 0.05  # seconds; sending a chunk there and back costs about one fiftieth of it
_LONGEST_SECONDS = 0.1
_SHARE_OF_TIME_SPENT = 0.05  # of the time spent so far: an early verdict wastes no more than that


class Chunks:
    """Cuts a range of tasks by what the fits measured so far have taken.

    Hundreds of cheap fits form one chunk; a fit of ten minutes is a chunk of its own.
    Chunks grow during a run, because one chunk is a smaller part of a longer run.
    Work that does ``grain`` tasks for the cost of one is cut into multiples of that.

    Examples
    --------
    >>> chunks = Chunks(0, 100, workers=2)
    >>> ranges = iter(chunks)
    >>> next(ranges)
    (0, 1)
    >>> chunks.learn(tasks=1, seconds=0.005)
    >>> next(ranges)
    (1, 11)
    >>> list(Chunks(0, 100, workers=2, grain=40))
    [(0, 40), (40, 80), (80, 100)]
    """

    def __init__(self, start: int, stop: int, workers: int, grain: int = 1) -> None:
        self.position, self.stop, self.workers = start, stop, workers
        self.size = self.grain = grain
        self.spent = 0.0

    def learn(self, tasks: int, seconds: float) -> None:
        """Choose the size of the next chunks from the time that the last one took."""
        self.spent += seconds
        aim = min(max(_SHORTEST_SECONDS, _SHARE_OF_TIME_SPENT * self.spent), _LONGEST_SECONDS)
        self.size = self._whole_grains(int(aim * tasks / max(seconds, 1e-7 * tasks, 1e-9)))

    def close(self) -> None:
        """Hand out nothing more."""
        self.stop = self.position

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while self.position < self.stop:
            # Near the end the chunks get smaller, so that no worker waits for another.
            fair = self._whole_grains((self.stop - self.position) // (2 * self.workers))
            first = self.position
            self.position = min(first + min(self.size, fair), self.stop)
            yield first, self.position

    def _whole_grains(self, tasks: int) -> int:
        return max(1, tasks // self.grain) * self.grain
