"""Workers that end when the process they work for has ended, and clean up after it.

A process that is killed cannot tell its workers to stop or remove its temporary
files. joblib's workers would wait for minutes, each with its share of memory; those
that were just being started, for ever.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from poise.algorithms.program.process import kill_all
from poise.data.temp_folders import folder_prefix

__all__ = ["end_with", "followers_of"]

_SECONDS_BETWEEN_LOOKS = 0.5
_folders: set[Path] = set()  # temporary folders of the runs this worker has worked for
_watch: list[threading.Thread] = []


def followers_of(parent: int) -> dict[str, Any]:
    """Return the arguments that make joblib's processes follow their parent from the start.

    They are the same in every call, because joblib replaces its processes when they differ.

    Examples
    --------
    >>> followers_of(os.getpid()) == followers_of(os.getpid())
    True
    """
    return {"initializer": _follow, "initargs": (parent, folder_prefix(parent))}


def end_with(parent: int, folder: Path) -> None:
    """From now on end this worker, and remove ``folder``, once its parent process is gone."""
    if parent == os.getpid():
        return
    _folders.add(folder)
    _follow(parent, folder.name)


def _follow(parent: int, prefix: str) -> None:
    """Watch the parent, and let it decide what Ctrl-C means, which reaches every process."""
    if os.name != "posix" or _watch:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _watch.append(threading.Thread(target=_look_after, args=(parent, prefix), daemon=True))
    _watch[0].start()


def _look_after(parent: int, prefix: str) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    kill_all()  # external programs would go on with fits that nobody waits for
    for folder in [*_folders, *Path(tempfile.gettempdir()).glob(f"{prefix}*")]:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
