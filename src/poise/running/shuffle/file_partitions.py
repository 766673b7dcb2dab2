"""Files as partitions: workers of a cluster read row groups themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from poise.data.files.file_parts import FilePart, file_parts
from poise.data.files.unread_rows import FileTable
from poise.data.partitioned.partitions import Partitions
from poise.running.shuffle.cut_partition import CutPartition
from poise.running.shuffle.dask_partitions import DaskPartitions
from poise.running.shuffle.ray_partitions import RayPartitions
from poise.running.workers.ray_cluster import count_ray_workers

Found = TypeVar("Found")

__all__ = ["file_partitions"]


def file_partitions(table: FileTable, backend: str, address: str | None) -> Partitions:
    """Return the parts of files as the partitions of a cluster; only their ends are read here."""
    parts = file_parts(table.place, table.drop)
    if backend == "dask":
        return DaskFileParts(parts, address)
    return RayFileParts(parts, address)


class OnRows(Generic[Found]):
    """Reads a part of a file and calls a function; one that cuts reads a part only if it must."""

    def __init__(self, function: Callable[[Any, int], Found]) -> None:
        self.function = function

    def __call__(self, part: FilePart, first: int) -> Found:
        """Call the function on the rows of a part."""
        cuts = isinstance(self.function, CutPartition)
        return self.function(part if cuts else part.read(), first)


class DaskFileParts(DaskPartitions):
    """Parts of files, each read by the worker of Dask that needs it.

    Parameters
    ----------
    files : sequence of FilePart
        The parts, in the order of their rows.
    address : str, optional
        Where the scheduler is.
    """

    remedy = "the rows that poise.read_table returns"

    def __init__(self, files: Sequence[FilePart], address: str | None = None) -> None:
        super().__init__(None, address)
        self.files = files

    def columns(self) -> list[Any]:
        """Return the names of the columns."""
        return list(self.files[0].columns)

    @cached_property
    def parts(self) -> list[Any]:
        """The parts, which are small until they are read."""
        return list(self.files)

    def map(
        self, function: Callable[[Any, int], Found], firsts: Sequence[int] | None = None
    ) -> list[Found]:
        """Call a function on the rows of each part, in a worker."""
        return super().map(OnRows(function), firsts)


class RayFileParts(RayPartitions):
    """Parts of files, each read by the task of Ray that needs it.

    Parameters
    ----------
    files : sequence of FilePart
        The parts, in the order of their rows.
    address : str, optional
        Where the head is.
    """

    remedy = DaskFileParts.remedy

    def __init__(self, files: Sequence[FilePart], address: str | None = None) -> None:
        count_ray_workers(address)  # connects
        super().__init__(None)
        self.files = files

    def columns(self) -> list[Any]:
        """Return the names of the columns."""
        return list(self.files[0].columns)

    def blocks(self) -> Iterator[tuple[list[Any], int]]:
        """Yield the parts, and the rows before them: a part is small until it is read."""
        for part in self.files:
            yield [part], part.first

    def map(
        self, function: Callable[[Any, int], Found], firsts: Sequence[int] | None = None
    ) -> list[Found]:
        """Call a function on the rows of each part, in a task."""
        return super().map(OnRows(function), firsts)
