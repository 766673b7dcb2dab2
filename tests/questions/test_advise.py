"""What rows can answer, and what to look at first."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Lasso, LogisticRegression, Ridge

import poise

X, Y = load_diabetes(return_X_y=True, as_frame=True)


def test_the_largest_n_is_the_one_at_which_stable_is_still_possible():
    for delta in (0.05, 0.1, 0.2):
        advice = poise.advise(X, Y, delta=delta)
        for n, possible in ((advice.largest, True), (advice.largest + 1, False)):
            still = np.zeros(442 // (n + 1))
            assert poise.Trials.from_changes(still, n=n).test(1, delta).stable == possible
        assert f"n = {advice.largest:,}" in str(advice)
    assert poise.advise(X[:20], Y[:20], delta=0.01).largest == 0


@pytest.mark.parametrize(
    "asked", [{"X_unlabeled": X[:40] + 1}, {"groups": np.arange(442) // 2}, {"groups": "g"}]
)
def test_its_calls_run_as_they_are_printed(asked):
    rows = X.assign(g=np.arange(442) // 2) if "g" in map(str, asked.values()) else X
    advice = poise.advise(rows, Y, delta=0.3, algorithm=Lasso(), **asked)
    calls = [line.split("?")[1].strip() for line in str(advice).splitlines()[-2:]]
    names = {"poise": poise, "algorithm": Lasso(), "X": rows, "y": Y}
    measured, tested = (eval(call, names | asked) for call in calls)
    assert measured.design.n == tested.n == advice.largest
    assert measured.design.n_trials == {row.n: row.n_trials for row in advice.menu}[tested.n]
    assert f"{221 if 'groups' in asked else 442} labelled {advice.unit}s can show" in str(advice)


REMARKS = [
    ({"patient_id": np.arange(442)}, "patient_id", "identifier"),
    ({"visit": pd.date_range("2020", periods=442)}, "visit", "time"),
    ({"year": np.arange(442) % 7}, "year", "time"),
    ({"month": np.arange(442)}, "month", "time"),
    ({"seen": [f"{k % 28 + 1}.3.{1500 + k}" for k in range(442)]}, "seen", "time"),
    ({"patient": np.arange(442) % 50}, "patient", "groups='patient'"),
]


def test_columns_that_may_be_a_mistake_are_named():
    assert not poise.advise(X, Y).remarks
    for columns, name, word in REMARKS:
        [remark] = poise.advise(X.assign(**columns), Y).remarks
        assert name in remark
        assert word in remark


def test_an_algorithm_is_tried_once():
    iris = load_iris(return_X_y=True)
    assert "predict_proba" in str(poise.advise(*iris, algorithm=LogisticRegression()))
    assert "sd of the response" not in str(poise.advise(*iris))
    assert "nearly the same" in str(poise.advise(X, Y, algorithm=Lasso(1e6)))
    assert "larger n" in str(poise.advise(X, Y, algorithm=Ridge(1e9)))

    def broken(X, y, seed):
        raise RuntimeError("no licence")

    assert "no licence" in str(poise.advise(X, Y, algorithm=broken))
    said = str(poise.advise(X, Y, algorithm="Ridge"))
    assert "cannot be tested" in said
    assert "How large are the changes?" not in said  # such a call would fail
