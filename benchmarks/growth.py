"""What poise itself costs per trial, in time and memory, from ten thousand to a million trials.

    python benchmarks/growth.py [--small]

The algorithm is a function that does next to nothing, fitted on two rows, on one
core. The same calls of the function in a bare loop are timed in the same process and
subtracted. Every line of the table is a process of its own, so that its peak memory is:
what came on top of the data while it ran. Eight bytes of that for each trial are the
changes themselves; what is left should not grow.

``early`` stops when the verdict is forced: no change is larger, so that it is certain
after nine tenths of the trials. ``shuffled`` keeps the order of the rows as well, eight
bytes for each of the three rows that a trial uses.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import poise
from side_by_side import table

N = 2
QUESTION = {"n": N, "epsilon": 1.0, "delta": 0.1, "random_state": 0, "check": False}
WAYS = {
    "all": {"stop_early": False, "shuffle": False},
    "early": {"stop_early": True, "shuffle": False},
    "shuffled": {"stop_early": False, "shuffle": True},
    "journal": {"stop_early": False, "shuffle": False},
}


def next_to_nothing(A, b, seed):
    level = b[0]
    return lambda rows: [level]


def data(trials: int) -> tuple[np.ndarray, np.ndarray]:
    """Make rows without memory that would be free again afterwards, and hide what comes later."""
    X = np.empty((trials * (N + 1), 1))
    np.random.default_rng(0).random(out=X)
    return X, X.ravel().copy()


def bare_loop(X, y, trials: int) -> None:
    changes = np.empty(trials)
    for k in range(trials):
        first, point = k * N, X[trials * N + k : trials * N + k + 1]
        full = next_to_nothing(X[first : first + N], y[first : first + N], k)(point)[0]
        reduced = next_to_nothing(X[first : first + N - 1], y[first : first + N - 1], k)(point)[0]
        changes[k] = abs(full - reduced)


def seconds_of(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def peak_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(way: str, trials: int, repeats: int) -> dict[str, float]:
    """Run one cell of the table, in this process."""
    poise.stability_test(next_to_nothing, *data(500), **QUESTION, **WAYS[way])  # imports
    X, y = data(trials)
    before, seen = peak_bytes(), []

    def measured() -> None:
        with tempfile.TemporaryDirectory() as folder:
            kept = {"journal": Path(folder) / "run.jsonl"} if way == "journal" else {}
            result = poise.stability_test(next_to_nothing, X, y, **QUESTION, **WAYS[way], **kept)
            seen.append(result.n_observed)

    taken = statistics.median(seconds_of(measured) for _ in range(repeats))
    memory = peak_bytes() - before
    bare = statistics.median(seconds_of(lambda: bare_loop(X, y, trials)) for _ in range(repeats))
    each = taken / seen[0] - bare / trials
    return {"seconds": taken, "each": each, "memory": memory, "seen": seen[0]}


def apart(way: str, trials: int, repeats: int) -> dict[str, float]:
    """Run one cell of the table in a process of its own."""
    command = [sys.executable, __file__, "--cell", way, str(trials), str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


HEADERS = ["run", "trials", "seconds", "ratio to a tenth", "engine, per trial", "memory beyond"]


def main(small: bool) -> None:
    sizes = {1_000: 5, 10_000: 5, 100_000: 1} if small else {10_000: 7, 100_000: 3, 1_000_000: 1}
    rows = []
    for way in WAYS:
        before = None
        for trials, repeats in sizes.items():
            cell = apart(way, trials, repeats)
            beyond = cell["memory"] - 8 * cell["seen"]
            rows.append(
                [
                    way,
                    f"{trials:,}",
                    f"{cell['seconds']:.3f}",
                    "" if before is None else f"{cell['seconds'] / before:.2f}",
                    f"{1e6 * cell['each']:.1f} us",
                    f"{beyond / 1e6:.1f} MB ({beyond / trials:.1f} bytes a trial)",
                ]
            )
            before = cell["seconds"]
    print(table(HEADERS, rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the trials")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell is None:
        main(arguments.small)
    else:
        way, trials, repeats = arguments.cell
        print(json.dumps(run(way, int(trials), int(repeats))))
