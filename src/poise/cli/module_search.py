"""While fits run, Python does not look for modules in the current folder.

Worker processes are started by ``python -m``, which searches the current folder first. So
a joblib.py or csv.py in the folder of the data would be run instead of the real module.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["installed_modules_only"]


@contextmanager
def installed_modules_only() -> Iterator[None]:
    """Context in which new Python processes do not search the current folder.

    External programs still search it, because they belong to the user.
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
