"""The partitions of a Ray dataset, and their shuffle by Ray."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from poise.data.files.file_parts import FilePart
from poise.running.shuffle.assemble import PIECE_COLUMN, SHARD_COLUMN
from poise.running.shuffle.cut_order import Cuts
from poise.running.shuffle.cut_partition import CutPartition
from poise.running.workers.ray_cluster import count_ray_workers

__all__ = ["RayPartitions", "RayShuffle"]

Found = TypeVar("Found")

_BYTES_CUT_TOGETHER = 1 << 27  # blocks of one task: fewer and larger shards
_FEW_SHARDS = 60_000  # objects, of 1.5 kB each in this process; Ray Data takes seconds to begin
_OBJECT_BYTES = 1 << 17  # Ray keeps results below 100 kB in the memory of the process that asked
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

    def spread(
        self, function: Callable[[int, int], Found], spans: Sequence[tuple[int, int]]
    ) -> Iterator[Found]:
        """Call a function on ranges of rows in tasks; few results are here at a time."""
        import ray

        task: Any = ray.remote(num_cpus=1)(_called_on_span)
        put = ray.put(function)
        refs = deque(task.remote(put, *span) for span in spans)
        while refs:
            yield ray.get(refs.popleft())


class RayShuffle:
    """Brings rows together by Ray: few shards as objects of its store, many by Ray Data."""

    def __call__(self, cuts: Cuts, pieces: int, piece_bytes: float) -> list[tuple[Any, ...]]:
        """Return references to the shards of each piece."""
        tasks = sum(len(table.summary.firsts) for table, _ in cuts)
        if tasks * pieces > _FEW_SHARDS:
            return _by_ray_data(cuts, pieces)
        return _in_objects(cuts, pieces, _shards_in_an_object(piece_bytes / tasks))

    def failed(self, parts: tuple[Any, ...]) -> bool:
        """Tell whether rows could not be read: then Ray raises it when blocks are asked for."""
        return False


def _shards_in_an_object(shard_bytes: float) -> int:
    """Return how many shards must share an object so that none is kept in this process.

    Examples
    --------
    >>> _shards_in_an_object(1e6), _shards_in_an_object(50_000)
    (1, 3)
    """
    return max(1, math.ceil(_OBJECT_BYTES / max(shard_bytes, 1)))


def _in_objects(cuts: Cuts, pieces: int, together: int) -> list[tuple[Any, ...]]:
    """Make the shards of one piece, or of some that follow each other, an object of the store."""
    import ray

    divide = _Objects(pieces, together)
    found: list[list[Any]] = [[] for _ in range(divide.count)]
    for made in _begun(divide, cuts, num_returns=divide.count):
        for objects, each in zip(found, made if divide.count > 1 else [made], strict=True):
            objects.append(each)
    ray.wait(found[0], num_returns=len(found[0]), fetch_local=False)
    return [(_Shards(found[piece // together], piece),) for piece in range(pieces)]


class _Shards:
    """The rows of a piece as references, which the task that needs them looks up itself.

    If they were arguments of the task, Ray 2.60 would end this process when a task is cancelled
    while its small arguments are looked up (a check of its reference counter fails).
    """

    def __init__(self, refs: list[Any], piece: int) -> None:
        self.refs, self.piece = refs, piece

    def contents(self) -> list[bytes]:
        """Bring them here."""
        import ray

        found: list[dict[int, list[bytes]]] = ray.get(self.refs)
        return [shard for shards in found for shard in shards.get(self.piece, [])]


def _by_ray_data(cuts: Cuts, pieces: int) -> list[tuple[Any, ...]]:
    """Let Ray Data bring the shards of each piece into one block, with those of some others."""
    import ray

    data: Any = ray.data
    shards = data.from_arrow_refs(list(_begun(_table, cuts)))
    together = min(pieces, _TASKS_PER_PROCESSOR * count_ray_workers(None))
    groups = shards.groupby(PIECE_COLUMN, num_partitions=together).map_groups(
        _unchanged, batch_format="pyarrow"
    )
    look, take = ray.remote(_pieces_in), ray.remote(_contents_of)
    found: list[tuple[Any, ...]] = [()] * pieces
    for bundle in groups.iter_internal_ref_bundles():
        for block, _ in map(_entry, bundle.blocks):
            for piece in ray.get(look.remote(block)):
                found[piece] = (_Shards([take.remote(block, piece)], piece),)
    return found


def _begun(function: Callable[..., Any], cuts: Cuts, num_returns: int = 1) -> Iterator[Any]:
    """Cut every partition in a task; yield references to what the function makes of its shards."""
    import ray

    calls = _Throttle()
    task = ray.remote(num_cpus=1, num_returns=num_returns)(_cut)
    for table, cut in cuts:
        put = ray.put(cut)
        partitions: Any = table.partitions
        for blocks, first in partitions.blocks():
            made = task.remote(function, put, first, *blocks)
            calls.begin(made[0] if num_returns > 1 else made)
            yield made


def _cut(
    function: Callable[[dict[int, bytes]], Any], cut: CutPartition, first: int, *blocks: Any
) -> Any:
    return function(cut(_frame(blocks, first), first))


class _Objects:
    """Divides the shards of a partition among objects, each of which serves some pieces."""

    def __init__(self, pieces: int, together: int) -> None:
        self.count, self.together = -(-pieces // together), together

    def __call__(self, shards: dict[int, bytes]) -> Any:
        found: list[dict[int, list[bytes]]] = [{} for _ in range(self.count)]
        for piece, shard in shards.items():
            found[piece // self.together][piece] = [shard]
        return tuple(found) if self.count > 1 else found[0]


def _table(shards: dict[int, bytes]) -> Any:
    import pyarrow as pa

    packed = pa.array(list(shards.values()), pa.large_binary())
    return pa.table({PIECE_COLUMN: pa.array(list(shards), pa.int64()), SHARD_COLUMN: packed})


def _unchanged(shards: Any) -> Any:
    return shards


def _pieces_in(block: Any) -> list[int]:
    found: list[int] = block[PIECE_COLUMN].unique().to_pylist() if len(block) else []
    return found


def _contents_of(block: Any, piece: int) -> dict[int, list[bytes]]:
    import pyarrow.compute as pc

    return {piece: block.filter(pc.equal(block[PIECE_COLUMN], piece))[SHARD_COLUMN].to_pylist()}


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


def _called_on_span(function: Callable[[int, int], Found], start: int, stop: int) -> Found:
    return function(start, stop)


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
