"""Modules that other machines do not have: they travel with the code that is in them.

A file named on the command line can be imported here, and by workers that start
here. Those of a cluster may be anywhere; for them it is packed by value.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

__all__ = ["carry", "packed"]

_carried: set[str] = set()


def carry(module: ModuleType) -> None:
    """Have a module travel to workers on other machines, for as long as it is imported here."""
    _carried.add(module.__name__)


def packed(job: object) -> Any:
    """Return a job that can be unpacked where the carried modules do not exist.

    Examples
    --------
    >>> packed(len)("four")
    4
    """
    if not _carried:
        return job
    import cloudpickle

    with _by_value(cloudpickle):
        return _Packed(cloudpickle.dumps(job))


@contextmanager
def _by_value(cloudpickle: Any) -> Iterator[None]:
    with ExitStack() as stack:
        for module in filter(None, map(sys.modules.get, _carried)):
            cloudpickle.register_pickle_by_value(module)
            stack.callback(cloudpickle.unregister_pickle_by_value, module)
        yield


class _Packed:
    """Bytes that become a job once more when they arrive."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self.content,)

    def __call__(self, *arguments: object) -> Any:
        """Compute here: some clusters send nothing to a worker in the same process."""
        return pickle.loads(self.content)(*arguments)
