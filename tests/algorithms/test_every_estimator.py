"""Every regressor and classifier of scikit-learn runs, or is refused before the first fit."""

from __future__ import annotations

import csv
import importlib.util
import sys
from functools import cache

import numpy as np
import pytest

import poise
from poise.errors import AlgorithmError
from shared.paper_loop import changes_by_hand
from shared.paths import DOCS

PATH = DOCS / "sweep.py"
spec = importlib.util.spec_from_file_location("sweep", PATH)
sweep = importlib.util.module_from_spec(spec)
sys.modules["sweep"] = sweep  # dataclasses look their module up by name
spec.loader.exec_module(sweep)

# The table names them all (the last test): scikit-learn is asked only where these tests run.
with sweep.TABLE.open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))


def names(**cells) -> list[str]:
    """The estimators whose cells of the table hold these words."""
    return [row["Estimator"] for row in ROWS if all(row[k] == v for k, v in cells.items())]


@cache
def cases() -> dict:
    return {case.name: case for case in sweep.cases()}


@pytest.fixture
def case(name):
    return cases()[name]


# Some of them do not converge, are deprecated, or overflow on forty rows: not our concern.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_all_of_them_are_there() -> None:
    assert names() == list(cases())
    assert len(names()) == len(sweep.cases()) >= 95
    assert {"Ridge", "StackingRegressor", "ClassifierChain", "SVC", "MultiTaskLasso"} <= set(
        cases()
    )
    assert all("predict" in case.responses for case in cases().values())


@pytest.mark.parametrize("name", names())
def test_runs(case) -> None:
    X, y = case.data()
    for response in case.responses:
        got = poise.measure(
            case.estimator, X, y, n=sweep.N, response=response, random_state=0, shuffle=False
        )
        kind = _kind(case, response, y)
        expected = changes_by_hand(case.estimator, X, y, n=sweep.N, response=response, kind=kind)
        np.testing.assert_allclose(got.changes, expected, rtol=1e-9, atol=1e-12)
        assert len(got.changes) == sweep.TRIALS


def _kind(case, response, y) -> str:
    if response == "predict":
        return "label" if case.kind == "classifier" else "number"
    if response == "predict_proba":
        return "probability" if case.name != "ClassifierChain" else "one probability per output"
    return "number"


@pytest.mark.parametrize("name", sorted(set(names()) - set(names(Refused=""))))
def test_refused_with_a_reason_before_the_first_fit(case, monkeypatch) -> None:
    monkeypatch.setattr(case.make, "fit", lambda *args: pytest.fail("fitted"))
    with pytest.raises(AlgorithmError) as caught:
        poise.measure(case.estimator, *case.ordinary_data(), n=sweep.N)
    assert str(caught.value).startswith(f"{case.name} cannot be used with these data: it ")
    assert case.objection in str(caught.value)


@pytest.mark.parametrize("name", names(Kind="classifier"))
def test_classifiers_take_text_or_say_why_not(case) -> None:
    X, y = case.data()
    words = np.array(["ash", "beech", "oak"])[y]
    reason = {"SelfTrainingClassifier": "dtype object", "ClassifierChain": "encode the classes"}
    if case.name in reason:
        with pytest.raises(AlgorithmError, match=reason[case.name]):
            poise.measure(case.estimator, X, words, n=sweep.N)
        return
    trials = poise.measure(case.estimator, X, words, n=sweep.N, random_state=0)
    assert set(trials.changes) <= {0.0, 1.0}


def test_the_table_in_the_documentation_is_up_to_date() -> None:
    assert sweep.TABLE.read_text(encoding="utf-8") == sweep.table(), "run: python docs/sweep.py"
