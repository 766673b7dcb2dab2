from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from poise.engine import pool
from poise.engine.execution import Chunks, Execution
from poise.engine.messages import Answer, Failure
from poise.engine.oracle import converse
from poise.engine.pool import Pool
from poise.errors import ArgumentError, TrialError
from poise.procedures.measure import measure


def test_any_number_of_workers_gives_the_same_bits(run):
    def global_draws(X, y, seed):
        level = np.random.normal()  # noqa: NPY002
        return lambda points: level * points[:, 0] + random.random() + np.mean(y)

    for algorithm in (Ridge(), RandomForestRegressor(2), global_draws):
        settings = {"n": 5, "trials": 20, "removals": 2, "points": 2, "coupling": "independent"}
        one, two = (run(algorithm, n_jobs=jobs, **settings) for jobs in (1, 2))
        np.testing.assert_array_equal(one.changes, two.changes)
        np.testing.assert_array_equal(one.errors, two.errors)
        assert (one.changes > 0).any()


def test_chunks_cover_every_task_once_and_start_and_end_small():
    for span, workers in ((range(1000), 3), (range(7, 8), 4), (range(5, 300), 1)):
        chunks, parts = Chunks(span, workers), []
        while (part := chunks.next()) is not None:
            parts.append(part)
            chunks.learn(len(part), 1e-3 * len(part))
        assert [k for part in parts for k in part] == list(span)
        assert len(parts[0]) == len(parts[-1]) == 1
        assert max(map(len, parts)) <= 100
    long = Chunks(range(100), 2)
    long.next()
    long.learn(1, 60.0)
    assert long.next() == range(1, 2)


def test_settings_that_no_pool_can_have():
    with pytest.raises(ArgumentError, match="n_jobs must not be 0"):
        Execution(n_jobs=0)
    import joblib

    assert Execution(n_jobs=-1).size == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=3):
        assert Execution().size == 3


def test_everything_comes_back_from_a_file_in_which_memory_maps_are_named(tmp_path):
    rng, path, file = np.random.default_rng(0), tmp_path / "rows.bin", tmp_path / "content"
    rng.normal(size=(50, 4)).tofile(path)
    whole, private = (
        np.memmap(path, float, "r", 8, (12, 4)),
        np.memmap(path, float, "c", 0, (12, 4)),
    )
    private[:] = 7  # not in the file
    longer = np.memmap(tmp_path / "longer.bin", float, "w+", shape=1000)
    os.truncate(tmp_path / "longer.bin", 4096)  # some of what was mapped is not there any more
    replaced = np.memmap(tmp_path / "replaced.bin", float, "w+", shape=(12, 4))
    (tmp_path / "short.bin").write_bytes(b"by a shorter one")
    os.replace(tmp_path / "short.bin", tmp_path / "replaced.bin")
    table = rng.normal(size=(30, 3))
    named = whole, np.asarray(whole), np.memmap(path, float, "r", 0, (12, 4), "F")
    copied = (
        *(whole[3:5], whole[:, 1], np.asarray(whole)[3:5], np.asarray(whole).T),
        *(whole.view(np.int64, np.ndarray), private, longer[:500], replaced),
        *(table, np.asfortranarray(table), table[::2], np.empty((0, 3)), np.array(3.0)),
        *(np.array([1, "two", None], dtype=object), np.ma.masked_array([1.0, 2.0], [True, False])),
    )
    for content in (*named, *copied):
        pool.write([content], file)
        pool.read.cache_clear()
        [back] = pool.read(str(file))
        np.testing.assert_array_equal(back, content)
        assert back.dtype == content.dtype
        assert (str(path).encode() in file.read_bytes()) == any(content is each for each in named)
    frame = pd.DataFrame({"a": table[:, 0], "b": pd.Categorical(["x", "y", "x"] * 10)})
    sparse = scipy.sparse.random(20, 5, 0.2, "csr", random_state=0)
    pool.write((frame, sparse, [[1.0, 2.0], "three"], lambda x: x + len(table)), file)
    pool.read.cache_clear()
    back = pool.read(str(file))
    pd.testing.assert_frame_equal(back[0], frame)
    assert (back[1] != sparse).nnz == 0
    assert (back[2], back[3](1)) == ([[1.0, 2.0], "three"], 31)
    pool.write(np.zeros(10_000), file)
    for _ in range(2):  # to write into what was read changes a copy
        pool.read.cache_clear()
        back = pool.read(str(file))
        assert (back == 0).all()
        back[:] = 1


def test_workers_wait_for_the_next_run_and_forget_the_last(ask, run):
    def process(X, y, seed):
        return lambda points: np.full(len(points), float(os.getpid()))

    def workers():
        answers = run(process, trials=30, n_jobs=2, distance=lambda full, reduced: full)
        idle = Pool._idle[os.getpid()]
        pids = {worker.pid for worker in idle.workers.values()}
        assert set(answers.changes.ravel()) <= pids
        assert not list(Path(idle.folder).glob("work-*"))
        return pids

    first = workers()
    assert len(first) == 2
    assert workers() == first
    killed = first.pop()
    os.kill(killed, signal.SIGKILL)
    time.sleep(0.1)
    again = workers()
    assert killed not in again
    assert again > first

    this = ask(Ridge(), n_jobs=2)  # a run that needs no fit leaves the workers alone
    idle = Pool._idle[os.getpid()]
    failed = {0: Answer(failure=Failure("before"))}
    with pytest.raises(TrialError):
        converse(measure(this.split, known=failed), this.oracle)
    assert Pool._idle[os.getpid()] is idle


SCRIPT = """
import os, subprocess, sys, time
import numpy as np
import poise
from poise.engine.pool import Pool

def fit(X, y, seed):
    import ctypes
    program = subprocess.Popen(["sleep", "600"])
    print(os.getpid(), program.pid, file=sys.stderr, flush=True)
    {hang}
    return lambda points: np.zeros(len(points))

rows = np.arange(40.0)[:, None]
poise.measure(fit, rows, rows[:, 0], n=3, n_jobs=2, check=False, progress=False)
{after}
print("done", Pool._idle[os.getpid()].folder, file=sys.stderr, flush=True)
"""
FORK = """
fork = os.fork()
if fork == 0:  # holds all pipes of the parent open
    time.sleep(600)
print("fork", -fork, file=sys.stderr, flush=True)
time.sleep(600)
"""
HANGS = {
    "sleeping": "time.sleep(600)",
    "holding the lock": "ctypes.PyDLL(None).sleep(600)",
    "nothing": "pass",
    "beside a fork": "pass",
}


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("hang", "ending"),
    [
        ("sleeping", signal.SIGINT),
        ("sleeping", signal.SIGKILL),
        ("holding the lock", signal.SIGKILL),
        ("holding the lock", signal.SIGTERM),
        ("nothing", signal.SIGKILL),
        ("nothing", None),
        ("beside a fork", signal.SIGKILL),
    ],
)
def test_nothing_is_left_behind(hang, ending, tmp_path):
    """Whatever ends the parent, and whatever the workers are doing."""
    script = tmp_path / "script.py"
    after = FORK if hang == "beside a fork" else ""
    script.write_text(SCRIPT.format(hang=HANGS[hang], after=after))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    pids: set[int] = set()
    with subprocess.Popen(
        [sys.executable, script],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    ) as parent:
        line = ""
        while len(pids) < 4 or (after and "fork" not in line):  # two workers, their programs
            line = parent.stderr.readline()
            pids |= {int(word) for word in line.split() if word.isdigit()}
        assert len(list(temporary.iterdir())) == 1
        if ending is not None:
            parent.send_signal(ending)
        parent.wait()
        for _ in range(100):
            left = [pid for pid in pids if is_running(pid)] + list(temporary.iterdir())
            if not left:
                break
            time.sleep(0.1)
        if after:
            os.kill(-int(line.split()[1]), signal.SIGKILL)
        said = parent.stderr.read()
    assert not left
    if ending == signal.SIGINT:
        assert said.count("Traceback") == 1
        assert said.rstrip().endswith("KeyboardInterrupt")
