"""Which workers are used: what is said, what joblib's configuration says, what is there."""

from __future__ import annotations

import os
import textwrap

import joblib
import numpy as np
import pytest

import poise
from poise.algorithms.algorithm import Algorithm
from poise.errors import ArgumentError
from poise.running.workers.backend import Backend, choose_backend
from poise.running.workers.engine import choose_engine
from poise.running.workers.parallel import ParallelEngine
from poise.running.workers.serial import SerialEngine
from shared.algorithms import mean
from shared.processes import python


def test_nothing_said_is_serial() -> None:
    assert isinstance(choose_engine(), SerialEngine)
    assert isinstance(choose_engine(1), SerialEngine)
    assert isinstance(choose_engine(2), ParallelEngine)


def test_joblib_configuration_is_honoured() -> None:
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert choose_backend(None) == Backend("threading", 3)
        assert choose_backend(2) == Backend("threading", 2)
        assert choose_backend(None, "loky").name == "loky"
    with joblib.parallel_config(n_jobs=2):
        assert choose_backend(None) == Backend("loky", 2, or_threads=True)
    assert choose_backend(-1).workers == joblib.cpu_count()


def processes_of(rows: int, **where) -> set[int]:
    """Return the processes that fit on so many rows; 20 rows are enough for these threads."""

    class Where(Algorithm):
        name, thread_safe, threads_from = "where am I?", True, 20

        def fit(self, X, y, xi):
            return lambda points: [float(os.getpid()) * len(y)]

    X = np.arange(11.0 * (rows + 1)).reshape(-1, 1)
    return set(poise.measure(Where(), X, X[:, 0], n=rows, **where).changes.astype(int))


def test_threads_are_used_for_fits_large_enough_where_nobody_says_otherwise() -> None:
    here = {os.getpid()}
    assert processes_of(20, n_jobs=2) == here
    assert not processes_of(19, n_jobs=2) & here
    assert not processes_of(20, n_jobs=2, backend="loky") & here
    assert processes_of(19, n_jobs=2, backend="threading") == here
    assert not processes_of(20, n_jobs=2, timeout=60.0) & here, "a thread cannot be stopped"


@pytest.mark.parametrize("n_jobs", [0, 1.5, True])
def test_numbers_of_workers_that_make_no_sense(n_jobs) -> None:
    with pytest.raises(ArgumentError, match="n_jobs must be None or a whole number other than 0"):
        choose_backend(n_jobs)


def test_backends_that_do_not_exist() -> None:
    with pytest.raises(ArgumentError, match=r"backend must be 'loky', .* got 'lokky'"):
        choose_backend(2, "lokky")
    with pytest.raises(ArgumentError, match=r"address needs backend='dask' or 'ray', got .*'loky'"):
        choose_backend(2, "loky", "tcp://somewhere:8786")


def test_a_backend_of_joblib_that_answers_only_when_all_is_done() -> None:
    """Named, or configured: it is not taken for another without a word."""
    refused = "backend must be 'loky', 'threading', 'dask' or 'ray', got 'multiprocessing'"
    with pytest.raises(ArgumentError, match=refused):
        choose_backend(2, "multiprocessing")
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        with pytest.raises(ArgumentError, match=refused):
            choose_backend(None)
        assert choose_backend(None, "loky") == Backend("loky", 2)
        assert choose_backend(1).serial, "one worker is the same everywhere"


def test_inside_a_worker_of_joblib_nothing_more_is_started() -> None:
    with joblib.parallel_config(backend="sequential"):
        assert choose_backend(2).serial


def test_a_dask_cluster_by_address_or_by_joblib(dask_client) -> None:
    address = dask_client.scheduler.address
    assert choose_backend(None, "dask", address) == Backend("dask", 2, address)
    assert choose_backend(None, "dask") == Backend("dask", 2)
    assert choose_backend(1, "dask") == Backend("dask", 1)
    assert not choose_backend(1, "dask").serial, "one worker, but elsewhere"
    with joblib.parallel_config(backend="dask"):
        assert choose_backend(None) == Backend("dask", 2)
    X = np.arange(66.0).reshape(-1, 1)

    def where(A, b, seed):
        import os

        return lambda rows: [float(os.getpid()) * len(b)]

    pids = set(dask_client.run(lambda: __import__("os").getpid()).values())
    trials = poise.measure(where, X, X[:, 0], n=5, backend="dask", address=address)
    assert set(trials.changes) <= pids


def test_all_of_ray_is_used_unless_told_otherwise(ray_here) -> None:
    from ray.util.joblib import register_ray

    assert choose_backend(None, "ray") == Backend("ray", 2)
    assert choose_backend(1, "ray") == Backend("ray", 1)
    register_ray()
    with joblib.parallel_config(backend="ray"):
        assert choose_backend(None) == Backend("ray", 2)


def test_a_dask_cluster_started_for_the_run(tmp_path, traces) -> None:
    """Nobody has one running: it starts, does the work, survives a death and is gone."""
    script, left = tmp_path / "run.py", traces()
    script.write_text(
        textwrap.dedent("""
        import os
        import numpy as np
        import poise

        def fit(A, b, seed):
            if A[0, 0] == 30:
                os._exit(1)
            return lambda rows: [float(seed) * len(b)]

        if __name__ == "__main__":
            X = np.arange(110.0).reshape(-1, 1)
            arguments = dict(n=10, shuffle=False, random_state=0, on_error="unstable")
            trials = poise.measure(fit, X, X[:, 0], backend="dask", n_jobs=2, **arguments)
            expected = poise.measure(fit, X[:30], X[:30, 0], n=10, shuffle=False, random_state=0)
            assert trials.changes[:2].tolist() == expected.changes.tolist()
            assert np.flatnonzero(np.isinf(trials.changes)).tolist() == [3]
            assert trials.n_observed == 10
    """)
    )
    done = python(str(script), env=left.environment)
    assert done.returncode == 0, done.stderr
    assert left.vanish()


def test_workers_that_vanish_while_data_are_sent(dask_client, monkeypatch) -> None:
    """The scheduler then refuses to copy data to nobody; another attempt is made."""
    scatter, attempts = dask_client.scatter, []

    def nobody_is_there_at_first(*content, **how):
        attempts.append(content)
        if len(attempts) == 1:
            dask_client.replicate(scatter([0]), n=0)  # raises what the scheduler raises
        return scatter(*content, **how)

    monkeypatch.setattr(dask_client, "scatter", nobody_is_there_at_first)
    X = np.arange(30.0).reshape(-1, 1)
    found = poise.measure(mean, X, X[:, 0], n=4, backend="dask", random_state=0)
    assert np.array_equal(
        found.changes, poise.measure(mean, X, X[:, 0], n=4, random_state=0).changes
    )
    assert len(attempts) > 1
