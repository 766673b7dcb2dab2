"""Modules in the folder of the data are not imported by worker processes that start there."""

from __future__ import annotations

from pathlib import Path

from shared.processes import python

SCRIPT = """
import os
import numpy as np
import poise

def fit(X, y, seed):
    usual = "PYTHONSAFEPATH" not in os.environ  # for what a fit starts itself
    return lambda rows: [1.0 * usual * len(y)]

if __name__ == "__main__":
    X = np.arange(66.0).reshape(33, 2)
    trials = poise.measure(fit, X, X[:, 0], n=10, n_jobs=2, progress=False)
    print(trials.changes.tolist(), "PYTHONSAFEPATH" in os.environ)
"""


def test_a_script_elsewhere_with_workers_here(tmp_path: Path) -> None:
    beside, data = tmp_path / "scripts", tmp_path / "data"
    beside.mkdir()
    data.mkdir()
    (beside / "measure.py").write_text(SCRIPT)
    for name in ("csv", "joblib", "pickle", "queue", "numpy"):
        (data / f"{name}.py").write_text(f"open('{name} was run', 'w').close()")
    done = python(str(beside / "measure.py"), cwd=data)
    assert done.stdout == "[1.0, 1.0, 1.0] False\n", done.stderr
    assert not list(data.glob("* was run"))
