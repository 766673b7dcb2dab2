"""Workers end, and remove temporary files, when their parent process has ended.

A process that is killed can neither stop its workers nor remove its temporary
files. joblib's workers would then wait for minutes and hold their memory; workers
that were just being started would wait for ever.
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

__all__ = ["end_when_parent_ends", "watch_parent_arguments"]

_SECONDS_BETWEEN_LOOKS = 0.5
_folders: set[Path] = set()  # temporary folders of the runs this worker has worked for
_watch: list[threading.Thread] = []


def watch_parent_arguments(parent: int) -> dict[str, Any]:
    """Return the arguments that make joblib's processes watch their parent from the start.

    They are the same in every call, because joblib replaces its processes when they differ.

    Examples
    --------
    >>> watch_parent_arguments(os.getpid()) == watch_parent_arguments(os.getpid())
    True
    """
    return {"initializer": _watch_parent, "initargs": (parent, folder_prefix(parent))}


def end_when_parent_ends(parent: int, folder: Path) -> None:
    """End this worker and remove ``folder`` as soon as its parent process has ended."""
    if parent == os.getpid():
        return
    _folders.add(folder)
    _watch_parent(parent, folder.name)


def _watch_parent(parent: int, prefix: str) -> None:
    """Watch the parent in a thread, and ignore Ctrl-C: the parent handles it for all."""
    if os.name != "posix" or _watch:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _watch.append(threading.Thread(target=_wait_and_clean_up, args=(parent, prefix), daemon=True))
    _watch[0].start()


def _wait_and_clean_up(parent: int, prefix: str) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    kill_all()  # external programs would go on fitting for nobody
    for folder in [*_folders, *Path(tempfile.gettempdir()).glob(f"{prefix}*")]:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
