"""The partitions of a Ray dataset, and their shuffle by Ray."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from poise.data.files.file_parts import FilePart
from poise.running.shuffle.assemble import SHARD_COLUMN
from poise.running.shuffle.cut_order import Cuts
from poise.running.shuffle.cut_partition import CutPartition
from poise.running.workers.ray_cluster import count_ray_workers

__all__ = ["RayPartitions", "RayShuffle"]

Found = TypeVar("Found")

_BYTES_CUT_TOGETHER = 1 << 27  # blocks of one task: fewer and larger shards
_FEW_SHARDS = 100_000  # that many objects are no trouble; Ray Data takes seconds to begin
_PIECE = "piece"
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
    """Brings rows together by Ray: few shards as objects of its store, many by Ray Data."""

    def __call__(self, cuts: Cuts, pieces: int) -> list[tuple[Any, ...]]:
        """Return references to the shards of each piece."""
        shards = sum(len(table.summary.firsts) for table, _ in cuts) * pieces
        return (_one_by_one if shards <= _FEW_SHARDS else _by_ray_data)(cuts, pieces)

    def failed(self, parts: tuple[Any, ...]) -> bool:
        """Tell whether rows could not be read: then Ray raises it when blocks are asked for."""
        return False


def _one_by_one(cuts: Cuts, pieces: int) -> list[tuple[Any, ...]]:
    """Make every shard an object of its own."""
    found: list[list[Any]] = [[] for _ in range(pieces)]
    for shards in _begun(_objects, cuts, pieces, num_returns=pieces):
        for piece, shard in enumerate(shards if pieces > 1 else [shards]):
            found[piece].append(shard)
    import ray

    ray.wait(found[0], num_returns=len(found[0]), fetch_local=False)
    return [(_Shards(shards),) for shards in found]


class _Shards:
    """The rows of a piece as references, which the task that needs them looks up itself.

    If they were arguments of the task, Ray 2.60 would end this process when a task is cancelled
    while its small arguments are looked up (a check of its reference counter fails).
    """

    def __init__(self, refs: list[Any]) -> None:
        self.refs = refs

    def contents(self) -> list[bytes]:
        """Bring them here."""
        import ray

        found: list[list[bytes]] = ray.get(self.refs)
        return [shard for shards in found for shard in shards]


def _by_ray_data(cuts: Cuts, pieces: int) -> list[tuple[Any, ...]]:
    """Let Ray Data bring the shards of each piece into one block, with those of some others."""
    import ray

    data: Any = ray.data
    shards = data.from_arrow_refs(list(_begun(_table, cuts, pieces)))
    together = min(pieces, _TASKS_PER_PROCESSOR * count_ray_workers(None))
    groups = shards.groupby(_PIECE, num_partitions=together).map_groups(
        _unchanged, batch_format="pyarrow"
    )
    look, take = ray.remote(_pieces_in), ray.remote(_contents_of)
    found: list[tuple[Any, ...]] = [()] * pieces
    for bundle in groups.iter_internal_ref_bundles():
        for block, _ in map(_entry, bundle.blocks):
            for piece in ray.get(look.remote(block)):
                found[piece] = (_Shards([take.remote(block, piece)]),)
    return found


def _begun(
    function: Callable[..., Any], cuts: Cuts, pieces: int, num_returns: int = 1
) -> Iterator[Any]:
    """Cut every partition in a task; yield references to what comes out."""
    import ray

    calls = _Throttle()
    task = ray.remote(num_cpus=1, num_returns=num_returns)(function)
    for table, cut in cuts:
        put = ray.put(cut)
        partitions: Any = table.partitions
        for blocks, first in partitions.blocks():
            made = task.remote(put, pieces, first, *blocks)
            calls.begin(made[0] if num_returns > 1 else made)
            yield made


def _objects(cut: CutPartition, pieces: int, first: int, *blocks: Any) -> Any:
    shards = cut(_frame(blocks, first), first)
    found = tuple([shards[piece]] if piece in shards else [] for piece in range(pieces))
    return found if pieces > 1 else found[0]


def _table(cut: CutPartition, _pieces: int, first: int, *blocks: Any) -> Any:
    import pyarrow as pa

    shards = cut(_frame(blocks, first), first)
    packed = pa.array(list(shards.values()), pa.large_binary())
    return pa.table({_PIECE: pa.array(list(shards), pa.int64()), SHARD_COLUMN: packed})


def _unchanged(shards: Any) -> Any:
    return shards


def _pieces_in(block: Any) -> list[int]:
    found: list[int] = block[_PIECE].unique().to_pylist() if len(block) else []
    return found


def _contents_of(block: Any, piece: int) -> list[bytes]:
    import pyarrow.compute as pc

    contents: list[bytes] = block.filter(pc.equal(block[_PIECE], piece))[SHARD_COLUMN].to_pylist()
    return contents


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


def _frame(blocks: Sequence[Any], first: int) -> Any:
    """Return blocks as one data frame, with the row numbers that the whole table would have."""
    import pandas as pd
    from ray.data.block import BlockAccessor

    if isinstance(blocks[0], FilePart):
        return blocks[0]  # whoever needs its rows reads them
    frames = [BlockAccessor.for_block(block).to_pandas() for block in blocks]
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
