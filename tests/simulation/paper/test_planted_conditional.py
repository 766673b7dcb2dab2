"""The rows about one training set can fail: each is shown a library with an error in it."""

from __future__ import annotations

import numpy as np
import pytest

from poise import theory
from poise.simulation.paper import beyond_conditional
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds import simple_algorithms

SMALL = Effort(share=0.02)


def test_the_other_size_is_noticed(monkeypatch) -> None:
    monkeypatch.setitem(beyond_conditional._SIZE_OF, "add-one", 3)
    assert not beyond_conditional._average_over_training_sets(SMALL, "add-one").passed


def test_an_algorithm_that_is_always_lucky_is_noticed(monkeypatch) -> None:
    always = lambda self, X, y, xi: lambda rows: np.zeros(len(rows))  # noqa: E731
    monkeypatch.setattr(simple_algorithms.UnluckySets, "fit", always)
    assert not beyond_conditional._no_bridge(SMALL)[0].passed


def test_a_level_that_is_too_large_is_noticed(monkeypatch) -> None:
    right = theory.verdict
    eager = lambda shares, delta, alpha: right(shares, delta, 4 * alpha)  # noqa: E731
    monkeypatch.setattr(theory, "verdict", eager)
    assert not all(claim.passed for claim in beyond_conditional._level(SMALL))


@pytest.mark.parametrize("seed", range(3))
def test_an_unlucky_set_is_unlucky_in_any_order(seed) -> None:
    rng = np.random.default_rng(seed)
    fit = simple_algorithms.UnluckySets(7, 0.5).fit
    X = rng.random((7, 1))
    said = {fit(X[rng.permutation(7)], np.zeros(7), 0)(X)[0] for _ in range(20)}
    assert len(said) == 1
    assert fit(X[:6], np.zeros(6), 0)(X)[0] == 0.0
