"""User modules are pickled with their code, for workers of other machines.

A file named on the command line can be imported here and by workers that start here.
Workers of a cluster may not have it; for them the module is pickled by value.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

__all__ = ["packed", "send_by_value"]

_sent_by_value: set[str] = set()


def send_by_value(module: ModuleType) -> None:
    """Send a module by value to workers on other machines, from now on."""
    _sent_by_value.add(module.__name__)


def packed(job: object) -> Any:
    """Return a job that can be unpacked where the modules sent by value do not exist.

    Examples
    --------
    >>> packed(len)("four")
    4
    """
    if not _sent_by_value:
        return job
    import cloudpickle

    with _by_value(cloudpickle):
        return _Packed(cloudpickle.dumps(job))


@contextmanager
def _by_value(cloudpickle: Any) -> Iterator[None]:
    with ExitStack() as stack:
        for module in filter(None, map(sys.modules.get, _sent_by_value)):
            cloudpickle.register_pickle_by_value(module)
            stack.callback(cloudpickle.unregister_pickle_by_value, module)
        yield


class _Packed:
    """Bytes that become a job when they are unpickled."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self.content,)

    def __call__(self, *arguments: object) -> Any:
        """Compute here: some clusters send nothing to a worker in the same process."""
        return pickle.loads(self.content)(*arguments)
