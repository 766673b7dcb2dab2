"""A small table, algorithms in a file, and two ways to run the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from poise.cli import main

MODELS = '''
"""Algorithms in a file, as people keep them."""
import builtins
import numpy as np

def mean(X, y, seed, shift=0.0):
    print("a line that algorithms like to print")
    level = float(np.mean(y)) + shift
    return lambda rows: [level] * len(rows)

def failing(X, y, seed):
    raise ZeroDivisionError("the matrix\\n  is singular")

def ends_once(X, y, seed, error="KeyboardInterrupt", fits=[]):
    fits.append(error)
    if fits.count(error) == 15:
        raise vars(builtins)[error]("the fifteenth fit")
    return lambda rows: [0.0] * len(rows)

def far(a, b, y=None):
    return np.full(len(a), 1000.0)

number = 7
'''
PIPE = """
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

class Bare:
    def fit(self, X, y): ...

pipeline, bare = make_pipeline(Ridge()), Bare()
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows with a response, rows without one, and algorithms."""
    place = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(660), "size": rng.normal(size=660)})
    frame["price"] = 2 * frame["size"] + rng.normal(size=660)
    labels = np.where(frame["price"] > 0, "high", "low")
    for name, rows in {
        "numbers": frame,
        "more": frame.drop(columns="price").head(60),
        "labels": frame.assign(price=labels),
        "grouped": frame.assign(group=frame.index // 10),
    }.items():
        rows.to_csv(place / f"{name}.csv", index=False)
    (place / "poise_test_models.py").write_text(MODELS)
    (place / "poise_test_pipe.py").write_text(PIPE)
    (place / "colorsys.py").touch()  # as a module that Python has
    return place


Run = Callable[..., Result]


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process, in that folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def invoke(command: str, *more: str) -> Result:
        return CliRunner().invoke(main, [*command.split(), *more], prog_name="poise")

    return invoke


@pytest.fixture
def shell(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a process of its own, in that folder."""

    def execute(
        command: str, env: Mapping[str, str] = MappingProxyType({}), **more: object
    ) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "poise", *command.split()]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": folder, **more}
        return subprocess.run(words, text=True, env=os.environ | env, check=False, **options)

    return execute
