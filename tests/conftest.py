"""Settings shared by all tests, and a search for what runs leave behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# The suite times nothing: a first import inside an example must not fail it.
settings.register_profile("poise", deadline=None, derandomize=True)
settings.load_profile("poise")


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

    def vanish(self, patience: float = 60.0) -> bool:
        """Whether everything is gone before our patience is."""
        limit = time.monotonic() + patience
        while (self.processes() or self.files()) and time.monotonic() < limit:
            time.sleep(0.05)
        return not (self.processes() or self.files())


def _command(entry: Path, mark: bytes) -> str:
    try:
        ours = mark in (entry / "environ").read_bytes()
        return (entry / "cmdline").read_text().replace("\0", " ") if ours else ""
    except OSError:  # it has just ended, or is somebody else's
        return ""


@pytest.fixture
def traces(tmp_path: Path) -> Callable[[], Traces]:
    """Make a TMPDIR for a process, and look later for what it left behind."""

    def make() -> Traces:
        folder = tmp_path / "tmp"
        folder.mkdir(exist_ok=True)
        return Traces(folder)

    return make
