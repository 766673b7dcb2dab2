"""Runs small enough to be repeated, and a look into what they wrote."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise

X = np.random.default_rng(0).normal(size=(330, 2))
y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=330)


class Fuse:
    """Cuts a run short at one of its fits."""

    fits_left = math.inf

    def burn(self) -> None:
        self.fits_left -= 1
        if self.fits_left < 0:
            raise Killed


class Killed(KeyboardInterrupt):
    """Stands for whatever ends a process: it is no failure of a fit."""


FUSE = Fuse()


def noisy_mean(A: Any, b: Any, seed: int) -> Callable[[Any], list[float]]:
    FUSE.burn()
    noise = np.random.default_rng(seed).normal() * len(b)  # differs from trial to trial
    return lambda rows: [b.mean() + noise] * len(rows)


@pytest.fixture
def fuse() -> Fuse:
    return FUSE


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture
def measure() -> Callable[..., poise.Trials]:
    """poise.measure on thirty trials; what is left to say is the algorithm and the journal."""

    def run(algorithm: Any = noisy_mean, **kwargs: Any) -> poise.Trials:
        return poise.measure(algorithm, X, y, **{"n": 10, "random_state": 5} | kwargs)

    return run


@pytest.fixture
def cut_short(
    measure: Callable[..., poise.Trials], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Run until a fit and lose everything that is not on disk."""

    def run(journal: Path, after_fits: int, **kwargs: Any) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(FUSE, "fits_left", after_fits)
            with pytest.raises(Killed):
                measure(journal=journal, **kwargs)

    return run
