"""Laws of the change Δ in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poise.protocol.randomness import Coupling

__all__ = [
    "ChangeLaw",
    "DrawableLaw",
    "FlippingChange",
    "HalfNormalChange",
    "NoChange",
    "PointChange",
    "Sometimes",
]

Changes = NDArray[np.float64]


class ChangeLaw(Protocol):
    """The distribution of Δ; ``notion`` is "shared", "independent" or "coupled".

    "coupled" means the smallest probability that any coupling of (ξ, ξ′) gives.
    Algorithms that do not use ξ have one law for all three.

    Examples
    --------
    >>> class UniformChange:
    ...     def delta_star(self, epsilon, notion="shared"):
    ...         return 1 - epsilon
    ...     def epsilon_star(self, delta, notion="shared"):
    ...         return 1 - delta
    >>> law: ChangeLaw = UniformChange()
    >>> law.delta_star(law.epsilon_star(0.25))
    0.25
    """

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return P(Δ > ε)."""
        ...

    def epsilon_star(self, delta: float, notion: str = "shared") -> float:
        """Return the smallest ε with P(Δ > ε) ≤ δ."""
        ...


@runtime_checkable
class DrawableLaw(ChangeLaw, Protocol):
    """A law from which Δ can be drawn without fitting anything."""

    def sample(self, rng: np.random.Generator, size: int, coupling: Coupling) -> Changes:
        """Draw independent copies of Δ."""
        ...


@dataclass(frozen=True)
class NoChange:
    """Δ = 0.

    Examples
    --------
    >>> NoChange().delta_star(0.0)
    0.0
    """

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return 0."""
        return 0.0

    def epsilon_star(self, delta: float, notion: str = "shared") -> float:
        """Return 0."""
        return 0.0

    def sample(self, rng: np.random.Generator, size: int, coupling: Coupling) -> Changes:
        """Return zeros."""
        return np.zeros(size)


@dataclass(frozen=True)
class PointChange:
    """Δ = ``height``, always.

    Examples
    --------
    >>> PointChange(1.0).delta_star(0.5), PointChange(1.0).delta_star(1.0)
    (1.0, 0.0)
    """

    height: float

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return 1 below the height: the inequality is strict."""
        return 1.0 if self.height > epsilon else 0.0

    def epsilon_star(self, delta: float, notion: str = "shared") -> float:
        """Return the height."""
        return self.height

    def sample(self, rng: np.random.Generator, size: int, coupling: Coupling) -> Changes:
        """Return the height, ``size`` times."""
        return np.full(size, self.height)


@dataclass(frozen=True)
class HalfNormalChange:
    """Δ = |N(0, scale²)|.

    Examples
    --------
    >>> round(HalfNormalChange(1.0).delta_star(1.959964), 6)
    0.05
    >>> round(HalfNormalChange(1.0).epsilon_star(0.05), 6)
    1.959964
    """

    scale: float

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return 2Φ(−ε/scale)."""
        return math.erfc(epsilon / (self.scale * math.sqrt(2)))

    def epsilon_star(self, delta: float, notion: str = "shared") -> float:
        """Return the (1 − δ)-quantile; infinity at δ = 0."""
        from scipy.special import erfcinv

        return self.scale * math.sqrt(2) * float(erfcinv(delta))

    def sample(self, rng: np.random.Generator, size: int, coupling: Coupling) -> Changes:
        """Draw absolute values of normal numbers."""
        return np.abs(self.scale * rng.standard_normal(size))


@dataclass(frozen=True)
class Sometimes:
    """Δ follows ``change`` with this probability, and is 0 otherwise.

    Examples
    --------
    >>> Sometimes(0.1, PointChange(1.0)).delta_star(0.5)
    0.1
    """

    probability: float
    change: DrawableLaw

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return the product of the two probabilities."""
        return self.probability * self.change.delta_star(epsilon, notion)

    def epsilon_star(self, delta: float, notion: str = "shared") -> float:
        """Return 0 once δ allows every change, else a quantile of ``change``."""
        if delta >= self.probability:
            return 0.0
        return self.change.epsilon_star(delta / self.probability, notion)

    def sample(self, rng: np.random.Generator, size: int, coupling: Coupling) -> Changes:
        """Draw whether there is a change, then the change."""
        happens = rng.random(size) < self.probability
        return np.where(happens, self.change.sample(rng, size, coupling), 0.0)


@dataclass(frozen=True)
class FlippingChange:
    """Δ of a model raised to ``height`` where ξ < p (even sizes) or 1 − ξ < p (odd sizes).

    With the same ξ the two fits disagree as often as they can, 2·min(p, 1−p);
    with independent terms 2p(1−p); and under ξ′ = 1 − ξ never. ``even`` says
    which of the two fits has the even size, the full one or the reduced one.

    Examples
    --------
    >>> law = FlippingChange(probability=0.25, height=1.0)
    >>> [law.delta_star(0.5, notion) for notion in ("shared", "independent", "coupled")]
    [0.5, 0.375, 0.0]
    """

    probability: float
    height: float
    even: bool = True

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return the closed form for the notion."""
        return self._disagreement(notion) if self.height > epsilon else 0.0

    def epsilon_star(self, delta: float, notion: str = "shared") -> float:
        """Return 0 once δ allows every flip, else the height."""
        return 0.0 if delta >= self._disagreement(notion) else self.height

    def _disagreement(self, notion: str) -> float:
        p = self.probability
        return {"shared": 2 * min(p, 1 - p), "independent": 2 * p * (1 - p), "coupled": 0.0}[notion]

    def sample(self, rng: np.random.Generator, size: int, coupling: Coupling) -> Changes:
        """Draw (ξ, ξ′) from the coupling and compare."""
        words = rng.integers(0, 2**64, size=(size, 4), dtype=np.uint64)
        xi, xi_reduced = coupling.pairs(words)
        full, reduced = (xi, ~xi_reduced) if self.even else (~xi, xi_reduced)
        return np.where(self._raised(full) != self._raised(reduced), self.height, 0.0)

    def _raised(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return np.asarray((words >> np.uint64(11)) * 2.0**-53 < self.probability)
