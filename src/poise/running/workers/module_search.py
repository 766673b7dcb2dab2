"""Workers do not look for modules in the current folder when they start.

Worker processes are started by ``python -m``, which searches the current folder first. So
a joblib.py or csv.py in the folder of the data would be run instead of the real module. Once a
worker has started, it searches the folders that the process which started it searches.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from poise.algorithms.program.command import SAFE_PATH

__all__ = ["installed_modules_only", "search_as_usual"]

_VARIABLE = "PYTHONSAFEPATH"


@contextmanager
def installed_modules_only() -> Iterator[None]:
    """Context in which new Python processes do not search the current folder.

    External programs still search it, because they belong to the user.

    Examples
    --------
    >>> with installed_modules_only():
    ...     _VARIABLE in os.environ
    True
    """
    if _VARIABLE in os.environ:
        yield
        return
    os.environ[_VARIABLE] = SAFE_PATH
    try:
        yield
    finally:
        os.environ.pop(_VARIABLE, None)


def search_as_usual() -> None:
    """Let the Python processes that a fit starts in a worker search for modules as elsewhere."""
    if os.environ.get(_VARIABLE) == SAFE_PATH:
        del os.environ[_VARIABLE]
