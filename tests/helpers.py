"""What several test files use."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise.results.design import Design
from poise.results.trials import Trials

ROOT = Path(__file__).parent.parent


def needs(package: str) -> pytest.MarkDecorator:
    """Skip a test where an optional package or program is missing; on CI that is a failure."""
    missing = find_spec(package) is None and shutil.which(package) is None
    return pytest.mark.skipif(missing and not os.environ.get("CI"), reason=f"needs {package}")


def trials_of(changes: Any, *, n: int = 10, **design: Any) -> Trials:
    """Trials with these changes, of a design that has just as many rows as they need."""
    table = np.asarray(changes, dtype=float)
    m, removals, points = table.shape
    shape = {"removals": removals, "points": points} | design
    rows = {"n": n, "n_labeled": n * m, "n_unlabeled": shape["points"] * m, "algorithm": "x"}
    return Trials(table, Design(**(rows | shape)))


def python(
    code: str, *arguments: str, env: dict[str, str] | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run code in a Python process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
        check=False,
    )


class Travels:
    """An algorithm that does something when a worker reads it."""

    def __init__(self, what: Any, *arguments: Any) -> None:
        self.reduced = what, arguments

    def __reduce__(self) -> Any:
        return self.reduced

    def __call__(self, X: Any, y: Any, seed: int) -> Any:
        return lambda points: np.zeros(len(points))


def kill(which: Any = os.getpid) -> None:
    """End a process: this one, or ``os.getppid``."""
    os.kill(which(), signal.SIGKILL)


def once(what: Any, mark: Path) -> Any:
    """Return what does something if it has not been done yet."""
    place = str(mark)

    def unless() -> None:
        if not os.path.exists(place):
            open(place, "w").close()
            what()

    return unless


kill.__module__ = "__main__"  # travels by value: workers cannot import this file


@contextmanager
def workers_of_dask(**settings: Any) -> Iterator[Any]:
    """Two workers of two threads; their nannies change the environment of this process."""
    import dask
    from distributed import Client, LocalCluster

    before = dict(os.environ)
    here = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=2, **here) as cluster,
        Client(cluster) as client,
    ):
        yield client
    os.environ.clear()
    os.environ.update(before)
