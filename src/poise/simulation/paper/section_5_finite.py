"""Section 5.1: a finite, known support lets exhaustive search exceed the ceiling."""

from __future__ import annotations

import numpy as np

from poise import theory
from poise.procedures import ExhaustiveTest
from poise.simulation.audit import audit
from poise.simulation.paper.claim import CONFIDENCE, Claim
from poise.simulation.worlds import EmpiricalRows, World

__all__ = ["claims"]


def claims(n_jobs: int | None = None) -> list[Claim]:
    """Check that exhaustive search has power 1 where other tests have at most α/(1−δ)."""
    from sklearn.dummy import DummyRegressor

    support_X = np.array([[0.0], [1.0], [0.0], [1.0]])
    support_y = np.array([0.0, 0.0, 1.0, 1.0])
    world = World(DummyRegressor(), EmpiricalRows(support_X, support_y), n=5, title="mean, finite")
    test = ExhaustiveTest(
        n=5,
        epsilon=0.25,
        delta=0.1,
        alpha=0.1,
        support_X=support_X,
        support_y=support_y,
        deterministic=True,
    )
    found = audit(
        test,
        world,
        n_labeled=5,
        n_unlabeled=1,
        replications=200,
        delta_star=0.0,
        features="countable",
        response="countable",
        confidence=CONFIDENCE,
        random_state=9,
        n_jobs=n_jobs,
        progress=False,
    ).accepted
    ceiling = theory.power_bound(5, 5, 1, delta=0.1, alpha=0.1)
    return [
        Claim(
            "5.1",
            "finite known support: exhaustive search exceeds the ceiling of Theorem 2",
            f"> {ceiling:.4f}",
            f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]",
            found.low > ceiling,
        )
    ]
