"""How data reach the workers: once, by the cheapest way each backend has.

A courier turns the rows and the plan into a *parcel*: something small that
travels with every chunk, and that a worker opens into the real thing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["Parcel", "send"]

Parcel = Callable[[], Any]
"""Opened in a worker, a parcel returns what was sent."""


def send(content: Any, backend: str, folder: Path) -> Parcel:
    """Send ``content`` the way that suits a joblib backend.

    Parameters
    ----------
    content : object
        What every worker needs.
    backend : str
        Name of the joblib backend.
    folder : Path
        A temporary folder of this machine, for workers on this machine.

    Examples
    --------
    >>> send("rows", "threading", Path("."))()
    'rows'
    """
    if backend == "threading":
        return InHand(content)
    if backend == "dask":
        return _scattered(content)
    if backend == "ray":
        return _put(content)
    return _written(content, folder)


class InHand:
    """Threads share memory: hand the object over."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __call__(self) -> Any:
        return self.content


class MappedFile:
    """Processes on this machine map one file: memory holds the data once."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self) -> Any:
        return _mapped(self.path)


@lru_cache(maxsize=2)
def _mapped(path: str) -> Any:
    """Map the file; done once per worker and run."""
    import joblib

    return joblib.load(path, mmap_mode="r")


def _written(content: Any, folder: Path) -> MappedFile:
    import joblib

    path = str(folder / "data.joblib")
    joblib.dump(content, path)
    return MappedFile(path)


class Scattered:
    """Dask holds the data on its workers under a key."""

    def __init__(self, future: Any) -> None:
        self.future = future

    def __call__(self) -> Any:
        return _fetched(_Key(self.future))


class _Key:
    """A future that is looked up in a cache by what it stands for."""

    def __init__(self, future: Any) -> None:
        self.future = future

    def __hash__(self) -> int:
        return hash(self.future.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and bool(self.future.key == other.future.key)


@lru_cache(maxsize=2)
def _fetched(key: _Key) -> Any:
    return key.future.result()


def _scattered(content: Any) -> Scattered:
    from distributed import get_client

    # broadcast: every worker will need all of it; hash=False: the same data may be sent again
    client: Any = get_client()
    return Scattered(client.scatter(content, broadcast=True, hash=False))


class Stored:
    """Ray keeps the data in the object store of each machine."""

    def __init__(self, reference: Any) -> None:
        self.reference = reference

    def __call__(self) -> Any:
        import ray

        return ray.get(self.reference)


def _put(content: Any) -> Stored:
    import ray

    return Stored(ray.put(content))
