"""Workers that end when the process they work for has ended, and clean up after it.

A process that is killed cannot tell its workers to stop or remove its temporary
files. joblib's workers would wait for minutes, each with its share of memory.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path

from poise.adapters.program.process import kill_all

__all__ = ["end_with"]

_SECONDS_BETWEEN_LOOKS = 0.5
_folders: set[Path] = set()  # temporary folders of the runs this worker has worked for
_watch: list[threading.Thread] = []


def end_with(parent: int, folder: Path) -> None:
    """From now on end this worker, and remove ``folder``, once its parent process is gone."""
    if os.name != "posix" or parent == os.getpid():
        return
    _folders.add(folder)
    if not _watch:
        # Ctrl-C in a terminal reaches every process: the parent decides what it means.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _watch.append(threading.Thread(target=_look_after, args=(parent,), daemon=True))
        _watch[0].start()


def _look_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    kill_all()
    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
