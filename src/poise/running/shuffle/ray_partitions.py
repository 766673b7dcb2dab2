"""The partitions of a Ray dataset, and their shuffle by Ray."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from poise.data.files.file_parts import FilePart
from poise.running.shuffle.cut_order import Cuts
from poise.running.shuffle.cut_partition import CutPartition
from poise.running.workers.ray_cluster import count_ray_workers

__all__ = ["RayPartitions", "RayShuffle"]

Found = TypeVar("Found")

_BYTES_CUT_TOGETHER = 1 << 27  # blocks of one task: fewer and larger shards
_TASKS_PER_PROCESSOR = 4  # that wait: more would hold blocks in memory


class RayPartitions:
    """A ``ray.data.Dataset``.

    Parameters
    ----------
    dataset : ray.data.Dataset
        The rows, in the order in which ``to_pandas`` returns them.
    """

    engine = "ray"
    remedy = "X.to_pandas()"

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def columns(self) -> list[Any]:
        """Return the names of the columns."""
        return list(self.dataset.columns() or [])

    def blocks(self) -> Iterator[tuple[list[Any], int]]:
        """Yield references to blocks that follow each other, and the rows before them."""
        first = 0
        together: list[Any] = []
        size = rows = 0
        with _in_order(self.dataset):
            for bundle in self.dataset.iter_internal_ref_bundles():
                for block, about in map(_entry, bundle.blocks):
                    together.append(block)
                    size += about.size_bytes or 0
                    rows += about.num_rows
                    if size >= _BYTES_CUT_TOGETHER:
                        yield together, first
                        first, together, size, rows = first + rows, [], 0, 0
        if together:
            yield together, first

    def map(
        self, function: Callable[[Any, int], Found], firsts: Sequence[int] | None = None
    ) -> list[Found]:
        """Call a function where each partition lies; rows are counted as they come."""
        import ray

        task, put = ray.remote(num_cpus=1)(_called), ray.put(function)
        calls = _Throttle()
        refs = [calls.begin(task.remote(put, first, *blocks)) for blocks, first in self.blocks()]
        found: list[Found] = ray.get(refs)
        return found


class RayShuffle:
    """Brings rows together through Ray's object store: each piece is a list of its shards."""

    def __call__(self, cuts: Cuts, pieces: int) -> list[tuple[Any, ...]]:
        """Return the references to the shards of each piece."""
        import ray

        found: list[list[Any]] = [[] for _ in range(pieces)]
        calls = _Throttle()
        for table, cut in cuts:
            task = ray.remote(num_cpus=1, num_returns=pieces)(_cut)
            put = ray.put(cut)
            partitions: Any = table.partitions
            for blocks, first in partitions.blocks():
                shards = task.remote(put, pieces, first, *blocks)
                for piece, shard in enumerate(shards if pieces > 1 else [shards]):
                    found[piece].append(shard)
                calls.begin(found[0][-1])
        return [tuple(shards) for shards in found]


class _Throttle:
    """Begins a task only when few others wait, so that blocks are released as they are read."""

    def __init__(self) -> None:
        self.most = _TASKS_PER_PROCESSOR * count_ray_workers(None)
        self.waiting: deque[Any] = deque()

    def begin(self, future: Any) -> Any:
        import ray

        self.waiting.append(future)
        if len(self.waiting) > self.most:
            ray.wait([self.waiting.popleft()], fetch_local=False)
        return future


def _called(function: Callable[[Any, int], Found], first: int, *blocks: Any) -> Found:
    return function(_frame(blocks, first), first)


def _cut(cut: CutPartition, pieces: int, first: int, *blocks: Any) -> Any:
    shards = cut(_frame(blocks, first), first)
    found = tuple(shards.get(piece, b"") for piece in range(pieces))
    return found if pieces > 1 else found[0]


def _frame(blocks: Sequence[Any], first: int) -> Any:
    """Return blocks as one data frame, with the row numbers that the whole table would have."""
    import pandas as pd
    from ray.data.block import BlockAccessor

    frames = [
        block.read() if isinstance(block, FilePart) else BlockAccessor.for_block(block).to_pandas()
        for block in blocks
    ]
    frame = pd.concat(frames) if len(frames) > 1 else frames[0]
    return frame.set_axis(range(first, first + len(frame)), axis=0)


def _entry(entry: Any) -> tuple[Any, Any]:
    """Return the reference to a block and what is known of it; older versions have a pair."""
    return (entry.ref, entry.metadata) if hasattr(entry, "ref") else tuple(entry)


@contextmanager
def _in_order(dataset: Any) -> Iterator[None]:
    """Have blocks come in the order of the dataset, not in that in which they are ready."""
    options = dataset.context.execution_options
    before = options.preserve_order
    options.preserve_order = True
    try:
        yield
    finally:
        options.preserve_order = before
