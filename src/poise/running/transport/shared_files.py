"""Large arrays in files that all workers of a cluster can open are not sent."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from poise.algorithms.fit_warnings import FitWarnings
from poise.data.sample import Sample
from poise.errors import DataError
from poise.protocol.messages import Tasks
from poise.running.transport.memmap import is_large, mapped_at, place_in_file
from poise.running.workers.chunk_job import JobReport

__all__ = ["SentAsPaths", "files_of", "find_files"]


class SentAsPaths(tuple[Sample, Tasks]):
    """Sample and plan without the large arrays that lie in a file.

    Examples
    --------
    >>> pickle.loads(pickle.dumps(SentAsPaths(("sample", "plan"))))
    ('sample', 'plan')
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        packed = io.BytesIO()
        _Packer(packed, protocol=5).dump(tuple(self))
        return _unpacked, (packed.getvalue(),)


def files_of(sample: Sample) -> list[tuple[str, int]]:
    """List the files in which large arrays of a sample lie, with their sizes.

    Examples
    --------
    >>> from poise.data.sample import Sample
    >>> files_of(Sample([[0.5], [1.5]], [1.0, 2.0]))
    []
    """
    return [(path, os.path.getsize(path)) for path in _paths(sample)]


def _paths(sample: Sample) -> Iterator[str]:
    for table in (sample.X, sample.X_unlabeled):
        place = None if table is None else _place(table.native)
        if place is not None:
            yield place[1]


def find_files(_first: int, _last: int, files: list[tuple[str, int]]) -> JobReport:
    """Tell whether this worker finds these files; it is called as a job.

    Examples
    --------
    >>> find_files(0, 0, [("/nowhere/rows.npy", 80)])
    (0.0, [False], FitWarnings(fits=0, places={}))
    """
    found = all(os.path.exists(path) and os.path.getsize(path) == size for path, size in files)
    return 0.0, [found], FitWarnings()


def _place(obj: object) -> tuple[Any, ...] | None:
    return place_in_file(obj) if is_large(obj) else None


class _Packer(pickle.Pickler):
    def persistent_id(self, obj: object) -> tuple[Any, ...] | None:
        return _place(obj)


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, pid: tuple[Any, ...]) -> NDArray[Any]:
        _, path, *where = pid
        try:
            return mapped_at(path, *where)
        except OSError as error:
            raise DataError(
                f"a worker cannot find {path}, and another can; every worker of the cluster, or "
                "none, must see the file under that name"
            ) from error


def _unpacked(content: bytes) -> Any:
    return _Unpacker(io.BytesIO(content)).load()
