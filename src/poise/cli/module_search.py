"""Where Python looks for modules while fits run: not in the current folder.

Worker processes are started by ``python -m``, which puts the current folder first: a
joblib.py or csv.py that lies beside the data would be run in the place of the real one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["installed_modules_only"]


@contextmanager
def installed_modules_only() -> Iterator[None]:
    """Context in which Python processes that are started do not search the current folder.

    External programs do: they are the user's own.
    """
    from poise.algorithms.program.command import SAFE_PATH

    if "PYTHONSAFEPATH" in os.environ:
        yield
        return
    os.environ["PYTHONSAFEPATH"] = SAFE_PATH
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
