"""Worlds: an algorithm, a distribution and n, whose probability of a larger change is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Predict
from poise.data.randomness import Randomness
from poise.errors import ArgumentError
from poise.numbers import at_least, at_most
from poise.procedures.own import Asking, Asks, asked, run

Draw = Callable[[np.random.Generator, int], tuple[Any, Any]]
Law = Callable[[float, str], float]  # the probability of a larger change, by epsilon and notion
_TERMS = 2**31  # that functions are given


@dataclass(frozen=True)
class Share:
    """Successes among trials, with the exact interval of Clopper and Pearson.

    Examples
    --------
    >>> print(Share(3, 10))
    0.3 [0.037, 0.7352]
    """

    successes: int
    trials: int
    confidence: float = 0.99

    @property
    def value(self) -> float:
        """The share that was seen."""
        return self.successes / self.trials

    @property
    def interval(self) -> tuple[float, float]:
        """The limits of the probability."""
        from scipy.stats import binomtest

        found = binomtest(self.successes, self.trials).proportion_ci(self.confidence, "exact")
        return float(found.low), float(found.high)

    def excludes(self, probability: float) -> bool:
        """Whether the probability lies outside the interval."""
        low, high = self.interval
        return not low <= probability <= high

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.4g} [{at_least(low)}, {at_most(high)}]"


@dataclass(frozen=True)
class World:
    """(A, P, n), with P(change > epsilon) where it has a closed form.

    Attributes
    ----------
    name : str
        A few words.
    algorithm : estimator, function or Algorithm
        A.
    draw : function
        ``draw(rng, size)`` returns rows (X, y) of P.
    n : int
        Training size.
    law : function, optional
        ``law(epsilon, notion)`` is the closed form; notions are "shared", "independent" and
        "coupled", as in Appendix E.

    Examples
    --------
    >>> world = nearest_neighbours(n=10)
    >>> world.delta_star(0.0)
    0.1
    >>> world.estimate_delta_star(0.0, 500, random_state=0).excludes(0.1)
    False
    """

    name: str
    algorithm: Any
    draw: Draw
    n: int
    law: Law | None = None

    def rows(self, rng: np.random.Generator, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
        """Draw rows as the arguments of a question."""
        X, y = self.draw(rng, n_labeled + n_unlabeled)
        more = {"X_unlabeled": X[n_labeled:]} if n_unlabeled else {}
        return {"X": X[:n_labeled], "y": y[:n_labeled], **more}

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return P(change > epsilon); refused where it has no closed form."""
        if self.law is None:
            remedy = "estimate_delta_star simulates it"
            raise ArgumentError(f"{self.name}: no closed form is known", remedy=remedy)
        return self.law(epsilon, notion)

    def changes(self, m: int, random_state: Any = None, coupling: Any = "shared") -> NDArray[Any]:
        """Measure independent changes, by fits on fresh rows."""
        rows = self.rows(Randomness.from_state(random_state).generator("data"), m * self.n, m)
        every = _Every(n=self.n, epsilon=0.0, delta=0.0, coupling=coupling)
        found = run(every, self.algorithm, **rows, random_state=random_state, progress=False)
        return np.asarray(found)

    def estimate_delta_star(
        self,
        epsilon: float,
        m: int = 10_000,
        random_state: Any = None,
        coupling: Any = "shared",
        confidence: float = 0.99,
    ) -> Share:
        """Simulate P(change > epsilon)."""
        larger = self.changes(m, random_state, coupling) > epsilon
        return Share(int(np.count_nonzero(larger)), m, confidence)


class _Every(Asks):
    """Asks for every trial, and concludes with the changes."""

    def ask(self, sample: Any, randomness: Randomness) -> Asking:
        return (yield from asked(self.split(sample, randomness)))


# Distributions


def gaussian(n_features: int = 1, sigma: float = 1.0, slope: float = 0.0) -> Draw:
    """Draw standard normal features; the response is slope times their sum, and noise."""

    def draw(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
        X = rng.standard_normal((size, n_features))
        return X, slope * X.sum(axis=1) + sigma * rng.standard_normal(size)

    return draw


def coins(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
    """Draw uniform features, and responses 0 and 1 that do not depend on them."""
    return rng.random((size, 1)), rng.integers(2, size=size).astype(float)


def empirical(X: Any, y: Any) -> Draw:
    """Draw rows of a table, each as likely as any other."""

    def draw(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
        chosen = rng.integers(len(X), size=size)
        return np.asarray(X)[chosen], np.asarray(y)[chosen]

    return draw


# Algorithms with a closed form


def everywhere(level: float) -> Predict:
    """Predict one number."""
    return lambda rows: np.full(len(rows), level)


def half_normal(epsilon: float, scale: float) -> float:
    """Return P(|Z| > epsilon) for a centred normal Z."""
    return math.erfc(epsilon / (scale * math.sqrt(2)))


def _up_to(height: float, probability: float) -> Law:
    return lambda epsilon, notion: probability if epsilon < height else 0.0


def constant(n: int) -> World:
    """Predict 0 whatever the data: nothing ever changes."""
    return World("constant", lambda X, y, seed: everywhere(0.0), gaussian(), n, _up_to(0.0, 0.0))


def mean_response(n: int, sigma: float = 1.0) -> World:
    """Predict the mean of normal responses: the change is |Y_n - their mean without it| / n."""
    scale = sigma / math.sqrt(n * (n - 1))
    fit = lambda X, y, seed: everywhere(math.fsum(y) / len(y))  # noqa: E731
    law: Law = lambda epsilon, notion: half_normal(epsilon, scale)  # noqa: E731
    return World("mean response", fit, gaussian(sigma=sigma), n, law)


def nearest_neighbours(n: int, k: int = 1, on_coins: bool = False) -> World:
    """Average the k nearest responses: the removed row is among them with probability k/n.

    Then the next nearest takes its place, with another response: normal ones differ by a normal
    amount, coins in half of all cases.
    """

    def fit(X: Any, y: Any, seed: int) -> Predict:
        def predict(rows: Any) -> Any:
            gaps = ((rows[:, None, :] - X[None]) ** 2).sum(axis=2)
            return y[np.argsort(gaps, axis=1, kind="stable")[:, :k]].mean(axis=1)

        return predict

    if on_coins:
        law = _up_to(1 / k, k / (2 * n))
        return World(f"{k} nearest neighbours on coins", fit, coins, n, law)
    scale = math.sqrt(2) / k
    name = f"{k} nearest neighbours"
    return World(name, fit, gaussian(), n, lambda e, notion: k / n * half_normal(e, scale))


def flipping(n: int, probability: float = 0.05, height: float = 1.0) -> World:
    """Flip a coin made of the random term, read forwards on even n and backwards on odd n.

    Shared terms differ with probability 2 min(p, 1-p), independent ones with 2p(1-p), and under
    the best coupling nothing changes.
    """

    def fit(X: Any, y: Any, seed: int) -> Predict:
        term = (seed if len(y) % 2 == 0 else _TERMS - 1 - seed) / _TERMS
        return everywhere(height if term < probability else 0.0)

    p = probability
    deltas = {"shared": 2 * min(p, 1 - p), "independent": 2 * p * (1 - p), "coupled": 0.0}
    law: Law = lambda epsilon, notion: deltas[notion] if epsilon < height else 0.0  # noqa: E731
    return World(f"flipping {p:g}", fit, gaussian(), n, law)


def memorising(n: int, rarity: float = 0.05, height: float = 1.0) -> World:
    """Count rare rows: the prediction moves exactly if the removed row is one of them."""

    def fit(X: Any, y: Any, seed: int) -> Predict:
        return everywhere(height * np.count_nonzero(X[:, 0] < rarity))

    return World(f"memorising {rarity:g}", fit, coins, n, _up_to(height, rarity))


def unlucky_sets(n: int, probability: float = 0.05, height: float = 1.0) -> World:
    """Predict something else on unlucky sets of n rows, and on no smaller ones."""

    def fit(X: Any, y: Any, seed: int) -> Predict:
        unlucky = len(y) == n and math.fsum(X[:, 0]) % 1.0 < probability
        return everywhere(height if unlucky else 0.0)

    return World(f"unlucky sets {probability:g}", fit, coins, n, _up_to(height, probability))
