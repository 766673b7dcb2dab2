"""Rows and an algorithm with known changes, for records that grow."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np


def last_row(X: Any, y: Any, seed: int) -> Any:
    """Predict the last response: the change is |last − last but one|."""
    level = float(np.asarray(y)[-1])
    return lambda rows: np.full(rows.shape[0], level)


def other(X: Any, y: Any, seed: int) -> Any:
    """Predict 0: not the algorithm that a record was begun with."""
    return lambda points: np.zeros(len(points))


def rows(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Independent rows; |y − y'| > ε has probability (2 − ε)² / 4."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 2)), rng.uniform(0, 2, count)


def last_row_or_wait(X: Any, y: Any, seed: int) -> Any:
    """Do what last_row does; but wait once the record that is named has two trials."""
    record = os.environ.get("WAIT_FOR_TWO_TRIALS_IN")
    if record and len(Path(record).read_bytes().splitlines()) >= 4:
        print("waiting", flush=True)
        sys.stdin.read()
    return last_row(X, y, seed)
