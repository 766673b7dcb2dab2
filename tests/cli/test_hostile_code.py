"""User code that ends the program never ends it with status 0: that would mean "stable"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

MODELS = """
import asyncio, sys
import click
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

def exits(*given, **named):
    sys.exit(0)

class Mean(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.level_ = float(np.mean(y))
        return self
    def predict(self, rows):
        return np.full(len(rows), self.level_)

class InConstructor(Mean):
    def __init__(self):
        sys.exit(0)

def in_factory():
    sys.exit(0)

for name in ("get_params", "__repr__", "__sklearn_tags__", "__reduce__", "__sklearn_clone__",
             "fit", "predict"):
    globals()[f"In_{name}"] = type("InMethod", (Mean,), {name: exits, "__module__": __name__})

class Silent(Exception):
    __str__ = exits

class Panic(BaseException):
    pass

def raising(error):
    def fit(self, X, y):
        raise error
    return type("Raising", (Mean,), {"fit": fit})

LikeHelp, InStrOfTheError = raising(click.exceptions.Exit(0)), raising(Silent())
Panics, Closed = raising(Panic("index out of bounds")), raising(GeneratorExit())
Cancelled = raising(asyncio.CancelledError("cancelled"))
"""
CASES = {  # where it ends, and the status
    "InConstructor": (2, "InConstructor cannot be created: SystemExit: 0"),
    "in_factory": (2, "in_factory cannot be created: SystemExit: 0"),
    "In_get_params": (2, "SystemExit: 0"),
    "In___repr__": (2, "SystemExit: 0"),
    "In___sklearn_tags__": (2, "SystemExit: 0"),
    "In___reduce__ --jobs 2": (2, "SystemExit: 0"),
    "In___sklearn_clone__": (2, "SystemExit: 0"),
    "In_fit": (3, "trial 0 failed: SystemExit: 0"),
    "In_predict": (3, "trial 0 failed: SystemExit: 0"),
    "LikeHelp": (3, "trial 0 failed: Exit: 0"),
    "InStrOfTheError": (3, "trial 0 failed: Silent"),
    "Panics": (3, "trial 0 failed: Panic: index out of bounds"),
    "Cancelled": (3, "trial 0 failed: CancelledError: cancelled"),
    "Closed": (3, "trial 0 failed: GeneratorExit"),
    "Mean --distance poise_test_hostile.py:exits": (3, "trial 0 failed: SystemExit: 0"),
    "Mean --coupling poise_test_hostile.py:exits": (2, ""),
    "Mean --distance poise_test_exits.py:x": (2, "cannot import 'poise_test_exits': SystemExit"),
}
FAILING = [name for name, (status, _) in CASES.items() if status == 3]


@pytest.fixture
def hostile(run, folder: Path):
    (folder / "poise_test_hostile.py").write_text(MODELS)
    (folder / "poise_test_exits.py").write_text("import sys; sys.exit(0)")
    test = "test numbers.csv --target price --n 20 --epsilon 1 --delta 0.2 --no-look --algorithm "
    return lambda name: run(f"{test} poise_test_hostile.py:{name}")


@pytest.mark.parametrize("name", CASES)
def test_it_ends_in_one_line_and_a_status_that_is_no_verdict(hostile, name: str) -> None:
    status, line = CASES[name]
    result = hostile(name)
    assert (result.exit_code, result.stdout) == (status, ""), result.output
    (message,) = result.stderr.splitlines()
    assert re.match(f"poise: .*{re.escape(line)}", message)


def test_a_fit_that_raises_anything_is_a_failed_trial_and_never_stable(hostile) -> None:
    for name in FAILING:
        result = hostile(f"{name} --on-error record -q")
        assert (result.exit_code, result.stdout) == (5, "inconclusive\n"), name
