from __future__ import annotations

import json
import os
import signal
import threading

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.linear_model import Lasso
from sklearn.tree import DecisionTreeRegressor

import poise
from helpers import needs, workers_of_dask
from poise.cli import main
from poise.engine.clusters import DaskWorkers
from poise.errors import AlgorithmError, ArgumentError, TrialError

CLUSTERS = [pytest.param(name, marks=needs(name)) for name in ("dask", "ray")]


@pytest.fixture(scope="module")
def dask_client():
    with workers_of_dask(**{"distributed.scheduler.allowed-failures": 0}) as client:
        yield client


@pytest.fixture(scope="module")
def ray_here():
    import ray

    before = signal.getsignal(signal.SIGTERM)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield ray
    ray.shutdown()
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def backend(request):
    request.getfixturevalue({"dask": "dask_client", "ray": "ray_here"}[request.param])
    return request.param


on_both = pytest.mark.parametrize("backend", CLUSTERS, indirect=True)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, X.sum(axis=1) + rng.normal(size=400)


def mean_but(what, row):
    """Mean of the responses; in the full fit with this row something is done first."""

    def mean(X, y, seed):
        if (X[:, 0] == row).any() and len(X) == 10:
            what()
        level = float(np.mean(y))
        return lambda points: level + points[:, 1]

    return mean


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


kill.__module__ = "__main__"  # travels by value: workers cannot import this file


@on_both
def test_the_same_bits_as_in_memory(rows, backend):
    X, y = rows

    def global_draws(X, y, seed):
        level = np.random.normal()  # noqa: NPY002
        return lambda points: level * points[:, 0] + np.mean(y)

    settings = {"n": 10, "points_per_trial": 2, "coupling": "independent"}
    groups = {"groups": np.arange(400) // 2, "groups_unlabeled": np.arange(200, 260)}
    for algorithm, more in (
        (DecisionTreeRegressor(max_features=1), {}),
        (global_draws, {"X_unlabeled": X[:60] + 1, **groups}),
    ):
        here = poise.measure(algorithm, X, y, **settings, **more)
        there = poise.measure(algorithm, X, y, backend=backend, **settings, **more)
        assert here.changes.tobytes() == there.changes.tobytes()
        assert here.errors.tobytes() == there.errors.tobytes()
        assert here.changes.any()


@on_both
def test_deaths(rows, backend, tmp_path):
    X, y = rows
    split = poise.measure(Lasso(0.1), X, y, n=10).origin.split
    row = X[split.rows(7, 0)[0][-1], 0]
    mark = str(tmp_path / "killed")

    def kill_once():
        if not os.path.exists(mark):
            open(mark, "w").close()
            kill()

    expected = poise.measure(mean_but(int, row), X, y, n=10)
    settings = {"n": 10, "backend": backend, "on_error": "record"}
    once = poise.measure(mean_but(kill_once, row), X, y, **settings)
    assert os.path.exists(mark)
    assert once.changes.tobytes() == expected.changes.tobytes()
    always = poise.measure(mean_but(kill, row), X, y, **settings)
    assert [(f.trial, f.kind) for f in always.failures] == [(7, "death")]
    assert "SIGKILL, twice" in always.failures[0].message
    for each in (always, expected):
        each.changes.flags.writeable = True
        each.changes[7] = 0
    assert always.changes.tobytes() == expected.changes.tobytes()


@on_both
def test_errors_of_fits_and_what_cannot_be_sent(rows, backend):
    X, y = rows

    def fails(X, y, seed):
        raise ZeroDivisionError("by the fit")

    with pytest.raises(TrialError, match="by the fit") as caught:
        poise.measure(fails, X, y, n=10, backend=backend)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)

    class Travels:
        def __init__(self, what):
            self.what = what

        def __reduce__(self):
            return self.what

        def __call__(self, X, y, seed):
            return lambda points: np.zeros(len(points))

    for what in ((exec, ("raise SystemExit(0)",)), (os.fspath, (threading.Lock(),))):
        with pytest.raises(AlgorithmError, match=r"cannot be sent.*(SystemExit|lock)"):
            poise.measure(Travels(what), X, y, n=10, backend=backend, check=False)


@on_both
def test_a_verdict_that_is_certain_stops_the_run(rows, backend):
    X, y = rows
    settings = {"n": 3, "epsilon": 0.0, "delta": 0.1, "stop_early": True}
    result = poise.stability_test(Lasso(0.1), X, y, backend=backend, **settings)
    here = poise.stability_test(Lasso(0.1), X, y, **settings)
    assert result.n_observed == here.n_observed < result.n_trials
    assert result.verdict == here.verdict == "unstable"


@needs("dask")
def test_workers_of_dask_forget_the_work_and_keep_to_n_jobs(rows, dask_client):
    def carried(dask_worker):
        return [name for name in dask_worker.plugins if name.startswith("poise")]

    poise.measure(Lasso(0.1), *rows, n=10, backend="dask", n_jobs=1)
    assert not any(dask_client.run(carried).values())
    sizes = [(w.size, w.ahead) for w in map(DaskWorkers, (None, 1, 2, -1))]
    assert sizes == [(2, 1), (1, 0), (2, 1), (2, 1)]


@needs("dask")
def test_the_command_line_connects(dask_client, tmp_path):
    table = tmp_path / "rows.csv"
    X = np.random.default_rng(0).normal(size=(300, 2))
    np.savetxt(table, X, delimiter=",", header="x,y", comments="")
    asked = ["measure", str(table), "--target", "y", "--algorithm", "Lasso", "--n", "5", "--json"]
    where = ["--backend", "dask", "--address", dask_client.scheduler.address]
    here, there = (CliRunner().invoke(main, [*asked, *more]) for more in ([], where))
    one, other = (json.loads(each.stdout) for each in (here, there))
    assert one.keys() == other.keys() > {"created", "command"}
    assert {k for k in one if one[k] != other[k]} <= {"created", "command"}
    alone = CliRunner().invoke(main, [*asked, *where[:2]])
    assert (alone.exit_code, "--address" in alone.output) == (2, True)


@pytest.mark.parametrize("backend", CLUSTERS)
def test_what_is_refused(rows, backend, monkeypatch):
    with pytest.raises(ArgumentError, match="fit_timeout works on this machine only"):
        poise.measure(Lasso(0.1), *rows, n=10, backend=backend, fit_timeout=1)
    if backend == "dask":
        monkeypatch.setattr("distributed.client._get_global_client", lambda: None)
    else:
        monkeypatch.setattr("ray.is_initialized", lambda: False)
    line = {"dask": r"write client = dask\.distributed\.Client\(\)", "ray": r"write ray\.init\(\)"}
    with pytest.raises(ArgumentError, match=line[backend]):
        poise.measure(Lasso(0.1), *rows, n=10, backend=backend)
