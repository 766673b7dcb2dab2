"""Memory: a large array with two workers, and files larger than the memory allowed.

    python benchmarks/memory.py [--small]

Peak memory is that of a process and all its workers together, sampled from
outside: every page counts once, however many processes map it (PSS). At most 1.2
times the array is asked for; the array itself is 1. `anonymous` is the part that
is not just a page of some file, which the kernel could drop at any time.

With the files, each process is forbidden more anonymous memory than 0.5 GB, a
quarter of the file (RLIMIT_DATA). It has to finish all the same, with the same
changes as the array in memory, bit for bit.
"""

from __future__ import annotations

import argparse
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

import numpy as np

import poise
from poise.data.files.read_table import as_numbers, read_features
from poise.data.files.table_file import open_table
from side_by_side import table

D, N, BLOCK = 50, 2000, 100_000
NAMES = [f"c{i}" for i in range(D)]
LIMIT = 500_000_000


def last_row(A, b, seed):
    """Depend on the last row: cheap, so that reading is what takes time."""
    level = float(np.array(np.asarray(A)[-1]).sum())
    return lambda rows: [level + float(np.asarray(rows)[0, 0])]


def blocks(rows: int):
    rng = np.random.default_rng(0)
    for start in range(0, rows, BLOCK):
        yield start, rng.random((min(BLOCK, rows - start), D))


def array_in_memory(rows: int) -> np.ndarray:
    X = np.empty((rows, D))
    for start, block in blocks(rows):
        X[start : start + len(block)] = block
    return X


def write_files(folder: str, rows: int) -> dict[str, str]:
    """Write the same rows in every format, a block at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = {kind: f"{folder}/rows.{kind}" for kind in ("npy", "feather", "parquet")}
    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    array = np.lib.format.open_memmap(paths["npy"], "w+", np.float64, (rows, D))
    with (
        pa.OSFile(paths["feather"], "wb") as file,
        pa.ipc.new_file(file, schema) as feather,
        # Random digits gain nothing from being compressed or collected in a dictionary.
        pq.ParquetWriter(
            paths["parquet"], schema, compression="none", use_dictionary=False
        ) as parquet,
    ):
        for start, block in blocks(rows):
            array[start : start + len(block)] = block
            batch = pa.record_batch([pa.array(column) for column in block.T], schema)
            feather.write_batch(batch)
            parquet.write_batch(batch)
    return paths


# ---- what happens in a process of its own


def opened(kind: str, path: str):
    """Return X without reading it, and y."""
    if kind == "npy":
        X = np.load(path, mmap_mode="r")
        return X, np.array(X[:, 0])
    X = read_features(path, NAMES, on_disk=True)
    return X, np.array(open_table(path, on_disk=True).labels("c0"))


def by_poise(X, y, n_jobs: int) -> float:
    changes = poise.measure(last_row, X, y, n=N, random_state=0, n_jobs=n_jobs).changes
    return float(changes @ np.arange(len(changes)))


def by_joblib(X, y, n_jobs: int) -> float:
    """Do what one would do without poise: hand the array to joblib with every chunk."""
    from joblib import Parallel, delayed

    def chunk(X, y, rows):
        return [last_row(X[r], y[r], 0)(X[r[:1]])[0] for r in rows]

    order = np.random.default_rng(0).permutation(len(X))[: len(X) // N * N].reshape(-1, N)
    chunks = np.array_split(order, 8)
    return sum(map(sum, Parallel(n_jobs=n_jobs)(delayed(chunk)(X, y, rows) for rows in chunks)))


def case(kind: str, path: str, way: str, n_jobs: int, rows: int) -> None:
    """Do one thing, and print its answer and how long it took."""
    began = time.perf_counter()
    if kind == "array":
        X = array_in_memory(rows)
        y = X[:, 0].copy()
    else:
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
        X, y = opened(kind, path)
    X = as_numbers(X) if way == "array" else X
    answer = (by_joblib if way == "joblib" else by_poise)(X, y, n_jobs)
    print(json.dumps([answer, time.perf_counter() - began]))


# ---- what is seen from outside


def family(root: int) -> list[int]:
    """List a process and everything it started."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int(
                (entry / "stat").read_text().rpartition(")")[2].split()[1]
            )
        except OSError:
            continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def memory(pid: int) -> np.ndarray:
    """Return all memory and anonymous memory of a process, its share of pages it shares."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return np.zeros(2)
    figures = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines}
    return np.array([figures.get("Pss", 0), figures.get("Pss_Anon", 0)], dtype=float)


def watched(*what):
    """Run a case; return its answer, its seconds, and the peak of its memory in bytes."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--case", json.dumps(what)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    peak = np.zeros(2)
    while process.poll() is None:
        peak = np.maximum(peak, sum(map(memory, family(process.pid)), np.zeros(2)))
        time.sleep(0.1)  # counting pages holds up the process that is counted
    out, err = process.communicate()
    if process.returncode:
        raise SystemExit(f"{what} failed:\n{err[-2000:]}")
    answer, seconds = json.loads(out)
    return answer, seconds, peak


CASES = {
    ("array in memory", 1): ("array", "array"),
    ("array in memory", 2): ("array", "array"),
    ("array in memory, joblib alone", 2): ("array", "joblib"),
    ("numpy.memmap", 2): ("npy", "array"),
    ("Feather file, as an array", 2): ("feather", "array"),
    ("Feather file, as data frames", 2): ("feather", "frames"),
    ("Parquet file, as an array", 2): ("parquet", "array"),
    ("Parquet file, as data frames", 2): ("parquet", "frames"),
}
HEADERS = ["data", "workers", "limit", "peak", "anonymous", "changes", "time"]


def main(rows: int) -> None:
    size = rows * D * 8
    print(f"data: {size / 1e9:.1f} GB; limit, peak and anonymous as multiples of that")
    lines, expected = [], {}
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(folder, rows)
        for (label, n_jobs), (kind, way) in CASES.items():
            answer, seconds, peak = watched(kind, paths.get(kind, ""), way, n_jobs, rows)
            same = answer == expected.setdefault(way == "joblib", answer)
            limit = "none" if kind == "array" else f"{LIMIT / size:.2f}"
            figures = [limit, *(f"{part / size:.2f}" for part in peak)]
            verdict = "" if way == "joblib" else "identical" if same else "DIFFERENT"
            lines.append([label, str(n_jobs), *figures, verdict, f"{seconds:.0f} s"])
            print(f"{len(lines)} of {len(CASES)}", end="\r", file=sys.stderr)
    print(table(HEADERS, lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="half the size")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case:
        case(*json.loads(chosen.case))
    else:
        main(2_500_000 if chosen.small else 5_000_000)
