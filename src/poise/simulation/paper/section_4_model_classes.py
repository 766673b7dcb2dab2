"""Theorems 3 and 4: tests that see the models, and linear models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import theory
from poise.algorithms.algorithm import Algorithm, Predict
from poise.procedures import TransparentLinearTest
from poise.simulation.paper.claim import Claim, beyond, computed, holds, simulated
from poise.simulation.paper.effort import Effort
from poise.simulation.traps import linear_trap, same_verdict
from poise.simulation.traps.linear_models import LinearModel, RaiseConstant, read_linear
from poise.simulation.traps.trapped_algorithm import LeftOut
from poise.simulation.worlds import GaussianRows, World
from poise.simulation.worlds.change_laws import HalfNormalChange

__all__ = ["claims"]

_N, _TRIALS = 5, 10
_ROWS = (_N * _TRIALS, 0)  # no unlabelled row: kappa = 50/6, kappa_l = 10
_DELTA, _ALPHA = 0.25, 0.06  # 0.75^10 = 0.0563: declared stable iff B = 0


def claims(effort: Effort) -> list[Claim]:
    """Run a transparent test beyond the ceiling of black boxes, and set the linear trap."""
    return computed(
        "4.3",
        partial(_transparent_test, effort),
        _raised_is_above,
        _stays_linear,
        partial(_instability, effort),
        partial(_indistinguishable, effort),
        partial(_coincidence, effort),
    )


@dataclass(frozen=True)
class MeanAsLine(Algorithm):
    """The mean response as a linear model: slope 0, and an intercept that can be read."""

    shrink: float = 1.0

    @property
    def name(self) -> str:  # type: ignore[override]  # a frozen class has no attribute to set
        """The algorithm in words."""
        return f"{self.shrink:g} times the mean, as a line"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Average the responses."""
        level = self.shrink * float(np.mean(y))
        return LinearModel(np.zeros(np.shape(X)[1]), level).predict

    def model(self, predict: Predict) -> Any:
        """Return the model whose method it is."""
        return getattr(predict, "__self__", predict)


def _line(n: int, shrink: float) -> World:
    """Δ = shrink·|Y_n − mean of the others|/n, as for the mean response."""
    law = HalfNormalChange(shrink / (n * (n - 1)) ** 0.5) if shrink else None
    return World(MeanAsLine(shrink), GaussianRows(), n, law, "mean as a line")


def _points(rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    return rng.standard_normal((size, 1))


def _transparent_test(effort: Effort) -> list[Claim]:
    """Run a test that knows the law of X and reads models: 10 trials of 50 rows, no test point.

    Theorem 3 allows it: the label trap leaves the law of X as it is.
    """
    test = TransparentLinearTest(_N, 0.0, _DELTA, _ALPHA, feature_law=_points)
    still = World(MeanAsLine(0.0), GaussianRows(), _N, title="always 0")
    trap = linear_trap(still, epsilon=0.0, delta=_DELTA)
    seen: dict[str, Any] = {"models": "transparent"}
    power = effort.accepted(test, still, _ROWS, 100, seed=1, delta_star=0.0, **seen)
    level = effort.accepted(test, trap, _ROWS, 500, seed=2, **seen)
    black_box = theory.power_bound(_N, *_ROWS, delta=_DELTA, alpha=_ALPHA)
    ceiling = theory.power_bound(_N, *_ROWS, delta=_DELTA, alpha=_ALPHA, models="transparent")
    return [
        beyond(
            "Theorem 3", "a test that reads models exceeds the black-box ceiling", black_box, power
        ),
        simulated(
            "Theorem 3", "and reaches its own: alpha/(1-delta)^kappa_l, or 1", ceiling, power
        ),
        simulated(
            "Theorem 3",
            "its level on the linear trap is (1-c)^N, just below alpha = .06",
            (1 - trap.c) ** _ROWS[0],
            level,
        ),
    ]


def _raised_is_above() -> Claim:
    """M(mu_1, ..., mu_m) is linear and exceeds every mu_i by more than t on the ball."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(100):
        lines = [LinearModel(rng.normal(size=3), float(rng.normal())) for _ in range(4)]
        raised = read_linear(RaiseConstant(0.5, 2.0).over(_Given(lines)), 3)
        points = rng.normal(size=(200, 3))
        points *= 2.0 * rng.random((200, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
        gap = raised.predict(points) - np.max([line.predict(points) for line in lines], axis=0)
        wrong += bool((gap <= 0.5).any())
    text = "a linear model above every given one by more than t on a ball"
    return holds("4.3.2, (4.8)", text, 100, wrong)


class _Given(LeftOut):
    """Models that are there already, in place of those left out of a training set."""

    def __init__(self, lines: list[LinearModel]) -> None:
        super().__init__(MeanAsLine(), np.zeros((2, 3)), np.zeros(2), (0,))
        self.models = [line.predict for line in lines]


def _stays_linear() -> Claim:
    """Read models of the perturbed algorithm as linear functions: others are refused."""
    from sklearn.linear_model import LinearRegression

    honest = World(LinearRegression(), GaussianRows(n_features=2, slope=1.0), n=6)
    trap = linear_trap(honest, epsilon=0.1, delta=0.7, delta_star=0.5)
    rng = np.random.default_rng(1)
    wrong = raised = 0
    for k in range(20):
        sample = trap.world.draw(rng, 6)
        predict = trap.world.algorithm.fit(sample.X.native, sample.y.native, k)
        raised += isinstance(getattr(predict, "__self__", None), LinearModel)
        wrong += not _is_linear(predict)
    text = "the perturbed algorithm returns linear models, sprung or not"
    return holds("Theorem 4, D", text, 20, wrong + (raised in (0, 20)))


def _is_linear(predict: Predict) -> bool:
    """Compare the value between two points with the mean of theirs."""
    ends = np.array([[3.0, -1.0], [-2.0, 5.0]])
    low, high, middle = np.asarray(predict(np.vstack([ends, ends.mean(axis=0)])), dtype=np.float64)
    return bool(np.isclose(middle, (low + high) / 2, rtol=1e-9, atol=1e-9))


def _instability(effort: Effort) -> Claim:
    """Constant models are exceeded everywhere, so here the proof's bound is exact with a = 0."""
    world = _line(4, 1.0)
    trap = linear_trap(world, epsilon=0.5, delta=0.3, c=0.15)
    expected = 1 - (1 - world.delta_star(0.5)) * (1 - 0.15) ** 4
    found = effort.instability(trap, 0.5, 4000, seed=3)
    return simulated(
        "Theorem 4, D", "linear trap: instability 1-(1-delta*)(1-c)^n", expected, found
    )


def _indistinguishable(effort: Effort) -> Claim:
    """Let a test read the models of A and A′ on data from P: both verdicts occur, in pairs."""
    world = _line(_N, 1.0)
    epsilon = world.epsilon_star(0.2)  # of 20 changes 4 or more exceed it about every other time
    trap = linear_trap(world, epsilon=epsilon, delta=_DELTA)
    test = TransparentLinearTest(_N, epsilon, _DELTA, 0.3, feature_law=_points)
    found = same_verdict(
        test,
        trap,
        n_labeled=_N * 20,
        replications=effort.count(200),
        models="transparent",
        random_state=4,
        n_jobs=effort.n_jobs,
    )
    wrong = len(found.differing) + (found.stable in (0, found.replications))
    text = "A and A' get the same verdict on data from P if a test reads models"
    return holds("Theorem 4, (B.7)", text, found.replications, wrong)


def _coincidence(effort: Effort) -> Claim:
    trap = linear_trap(_line(_N, 1.0), epsilon=0.5, delta=_DELTA)
    found = effort.coincidence(trap, (30, 10), 2000, seed=5)
    text = "data from P and P' coincide with probability (1-c)^N_l"
    return simulated("Theorem 4, (B.6)", text, (1 - trap.c) ** 30, found)
