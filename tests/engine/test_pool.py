"""Worker processes: the bits of one process, whatever becomes of a worker, and nothing left."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from helpers import Travels, ask, kill, once, run
from poise.engine import pool
from poise.engine.execution import Chunks, Execution
from poise.engine.messages import Answer, Failure
from poise.engine.oracle import converse
from poise.engine.pool import Pool
from poise.errors import AlgorithmError, ArgumentError, TrialError
from poise.procedures.measure import measure


def test_any_number_of_workers_gives_the_same_bits():
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
    for span, seconds, largest in ((range(1000), 1e-3, 100), (range(5, 300), 60.0, 1)):
        chunks, parts = Chunks(span, 2), []
        while (part := chunks.next()) is not None:
            parts.append(part)
            chunks.learn(len(part), seconds * len(part))
        assert [k for part in parts for k in part] == list(span)
        assert len(parts[0]) == len(parts[-1]) == 1
        assert max(map(len, parts)) == largest


def test_n_jobs_is_what_joblib_makes_of_it():
    with pytest.raises(ArgumentError, match="n_jobs must not be 0"):
        Execution(n_jobs=0)
    assert Execution(n_jobs=-1).size == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=3):
        assert Execution().size == 3


def test_everything_comes_back_from_a_file_in_which_memory_maps_are_named(tmp_path):
    rng, path, file = np.random.default_rng(0), tmp_path / "rows.bin", tmp_path / "content"

    def back(content):
        pool.write(content, file)
        pool.read.cache_clear()
        return pool.read(str(file))

    rng.normal(size=(50, 4)).tofile(path)
    whole = np.memmap(path, float, "r", 8, (12, 4))
    private = np.memmap(path, float, "c", 0, (12, 4))
    private[:] = 7  # not in the file
    longer, replaced = (np.memmap(tmp_path / f"{n}.bin", float, "w+", shape=n) for n in (1000, 48))
    os.truncate(longer.filename, 4096)  # some of what was mapped is not there any more
    (tmp_path / "short").write_bytes(b"by a shorter one")
    os.replace(tmp_path / "short", replaced.filename)
    table = rng.normal(size=(30, 3))
    named = whole, np.asarray(whole), np.memmap(path, float, "r", 0, (12, 4), "F")
    copied = (
        *(whole[3:5], whole[:, 1], np.asarray(whole)[3:5], np.asarray(whole).T),
        *(whole.view(np.int64, np.ndarray), private, longer[:500], replaced),
        *(np.asfortranarray(table), table[::2], np.empty((0, 3)), np.array(3.0)),
        *(np.array([1, "two", None], dtype=object), np.ma.masked_array([1.0, 2.0], [True, False])),
    )
    for content in (*named, *copied):
        [found] = back([content])
        np.testing.assert_array_equal(found, content)
        assert found.dtype == content.dtype
        assert (str(path).encode() in file.read_bytes()) == any(content is each for each in named)
    frame = pd.DataFrame({"a": table[:, 0], "b": pd.Categorical(["x", "y", "x"] * 10)})
    sparse = scipy.sparse.random(20, 5, 0.2, "csr", random_state=0)
    found = back((frame, sparse, lambda x: x + len(table)))
    pd.testing.assert_frame_equal(found[0], frame)
    assert ((found[1] != sparse).nnz, found[2](1)) == (0, 31)
    back(table)[:] = 1  # to write into what was read changes a copy
    pool.read.cache_clear()
    np.testing.assert_array_equal(pool.read(str(file)), table)


def test_workers_wait_for_the_next_run_and_forget_the_last():
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


# what becomes of a worker: lambdas travel by value, this file is not imported there

DEATHS = [
    ("SIGKILL", kill),
    ("SIGSEGV", lambda: ctypes.string_at(0)),
    ("status 0", lambda: ctypes.CDLL(None)._exit(0)),
    ("status 3", lambda: ctypes.CDLL(None)._exit(3)),
    ("SIGKILL", lambda: kill() if os.fork() else time.sleep(100)),  # leaves a fork
]
HANGS = [lambda: time.sleep(100), lambda: ctypes.PyDLL(None).sleep(100)]  # which holds the lock


@pytest.fixture
def doing(tmp_path):
    """Mean of the responses; in the fits of some trials it does something first."""
    folder = str(tmp_path)

    def algorithm(what, *trials):
        rows = [3.0 * k for k in trials]

        def mean(X, y, seed):
            open(f"{folder}/{int(X[0, 0]) // 3}-{len(X)}-{time.perf_counter_ns()}", "w").close()
            if X[0, 0] in rows:
                what()
            level = float(np.mean(y))
            return lambda points: np.full(len(points), level)

        return mean

    return algorithm


@pytest.fixture
def full_fits(tmp_path):
    """How often the full fit of a trial was begun."""
    return lambda trial: len(list(tmp_path.glob(f"{trial}-3-*")))


@pytest.fixture(scope="module")
def expected():
    return run(lambda X, y, seed: lambda points: np.full(len(points), np.mean(y))).changes


def test_a_death_costs_its_own_trial(doing, expected, tmp_path):
    for how, what in DEATHS:
        answers = run(doing(what, 5), n_jobs=2, on_error="record")
        assert [(f.trial, f.kind) for f in answers.failures] == [(5, "death")], how
        assert how in answers.failures[0].message
        left = expected.copy()
        left[5] = np.nan
        np.testing.assert_array_equal(answers.changes, left)
    answers = run(doing(kill, *range(4)), trials=4, n_jobs=2, on_error="record")
    assert (answers.n_failed, np.isnan(answers.changes).all()) == (4, True)
    mark = tmp_path / "killed"  # from outside, once
    np.testing.assert_array_equal(run(doing(once(kill, mark), 5), n_jobs=2).changes, expected)
    assert mark.exists()


def test_a_late_fit_costs_its_own_trial_and_is_tried_once(doing, full_fits, expected):
    for times, what in enumerate(HANGS, 1):
        answers = run(doing(what, 7), n_jobs=2, on_error="record", fit_timeout=2)
        assert [(f.trial, f.kind) for f in answers.failures] == [(7, "timeout")]
        assert "fit_timeout=2" in answers.failures[0].message
        assert full_fits(7) == times
        np.testing.assert_array_equal(answers.changes[8:], expected[8:])
    with pytest.raises(TrialError) as caught:  # one worker can have a limit, too
        run(doing(HANGS[0], 1), trials=3, fit_timeout=1.5)
    assert (caught.value.trial, caught.value.kind) == (1, "timeout")
    np.testing.assert_array_equal(caught.value.partial.changes, expected[:1])


def test_a_long_fit_beside_a_death_is_not_begun_again(doing, full_fits):
    slow, dies = doing(lambda: time.sleep(2), 0), doing(kill, 1)
    algorithm = lambda X, y, seed: (slow if X[0, 0] < 3 else dies)(X, y, seed)  # noqa: E731
    answers = run(algorithm, trials=4, n_jobs=2, on_error="record")
    assert [f.trial for f in answers.failures] == [1]
    assert (full_fits(0), full_fits(1)) == (1, 2)


def test_what_dies_or_fails_before_its_first_fit():
    with pytest.raises(TrialError, match="status 0") as caught:
        run(Travels(os._exit, 0), trials=2, n_jobs=2)
    assert (caught.value.trial, caught.value.kind) == (0, "death")
    for what, word in (
        ((exec, "raise SystemExit(0)"), "SystemExit"),
        ((__import__, "no_such_module"), "no_such"),
        ((os.fspath, threading.Lock()), "lock"),
    ):
        with pytest.raises(AlgorithmError, match=f"cannot be sent to a worker.*{word}"):
            run(Travels(*what), n_jobs=2)


SCRIPT = """
import os, subprocess, sys, time
import numpy as np
import poise
from poise.engine.pool import Pool

def fit(X, y, seed):
    import ctypes
    program = subprocess.Popen(["sleep", "600"])
    os.write(2, f"{{os.getpid()}} {{program.pid}}\\n".encode())  # at once: others write, too
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
SLEEPS, HOLDS_THE_LOCK = "time.sleep(600)", "ctypes.PyDLL(None).sleep(600)"


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("hang", "after", "ending"),
    [
        (SLEEPS, "", signal.SIGINT),
        (SLEEPS, "", signal.SIGKILL),
        (HOLDS_THE_LOCK, "", signal.SIGKILL),
        (HOLDS_THE_LOCK, "", signal.SIGTERM),
        ("pass", "", None),
        ("pass", FORK, signal.SIGKILL),
    ],
)
def test_nothing_is_left_behind(hang, after, ending, tmp_path):
    """Whatever ends the parent, and whatever the workers are doing."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(hang=hang, after=after))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    env, pids, line = os.environ | {"TMPDIR": str(temporary)}, set(), ""
    how = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True, "env": env}
    with subprocess.Popen([sys.executable, script], **how) as parent:
        while len(pids) < 4 or (after and "fork" not in line):  # two workers, their programs
            line = parent.stderr.readline()
            pids |= {int(word) for word in line.split() if word.isdigit()}
        folders = list(temporary.glob("poise-*"))
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
    assert len(folders) == 1  # here: the parent would be waited for
    if ending == signal.SIGINT:
        assert said.count("Traceback") == 1
        assert said.rstrip().endswith("KeyboardInterrupt")
