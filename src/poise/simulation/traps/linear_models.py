"""A raised model that is still linear (Theorem 4, condition 4.8)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Predict
from poise.errors import AlgorithmError
from poise.simulation.traps.trapped_algorithm import LeftOut, RaisedModel, raised
from poise.simulation.worlds import Distribution

__all__ = ["LinearModel", "RaiseConstant", "ball", "read_linear"]

_SURE = 1e-9  # chance that a radius estimated from a pilot sample is too small


class LinearModel(RaisedModel):
    """x ↦ coef_·x + intercept_, with the attributes by which linear models are read.

    Examples
    --------
    >>> LinearModel(np.array([1.0, 2.0]), 3.0).predict(np.ones((1, 2)))
    array([6.])
    """

    def __init__(self, coef: NDArray[np.float64], intercept: float) -> None:
        self.coef_, self.intercept_ = coef, intercept

    def predict(self, rows: object) -> NDArray[np.float64]:
        """Evaluate the linear function."""
        return np.asarray(np.asarray(rows) @ self.coef_ + self.intercept_)


@dataclass(frozen=True)
class RaiseConstant:
    """The constant 1 + ε + max over left-out models of their supremum on the ball ‖x‖ ≤ L.

    A constant is linear, so A′ returns linear models wherever A does, and it lies
    above every left-out model by more than ε on the ball.
    """

    epsilon: float
    radius: float

    def over(self, left_out: LeftOut) -> Predict:
        """Read the left-out models as linear functions and go above their suprema."""
        d = int(np.shape(left_out.X.native)[1])
        lines = [read_linear(model, d) for model in left_out.models]
        top = max(line.intercept_ + self.radius * np.linalg.norm(line.coef_) for line in lines)
        return LinearModel(np.zeros(d), float(raised(np.asarray(top), self.epsilon))).predict


def read_linear(predict: Predict, d: int) -> LinearModel:
    """Read a linear function off its values at 0 and at the unit vectors.

    Needs nothing but predictions, and refuses what is not linear.

    Examples
    --------
    >>> model = read_linear(lambda rows: rows @ [2.0, -1.0] + 0.5, d=2)
    >>> model.coef_, model.intercept_
    (array([ 2., -1.]), 0.5)
    """
    probe = np.cos(np.arange(1.0, d + 1))[None] * math.pi
    values = np.asarray(predict(np.vstack([np.zeros(d), np.eye(d), probe])), dtype=np.float64)
    line = LinearModel(values[1 : d + 1] - values[0], float(values[0]))
    scale = np.abs(values).max() + 1.0
    if not abs(line.predict(probe)[0] - values[-1]) <= 1e-6 * scale:
        raise AlgorithmError(
            "linear_trap needs an algorithm whose models are linear functions of the features; "
            "this one returned a model that is not"
        )
    return line


def ball(distribution: Distribution, a: float) -> float:
    """Return L with P(‖X‖ > L) ≤ a.

    L is the distribution's own ``radius(a)`` if it has one. Otherwise it is the largest norm in
    a sample, which is large enough that L is too small with probability below 1e-9.

    Examples
    --------
    >>> from poise.world import UniformRows
    >>> ball(UniformRows(4), 0.01)
    2.0
    """
    if hasattr(distribution, "radius"):
        return float(distribution.radius(a))
    draws = math.ceil(math.log(_SURE) / math.log1p(-a))
    X, _ = distribution.draw(np.random.default_rng(0), draws)
    return float(np.linalg.norm(np.asarray(X, dtype=np.float64), axis=1).max())
