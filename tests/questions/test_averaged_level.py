"""The level and the power of the averaged test, with real fits: a false alarm once in a million."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

import poise
from poise.simulation.worlds import zoo


def _verdicts(delta: float, runs: int) -> list[str]:
    world, rng = zoo.nearest_neighbours(n=5), np.random.default_rng(7)
    found = []
    for seed in range(runs):
        rows = world.draw(rng, 100, 60)
        result = poise.stability_test(
            world.algorithm,
            rows.X.native,
            rows.y.native,
            X_unlabeled=rows.X_unlabeled.native,  # type: ignore[union-attr]
            n=5,
            epsilon=0.0,
            delta=delta,
            alpha=0.2,
            test="averaged",
            points=3,
            random_state=seed,
            check=False,
        )
        assert result.n_trials == 20
        found.append(result.verdict.value)
    return found


def test_both_verdicts_keep_the_level_at_the_null_and_have_power_beside_it() -> None:
    """At δ* = δ = 1/5 each of the two is false; they are said with probability at most α."""
    runs = 150
    at_the_null = _verdicts(0.2, runs)
    limit = binom.isf(5e-7, runs, 0.2)
    assert at_the_null.count("stable") <= limit
    assert at_the_null.count("unstable") <= limit
    # Powers .936 and .804: 4,000 runs of `poise.theory.verdict` on shares of a 1-NN rule that
    # was written apart. A test that has them falls below these counts once in a million runs.
    assert _verdicts(0.4, 40).count("stable") >= binom.ppf(1e-6, 40, 0.936)
    assert _verdicts(0.08, 40).count("unstable") >= binom.ppf(1e-6, 40, 0.804)
