"""Transcripts in files: what they hold, what they cannot, and what is no transcript."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.linear_model import LinearRegression

import poise
from poise import Batch, Query, Transcript
from poise.errors import RecordError
from poise.procedures import BinomialTest
from shared.data import linear_rows

X, y = linear_rows(120, [1.0, -2.0])
extra = np.random.default_rng(1).normal(size=(30, 2))


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        lambda a: a.tolist(),
        lambda a: pd.DataFrame(a, columns=["a", "b"]) if a.ndim > 1 else pd.Series(a, name="y"),
        lambda a: pl.DataFrame(a, schema=["a", "b"]) if a.ndim > 1 else pl.Series("y", a),
        lambda a: pa.table({"a": a[:, 0], "b": a[:, 1]}) if a.ndim > 1 else a,
        lambda a: scipy.sparse.csr_array(a) if a.ndim > 1 else a,
    ],
    ids=["array", "list", "pandas", "polars", "pyarrow", "sparse"],
)
def test_data_of_any_kind_are_saved(make, tmp_path) -> None:
    def mean(X, y, seed):
        level = float(np.mean(np.asarray(y)))
        return lambda rows: [level] * (rows.shape[0] if hasattr(rows, "shape") else len(rows))

    test = BinomialTest(n=10, epsilon=0.4, delta=0.2)
    run = poise.run(test, mean, make(X), make(y), X_unlabeled=make(extra), random_state=0)
    run.transcript.save(tmp_path / "run.npz")
    loaded = Transcript.load(tmp_path / "run.npz")
    assert type(loaded.sample.X.native) is type(run.transcript.sample.X.native)
    assert loaded.sample.digest() == run.transcript.sample.digest()
    assert poise.replay(loaded) == run.result


def test_groups_and_arguments_of_fit_are_saved(tmp_path) -> None:
    groups = [f"patient {row // 2}" for row in range(len(y))]
    weights = {"sample_weight": np.linspace(0.5, 2.0, len(y)), "check": None}

    def weighted(X, y, seed, sample_weight, check):
        level = float(np.average(y, weights=sample_weight))
        return lambda rows: [level] * len(rows)

    test = BinomialTest(n=4, epsilon=0.2, delta=0.4)
    run = poise.run(test, weighted, X, y, groups=groups, fit_params=weights, random_state=0)
    assert run.result.n_trials == len(y) // 2 // 5
    run.transcript.save(tmp_path / "run.npz")
    loaded = Transcript.load(tmp_path / "run.npz")
    assert loaded.sample.groups.codes.tolist() == run.transcript.sample.groups.codes.tolist()
    rows = np.array([3, 1])
    restored, kept = (t.sample.fit_params.of(rows) for t in (loaded, run.transcript))
    assert restored["check"] is kept["check"] is None
    assert restored["sample_weight"].tolist() == kept["sample_weight"].tolist()
    assert poise.replay(loaded) == run.result
    code = poise.run(
        test, weighted, X, y, fit_params=weights | {"check": print}, random_state=0
    ).transcript
    with pytest.raises(RecordError, match=r"cannot save fit_params\['check'\]"):
        code.save(tmp_path / "code.npz")


def test_words_are_saved(tmp_path) -> None:
    def constant(X, y, seed):
        return lambda rows: np.array(["same"] * len(rows))

    frame = pd.DataFrame({"colour": ["red", "green", "blue"] * 20})
    run = poise.run(BinomialTest(4, 0.5, 0.2), constant, frame, ["yes", "no"] * 30)
    run.transcript.save(tmp_path / "run.npz")
    loaded = Transcript.load(tmp_path / "run.npz")
    assert loaded.sample.X.native["colour"].tolist() == frame["colour"].tolist()
    assert poise.replay(loaded) == run.result


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"when": pd.Categorical(["a", "b", "c"] * 20)}),
        np.array([[object()]] * 60),
        [{"a": {1, 2}}] * 60,
    ],
    ids=["categories", "objects", "sets"],
)
def test_what_a_file_cannot_hold_is_refused_and_still_replayed(data, tmp_path) -> None:
    def constant(X, y, seed):
        return lambda rows: [0.0] * len(rows)

    run = poise.run(BinomialTest(4, 0.5, 0.2), constant, data, [0.0] * 60)
    with pytest.raises(RecordError, match=r"cannot save .*[Rr]eplay this transcript in memory"):
        run.transcript.save(tmp_path / "run.npz")
    assert not (tmp_path / "run.npz").exists()
    assert poise.replay(run.transcript) == run.result


def test_models_that_are_not_linear_are_refused(tmp_path) -> None:
    class Look:
        def ask(self, sample, randomness):
            answers = yield Batch([Query(np.arange(9), None, 0)], models=True)
            return len(answers.models)

    def level(X, y, seed):
        return lambda rows: np.full(len(rows), float(np.mean(y)))

    run = poise.run(Look(), level, X, y, models="transparent")
    assert poise.replay(run.transcript) == 1
    with pytest.raises(RecordError, match="cannot save a fitted function"):
        run.transcript.save(tmp_path / "run.npz")
    run = poise.run(Look(), LinearRegression(), X, y, models="transparent")
    run.transcript.save(tmp_path / "run.npz")
    (model,) = Transcript.load(tmp_path / "run.npz").stages[0].answers.models
    np.testing.assert_array_equal(model.coef_, LinearRegression().fit(X[:9], y[:9]).coef_)


@pytest.mark.parametrize("content", [b"", b"not a transcript", None])
def test_files_that_are_no_transcripts(content, tmp_path) -> None:
    path = tmp_path / "file.npz"
    if content is None:
        np.savez(path, header=np.array("{}"))
    else:
        path.write_bytes(content)
    with pytest.raises(RecordError, match="transcript"):
        Transcript.load(path)
    with pytest.raises(RecordError, match="no such file"):
        Transcript.load(tmp_path / "missing.npz")
