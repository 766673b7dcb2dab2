"""Rows on Dask: Parquet files on two workers of this machine, and what moves between them.

    python benchmarks/shuffle.py [COMMIT] [--rows 5_000_000] [--n 1000] [--rounds 3] [--folder F]

Every run is a process of its own, so that its peak memory is what the driver needed: imports, the
scheduler of Dask, and the rows it looked at. "CPU" counts the driver and the workers. "moved/used"
are the bytes that Dask's shuffle cut for the pieces over those of the rows that trials use; the
changes of a first, smaller run must be those of the same rows in memory. With a COMMIT both trees
take turns.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from side_by_side import table

HERE = Path(__file__).resolve().parents[1]
NAMES = [*(f"x{k}" for k in range(9)), "y"]
PER_FILE, SMALL = 1_000_000, 200_000


def files(folder: Path, rows: int) -> str:
    """Write rows of ten numbers, a file of 80 MB at a time; those that are there stay."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = folder / f"rows-{rows}"
    place.mkdir(parents=True, exist_ok=True)
    for number in range(-(-rows // PER_FILE)):
        path = place / f"part-{number:05}.parquet"
        if not path.exists():
            size = min(PER_FILE, rows - number * PER_FILE), len(NAMES)
            values = np.random.default_rng([0, number]).normal(size=size)
            values[:, -1] += values[:, :-1].sum(axis=1)
            content = pa.table(dict(zip(NAMES, values.T, strict=True)))
            pq.write_table(content, path.with_suffix(".new"), 250_000, compression="none")
            path.with_suffix(".new").rename(path)
    return str(place)


def measured(rows: object, n: int) -> np.ndarray:
    from sklearn.linear_model import Ridge

    import poise

    one = {"removals_per_trial": 1, "points_per_trial": 1, "max_trials": None}
    try:
        return poise.measure(Ridge(), rows, "y", n=n, progress=False, **one).changes
    except TypeError:  # the program before 0.2
        return poise.measure(Ridge(), rows, target="y", n=n, progress=False).changes


def run(small: str, large: str, n: int) -> dict:
    """Measure both on a cluster of two workers."""
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    quiet = {"dashboard_address": ":0", "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster:
        client = Client(cluster)
        moved = measured(dd.read_parquet(small), n)
        began, worked = time.perf_counter(), seconds_of(client)
        sent = sent_bytes(client)
        trials = len(measured(dd.read_parquet(large), n))
        found = {"trials": trials, "seconds": time.perf_counter() - began}
        found["cpu"] = seconds_of(client) - worked
        found["moved"] = sent_bytes(client) - sent
        client.close()
    found["driver"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found["same"] = bool((measured(pd.read_parquet(small), n) == moved).all())
    return found


def seconds_of(client) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())


def sent_bytes(client) -> float:
    def shards(dask_scheduler) -> float:
        metrics = dask_scheduler.cumulative_worker_metrics
        return sum(v for k, v in metrics.items() if k[0] == "p2p" and k[-2:] == ("shards", "bytes"))

    return client.run_on_scheduler(shards)


def alone(tree: Path, *what: object) -> dict:
    """Run in a process of its own, with the program of a tree."""
    done = subprocess.run(
        [sys.executable, __file__, "--run", json.dumps(what)],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def line(name: str, runs: list[dict], n: int) -> list[str]:
    middle = {key: statistics.median(each[key] for each in runs) for key in runs[0]}
    used = middle["trials"] * (n + 1) * 8 * len(NAMES)
    moved = f"{middle['moved'] / used:.2f}" if middle["moved"] else ""
    cells = f"{middle['seconds']:.1f}", f"{middle['cpu']:.1f}", f"{middle['driver'] / 1e6:.0f}"
    same = "yes" if all(each["same"] for each in runs) else "NO"
    return [name, f"{middle['trials']:,.0f}", *cells, moved, same]


def main(given: argparse.Namespace) -> None:
    places = [files(given.folder, rows) for rows in (SMALL, given.rows)]
    trees = {"this tree": HERE}
    with tempfile.TemporaryDirectory() as other:
        if given.commit:
            trees[given.commit[:10]] = Path(other, "tree")
            add = ["git", "-C", str(HERE), "worktree", "add", "--detach", f"{other}/tree"]
            subprocess.run([*add, given.commit], check=True, capture_output=True)
        runs: dict[str, list[dict]] = {name: [] for name in trees}
        for _ in range(given.rounds):
            for name, tree in trees.items():
                runs[name].append(alone(tree, *places, given.n))
        if given.commit:
            remove = ["git", "-C", str(HERE), "worktree", "remove", "--force", f"{other}/tree"]
            subprocess.run(remove, check=True)
    headers = ["", "trials", "seconds", "CPU", "driver, MB", "moved/used", "as in memory"]
    print(f"{given.rows:,} rows of ten numbers")
    print(table(headers, [line(name, each, given.n) for name, each in runs.items()]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "poise-rows"))
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        print(json.dumps(run(*json.loads(given.run))))
    else:
        main(given)
