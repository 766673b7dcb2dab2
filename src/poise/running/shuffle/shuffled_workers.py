"""Workers of a cluster that get the rows of their trials by a shuffle.

The rows of the first pieces are moved first, then those of as many pieces again: a run that
stops early does not pay for moving all rows. Where a worker died, the pieces that it may have
held are moved again when they are needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Protocol

from poise.data.partitioned.partitioned_sample import PartitionedSample
from poise.errors import AlgorithmError, DataError
from poise.running.shuffle.assemble import PieceJob
from poise.running.shuffle.cut_order import Cuts, cut_order, only_pieces
from poise.running.shuffle.pieces import MovableTrials, cut_into_pieces, first_wave, ranges_of
from poise.running.workers.chunk_job import Job, Report, Span
from poise.running.workers.cluster import Cluster, ClusterWorkers
from poise.running.workers.workers import WorkerDied

__all__ = ["Shuffle", "ShuffledWorkers"]


class Shuffle(Protocol):
    """The shuffle of an engine."""

    def __call__(self, cuts: Cuts, pieces: int, piece_bytes: float) -> list[tuple[Any, ...]]:
        """Bring the rows of each piece together; return references to where they will be.

        A piece has about ``piece_bytes`` bytes of rows.
        """
        ...

    def failed(self, parts: tuple[Any, ...]) -> bool:
        """Tell whether the rows of a piece could not be read."""
        ...


class ShuffledWorkers(ClusterWorkers):
    """Computes trials where their rows arrive.

    Parameters
    ----------
    cluster, workers
        As in :class:`ClusterWorkers`.
    shuffle : Shuffle
        Brings rows together.
    job : Job
        User code.
    data : (PartitionedSample, TrialSequence)
        Where the rows are, and all trials.
    span : (int, int)
        The trials that are wanted.
    """

    def __init__(
        self,
        cluster: Cluster,
        workers: int,
        shuffle: Shuffle,
        job: Job,
        data: tuple[PartitionedSample, MovableTrials],
        span: Span,
    ) -> None:
        sample, plan = data
        per_trial = plan.units_per_trial + plan.points
        size = per_trial * sample.bytes_per_row * sample.n_labeled / plan.n_units
        self.pieces = cut_into_pieces(*span, size, workers)
        self.piece_bytes = size * (span[1] - span[0]) / len(self.pieces)
        self.ends = [last for _, last in self.pieces]
        self.cuts = cut_order(sample, plan, [ranges_of(plan, [piece]) for piece in self.pieces])
        self.shuffle = shuffle
        self.wave = first_wave(len(self.pieces), workers) if plan.in_waves else len(self.pieces)
        self.moved: dict[int, tuple[Any, ...]] = {}
        self.few = 2 * workers
        self.held: Span | None = None
        super().__init__(cluster, workers, PieceJob(job, plan, sample.roles))

    def recover(self) -> None:
        """Send user code again; move again, a few at a time, what a dead worker may have held."""
        if self.moved:
            self.moved.clear()
            self.wave = self.few
        super().recover()

    def submit(self, spans: Iterable[Span]) -> Generator[Report, None, None]:
        """Yield the reports in order; no chunk has trials of two pieces.

        Rows are moved when all trials before theirs are answered: they may be enough.
        """
        todo = self._within_pieces(spans)
        self.held = next(todo, None)
        while self.held is not None:
            yield from super().submit(self._of_one_wave(todo))

    def _of_one_wave(self, todo: Iterator[Span]) -> Iterator[Span]:
        """Yield chunks while their rows are moved already, or are the first to be moved."""
        span, self.held = self.held, None
        while span is not None:
            yield span
            span = next(todo, None)
            if span is not None and self._piece(span[0]) not in self.moved:
                self.held = span
                return

    def _within_pieces(self, spans: Iterable[Span]) -> Iterator[Span]:
        for first, last in spans:
            while first < last:
                end = min(last, self.ends[self._piece(first)])
                yield first, end
                first = end

    def _piece(self, trial: int) -> int:
        """Return the number of the piece that a trial belongs to."""
        return bisect_right(self.ends, trial)

    def _start(self, span: Span) -> Any:
        piece = self._piece(span[0])
        if piece not in self.moved:
            self._move(piece)
        return self.cluster.start(self.job, span, self.pieces[piece], *self.moved[piece])

    def _move(self, first: int) -> None:
        """Bring the rows of the next pieces together."""
        last = min(first + self.wave, len(self.pieces), *(k for k in self.moved if k > first))
        try:
            some = only_pieces(self.cuts, first, last)
            found = self.shuffle(some, last - first, self.piece_bytes)
        except self.cluster.deaths as error:
            raise WorkerDied from error
        self.moved.update(zip(range(first, last), found, strict=True))
        self.wave = max(self.wave, last)  # as many again as came before

    def _report(self, span: Span, future: object) -> Report:
        piece = self._piece(span[0])
        try:
            report = super()._report(span, future)
        except AlgorithmError as error:
            if self.shuffle.failed(self.moved.get(piece, ())):
                raise DataError(f"rows of X could not be read: {error.__cause__}") from error
            raise
        if span[1] == self.ends[piece]:
            self.moved.pop(piece, None)  # its rows are not needed any more
        return report
