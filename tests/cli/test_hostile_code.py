"""User code that ends the program never ends it with status 0: that would mean "stable"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from poise.cli import main

MODELS = """
import asyncio, sys
import numpy as np
from sklearn.base import BaseEstimator

class Mean(BaseEstimator):
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

class InTagsLater(Mean):
    asked = 0
    def __sklearn_tags__(self):
        InTagsLater.asked += 1
        return super().__sklearn_tags__() if InTagsLater.asked < 3 else sys.exit(0)

class InReduce(Mean):
    def __reduce__(self):
        sys.exit(0)

class InClone(Mean):
    def __sklearn_clone__(self):
        sys.exit(0)

class InFit(Mean):
    def fit(self, X, y):
        sys.exit(0)

class Silent(Exception):
    def __str__(self):
        sys.exit(0)

class InStrOfTheError(Mean):
    def fit(self, X, y):
        raise Silent

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

def exits(a, b):
    sys.exit(0)
"""

TEST = "test rows.csv --target y --n 5 --epsilon 1 --delta 0.3 --quiet --seed 0 --algorithm"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    (place / "poise_test_hostile.py").write_text(MODELS)
    (place / "rows.csv").write_text("a,y\n" + "".join(f"{k / 7},{k % 5}\n" for k in range(90)))
    return place


@pytest.fixture
def run(hostile: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(hostile)
    monkeypatch.syspath_prepend(hostile)
    return lambda command: CliRunner().invoke(main, command.split(), prog_name="poise")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("InConstructor", "InConstructor cannot be created: SystemExit: 0"),
        ("in_factory", "in_factory cannot be created: SystemExit: 0"),
        ("InGetParams", "InGetParams cannot be described by its parameters, .*: SystemExit: 0"),
        ("InRepr", "InRepr cannot be described by its parameters, tags and repr: SystemExit: 0"),
        ("InTags", "InTags cannot be described by its parameters, tags and repr: SystemExit: 0"),
        ("InTagsLater", r"InTagsLater(\(\))? cannot be described by its .*tags.*: SystemExit: 0"),
        (
            "InReduce --jobs 2",
            "algorithm cannot be sent to worker processes: SystemExit: 0.* or use --jobs 1 or "
            "--backend threading$",
        ),
        ("InClone", r"InClone\(\) cannot be copied: SystemExit: 0"),
        ("InFit", "trial 0 failed: SystemExit: 0"),
        (
            "InStrOfTheError",
            r"trial 0 failed: poise_test_hostile.Silent: <exception str\(\) failed>",
        ),
        ("Panics", "trial 0 failed: Panic: index out of bounds"),
        ("Cancelled", "trial 0 failed: CancelledError: cancelled"),
        ("Closed", "trial 0 failed: GeneratorExit: no message"),
        ("Mean --distance poise_test_hostile:exits", "trial 0 failed: SystemExit: 0"),
    ],
)
def test_it_ends_in_one_line_and_a_status_that_is_no_verdict(run, name, line) -> None:
    result = run(f"{TEST} poise_test_hostile.py:{name}")
    assert result.exit_code == (3 if "trial 0" in line else 2)
    assert result.stdout == ""
    message = result.stderr.splitlines()
    assert len(message) == 1
    assert re.match(f"poise: {line}", message[0])


@pytest.mark.parametrize("name", ["InFit", "InStrOfTheError", "Panics", "Cancelled", "Closed"])
def test_a_fit_that_raises_anything_is_a_failed_trial_and_has_a_policy(run, name) -> None:
    result = run(f"{TEST} poise_test_hostile.py:{name} --on-error unstable")
    assert result.exit_code == 1  # never stable
    assert result.stdout != ""


def test_what_else_user_code_does_to_end_the_program_is_no_verdict_either(
    run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poise.cli.read_rows.read_rows", lambda *args, **named: exit(0))
    result = run(f"{TEST} poise_test_hostile.py:Mean")
    assert result.exit_code == 3
    assert result.stderr == "poise: user code ended the program: SystemExit: 0\n"
