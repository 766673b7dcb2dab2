"""This tree against another commit: the same calls by two interpreters, in turn.

    python benchmarks/history.py COMMIT [--rounds 7] [--cpu]

A ratio above 1 means that this tree is slower. Calls that the other commit does not know are left
out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from side_by_side import table

HERE = Path(__file__).resolve().parents[1]
REPEATS = {"README's call": 20, "its limits": 20, "advise": 3}


def calls() -> dict:
    """Return what is timed; called in a process of one tree or the other."""
    import numpy as np
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Lasso, Ridge
    from sklearn.tree import DecisionTreeRegressor

    import poise

    X, y = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    many = rng.normal(size=(2000 * 51, 5))
    of_many = many[:, 0] + rng.normal(size=len(many))
    trials = poise.measure(Lasso(), X, y, n=10)
    folder = tempfile.mkdtemp()
    trees, ridge = (DecisionTreeRegressor(), many, of_many), (Ridge(), many, of_many)
    fitted = {"n": 50, "fast": False}
    some = {"n": 200, "max_trials": 500, "points_per_trial": 1}
    return {
        "README's call": lambda: poise.stability_test(Lasso(), X, y, n=10, epsilon=25, delta=0.2),
        "its limits": lambda: str(trials.test(25, delta=0.2)),
        "2,000 trials by formula": lambda: poise.measure(*ridge, n=50),
        "2,000 trials of Ridge": lambda: poise.measure(*ridge, **fitted),
        "500 trials of trees": lambda: poise.measure(*trees, **some),
        "the same, two workers": lambda: poise.measure(*trees, **some, n_jobs=2),
        "500 trials in a journal": lambda: poise.measure(
            *ridge, **fitted, max_trials=500, journal=f"{folder}/{time.monotonic_ns()}"
        ),
        "one set of 100 rows": lambda: poise.measure_deployed(Lasso(), X[:100], y[:100], X[100:]),
        "advise": lambda: poise.advise(X, y),
    }


def child() -> None:
    """Time every call once it has run before; say the seconds as JSON."""
    import warnings

    warnings.simplefilter("ignore")
    clock = time.process_time if os.environ.get("BY_CPU") else time.perf_counter
    seconds = {}
    for name, call in calls().items():
        try:
            call()
        except (TypeError, AttributeError):
            continue
        began = clock()
        for _ in range(REPEATS.get(name, 1)):
            call()
        seconds[name] = (clock() - began) / REPEATS.get(name, 1)
    print(json.dumps(seconds))


def timed(tree: Path, cpu: bool) -> dict[str, float]:
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    env |= {"BY_CPU": "1"} if cpu else {}
    command = [sys.executable, __file__, "--child"]
    found = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(found.stdout)


def compared(commit: str, rounds: int, cpu: bool) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "tree")
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(other), commit], check=True)
        try:
            pairs = [(timed(HERE, cpu), timed(other, cpu)) for _ in range(rounds)]
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)
    names = [name for name in pairs[0][0] if name in pairs[0][1]]
    here = {name: [one[name] for one, _ in pairs] for name in names}
    ratios = {name: statistics.median(a[name] / b[name] for a, b in pairs) for name in names}
    return [
        [name, f"{1e3 * statistics.median(here[name]):.1f} ms", f"{ratios[name]:.2f}"]
        for name in names
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cpu", action="store_true", help="count seconds of the processor")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child()
    else:
        rows = compared(given.commit, given.rounds, given.cpu)
        print(table(["call", "this tree", f"over {given.commit}"], rows))
