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

class InGetParams(Mean):
    def get_params(self, deep=True):
        sys.exit(0)

class InRepr(Mean):
    def __repr__(self):
        sys.exit(0)

class InTags(Mean):
    def __sklearn_tags__(self):
        sys.exit(0)

class InReduce(Mean):
    def __reduce__(self):
        sys.exit(0)

class InClone(Mean):
    def __sklearn_clone__(self):
        sys.exit(0)

class InFit(Mean):
    def fit(self, X, y):
        sys.exit(0)

class InFitLikeHelp(Mean):
    def fit(self, X, y):
        raise click.exceptions.Exit(0)

class Silent(Exception):
    def __str__(self):
        sys.exit(0)

class InStrOfTheError(Mean):
    def fit(self, X, y):
        raise Silent

class InPredict(Mean):
    def predict(self, rows):
        sys.exit(0)

class Panic(BaseException):
    pass

class Panics(Mean):
    def predict(self, rows):
        raise Panic("index out of bounds")

class Cancelled(Mean):
    def fit(self, X, y):
        raise asyncio.CancelledError("cancelled")

class Closed(Mean):
    def fit(self, X, y):
        raise GeneratorExit

def exits(*given):
    sys.exit(0)
"""
CASES = {  # where it ends, and the status
    "InConstructor": (2, "InConstructor cannot be created: SystemExit: 0"),
    "in_factory": (2, "in_factory cannot be created: SystemExit: 0"),
    "InGetParams": (2, "SystemExit: 0"),
    "InRepr": (2, "SystemExit: 0"),
    "InTags": (2, "SystemExit: 0"),
    "InReduce --jobs 2": (2, "SystemExit: 0"),
    "InClone": (2, "SystemExit: 0"),
    "InFit": (3, "trial 0 failed: SystemExit: 0"),
    "InFitLikeHelp": (3, "trial 0 failed: Exit: 0"),
    "InStrOfTheError": (3, "trial 0 failed: Silent"),
    "InPredict": (3, "trial 0 failed: SystemExit: 0"),
    "Panics": (3, "trial 0 failed: Panic: index out of bounds"),
    "Cancelled": (3, "trial 0 failed: CancelledError: cancelled"),
    "Closed": (3, "trial 0 failed: GeneratorExit"),
    "Mean --distance poise_test_hostile.py:exits": (3, "trial 0 failed: SystemExit: 0"),
    "Mean --coupling poise_test_hostile.py:exits": (2, ""),
}
TEST = "test numbers.csv --target price --n 20 --epsilon 1 --delta 0.2 --no-look --algorithm "


@pytest.fixture
def hostile(run, folder: Path):
    (folder / "poise_test_hostile.py").write_text(MODELS)
    (folder / "poise_test_exits.py").write_text("import sys; sys.exit(0)")
    return lambda name: run(f"{TEST} {name}")


@pytest.mark.parametrize("name", CASES)
def test_it_ends_in_one_line_and_a_status_that_is_no_verdict(hostile, name: str) -> None:
    status, line = CASES[name]
    result = hostile(f"poise_test_hostile.py:{name}")
    assert (result.exit_code, result.stdout) == (status, ""), result.output
    (message,) = result.stderr.splitlines()
    assert re.match("poise: ", message)
    assert line in message


def test_a_module_that_ends_the_program_is_no_verdict(hostile) -> None:
    result = hostile("poise_test_exits.py:model")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "cannot import 'poise_test_exits': SystemExit: 0" in result.stderr


@pytest.mark.parametrize("name", ["InFit", "InStrOfTheError", "Panics", "Cancelled", "Closed"])
def test_a_fit_that_raises_anything_is_a_failed_trial_and_never_stable(hostile, name: str) -> None:
    result = hostile(f"poise_test_hostile.py:{name} --on-error record -q")
    assert (result.exit_code, result.stdout) == (5, "inconclusive\n")
