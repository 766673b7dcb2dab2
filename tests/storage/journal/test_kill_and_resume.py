"""SIGKILL at random moments, again and again; the changes are those of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from poise.storage.journal import read_journal

SCRIPT = textwrap.dedent("""
    import sys, time
    import numpy as np
    import poise

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3300, 2)), rng.normal(size=3300)

    def mean(A, b, seed):
        time.sleep(0.002)
        noise = np.random.default_rng(seed).normal() * len(b)
        return lambda rows: [b.mean() + noise]

    journal, n_jobs, kept = sys.argv[1:]
    trials = poise.measure(mean, X, y, n=10, random_state=1, n_jobs=int(n_jobs), journal=journal)
    np.save(kept, trials.changes)
""")


@pytest.fixture(scope="module")
def script(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("script") / "run.py"
    path.write_text(SCRIPT)
    return path


def start(script: Path, journal: Path, n_jobs: int, environment: dict) -> subprocess.Popen:
    command = [sys.executable, str(script), str(journal), str(n_jobs), f"{journal}.npy"]
    return subprocess.Popen(command, env=environment)


def lines(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def kill_once_it_has(process: subprocess.Popen, journal: Path, wanted: int, delay: float) -> None:
    """Wait for lines in the journal, then a random moment, then kill without a warning."""
    while lines(journal) < wanted and process.poll() is None:
        time.sleep(0.002)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def undisturbed(script, tmp_path_factory) -> np.ndarray:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert start(script, folder / "run.jsonl", 1, dict(os.environ)).wait() == 0
    return np.load(folder / "run.jsonl.npy")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_killed_at_random_moments(n_jobs, script, undisturbed, tmp_path, traces) -> None:
    journal, left = tmp_path / "run.jsonl", traces()
    moments = random.Random(n_jobs)
    reached = [0]
    for _ in range(4):
        process = start(script, journal, n_jobs, left.environment)
        wanted = min(reached[-1] + moments.randint(0, 80), 290)
        kill_once_it_has(process, journal, wanted, delay=moments.uniform(0, 0.05))
        reached.append(lines(journal))
    assert reached == sorted(reached), "the journal only grows"
    assert 1 < reached[-1] < 301, "killed on the way, not before and not after"
    known = read_journal(journal).trials.changes
    assert known.tobytes() == undisturbed[: len(known)].tobytes()

    assert start(script, journal, n_jobs, left.environment).wait() == 0
    assert np.load(f"{journal}.npy").tobytes() == undisturbed.tobytes()
    assert read_journal(journal).trials.changes.tobytes() == undisturbed.tobytes()
    assert left.vanish(), "nothing is left behind"
