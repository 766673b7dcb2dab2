"""A run that is killed leaves nothing: its workers end, and its folders are removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from poise.data.temp_folders import temporary_folder
from shared.processes import until

HOLDS_A_FOLDER = textwrap.dedent("""
    import time
    from poise.data.temp_folders import temporary_folder

    with temporary_folder() as folder:
        (folder / "data").write_text("large")
        print(folder, flush=True)
        time.sleep(600)
""")

STARTS_WORKERS = textwrap.dedent("""
    import time
    import numpy as np
    import poise

    def fit(A, b, seed):
        time.sleep(600)

    X = np.arange(1100.0).reshape(-1, 1)
    print("ready", flush=True)
    poise.measure(fit, X, X[:, 0], n=10, n_jobs=2)
""")


def start(script: str, environment: dict) -> tuple[subprocess.Popen, str]:
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True
    )
    return process, process.stdout.readline().strip()


def kill(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def test_the_next_run_removes_what_a_killed_one_left(temporary) -> None:
    process, folder = start(HOLDS_A_FOLDER, os.environ | {"TMPDIR": str(temporary)})
    with temporary_folder():
        assert (Path(folder) / "data").exists(), "its owner is alive"
    kill(process)
    assert (Path(folder) / "data").exists()
    with temporary_folder() as mine:
        assert sorted(temporary.iterdir()) == [mine]
    assert not list(temporary.iterdir())


def test_folders_that_are_not_ours_to_judge_stay(temporary) -> None:
    (temporary / "poise-of-someone").mkdir()
    (temporary / "poise-1-abc-xyz").mkdir()
    (temporary / "poise-1-abc-xyz" / "new").touch()
    with temporary_folder():
        pass
    assert {path.name for path in temporary.iterdir()} == {"poise-1-abc-xyz", "poise-of-someone"}


@pytest.mark.parametrize("delay", [0.05, 0.3, 0.6, 1.0, 2.0])
def test_workers_that_are_just_being_started_follow_too(delay, traces) -> None:
    """joblib's own wait for minutes, and for ever if their parent died while starting others."""
    left = traces()
    process, _ = start(STARTS_WORKERS, left.environment)
    time.sleep(delay)
    kill(process)
    assert until(lambda: not left.processes())
