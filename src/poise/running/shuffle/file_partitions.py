"""Files as partitions: workers of a cluster read row groups themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from poise.data.files.file_parts import FilePart, file_parts
from poise.data.files.file_table import FileTable
from poise.data.partitioned.partitions import Partitions
from poise.running.shuffle.dask_partitions import DaskPartitions
from poise.running.shuffle.ray_partitions import RayPartitions
from poise.running.workers.ray_cluster import count_ray_workers

__all__ = ["CLUSTERS", "file_partitions"]

CLUSTERS = ("dask", "ray")


def file_partitions(table: FileTable, backend: str, address: str | None) -> Partitions:
    """Return the parts of files as the partitions of a cluster; only their ends are read here."""
    parts = file_parts(table.place, table.drop)
    if backend == "dask":
        return DaskFileParts(parts, address)
    return RayFileParts(parts, address)


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
        """The partitions, each read when it is asked for."""
        import dask

        of_dask: Any = dask
        read = of_dask.delayed(_read, traverse=False, pure=False)
        return [read(part) for part in self.files]


def _read(part: FilePart) -> Any:
    return part.read()


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
