"""Rows on Dask: the trials of memory, to the last bit, whatever happens to a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import pairwise

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
from helpers import ROOT, needs, workers_of_dask
from poise.cli import main
from poise.errors import AlgorithmError, ArgumentError, DataError, PowerWarning

pytestmark = needs("dask")


@pytest.fixture(scope="module")
def client():
    with workers_of_dask() as client:
        yield client


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
def test_the_bits_of_memory(client, algorithm, columns, asked):
    frame = frame_of(600)[columns or [*NUMBERS, "kind", "text"]]
    features = [name for name in frame.columns if name != "y"]
    here, there = dict(asked), dict(asked)
    if "X_unlabeled" in asked:
        here["X_unlabeled"] = asked["X_unlabeled"][features]
        there["X_unlabeled"] = on_dask(here["X_unlabeled"])
    one = poise.measure(algorithm, frame, "y", n=10, **here)
    other = poise.measure(algorithm, on_dask(frame), "y", n=10, **there)
    assert one.changes.tobytes() == other.changes.tobytes()
    assert one.errors.tobytes() == other.errors.tobytes()
    assert str(one) == str(other)
    assert one.changes.any()
    if "groups" not in asked:
        assert one.rows(3) == other.rows(3)
    assert one.origin.data == other.origin.data


@pytest.mark.filterwarnings("ignore:Class 2 has 10 of 600 rows")
def test_classes_of_the_last_partition(client):
    frame = frame_of(600)[NUMBERS]
    frame["y"] = np.where(np.arange(600) < 590, frame.y > 0, 2)
    asked = {"n": 10, "response": "predict_proba"}
    one = poise.measure(DecisionTreeClassifier(max_depth=2), frame, "y", **asked)
    other = poise.measure(DecisionTreeClassifier(max_depth=2), on_dask(frame), "y", **asked)
    assert one.changes.tobytes() == other.changes.tobytes()
    assert other.design.n_classes == 3
    assert one.warnings == other.warnings != ()  # of a rare class
    with pytest.warns(PowerWarning):
        none = poise.measure(Ridge(), on_dask(frame), "y", n=600)
    assert none.changes.shape == (0, 1, 1)


def mean_but(what, row):
    """Mean of the responses; in the full fit with this row something is done first."""

    def mean(X, y, seed):
        if (X["a"] == row).any() and len(X) == 10:
            what()
        level = float(np.mean(y))
        return lambda points: level + points["b"].to_numpy()

    return mean


def test_deaths(client, tmp_path):
    frame = frame_of(400)[["a", "b", "y"]]
    expected = poise.measure(mean_but(int, 0), frame, "y", n=10)
    row = frame["a"][expected.rows(17)["trained"][-1]]
    mark = str(tmp_path / "killed")

    def end(which):
        if not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(which(), signal.SIGKILL)

    def end_the_worker():  # of Dask, in the middle of the run
        end(os.getppid)

    once = poise.measure(mean_but(end_the_worker, row), on_dask(frame), "y", n=10)
    assert os.path.exists(mark)
    assert once.changes.tobytes() == expected.changes.tobytes()

    def end_itself():
        os.kill(os.getpid(), signal.SIGKILL)

    asked = {"n": 10, "on_error": "record"}
    always = poise.measure(mean_but(end_itself, row), on_dask(frame), "y", **asked)
    assert [(each.trial, each.kind) for each in always.failures] == [(17, "death")]
    same = np.delete(np.arange(len(expected.changes)), 17)
    assert always.changes[same].tobytes() == expected.changes[same].tobytes()


def test_what_is_refused(client):
    frame = frame_of(300)
    rows = on_dask(frame[NUMBERS])
    holes = frame[NUMBERS].copy()
    holes.loc[290, "b"] = np.nan
    late = frame_of(3000)[NUMBERS]
    late.loc[2999, "y"] = np.inf
    unknown = on_dask(frame[NUMBERS]).assign(kind="a").astype({"kind": "category"})
    for kind, words, X, y, asked in [
        (AlgorithmError, r"column 'b' of X holds nan in row 140 .* of partition 3", holes, "y", {}),
        (DataError, r"y must not be .* got inf in row 1499 .* of partition 3", late, "y", {}),
        (DataError, "y names no column of X, .*did you mean 'y'", rows, "yy", {}),
        (DataError, r"column 'kind' has other .* give X.categorize\(\)", unknown, "y", {}),
        (DataError, "y must be the name of a column", rows, np.ones(300), {}),
        (DataError, "sample_weight must be the name", rows, "y", {"sample_weight": np.ones(300)}),
        (
            DataError,
            "must not hold a value for each",
            rows,
            "y",
            {"fit_params": {"sample_weight": [1] * 300}},
        ),
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


def test_the_command_line_leaves_parquet_files_where_they_are(client, tmp_path):
    frame = frame_of(400)[["a", "b", "text", "y"]]
    for place, part in enumerate(np.array_split(np.arange(400), 12)):  # 10 stands before 2
        frame.iloc[part].to_parquet(tmp_path / f"part-{place}.parquet")
    asked = ["measure", str(tmp_path), "--target", "y", "--drop", "text", "--algorithm", "Lasso"]
    where = ["--backend", "dask", "--address", client.scheduler.address]
    one, other = (
        json.loads(CliRunner().invoke(main, [*asked, "--n", "5", "--json", *more]).stdout)
        for more in ([], where)
    )
    assert one["design"].pop("sd") == pytest.approx(other["design"].pop("sd"))
    assert {k for k in one if one[k] != other[k]} <= {"created", "command"}


def test_the_examples_run(tmp_path):
    frame = frame_of(500)[NUMBERS]
    frame[:200].to_parquet(tmp_path / "a.parquet")
    frame[200:].to_parquet(tmp_path / "b.parquet")
    for words in (["on_dask.py", str(tmp_path), "y", "10"], ["memory_map.py", "20_000"]):
        script = [sys.executable, str(ROOT / "examples" / words[0]), *words[1:]]
        said = subprocess.run(script, capture_output=True, text=True, check=False)
        assert "With 95% confidence" in said.stdout, said.stderr
