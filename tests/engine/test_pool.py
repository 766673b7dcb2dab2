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

from poise.engine import pool as transport
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


def test_everything_comes_back_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.bin"
    rng.normal(size=(50, 4)).tofile(path)
    whole = np.memmap(path, float, "r", 8, (12, 4))
    fortran = np.memmap(path, float, "r", 0, (12, 4), "F")
    private = np.memmap(path, float, "c", 0, (12, 4))
    private[:] = 7  # not in the file
    table = rng.normal(size=(30, 3))
    contents = {
        "whole map": whole,
        "plain view of a map": np.asarray(whole),
        "map in the other order": fortran,
        "slice of a map": whole[3:5],
        "column of a map": whole[:, 1],
        "rows of a view": np.asarray(whole)[3:5],
        "turned view": np.asarray(whole).T,
        "other type": whole.view(np.int64, np.ndarray),
        "private map": private,
        "rows": table,
        "other order": np.asfortranarray(table),
        "every second": table[::2],
        "nothing": np.empty((0, 3)),
        "one number": np.array(3.0),
        "objects": np.array([1, "two", None], dtype=object),
        "masked": np.ma.masked_array([1.0, 2.0], mask=[True, False]),
        "frame": pd.DataFrame({"a": table[:, 0], "b": pd.Categorical(["x", "y", "x"] * 10)}),
        "sparse": scipy.sparse.random(20, 5, 0.2, "csr", random_state=0),
        "list": [[1.0, 2.0], "three"],
        "function": lambda x: x + len(table),
    }
    file = tmp_path / "content"
    for name, content in contents.items():
        transport.write(content, file)
        transport.read.cache_clear()
        back = transport.read(str(file))
        if name == "function":
            assert back(1) == 31
        elif name == "frame":
            pd.testing.assert_frame_equal(back, content)
        elif name == "sparse":
            assert (back != content).nnz == 0
        elif name == "list":
            assert back == content
        else:
            np.testing.assert_array_equal(back, content)
            assert back.dtype == content.dtype, name


def test_a_memory_map_is_named_and_everything_else_is_copied(tmp_path):
    path, file = tmp_path / "rows.bin", tmp_path / "content"
    np.arange(1000.0).tofile(path)
    whole = np.memmap(path, float, "r")
    longer = np.memmap(tmp_path / "longer.bin", float, "w+", shape=1000)
    os.truncate(tmp_path / "longer.bin", 4096)  # some of what was mapped is not there any more
    for content, named in (
        (whole, True),
        (np.asarray(whole), True),
        (whole[1:], False),
        (np.memmap(path, float, "c"), False),
        (longer[:500], False),
    ):
        transport.write(content, file)
        assert (file.stat().st_size < 1000) == named


def test_writing_into_what_was_read_changes_a_copy(tmp_path):
    file = tmp_path / "content"
    transport.write(np.zeros(10_000), file)
    for _ in range(2):
        transport.read.cache_clear()
        back = transport.read(str(file))
        assert (back == 0).all()
        back[:] = 1


def test_workers_wait_for_the_next_run_and_forget_the_last(run):
    def process(X, y, seed):
        return lambda points: np.full(len(points), float(os.getpid()))

    def workers():
        answers = run(process, trials=30, n_jobs=2, distance=lambda full, reduced: full)
        pool = Pool._idle[os.getpid()]
        pids = {worker.pid for worker in pool.workers.values()}
        assert set(answers.changes.ravel()) <= pids
        assert not list(Path(pool.folder).glob("work-*"))
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


def test_a_run_that_needs_no_fit_leaves_the_workers_alone(ask, run):
    run(Ridge(), n_jobs=2)
    pool = Pool._idle[os.getpid()]
    this = ask(Ridge(), n_jobs=2)
    failed = {0: Answer(failure=Failure("before"))}
    with pytest.raises(TrialError):
        converse(measure(this.split, known=failed), this.oracle)
    assert Pool._idle[os.getpid()] is pool


SCRIPT = """
import os, signal, subprocess, sys, time
import numpy as np
from poise.algorithms.algorithm import as_algorithm
from poise.algorithms.distances import as_distance
from poise.data.randomness import Randomness, as_coupling
from poise.data.sample import Sample
from poise.data.split import Split
from poise.engine.execution import Execution
from poise.engine.oracle import Oracle, converse
from poise.engine.pool import Pool
from poise.procedures.measure import measure

def fit(X, y, seed):
    import ctypes
    program = subprocess.Popen(["sleep", "600"])
    print(os.getpid(), program.pid, file=sys.stderr, flush=True)
    {hang}
    return lambda points: np.zeros(len(points))

sample = Sample.of(np.zeros((40, 1)), np.zeros(40))
split = Split(sample, Randomness(0), n=3, trials=10, coupling=as_coupling("shared"))
execution = Execution(n_jobs=2, progress=False)
oracle = Oracle(as_algorithm(fit).prepared(sample), sample, as_distance("auto"), execution)
converse(measure(split), oracle)
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
