"""Six checks, and for each of them an algorithm with which it alone finds fault."""

from __future__ import annotations

import json
import os
import sys
import threading

import cloudpickle
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Lasso
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

import poise
from helpers import ROOT
from poise.cli import main
from poise.errors import DataError
from poise.questions.check import CHECKS

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import this file

X, Y = load_diabetes(return_X_y=True)
X = 1000 * X  # features as large as the response
FITTED = Lasso().fit(X, Y)


def mean(X, y, seed):
    level = np.mean(y)
    return lambda rows: level + rows[:, 0]


def draws(X, y, seed):
    level = np.mean(y) + int.from_bytes(os.urandom(4))
    return lambda rows: level + rows[:, 0]


def remembers():
    memory = {}

    def fit(X, y, seed):
        level = memory.setdefault(seed, np.mean(y))
        return lambda rows: level + rows[:, 0]

    return fit


def frozen(X, y, seed):
    return FITTED.predict


def centred(X, y, seed):
    level = np.mean(y)
    return lambda rows: level + rows[:, 0] - np.mean(rows[:, 0])


def missing_alone(X, y, seed):
    return lambda rows: np.where(len(rows) > 1, rows[:, 0], np.nan)


def last(X, y, seed):
    level = y[-1]
    return lambda rows: level + rows[:, 0]


BAD = [
    (KNeighborsRegressor(n_neighbors=40), "failed", "n_neighbors = 40"),
    (missing_alone, "failed", "are missing or infinite"),
    (draws, "failed", "fit twice"),
    (remembers(), "failed", "had fitted nothing"),
    (frozen, "failed", "a fitted model"),
    (centred, "remark", "predicted with it"),
    (last, "remark", "another order"),
]


@pytest.mark.parametrize(("name", "bad"), list(zip((CHECKS[0], *CHECKS), BAD, strict=True)))
def test_one_bad_algorithm_is_flagged_by_one_check_alone(name, bad):
    algorithm, mark, words = bad
    found = poise.check(algorithm, X, Y, n=40)
    flagged = {k: v for k, v in found.findings.items() if v.mark in ("failed", "remark")}
    assert list(flagged) == [name]
    assert flagged[name].mark == mark
    assert words in flagged[name].said
    assert found.ok == (mark == "remark")
    assert f"{mark:9}{name}: " in str(found)


IRIS = load_iris(return_X_y=True, as_frame=True)


@pytest.mark.parametrize(
    ("algorithm", "rows", "settings"),
    [
        (Lasso(), (X, Y), {"n": 0.9, "distance": poise.loss_change("squared")}),
        (GaussianNB(), IRIS, {"response": "predict_proba"}),
        (DummyClassifier(), (IRIS[0], IRIS[1].map(str)), {"n": 11}),  # coarse is not frozen
        (last, (X, Y), {"position": "uniform"}),
        (mean, (X, Y), {"n": 3, "groups": np.arange(442) // 4}),
    ],
)
def test_no_fault_is_found_with_what_has_none(algorithm, rows, settings):
    found = poise.check(algorithm, *rows, **settings)
    assert {each.mark for each in found.findings.values()} == {"ok"}
    assert found.remarks == []
    assert found.to_dict()["findings"]["learns"] == {"mark": "ok", "said": ""}


def test_what_cannot_be_known_is_not_called_ok():
    found = poise.check(mean, X, Y, n=20, distance=poise.decisions.top_k(2, of=10))
    assert found.findings["predicts row by row"].mark == "unknown"
    lock = threading.Lock()

    def cannot_travel(X, y, seed):
        with lock:
            return mean(X, y, seed)

    state = poise.check(cannot_travel, X, Y, n=20).findings["keeps nothing between fits"]
    assert state.mark == "unknown"
    assert "lock" in state.said


def test_refused_before_the_first_fit():
    with pytest.raises(DataError, match="leaves no row to predict"):
        poise.check(mean, X, Y, n=442)
    with pytest.raises(TypeError, match="epsilon"):
        poise.check(mean, X, Y, epsilon=1)


def test_the_command_ends_with_1_where_a_check_fails():
    data = f"{ROOT}/examples/diabetes.csv"
    for place, status in (("Lasso", 0), ("KNeighborsRegressor(n_neighbors=221)", 1)):
        words = ["check", data, "--target", "progression", "--algorithm", place]
        done = CliRunner().invoke(main, [*words, "--json"])
        assert (done.exit_code, json.loads(done.stdout)["ok"]) == (status, not status)
        assert CliRunner().invoke(main, [*words, "-q"]).stdout == ["ok\n", "failed\n"][status]
