"""The class-preserving trap: linear like the models it hides among."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import poise
from poise.adversary import linear_trap, same_verdict
from poise.errors import AlgorithmError
from poise.procedures import TransparentLinearTest
from poise.simulation.traps.linear_models import LinearModel, ball, read_linear
from poise.simulation.traps.trapped_algorithm import Trapped
from poise.simulation.worlds import zoo
from poise.world import EmpiricalRows, GaussianRows, UniformRows, World
from shared.algorithms import Slope

# Simulated probabilities are compared through exact intervals at this confidence; about
# forty comparisons are made, so false alarms stay below 1e-6 in all.
SURE = 1 - 1e-8
N_SIM = 3000


def test_the_linear_trap_stays_linear_and_above_on_the_ball() -> None:
    world = World(Slope(), GaussianRows(2, slope=1.0), n=5)
    trap = linear_trap(world, epsilon=0.5, delta=0.2)
    algorithm: Trapped = trap.world.algorithm
    rng = np.random.default_rng(0)
    X, y = GaussianRows(2, slope=1.0).draw(rng, 5)
    y[2] = algorithm.trigger.star
    predict = algorithm.fit(X.copy(), y.copy(), 0)
    model = algorithm.model(predict)
    assert isinstance(model, LinearModel)
    assert (model.coef_ == 0).all()
    radius = GaussianRows(2).radius(trap.a)
    angles = np.linspace(0, 2 * math.pi, 400)
    ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    for removed in range(5):
        keep = np.arange(5) != removed
        below = Slope().fit(X[keep], y[keep], 0)
        assert (predict(ring) > below(ring) + 0.5).all()


def test_linear_instability_is_at_least_the_bound() -> None:
    world = World(Slope(), GaussianRows(1, slope=1.0), n=4)
    trap = linear_trap(world, epsilon=2.0, delta=0.2, a=0.1, c=0.2, delta_star=0.0)
    bound = (1 - 0.1) - (1 - 0.1) * (1 - 0.2) ** 4
    assert trap.instability == pytest.approx(bound)
    found = trap.world.estimate_delta_star(2.0, N_SIM, 0, confidence=SURE)
    assert found.high > bound


def test_transparent_models_do_not_give_the_linear_trap_away() -> None:
    world = World(Ridge(), UniformRows(2), n=5)
    trap = linear_trap(world, epsilon=3.0, delta=0.2)
    test = TransparentLinearTest(n=5, epsilon=3.0, delta=0.2, radius=2.0)
    agreement = same_verdict(
        test, trap, n_labeled=80, replications=10, models="transparent", random_state=0
    )
    assert agreement.always
    assert agreement.stable > 0
    sample = trap.world.draw(np.random.default_rng(1), 400)
    # Raised models pass as linear ones: the test reads their coefficients without complaint.
    run = poise.run(
        test, trap.world.algorithm, sample.X.native, sample.y.native,
        models="transparent", random_state=0,
    )  # fmt: skip
    assert run.result.statistic > 0


def test_what_is_not_linear_is_refused() -> None:
    trap = linear_trap(zoo.nearest_neighbours(4), epsilon=5.0, delta=0.4)
    star = trap.world.algorithm.trigger.star
    X, y = np.arange(4.0).reshape(-1, 1), np.array([1.0, 5.0, 2.0, star])
    with pytest.raises(AlgorithmError, match="linear_trap needs"):
        trap.world.algorithm.fit(X, y, 0)(X)
    with pytest.raises(AlgorithmError, match="linear_trap needs"):
        read_linear(lambda rows: np.sin(rows).sum(axis=1), 3)


def test_the_ball_is_estimated_where_it_is_not_known() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(5000, 2))
    radius = ball(EmpiricalRows(X, np.zeros(5000)), 0.05)
    assert (np.linalg.norm(X, axis=1) > radius).mean() <= 0.05
    assert radius <= np.linalg.norm(X, axis=1).max()
