"""Workers of clusters, and rows on Dask: the bits of memory, whatever happens to a worker."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from itertools import pairwise
from subprocess import run

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import poise
from helpers import ROOT, Travels, kill, needs, once, workers_of_dask
from poise.cli import main
from poise.engine.clusters import DaskWorkers
from poise.errors import AlgorithmError, ArgumentError, DataError, PowerWarning, TrialError


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


@pytest.fixture(params=[pytest.param(name, marks=needs(name)) for name in ("dask", "ray")])
def backend(request):
    request.getfixturevalue({"dask": "dask_client", "ray": "ray_here"}[request.param])
    return request.param


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, X.sum(axis=1) + rng.normal(size=400)


def mean_but(what, row):
    """Mean of the responses; in the full fit with this row something is done first."""

    def mean(X, y, seed):
        if (np.asarray(X)[:, 0] == row).any() and len(X) == 10:
            what()
        level = float(np.mean(y))
        return lambda points: level + np.asarray(points)[:, 1]

    return mean


def require_same(here, there):
    assert here.changes.tobytes() == there.changes.tobytes()
    assert here.errors.tobytes() == there.errors.tobytes()
    assert str(here) == str(there)
    assert here.changes.any()


def require_only(trial, trials, expected):
    """Make sure that all but one trial have the bits that are expected."""
    assert [(f.trial, f.kind) for f in trials.failures] == [(trial, "death")]
    assert "SIGKILL, twice" in trials.failures[0].message
    others = np.delete(np.arange(len(expected.changes)), trial)
    assert trials.changes[others].tobytes() == expected.changes[others].tobytes()


def test_the_same_bits_as_in_memory(rows, backend):
    X, y = rows

    def global_draws(X, y, seed):
        level = np.random.normal()  # noqa: NPY002
        return lambda points: level * points[:, 0] + np.mean(y)

    asked = {"n": 10, "points_per_trial": 2, "coupling": "independent", "X_unlabeled": X[:60] + 1}
    asked |= {"groups": np.arange(400) // 2, "groups_unlabeled": np.arange(200, 260)}
    require_same(*(poise.measure(global_draws, X, y, backend=b, **asked) for b in (None, backend)))


def test_deaths(rows, backend, tmp_path):
    X, y = rows
    expected = poise.measure(mean_but(int, 0), X, y, n=10)
    row = X[expected.origin.split.rows(7, 0)[0][-1], 0]
    settings = {"n": 10, "backend": backend, "on_error": "record"}
    found = poise.measure(mean_but(once(kill, tmp_path / "killed"), row), X, y, **settings)
    assert (tmp_path / "killed").exists()
    assert found.changes.tobytes() == expected.changes.tobytes()
    require_only(7, poise.measure(mean_but(kill, row), X, y, **settings), expected)


def test_errors_of_fits_and_what_cannot_be_sent(rows, backend):
    X, y = rows
    with pytest.raises(TrialError, match="ZeroDivisionError") as caught:
        poise.measure(lambda X, y, seed: 1 / 0, X, y, n=10, backend=backend)
    assert "in <lambda>" in str(caught.value.__cause__)  # its traceback
    for what in ((exec, "raise SystemExit(0)"), (os.fspath, threading.Lock())):
        with pytest.raises(AlgorithmError, match=r"cannot be sent.*(SystemExit|lock)"):
            poise.measure(Travels(*what), X, y, n=10, backend=backend, check=False)


def test_a_verdict_that_is_certain_stops_the_run_and_workers_forget_it(rows, backend, request):
    settings = {"n": 3, "epsilon": 0.0, "delta": 0.1, "stop_early": True}
    result = poise.stability_test(Lasso(0.1), *rows, backend=backend, **settings)
    here = poise.stability_test(Lasso(0.1), *rows, **settings)
    assert result.n_observed == here.n_observed < result.n_trials
    assert result.verdict == here.verdict == "unstable"
    if backend == "dask":
        client = request.getfixturevalue("dask_client")
        carried = client.run(lambda dask_worker: [*dask_worker.plugins])
        assert "poise-" not in str(carried)
        sizes = [(w.size, w.ahead) for w in map(DaskWorkers, (None, 1, 2, -1))]
        assert sizes == [(2, 1), (1, 0), (2, 1), (2, 1)]


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


# rows on Dask


def frame_of(rows, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["a", "b", "c"])
    frame["kind"] = pd.Categorical(rng.choice(["one", "two"], rows))
    frame["text"] = rng.choice(["red", "blue"], rows)
    frame["weight"] = rng.uniform(1, 2, rows)
    frame["who"] = [f"p{k}" for k in rng.integers(0, rows // 3, rows)]
    frame["y"] = frame.a - frame.b + rng.normal(size=rows)
    return frame


NUMBERS = ["a", "b", "c", "weight", "y"]
ENCODED = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["kind", "text"]), (StandardScaler(), ["a", "b"])
    ),
    DecisionTreeRegressor(max_features=2),
)


def on_dask(frame):
    """The frame in uneven partitions, one of them empty."""
    import dask.dataframe as dd

    cuts = [0, len(frame) // 7, len(frame) // 7, len(frame) // 2, len(frame)]
    parts = [frame.iloc[a:b] for a, b in pairwise(cuts)]
    return dd.from_map(lambda part: part, parts, meta=frame.iloc[:0])


@needs("dask")
@pytest.mark.parametrize(
    ("algorithm", "columns", "asked"),
    [
        (Lasso(0.1), NUMBERS, {"sample_weight": "weight", "position": "uniform"}),
        (Ridge(), NUMBERS, {}),
        (make_pipeline(StandardScaler(), Ridge()), NUMBERS, {"removals_per_trial": 2}),
        (ENCODED, None, {"coupling": "independent", "replace": True, "shuffle": False}),
        (Lasso(0.1), [*NUMBERS, "who"], {"groups": "who", "X_unlabeled": frame_of(70, 1)}),
        (Lasso(0.1), NUMBERS, {"X_unlabeled": frame_of(70, 1), "max_trials": 30}),
    ],
)
def test_the_bits_of_memory_where_rows_are_on_dask(dask_client, algorithm, columns, asked):
    frame = frame_of(600)[columns or [*NUMBERS, "kind", "text"]]
    there = dict(asked)
    if "X_unlabeled" in asked:
        asked = asked | {"X_unlabeled": asked["X_unlabeled"][frame.columns.drop("y")]}
        there["X_unlabeled"] = on_dask(asked["X_unlabeled"])
    one = poise.measure(algorithm, frame, "y", n=10, **asked)
    other = poise.measure(algorithm, on_dask(frame), "y", n=10, **there)
    require_same(one, other)
    if "groups" not in asked:
        assert one.rows(3) == other.rows(3)
    assert one.origin.data == other.origin.data


@needs("dask")
@pytest.mark.filterwarnings("ignore:Class 2 has 10 of 600 rows")
def test_classes_of_the_last_partition(dask_client):
    frame = frame_of(600)[NUMBERS]
    frame["y"] = np.where(np.arange(600) < 590, frame.y > 0, 2)
    asked = {"n": 10, "response": "predict_proba"}
    tree = DecisionTreeClassifier(max_depth=2)
    one, other = (poise.measure(tree, X, "y", **asked) for X in (frame, on_dask(frame)))
    require_same(one, other)
    assert other.design.n_classes == 3
    assert one.warnings == other.warnings != ()  # of a rare class
    with pytest.warns(PowerWarning):
        none = poise.measure(Ridge(), on_dask(frame), "y", n=600)
    assert none.changes.shape == (0, 1, 1)


@needs("dask")
def test_deaths_where_rows_are_on_dask(dask_client, tmp_path):
    frame = frame_of(400)[["a", "b", "y"]]
    expected = poise.measure(mean_but(int, 0), frame, "y", n=10)
    row = frame["a"][expected.rows(17)["trained"][-1]]
    dask_client.run_on_scheduler(
        lambda dask_scheduler: vars(dask_scheduler).update(allowed_failures=3)
    )
    # A worker of Dask ends in the middle of the run.
    algorithm = mean_but(once(lambda: kill(os.getppid), tmp_path / "killed"), row)
    found = poise.measure(algorithm, on_dask(frame), "y", n=10)
    assert (tmp_path / "killed").exists()
    assert found.changes.tobytes() == expected.changes.tobytes()
    always = poise.measure(mean_but(kill, row), on_dask(frame), "y", n=10, on_error="record")
    require_only(17, always, expected)


@needs("dask")
def test_what_is_refused_of_rows_on_dask(dask_client):
    frame = frame_of(300)
    rows = on_dask(frame[NUMBERS])
    holes = frame[NUMBERS].copy()
    holes.loc[290, "b"] = np.nan
    late = frame_of(3000)[NUMBERS]
    late.loc[2999, "y"] = np.inf
    unknown = on_dask(frame[NUMBERS]).assign(kind="a").astype({"kind": "category"})
    weights = {"sample_weight": [1] * 300}
    for kind, words, X, y, asked in [
        (AlgorithmError, r"column 'b' of X holds nan in row 140 .* of partition 3", holes, "y", {}),
        (DataError, r"y must not be .* got inf in row 1499 .* of partition 3", late, "y", {}),
        (DataError, "y names no column of X, .*did you mean 'y'", rows, "yy", {}),
        (DataError, r"column 'kind' has other .* give X.categorize\(\)", unknown, "y", {}),
        (DataError, "y must be the name of a column", rows, np.ones(300), {}),
        (DataError, "sample_weight must be the name", rows, "y", {"sample_weight": np.ones(300)}),
        (DataError, "must not hold a value for each", rows, "y", {"fit_params": weights}),
        (DataError, "X_unlabeled must be a data frame of Dask", rows, "y", {"X_unlabeled": frame}),
        (DataError, "ids must be left out", rows, "y", {"ids": "a"}),
        (ArgumentError, "n_jobs must be left out", rows, "y", {"n_jobs": 2}),
        (ArgumentError, "backend must be left out", rows, "y", {"backend": "ray"}),
        (ArgumentError, "fit_timeout works on this machine only", rows, "y", {"fit_timeout": 1}),
    ]:
        given = on_dask(X) if isinstance(X, pd.DataFrame) else X
        with pytest.raises(kind, match=words):
            poise.measure(Lasso(0.1), given, y, n=10, **asked)
    with pytest.raises(DataError, match="give epsilon as a number"):
        poise.stability_test(Lasso(), rows, "y", n=10, epsilon="5% of sd", delta=0.1)
    with pytest.raises(DataError, match=r"give X\.compute\(\)"):
        poise.compare([Lasso()], rows, "y", n=10, epsilon=1, delta=0.1)


@needs("dask")
def test_the_command_line_leaves_parquet_files_where_they_are(dask_client, tmp_path):
    frame = frame_of(400)[["a", "b", "text", "y"]]
    for place, part in enumerate(np.array_split(np.arange(400), 12)):  # 10 stands before 2
        frame.iloc[part].to_parquet(tmp_path / f"part-{place}.parquet")
    asked = ["measure", str(tmp_path), "--target", "y", "--drop", "text", "--algorithm", "Lasso"]
    where = ["--backend", "dask", "--address", dask_client.scheduler.address]
    one, other = (
        json.loads(CliRunner().invoke(main, [*asked, "--n", "5", "--json", *more]).stdout)
        for more in ([], where)
    )
    assert one["design"].pop("sd") == pytest.approx(other["design"].pop("sd"))
    assert {k for k in one if one[k] != other[k]} <= {"created", "command"}
    for words in (["--backend", "dask"], ["--backend", "ray", "--address", "auto"]):
        refused = CliRunner().invoke(main, [*asked, "--n", "5", *words])
        assert (refused.exit_code, "call ray.init() in Python" in refused.output) == (2, True)


@needs("dask")
def test_the_examples_run(tmp_path):
    frame = frame_of(500)[NUMBERS]
    frame[:200].to_parquet(tmp_path / "a.parquet")
    frame[200:].to_parquet(tmp_path / "b.parquet")
    for words in (["on_dask.py", str(tmp_path), "y", "10"], ["memory_map.py", "20_000"]):
        script = [sys.executable, str(ROOT / "examples" / words[0]), *words[1:]]
        said = run(script, capture_output=True, text=True, check=False)
        assert "With 95% confidence" in said.stdout, said.stderr
