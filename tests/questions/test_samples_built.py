"""The rows of the user are checked once: how many samples a call makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import poise
from poise.cli import main
from poise.data.sample import Sample
from shared.algorithms import mean
from shared.data import linear_rows

X, Y = linear_rows(200, [1.0, -2.0], 3)
FRESH, Y_FRESH = linear_rows(60, [1.0, -2.0], 4)
ASKED: dict[str, Any] = {"epsilon": 0.5, "delta": 0.2}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Sample]:
    """Collect every sample that is made."""
    made: list[Sample] = []
    checked = Sample.__init__

    def noted(sample: Sample, *given: Any, **more: Any) -> None:
        made.append(sample)
        checked(sample, *given, **more)

    monkeypatch.setattr(Sample, "__init__", noted)
    return made


def _deployed(**more: Any) -> None:
    poise.conditional_test(mean, X, Y, FRESH, Y_FRESH, **ASKED, **more)


# Fits refer to labelled rows by one number, so fresh rows with responses need a sample in which
# they follow the training rows.
CALLS: dict[str, tuple[Callable[[], object], int]] = {
    "test": (lambda: poise.stability_test(mean, X, Y, n=10, **ASKED), 1),
    "measure": (lambda: poise.measure(mean, X, Y, n=10), 1),
    "compare": (lambda: poise.compare({"one": mean, "two": mean}, X, Y, n=10, **ASKED), 1),
    "deployed": (_deployed, 1),
    "share of spread": (
        lambda: poise.conditional_test(mean, X, Y, FRESH, epsilon="9% of spread", delta=0.2),
        1,
    ),
    "measure_conditional": (lambda: poise.measure_conditional(mean, X, Y, FRESH), 1),
    "add-one": (lambda: _deployed(notion="add-one"), 2),
    "jackknife": (lambda: _deployed(notion="jackknife"), 2),
    "loss": (lambda: _deployed(distance="loss:squared"), 2),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_makes_one_sample_of_the_rows(built: list[Sample], call: str) -> None:
    ask, expected = CALLS[call]
    ask()
    assert len(built) == expected


@pytest.mark.parametrize(("notion", "expected"), [("deployed", 1), ("add-one", 2)])
def test_poise_deployed_makes_no_more_samples_than_the_function(
    built: list[Sample], tmp_path: Path, notion: str, expected: int
) -> None:
    for name, rows, y in (("data.csv", X, Y), ("fresh.csv", FRESH, Y_FRESH)):
        frame = pd.DataFrame(np.column_stack([rows, y]), columns=["a", "b", "y"])
        frame.to_csv(tmp_path / name, index=False)
    files = [str(tmp_path / "data.csv"), "--target", "y", "--fresh", str(tmp_path / "fresh.csv")]
    how = ["--algorithm", "sklearn.dummy:DummyRegressor", "--notion", notion, "-q"]
    question = ["--epsilon", "0.5", "--delta", "0.2"]
    assert main(["deployed", *files, *how, *question], standalone_mode=False) == 0
    assert len(built) == expected


def test_a_record_makes_one_sample_of_what_is_given_and_one_of_what_is_used(
    built: list[Sample], tmp_path: Path
) -> None:
    monitor = poise.Monitor(tmp_path / "rows.record", mean, n=9, **ASKED)
    monitor.add(X[:95], Y[:95])
    assert [sample.n_labeled for sample in built] == [95, 90]
    built.clear()
    monitor.add(X[95:100], Y[95:100])  # with the 5 rows that waited, enough for a trial
    assert [sample.n_labeled for sample in built] == [5, 10]
    built.clear()
    monitor.add(X[100:105], Y[100:105])  # too few for a trial
    assert [sample.n_labeled for sample in built] == [5]
