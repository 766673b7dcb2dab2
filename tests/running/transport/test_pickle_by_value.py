"""A file named on the command line, on a cluster whose workers cannot find it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from poise.cli import main

MODEL = """
from dataclasses import dataclass

SCALE = 2.0

class Shaken:
    def __init__(self, seed):
        self.seed = seed

    def __call__(self, rows):
        return [SCALE * (self.seed % 97)] * len(rows)

@dataclass
class Shift:
    by: float = 1.0

    def fit(self, X, y):
        self.rows = len(y)
        return self

    def predict(self, X):
        return [SCALE * self.by * self.rows] * len(X)

def shaken(X, y, seed):
    return Shaken(seed * len(y))
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Ask about something in a file in a folder of its own; return the answer."""
    folder = tmp_path_factory.mktemp("carried")
    (folder / "poise_carried_model.py").write_text(MODEL)
    X = np.random.default_rng(0).normal(size=(66, 2))
    np.savez(folder / "rows.npz", X=X, y=X[:, 0])

    def asked(name: str, *where: str) -> dict:
        arguments = ["test", str(folder / "rows.npz"), "--n", "5", "--epsilon", "3", "--delta"]
        arguments += ["0.5", "--seed", "7", "--json", *where]
        place = f"{folder / 'poise_carried_model.py'}:{name}"
        done = CliRunner().invoke(main, [*arguments, "--algorithm", place])
        assert done.exit_code in (0, 1), done.output
        answer = json.loads(done.stdout)
        del answer["run"]  # how it was called, which differs
        return answer

    return asked


@pytest.mark.parametrize("name", ["shaken", "Shift"])
def test_on_a_dask_cluster_at_an_address(name, ask, dask_client) -> None:
    where = ("--backend", "dask", "--address", dask_client.scheduler.address)
    assert ask(name, *where) == ask(name)


@pytest.mark.parametrize("name", ["shaken", "Shift"])
def test_on_ray(name, ask, ray_here) -> None:
    assert ask(name, "--backend", "ray") == ask(name)
