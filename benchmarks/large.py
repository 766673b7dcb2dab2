"""Rows that no worker holds: files in pieces, on a Dask and a Ray cluster of this machine.

    python benchmarks/large.py [--rows 10_000_000] [--engines dask ray] [--folder FOLDER]

Rows of ten numbers are written in Parquet pieces with a fixed seed, piece by piece; 100 million
rows are 8 GB. Then `poise.measure` asks for trials of n = 100,000 and of n = 1,000 rows on each
cluster, whose workers may use 2 GB each: in Dask the nanny ends a worker that uses more, in Ray a
worker cannot get more anonymous memory (RLIMIT_DATA). Every line is a process of its own, so that
the peak memory of the driver is what it needed for that line; the scheduler of Dask runs in it.

`moved` are the bytes that were packed for the way between workers, `used` those of the rows that
trials use: 80 bytes a row. `rows/s` are rows that trials use, for each second and worker: reading,
cutting, sending and putting together, and the fits of Ridge by its shortcut, which take next to
nothing. `fits/s` are plain fits of Ridge by scikit-learn, for each second of one core, on rows in
memory. Every cluster first computes the trials of a smaller set, whose changes must be those of the
same rows in memory.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
# Arrow's own allocator begins by reserving a gigabyte of addresses, which the limit counts.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import numpy as np

import poise
from side_by_side import table

COLUMNS, PIECE, GROUP = 10, 1_000_000, 250_000
ROW_BYTES = 8 * COLUMNS
SIZES = (100_000, 1_000)
SMALL = 1_000_000  # rows of the comparison with memory
LIMIT = 2_000_000_000
TARGET = "y"


def write_piece(path: Path, number: int, rows: int) -> None:
    """Write one file: the response is a sum of the features and noise."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = np.random.default_rng([0, number]).normal(size=(rows, COLUMNS))
    values[:, -1] += values[:, :-1].sum(axis=1)
    names = [f"x{k}" for k in range(COLUMNS - 1)] + [TARGET]
    content = pa.table(dict(zip(names, values.T, strict=True)))
    part = path.with_suffix(".part")
    # Random digits gain nothing from being compressed or collected in a dictionary.
    pq.write_table(content, part, GROUP, compression="none", use_dictionary=False)
    part.rename(path)


def write_files(folder: Path, rows: int) -> Path:
    """Write as many pieces as are missing; a piece is 80 MB, and one is in memory at a time."""
    place = folder / f"rows-{rows}"
    place.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, PIECE)):
        path = place / f"part-{number:05}.parquet"
        if not path.exists():
            write_piece(path, number, min(PIECE, rows - start))
    return place


# ---- what happens in a process of its own


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


def start_cluster(engine: str, workers: int, folder: str):
    """Start a cluster with a limit of memory for each worker; return what ends it."""
    if engine == "dask":
        import distributed

        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=":0",
            local_directory=folder,
        )
        client = distributed.Client(cluster)
        return lambda: (client.close(), cluster.close())
    import ray

    ray.init(
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=LIMIT,
        runtime_env={"worker_process_setup_hook": limit_memory},
    )
    return ray.shutdown


def count_moved(path: Path) -> None:
    """Have every worker note the bytes that it packs for other workers."""
    from poise.running.shuffle import cut_order
    from poise.running.shuffle.cut_partition import CutPartition

    class Counted(CutPartition):
        def __call__(self, partition, first):
            shards = super().__call__(partition, first)
            with path.open("ab") as file:
                file.write(np.array([sum(map(len, shards.values()))]).tobytes())
            return shards

    cut_order.CutPartition = Counted


def measured(rows: str, n: int, **how) -> tuple[np.ndarray, float]:
    """Measure the changes of Ridge on rows in files; return them and the seconds."""
    from sklearn.linear_model import Ridge

    began = time.perf_counter()
    asked = {"target": TARGET, "n": n, "random_state": 0, "progress": False}
    return poise.measure(Ridge(), rows, **asked, **how).changes, time.perf_counter() - began


def case(engine: str, small: str, large: str, n: int, workers: int) -> None:
    """Measure on both sets; print times, sizes, memory and a digest of the changes."""
    with tempfile.TemporaryDirectory() as folder:
        end = start_cluster(engine, workers, folder)
        same, _ = measured(small, n, backend=engine)
        count_moved(noted := Path(folder, "moved"))
        changes, seconds = measured(large, n, backend=engine)
        moved = int(np.fromfile(noted, dtype=np.int64).sum())
        end()
    found = {"trials": len(changes), "seconds": seconds, "moved": moved, "digest": digest(same)}
    found["peak"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(found))


def in_memory(small: str, n: int) -> None:
    """Measure the same trials with all rows in this process, and time plain fits."""
    changes, _ = measured(small, n)
    X, y = poise.read_table(small, target=TARGET)
    few = slice(0, min(len(X), 200 * n))
    plain, seconds = measured_plain(X[few], y[few], n)
    print(json.dumps({"digest": digest(changes), "fits": 2 * plain / seconds}))


def measured_plain(X, y, n: int) -> tuple[int, float]:
    from sklearn.linear_model import Ridge

    began = time.perf_counter()
    trials = poise.measure(Ridge(), X, y, n=n, random_state=0, fast=False, progress=False)
    return trials.n_trials, time.perf_counter() - began


def digest(changes: np.ndarray) -> str:
    return hashlib.sha256(changes.tobytes()).hexdigest()


# ---- what is seen from outside


def alone(*what) -> dict:
    """Run a case in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--case", json.dumps(what)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{what} failed:\n{done.stderr[-3000:]}")
    found: dict = json.loads(done.stdout.splitlines()[-1])
    return found


HEADERS = [
    "engine",
    "n",
    "trials",
    "seconds",
    "driver",
    "moved/used",
    "rows/s",
    "fits/s",
    "changes",
]


def line(engine: str, n: int, found: dict, known: dict, workers: int) -> list[str]:
    """Lay out one line; rates are per second and worker."""
    used = found["trials"] * (n + 1)
    return [
        engine,
        f"{n:,}",
        f"{found['trials']:,}",
        f"{found['seconds']:.1f}",
        f"{found['peak'] / 1e6:.0f} MB",
        f"{found['moved'] / 1e9:.2f}/{used * ROW_BYTES / 1e9:.2f} GB",
        f"{used / (found['seconds'] * workers):,.0f}",
        f"{known['fits']:,.0f}",
        "identical" if found["digest"] == known["digest"] else "DIFFERENT",
    ]


def main(given: argparse.Namespace) -> None:
    began = time.perf_counter()
    small, large = (str(write_files(given.folder, rows)) for rows in (SMALL, given.rows))
    size = given.rows * ROW_BYTES / 1e9
    print(f"{given.rows:,} rows, {size:.1f} GB, written in {time.perf_counter() - began:.0f} s")
    print(f"{given.workers} workers with {LIMIT / 1e9:.0f} GB each; rates per second and worker")
    lines = []
    for n in SIZES:
        known = alone("memory", small, n)
        for engine in given.engines:
            found = alone(engine, small, large, n, given.workers)
            lines.append(line(engine, n, found, known, given.workers))
    print(table(HEADERS, lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--engines", nargs="+", default=["dask", "ray"], choices=["dask", "ray"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "poise-large"))
    parser.add_argument("--case", type=json.loads, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case is None:
        main(chosen)
    elif chosen.case[0] == "memory":
        in_memory(*chosen.case[1:])
    else:
        case(*chosen.case)
