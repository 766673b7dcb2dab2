"""Rows that exceed memory, in files that NumPy maps: ``python memory_map.py [ROWS]``."""

import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge

import poise


def written(folder, rows):
    """Write features and responses a part at a time; yours are there already."""
    shape = {"X.npy": (rows, 10), "y.npy": (rows,)}
    files = {
        name: np.lib.format.open_memmap(folder / name, "w+", shape=s) for name, s in shape.items()
    }
    for start in range(0, rows, 100_000):
        part = np.random.default_rng(start).normal(size=(min(100_000, rows - start), 11))
        files["X.npy"][start : start + len(part)] = part[:, :10]
        files["y.npy"][start : start + len(part)] = part.sum(axis=1)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    written(folder, int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    X, y = (np.load(folder / file, mmap_mode="r") for file in ("X.npy", "y.npy"))
    print(poise.measure(Ridge(), X, y, n=1000))
