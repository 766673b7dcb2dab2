"""The algorithm A′ and the distribution P′ of a trap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Algorithm, Predict
from poise.data.tables import as_table
from poise.protocol.randomness import Randomness
from poise.simulation.traps.triggers import Marks, Trigger
from poise.simulation.worlds import Distribution

__all__ = ["FixedTerms", "FreshTerms", "Lift", "PoisonedRows", "RaiseAbove", "SameTerm", "Trapped"]

Floats = NDArray[np.float64]


class Terms(Protocol):
    """Random terms ξ′ over which A₁ takes its maximum."""

    def of(self, xi: int) -> Sequence[int]:
        """Return the terms; ``xi`` is that of the trapped fit."""
        ...


@dataclass(frozen=True)
class SameTerm:
    """ξ′ = ξ: the shared notion, where the maximum is over rows only."""

    def of(self, xi: int) -> Sequence[int]:
        """Return the term itself."""
        return (xi,)


@dataclass(frozen=True)
class FreshTerms:
    """R terms drawn from ξ, independent of the reduced fit's own: the independent notion.

    The R + 1 predictions are exchangeable, so the reduced fit exceeds the
    largest of the R with probability at most 1/(R + 1), exactly.
    """

    count: int

    def of(self, xi: int) -> Sequence[int]:
        """Derive the terms from ``xi``."""
        words = Randomness(int(xi)).block("terms of the trap", 0, self.count)[:, 0]
        return [int(word) for word in words]


@dataclass(frozen=True)
class FixedTerms:
    """R fixed terms: the coupled notion, where ξ′ may depend on ξ."""

    terms: tuple[int, ...]

    def of(self, xi: int) -> Sequence[int]:
        """Return the same terms whatever ``xi``."""
        return self.terms


class LeftOut:
    """The models A[D∖i; ξ′] for every removed row i and every term, fitted when first needed."""

    def __init__(self, base: Algorithm, X: Any, y: Any, terms: Sequence[int]) -> None:
        self.base, self.terms = base, terms
        self.X, self.y = as_table(X, "X"), as_table(y, "y")

    @cached_property
    def models(self) -> list[Predict]:
        """All of them: one per row and term."""
        return list(self._fitted())

    def _fitted(self) -> Iterator[Predict]:
        rows = np.arange(len(self.y))
        for removed in rows:
            kept = rows[rows != removed]
            for xi in self.terms:
                yield self.base.fit(self.X.take(kept), self.y.take(kept), xi)

    def highest(self, points: object) -> Floats:
        """Return the largest prediction at each point."""
        table = as_table(points, "X")
        every = slice(0, len(table))
        predictions = [np.asarray(model(table.take(every)), dtype=float) for model in self.models]
        return np.asarray(np.max(predictions, axis=0))


class Lift(Protocol):
    """Turns the left-out models into a model that lies above them all."""

    def over(self, left_out: LeftOut) -> Predict:
        """Return the raised model A₁."""
        ...


@dataclass(frozen=True)
class RaiseAbove:
    """A₁(x) = 1 + ε + max over removed rows (and terms) of A[D∖i; ξ′](x)."""

    epsilon: float

    def over(self, left_out: LeftOut) -> Predict:
        """Return the pointwise maximum, raised."""
        return lambda rows: raised(left_out.highest(rows), self.epsilon)


def raised(values: Floats, epsilon: float) -> Floats:
    """Return values + ε + 1, or more if they are so large that adding 1 changes nothing."""
    return np.asarray(values + epsilon + np.maximum(1.0, 1e-9 * np.abs(values)))


@dataclass(frozen=True)
class Trapped(Algorithm):
    """A′: the algorithm itself, unless it is given n rows and sees the star.

    Parameters
    ----------
    base : Algorithm
        A.
    n : int
        The one training size at which the trap is set.
    trigger : Trigger
        Recognises the star.
    lift : Lift
        What A₁ predicts instead.
    terms : Terms
        Random terms of the models that A₁ is raised above.
    """

    base: Algorithm
    n: int
    trigger: Trigger
    lift: Lift
    terms: Terms

    @property
    def name(self) -> str:  # type: ignore[override]  # a frozen class has no attribute to set
        """The algorithm in words."""
        return f"trapped {self.base.name}"

    @property
    def natural_distance(self) -> str:  # type: ignore[override]
        """That of the algorithm."""
        return self.base.natural_distance

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Fit the algorithm, or the model raised above all its left-out fits."""
        if len(as_table(y, "y")) != self.n:
            return self.base.fit(X, y, xi)
        if self.trigger.in_training(X, y):
            return self.lift.over(LeftOut(self.base, X, y, self.terms.of(xi)))
        if self.trigger.at_points(X) is None:
            return self.base.fit(X, y, xi)
        return self._fit_with_trapped_points(X, y, xi)

    def _fit_with_trapped_points(self, X: Any, y: Any, xi: int) -> Predict:
        """Predict as the algorithm does, except at the star: there the raised model predicts."""
        # The algorithm may change its rows; the left-out fits must see them as they were.
        above = self.lift.over(LeftOut(self.base, *_copies(X, y), self.terms.of(xi)))
        honest = self.base.fit(X, y, xi)

        def predict(rows: object) -> Any:
            stars = self.trigger.at_points(rows)
            if stars is None or not stars.any():
                return honest(rows)
            values = np.asarray(honest(rows), dtype=np.float64).copy()
            values[stars] = above(rows)[stars]
            return values

        return predict

    def model(self, predict: Predict) -> Any:
        """Return the fitted model; a raised model is returned as it is."""
        own = getattr(predict, "__self__", None)
        return own if isinstance(own, RaisedModel) else self.base.model(predict)


class RaisedModel:
    """Marks models that a lift made, so that transparent tests (Definition 3) can see them."""


def _copies(X: Any, y: Any) -> tuple[Any, Any]:
    features, responses = as_table(X, "X"), as_table(y, "y")
    every = slice(0, len(responses))
    return features.take(every), responses.take(every)


@dataclass(frozen=True)
class PoisonedRows:
    """P′ = (1 − c)·P + c·P₁: each row shows the star with probability c, independently.

    Examples
    --------
    >>> from poise.simulation.traps.triggers import LabelTrigger
    >>> from poise.world import GaussianRows
    >>> _, y = PoisonedRows(GaussianRows(), 0.5, LabelTrigger(9.5)).draw(
    ...     np.random.default_rng(0), 1000)
    >>> int((y == 9.5).sum())
    519
    """

    base: Distribution
    c: float
    trigger: Trigger

    def __str__(self) -> str:
        return f"{self.base} with a star in {self.c:.3g} of the rows"

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Any, Any]:
        """Draw rows from P′."""
        return self.trigger.plant(*self.draw_marked(rng, size))

    def draw_marked(self, rng: np.random.Generator, size: int) -> tuple[Any, Any, Marks]:
        """Draw rows from P, and which of them P′ replaces: the coupling of the proof."""
        X, y = self.base.draw(rng, size)
        return X, y, rng.random(size) < self.c
