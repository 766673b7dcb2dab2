"""The partitions of a Dask frame, and their shuffle by Dask."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, TypeVar

from poise.protocol.keys_at_ranks import here
from poise.running.shuffle.assemble import PIECE_COLUMN, SHARD_COLUMN
from poise.running.shuffle.cut_order import Cuts
from poise.running.shuffle.cut_partition import CutPartition
from poise.running.workers.dask_cluster import present_client

__all__ = ["DaskPartitions", "DaskShuffle"]

Found = TypeVar("Found")

_FEW_SHARDS = 4096  # that many are moved one by one; more are worth a p2p shuffle


class DaskPartitions:
    """A ``dask.dataframe.DataFrame``.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows.
    address : str, optional
        Where the scheduler is; None for the connected client, or threads of this process.
    """

    engine = "dask"
    remedy = "X.compute()"

    def __init__(self, frame: Any, address: str | None = None) -> None:
        self.frame, self.address = frame, address

    def columns(self) -> list[Any]:
        """Return the names of the columns."""
        return list(self.frame.columns)

    @cached_property
    def parts(self) -> list[Any]:
        """The partitions, each computed when it is asked for."""
        found: list[Any] = self.frame.to_delayed()
        return found

    def map(
        self, function: Callable[[Any, int], Found], firsts: Sequence[int] | None = None
    ) -> list[Found]:
        """Call a function where each partition lies."""
        dask = _dask()
        where = [0] * len(self.parts) if firsts is None else firsts
        call = dask.delayed(function, traverse=False, pure=False)
        calls = [call(part, first) for part, first in zip(self.parts, where, strict=True)]
        with self._client() as client:
            if client is None:
                return list(dask.compute(*calls))
            found: list[Found] = client.gather(client.compute(calls))
            return found

    def spread(
        self, function: Callable[[int, int], Found], spans: Sequence[tuple[int, int]]
    ) -> Iterator[Found]:
        """Call a function on ranges of rows in workers; few results are here at a time."""
        with self._client() as client:
            if client is None:
                yield from here(function, spans)
                return
            sent = client.scatter(function, broadcast=True, hash=False)
            starts, stops = zip(*spans, strict=True)
            futures = deque(client.map(_called, starts, stops, function=sent, pure=False))
            while futures:
                yield futures.popleft().result()

    def _client(self) -> AbstractContextManager[Any]:
        if self.address is None:
            return nullcontext(present_client())
        import distributed

        of_scheduler: Any = distributed
        client: AbstractContextManager[Any] = of_scheduler.Client(
            self.address, set_as_default=False
        )
        return client


def _dask() -> Any:
    """Import Dask, which has no annotations."""
    import dask

    return dask


def _called(start: int, stop: int, function: Callable[[int, int], Found]) -> Found:
    return function(start, stop)


class DaskShuffle:
    """Brings rows together by Dask's own shuffle: few of them one by one, many by p2p.

    Parameters
    ----------
    client : distributed.Client
        A connected client.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def __call__(self, cuts: Cuts, pieces: int, piece_bytes: float) -> list[tuple[Any, ...]]:
        """Return a future for each piece: a data frame of packed rows."""
        import dask.dataframe as dd

        parts = []
        for table, cut in cuts:
            call = _dask().delayed(_Shards(cut), traverse=False, pure=False)
            places = zip(table.partitions.parts, table.summary.firsts, strict=True)  # type: ignore[attr-defined]
            parts += [call(part, first) for part, first in places]
        method = "tasks" if len(parts) * pieces <= _FEW_SHARDS else "p2p"
        frame = dd.from_delayed(parts, meta=_shards({}), verify_meta=False)
        moved = frame.set_index(
            PIECE_COLUMN, divisions=list(range(pieces + 1)), shuffle_method=method
        ).to_delayed()
        return [(future,) for future in self.client.compute(moved)]

    def failed(self, parts: tuple[Any, ...]) -> bool:
        """Tell whether the rows of a piece could not be read."""
        return any(future.status == "error" for future in parts)


class _Shards:
    """Cuts a partition into a data frame of packed rows, one line for each piece."""

    def __init__(self, cut: CutPartition) -> None:
        self.cut = cut

    def __call__(self, partition: Any, first: int) -> Any:
        return _shards(self.cut(partition, first))


def _shards(found: dict[int, bytes]) -> Any:
    import pandas as pd
    import pyarrow as pa

    binary: Any = pd.ArrowDtype(pa.large_binary())
    packed = pd.Series(list(found.values()), dtype=binary)
    return pd.DataFrame({PIECE_COLUMN: pd.Series(list(found), dtype="int64"), SHARD_COLUMN: packed})
