"""What is looked at before asking: an algorithm by six checks, and what rows can answer."""

from __future__ import annotations

import json
import os
import sys
import threading

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
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


def shifted(level):
    """An algorithm that learns a level of the responses."""

    def fit(X, y, seed):
        learnt = level(y, seed)
        return lambda rows: learnt + rows[:, 0]

    return fit


def centred(X, y, seed):
    level = np.mean(y)
    return lambda rows: level + rows[:, 0] - np.mean(rows[:, 0])


def missing_alone(X, y, seed):
    return lambda rows: np.where(len(rows) > 1, rows[:, 0], np.nan)


mean, last = shifted(lambda y, seed: np.mean(y)), shifted(lambda y, seed: y[-1])
draws = shifted(lambda y, seed: np.mean(y) + int.from_bytes(os.urandom(4)))
remembers = shifted(lambda y, seed, memory={}: memory.setdefault(seed, np.mean(y)))
frozen = lambda X, y, seed: FITTED.predict  # noqa: E731
BAD = [
    (KNeighborsRegressor(n_neighbors=40), "failed", "n_neighbors = 40"),
    (missing_alone, "failed", "are missing or infinite"),
    (draws, "failed", "fit twice"),
    (remembers, "failed", "had fitted nothing"),
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
        (lambda X, y, seed: lambda rows: X[:, 0].mean() + rows[:, 1], (X, Y), {}),  # of rows alone
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


# What rows can answer ----------------------------------------------------------------------------

FRAME, RESPONSE = load_diabetes(return_X_y=True, as_frame=True)


def test_the_largest_n_is_the_one_at_which_stable_is_still_possible():
    for delta in (0.05, 0.1, 0.2):
        advice = poise.advise(FRAME, RESPONSE, delta=delta)
        for n, possible in ((advice.largest, True), (advice.largest + 1, False)):
            still = np.zeros(442 // (n + 1))
            assert poise.Trials.from_changes(still, n=n).test(1, delta).stable == possible
        assert f"n = {advice.largest:,}" in str(advice)
    assert poise.advise(FRAME[:20], RESPONSE[:20], delta=0.01).largest == 0


@pytest.mark.parametrize(
    "asked", [{"X_unlabeled": FRAME[:40] + 1}, {"groups": np.arange(442) // 2}, {"groups": "g"}]
)
def test_its_calls_run_as_they_are_printed(asked):
    rows = FRAME.assign(g=np.arange(442) // 2) if "g" in map(str, asked.values()) else FRAME
    advice = poise.advise(rows, RESPONSE, delta=0.3, algorithm=Lasso(), **asked)
    calls = [line.split("?")[1].strip() for line in str(advice).splitlines()[-2:]]
    names = {"poise": poise, "algorithm": Lasso(), "X": rows, "y": RESPONSE}
    measured, tested = (eval(call, names | asked) for call in calls)
    assert measured.design.n == tested.n == advice.largest
    assert measured.design.n_trials == {row.n: row.n_trials for row in advice.menu}[tested.n]
    assert f"{221 if 'groups' in asked else 442} labelled {advice.unit}s can show" in str(advice)


REMARKS = [
    ({"patient_id": np.arange(442)}, "patient_id", "identifier"),
    ({"visit": pd.date_range("2020", periods=442)}, "visit", "time"),
    ({"year": np.arange(442) % 7}, "year", "time"),
    ({"month": np.arange(442)}, "month", "time"),
    ({"patient": np.arange(442) % 50}, "patient", "groups='patient'"),
]


def test_columns_that_may_be_a_mistake_are_named():
    assert not poise.advise(FRAME, RESPONSE).remarks
    for columns, name, word in REMARKS:
        [remark] = poise.advise(FRAME.assign(**columns), RESPONSE).remarks
        assert name in remark
        assert word in remark


def test_an_algorithm_is_tried_once():
    iris = load_iris(return_X_y=True)
    assert "predict_proba" in str(poise.advise(*iris, algorithm=LogisticRegression()))
    assert "sd of the response" not in str(poise.advise(*iris))
    assert "nearly the same" in str(poise.advise(FRAME, RESPONSE, algorithm=Lasso(1e6)))
    assert "larger n" in str(poise.advise(FRAME, RESPONSE, algorithm=Ridge(1e9)))

    def broken(X, y, seed):
        raise RuntimeError("no licence")

    assert "no licence" in str(poise.advise(FRAME, RESPONSE, algorithm=broken))
    said = str(poise.advise(FRAME, RESPONSE, algorithm="Ridge"))
    assert "cannot be tested" in said
    assert "How large are the changes?" not in said  # such a call would fail
