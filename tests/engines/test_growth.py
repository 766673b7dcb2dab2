"""Nothing accumulates from trial to trial but the changes, whose place is taken beforehand."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import poise

TRIALS, BLOCK = 8_000, 1024  # random terms are made, and kept, for so many trials at once


@pytest.fixture
def memory() -> list[int]:
    """Bytes in use at every full fit."""
    tracemalloc.start()
    yield []
    tracemalloc.stop()


@pytest.mark.parametrize("stop_early", [True, False])
@pytest.mark.parametrize("journalled", [True, False])
def test_a_trial_leaves_nothing_in_memory(stop_early, journalled, memory, tmp_path) -> None:
    def fit(A, b, seed):
        if len(b) == 2:
            memory.append(tracemalloc.get_traced_memory()[0])
        return lambda rows: [0.0]

    X = np.arange(3.0 * TRIALS).reshape(-1, 1)
    result = poise.stability_test(
        fit, X, X[:, 0], n=2, epsilon=1.0, delta=0.1, stop_early=stop_early, shuffle=False,
        check=False, journal=tmp_path / "run.jsonl" if journalled else None,
    )  # fmt: skip
    assert result.n_observed == len(memory) > 7_000
    # The list of samples grows by 8 bytes and an int of 32 for each of them.
    grown = np.array(memory[BLOCK::BLOCK]) - memory[BLOCK]
    own = 40 * np.arange(0, len(memory) - BLOCK, BLOCK)
    assert (grown - own).max() < 4 * BLOCK, "not even four bytes for each trial"
