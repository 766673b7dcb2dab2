"""A small table with a known answer, and ways to run the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from poise.cli import main
from shared.processes import python

MODELS = '''
"""Algorithms in a file, as users keep them."""
import numpy as np

def mean(X, y, seed, shift=0.0):
    print("a line that algorithms like to print")
    level = float(np.mean(y)) + shift
    return lambda rows: [level] * len(rows)

def last(X, y, seed):
    return lambda rows: [float(np.asarray(y)[-1])] * len(rows)

def failing(X, y, seed):
    raise ZeroDivisionError("the matrix\\n  is singular")

def fails_in_words_of_options(X, y, seed):
    raise ValueError("n_jobs=2 is bad; random_state, on_error='unstable'")

def fails_late(X, y, seed, state={"fits": 0}):
    state["fits"] += 1
    if state["fits"] > 10:
        raise ZeroDivisionError("the eleventh fit")
    return lambda rows: [0.0] * len(rows)

def far(a, b):
    return 1000.0

number = 7
'''
# In a file of its own: processes that fit a mean need not import scikit-learn.
PIPELINES = """
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["city"]), remainder="passthrough"
)
pipeline = make_pipeline(encode, Ridge(alpha=10.0))
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rows.csv (660 rows, text among them) and models.py."""
    place = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(660),
            "size": rng.normal(size=660),
            "city": rng.choice(["Oslo", "Rome", "Lima"], size=660),
        }
    )
    frame["price"] = 2 * frame["size"] + rng.normal(size=660)
    frame.to_csv(place / "rows.csv", index=False)
    frame.drop(columns=["city"]).to_csv(place / "numbers.csv", index=False)
    # The same rows for processes that need not import pandas.
    np.savez(place / "numbers.npz", X=frame[["id", "size"]], y=frame["price"])
    frame.head(60).assign(price=np.nan).to_csv(place / "more.csv", index=False)
    (place / "poise_test_models.py").write_text(MODELS, encoding="utf-8")
    (place / "poise_test_pipelines.py").write_text(PIPELINES, encoding="utf-8")
    return place


Run = Callable[..., Result]


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process, in that folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "path", list(sys.path))

    def invoke(command: str, *more: str) -> Result:
        return CliRunner().invoke(main, [*command.split(), *more], prog_name="poise")

    return invoke


@pytest.fixture
def shell(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a process of its own, in that folder."""

    def execute(command: str) -> subprocess.CompletedProcess[str]:
        return python("-m", "poise", *command.split(), cwd=folder)

    return execute
