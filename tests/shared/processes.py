"""Python in a process of its own, and what it leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

POISE = [sys.executable, "-m", "poise"]


def python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python from start to exit; keep what it prints, and let the test judge its status."""
    command = [sys.executable, *arguments]
    options = {"capture_output": True, "text": True, "timeout": 300, "check": False} | options
    return subprocess.run(command, **options)


def printed(code: str, **options: Any) -> str:
    """Run a few lines of code, which must succeed; return what they print."""
    done = python("-c", code, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def until(condition: Callable[[], bool], patience: float = 60.0) -> bool:
    """Whether something comes true before our patience ends."""
    limit = time.monotonic() + patience
    while not condition() and time.monotonic() < limit:
        time.sleep(0.01)
    return condition()


def running(pid: int) -> bool:
    """Whether a process lives; a zombie has ended, and only waits for its parent to look."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def gone(pid: int) -> bool:
    """Whether a process ends before our patience does."""
    return until(lambda: not running(pid))


class Traces:
    """What is left of a process that was started with a TMPDIR of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {"TMPDIR": str(folder), "OMP_NUM_THREADS": "1"}

    def processes(self) -> list[str]:
        """Command lines of living processes that inherited the TMPDIR."""
        mark = f"TMPDIR={self.folder}\0".encode()
        return [line for entry in Path("/proc").glob("[0-9]*") if (line := _command(entry, mark))]

    def files(self) -> list[str]:
        """Temporary folders of poise."""
        return [path.name for path in self.folder.glob("poise-*")]

    def vanish(self) -> bool:
        """Whether everything is gone before our patience is."""
        return until(lambda: not (self.processes() or self.files()))


def _command(entry: Path, mark: bytes) -> str:
    try:
        ours = mark in (entry / "environ").read_bytes()
        return (entry / "cmdline").read_text().replace("\0", " ") if ours else ""
    except OSError:  # it has just ended, or is somebody else's
        return ""
