"""Workers that die, and fits that never end: failures of one trial, never of the run."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import poise
from poise.errors import ArgumentError, TrialError
from poise.storage.journal import read_journal

pytestmark = pytest.mark.usefixtures("nothing_left")

DEADLY = {
    "exit": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "segfault": lambda: ctypes.string_at(0),
}


def does_at(trial, what, rows):
    """An algorithm that does something at the full fit of one trial (unshuffled, n = 10)."""
    place = float(rows[0][trial * 10, 0])

    def fit(A, b, seed):
        if A[0, 0] == place and len(b) == 10:
            what()
        time.sleep(0.001)
        return lambda new: [float(b.mean())]

    return fit


@pytest.fixture(scope="module")
def clean(rows) -> np.ndarray:
    fit = does_at(-1, lambda: None, rows)
    return poise.measure(fit, *rows, n=10, shuffle=False).changes


def test_a_trial_that_kills_its_worker_is_a_failure(process_backend, rows, clean, tmp_path):
    _one_death("kill", process_backend, rows, clean, tmp_path / "run.jsonl")


def test_a_segfault_is_a_failure_too(rows, clean, tmp_path) -> None:
    _one_death("segfault", {"n_jobs": 2}, rows, clean, tmp_path / "run.jsonl")


def _one_death(how, process_backend, rows, clean, journal) -> None:
    trials = poise.measure(
        does_at(23, DEADLY[how], rows), *rows, n=10, shuffle=False, on_error="unstable",
        journal=journal, **process_backend,
    )  # fmt: skip
    assert np.flatnonzero(np.isinf(trials.changes)).tolist() == [23]
    assert np.delete(trials.changes, 23).tobytes() == np.delete(clean, 23).tobytes()
    [failure] = read_journal(journal).failures
    assert (failure.trial, failure.kind) == (23, "death")
    assert "died again with this trial alone" in failure.message


def test_a_worker_killed_from_outside_costs_nothing(process_backend, rows, clean, tmp_path) -> None:
    """It dies once; tried again alone, the trial is as good as any."""
    once = str(tmp_path / "once")

    def die_once():
        if not os.path.exists(once):
            open(once, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    trials = poise.measure(
        does_at(23, die_once, rows), *rows, n=10, shuffle=False, **process_backend
    )
    assert os.path.exists(once)
    assert trials.changes.tobytes() == clean.tobytes()
    assert trials.failures == ()


def test_raise_is_for_deaths_too(rows) -> None:
    with pytest.raises(TrialError, match="trial 23 failed: its worker process died") as caught:
        poise.measure(does_at(23, DEADLY["exit"], rows), *rows, n=10, shuffle=False, n_jobs=2)
    assert caught.value.partial.n_observed == 23


def test_every_trial_kills_its_worker(rows) -> None:
    def fit(A, b, seed):
        os._exit(1)

    X, y = rows[0][:22], rows[1][:22]
    trials = poise.measure(fit, X, y, n=10, n_jobs=2, on_error="unstable")
    assert trials.changes.tolist() == [np.inf] * 2


def test_a_fit_beyond_its_time(process_backend, rows, clean, tmp_path) -> None:
    journal = tmp_path / "run.jsonl"
    trials = poise.measure(
        does_at(23, lambda: time.sleep(600), rows), *rows, n=10, shuffle=False, timeout=1.0,
        on_timeout="unstable", journal=journal, **process_backend,
    )  # fmt: skip
    assert np.flatnonzero(np.isinf(trials.changes)).tolist() == [23]
    assert np.delete(trials.changes, 23).tobytes() == np.delete(clean, 23).tobytes()
    [failure] = read_journal(journal).failures
    assert (failure.trial, failure.kind) == (23, "timeout")
    assert failure.message.startswith("a fit took longer than timeout=1.0 seconds; it was in File")
    assert "test_worker_death.py" in failure.message


def test_a_fit_beyond_its_time_is_not_tried_again(rows, tmp_path) -> None:
    def late() -> None:
        with (tmp_path / "begun").open("a") as file:
            file.write("once\n")
        time.sleep(600)

    trials = poise.measure(
        does_at(7, late, rows), *rows, n=10, shuffle=False, timeout=1.0, on_timeout="unstable",
        n_jobs=2,
    )  # fmt: skip
    assert np.flatnonzero(np.isinf(trials.changes)).tolist() == [7]
    assert (tmp_path / "begun").read_text() == "once\n"


def test_a_prediction_beyond_its_time(rows) -> None:
    def fit(A, b, seed):
        return lambda new: time.sleep(600)

    with pytest.raises(TrialError, match="trial 0 failed: a fit took longer"):
        poise.measure(fit, *rows, n=10, timeout=0.5, n_jobs=2)


def test_an_extension_that_hangs_and_holds_the_lock(rows) -> None:
    """No thread of Python could end it: the clock must not need the interpreter."""

    def fit(A, b, seed):
        ctypes.PyDLL(None).sleep(600)  # PyDLL, unlike CDLL, keeps the global lock

    with pytest.raises(TrialError, match="a fit took longer"):
        poise.measure(fit, *rows, n=10, timeout=0.5, n_jobs=2)


def test_time_is_a_matter_of_its_own(rows) -> None:
    """on_error='unstable' does not cover timeouts: how long a fit takes depends on the machine."""
    fit = does_at(3, lambda: time.sleep(600), rows)
    with pytest.raises(TrialError, match="trial 3 failed: a fit took longer") as caught:
        poise.measure(fit, *rows, n=10, shuffle=False, timeout=0.5, on_error="unstable", n_jobs=2)
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert caught.value.partial.n_observed == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"timeout": 5.0}, r"timeout needs worker processes \(n_jobs=2 or more\)"),
        ({"timeout": 5.0, "n_jobs": 1}, "timeout needs worker processes"),
        ({"timeout": 5.0, "n_jobs": 2, "backend": "threading"}, "got timeout=5.0 with 2 threading"),
        ({"timeout": 0.0, "n_jobs": 2}, "timeout must be a number of seconds > 0"),
        ({"timeout": -1.0, "n_jobs": 2}, "timeout must be a number of seconds > 0"),
    ],
)
def test_a_timeout_needs_processes_and_a_number(arguments, said, rows) -> None:
    with pytest.raises(ArgumentError, match=said):
        poise.measure(lambda A, b, s: lambda new: [0.0], *rows, n=10, **arguments)


def test_more_memory_than_there_is(process_backend, rows, clean) -> None:
    def hog():
        np.ones(1 << 50)

    trials = poise.measure(
        does_at(23, hog, rows), *rows, n=10, shuffle=False, on_error="unstable", **process_backend
    )
    assert np.flatnonzero(np.isinf(trials.changes)).tolist() == [23]
    assert "Unable to allocate" in trials.failures[0]


def test_a_worker_whose_memory_grows_is_replaced_without_a_word(rows, tmp_path) -> None:
    # joblib ends a worker that holds 300 MB more than after its first task, and warns.
    once = tmp_path / "once"

    def fit(A, b, seed):
        began = vars(sys).setdefault("began", time.monotonic())
        if time.monotonic() > began + 0.2 and not once.exists():
            once.touch()
            sys.grown = np.ones(45_000_000)
        time.sleep(0.05)  # joblib looks at the memory of a worker once a second
        return lambda new: [float(os.getpid())]

    first = poise.measure(fit, *rows, n=10, shuffle=False, n_jobs=2, distance=last_pid)
    assert len(set(first.changes.tolist())) > 2


def last_pid(full, reduced) -> float:
    return float(full)


def test_a_dask_worker_killed_in_the_middle_of_a_run(dask_client, rows, tmp_path) -> None:
    """By its process id, from outside, while both workers are computing."""
    journal = tmp_path / "run.jsonl"
    pid = next(iter(dask_client.run(os.getpid).values()))

    def fit(A, b, seed):
        time.sleep(0.02)
        return lambda new: [float(b.mean() * seed)]

    def kill_soon():
        while not journal.exists() or journal.read_bytes().count(b"\n") < 15:
            time.sleep(0.005)
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_soon)
    killer.start()
    arguments = {"n": 10, "random_state": 3}
    trials = poise.measure(fit, *rows, **arguments, backend="dask", journal=journal)
    killer.join()
    assert pid not in dask_client.run(os.getpid).values()
    assert trials.changes.tobytes() == poise.measure(fit, *rows, **arguments).changes.tobytes()


class _OneTermForAll:
    """Queries that share their random term, as the removals of one training set do."""

    def ask(self, sample, randomness):
        queries = [poise.Query(np.arange(k, k + 10), np.array([0]), xi=5) for k in range(12)]
        answers = yield poise.Batch(queries)
        return [k for k, answer in enumerate(answers.predictions) if is_failure(answer)]


def is_failure(answer) -> bool:
    return isinstance(answer, poise.Failure)


def test_of_queries_that_share_a_random_term_only_the_late_one_fails(rows) -> None:
    place = float(rows[0][4, 0])

    def fit(A, b, seed):
        if A[0, 0] == place:
            time.sleep(600)
        return lambda new: [0.0]

    run = poise.run(
        _OneTermForAll(), fit, *rows, timeout=1.0, on_timeout="unstable", n_jobs=2
    )  # fmt: skip
    assert run.verdict == [4]
