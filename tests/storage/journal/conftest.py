"""Runs small enough to be repeated, and a look into what they wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise

X = np.random.default_rng(0).normal(size=(330, 2))
y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=330)


def mean(A: Any, b: Any, seed: int) -> Callable[[Any], list[float]]:
    noise = np.random.default_rng(seed).normal() * len(b)  # differs from trial to trial
    return lambda rows: [b.mean() + noise] * len(rows)


class Countdown:
    """The same algorithm, cut short by an exception at one of its fits."""

    def __init__(self, fits: int, error: BaseException) -> None:
        self.left, self.error = fits, error

    def __call__(self, A: Any, b: Any, seed: int) -> Callable[[Any], list[float]]:
        self.left -= 1
        if self.left < 0:
            raise self.error
        return mean(A, b, seed)

    __name__ = "mean"


class Killed(KeyboardInterrupt):
    """Stands for whatever ends a process: it is no failure of a fit."""


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture
def measure() -> Callable[..., poise.Trials]:
    """poise.measure on thirty trials; what is left to say is the algorithm and the journal."""

    def run(algorithm: Any = mean, **kwargs: Any) -> poise.Trials:
        return poise.measure(algorithm, X, y, **{"n": 10, "random_state": 5} | kwargs)

    return run


@pytest.fixture
def cut_short(measure: Callable[..., poise.Trials]) -> Callable[..., None]:
    """Run until a fit and lose everything that is not on disk."""

    def run(journal: Path, after_fits: int, **kwargs: Any) -> None:
        with pytest.raises(Killed):
            measure(Countdown(after_fits, Killed()), journal=journal, **kwargs)

    return run
