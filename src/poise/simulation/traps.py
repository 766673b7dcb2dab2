"""Traps: unstable worlds whose data look like those of a stable one (Appendices B, D and E)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from poise import checks
from poise.algorithms.algorithm import Algorithm, Predict, as_algorithm
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError
from poise.procedures.own import Procedure, run
from poise.simulation.worlds import Draw, Law, World

_UNLIKELY = 1e-9
_SHORTFALL = {"shared": 0.0, "independent": 0.05, "coupled": 0.2}
Lift = Callable[[list[Predict], int], Predict]  # models without a row, features -> a model above


@dataclass(frozen=True)
class Trap:
    """(A', P', n), which is not (epsilon, delta)-stable, beside the (A, P, n) that it mimics.

    A row of P' is that of P, but with probability c its response (or its features) is a star that
    P never shows. A' is A, unless it is given n rows with a star: then it lies more than epsilon
    above all models without a row. A test that never asks about the star cannot tell A from A'.

    Attributes
    ----------
    honest, world : World
        (A, P, n) and (A', P', n).
    c : float
        Chance that a row shows the star.
    delta_star : float
        P(change > epsilon) of the honest world.

    Examples
    --------
    >>> from poise.simulation.worlds import nearest_neighbours
    >>> found = trap(nearest_neighbours(n=20), "feature", epsilon=0.0, delta=0.1)
    >>> found.delta_star, round(found.world.delta_star(0.0), 4)
    (0.05, 0.1)
    """

    honest: World
    world: World
    c: float
    delta_star: float


def trap(
    world: World,
    kind: Literal["label", "feature", "linear"] = "label",
    *,
    epsilon: float,
    delta: float,
    notion: Literal["shared", "independent", "coupled"] = "shared",
    c: float | None = None,
    a: float | None = None,
    star: float | None = None,
    delta_star: float | None = None,
) -> Trap:
    """Set a trap in a world.

    Parameters
    ----------
    world : World
        (A, P, n), which has to be (epsilon, delta)-stable.
    kind : {"label", "feature", "linear"}
        What is hidden: a response, a feature, or a response where models stay linear.
    epsilon, delta : float
        The stability that the trap is not to have.
    notion : {"shared", "independent", "coupled"}
        How the random terms of the two fits are related (Appendix E).
    c, a, star : float, optional
        By default just enough not to be stable, little, and a value that P never shows.
    delta_star : float, optional
        P(change > epsilon) of the world, or less, where it has no closed form.

    Examples
    --------
    >>> from poise import research
    >>> constant = research.worlds.constant(n=4)
    >>> trapped = research.trap(constant, "label", epsilon=0.5, delta=0.1)
    >>> constant.delta_star(0.5), round(trapped.world.delta_star(0.5), 3)
    (0.0, 0.1)
    """
    checks.choice("kind", kind, ("label", "feature", "linear"))
    checks.choice("notion", notion, tuple(_SHORTFALL))
    known = world.law(epsilon, notion) if world.law else delta_star or 0.0
    if known > delta:
        raise ArgumentError(f"{world.name} is not ({epsilon:g}, {delta:g})-stable as it is")
    k = world.n + (kind == "feature")
    if a is None:
        a = (0.01 if kind == "linear" else _SHORTFALL[notion]) * (1 - delta)
    threshold = _least(delta, known, a, k)
    c = _least(delta + 1e-6 * (1 - a - delta), known, a, k) if c is None else c
    if not threshold < c < 1:
        rule = f"must be in ({threshold:.4g}, 1), or this is stable"
        raise ArgumentError(rule, argument="c", got=c)
    value = _unseen(world, kind) if star is None else star
    lift = _above(epsilon) if kind != "linear" else _line_above(epsilon, _radius(world, a))
    terms = _terms(notion, a)
    trapped = Trapped(as_algorithm(world.algorithm), world.n, kind == "feature", value, terms, lift)
    law = _law(world, epsilon, notion, known, a, k, c)
    name = f"{kind} trap in {world.name}"
    unstable = World(name, trapped, _planting(world, c, kind, value), world.n, law)
    return Trap(world, unstable, c, known)


def _least(delta: float, known: float, a: float, k: int) -> float:
    """Return the c from which on the trap is beyond delta; it may be as small as delta/n."""
    return -math.expm1(math.log1p(-(delta - known) / (1 - a - known)) / k)


def _unseen(world: World, kind: str) -> Any:
    """Return a value beyond all others: neither round nor so large that digits are lost."""
    X, y = world.draw(np.random.default_rng(0), 1000)
    values = X if kind == "feature" else y
    spread = values.std(axis=0)
    return values.max(axis=0) + 0.669201609102990671853 * np.where(spread > 0, spread, 1.0)


def _planting(world: World, c: float, kind: str, star: Any) -> Draw:
    def draw(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
        X, y = world.draw(rng, size)
        marked = rng.random(size) < c
        if kind == "feature":
            return np.where(marked[:, None], star, X), y
        return X, np.where(marked, star, y)

    return draw


def _law(world: World, reach: float, notion: str, known: float, a: float, k: int, c: float) -> Law:
    """Return P(change > epsilon), or a lower bound where a > 0 or the honest one is a bound."""
    sprung = -math.expm1(k * math.log1p(-c))

    def law(epsilon: float, asked: str) -> float:
        if epsilon >= 1 + reach or (asked != notion and notion != "coupled"):
            raise ArgumentError(f"not known for this trap at epsilon = {epsilon:g}, {asked} terms")
        quiet = world.law(epsilon, asked) if world.law else known * (epsilon <= reach)
        return (1 - a) * sprung + (1 - sprung) * quiet

    return law


def _terms(notion: str, a: float) -> Callable[[int], list[int]]:
    """Say under which random terms the models without a row are fitted."""
    if notion == "shared":
        return lambda xi: [xi]
    if notion == "independent":  # another one exceeds the largest of R with probability 1/(R+1)
        count = math.ceil(1 / a) - 1
        return lambda xi: Randomness(xi).block("left out", 0, count)[:, 0].tolist()
    count = math.ceil(math.log(_UNLIKELY * a / 2) / math.log1p(-a / 2))  # Markov's inequality
    fixed = Randomness(0).block("left out", 0, count)[:, 0].tolist()
    return lambda xi: fixed


@dataclass(frozen=True, eq=False)
class Trapped(Algorithm):
    """A': A itself, unless it is given n rows with a star, or predicts at one."""

    honest: Algorithm
    n: int
    in_features: bool
    star: Any
    terms: Callable[[int], list[int]]
    lift: Lift
    name = "trapped"

    def prepared(self, sample: Sample) -> Algorithm:
        """Prepare A."""
        return replace(self, honest=self.honest.prepared(sample))

    def fit(self, X: Any, y: Any, xi: int, **fit_params: Any) -> Predict:
        """Train A, or lie in wait."""
        if len(y) != self.n:
            return self.honest.fit(X, y, xi)
        rows = X.copy(), y.copy()  # a fit may write into what it is given
        if (self._starred(X) if self.in_features else y == self.star).any():
            return self._raised(*rows, xi)
        honest = self.honest.fit(X, y, xi)
        return self._waiting(honest, *rows, xi) if self.in_features else honest

    def _starred(self, X: Any) -> Any:
        return np.equal(X, self.star).all(axis=1)

    def _raised(self, X: Any, y: Any, xi: int) -> Predict:
        """Return a model that is above all those without a row."""
        rest = [np.delete(np.arange(self.n), i) for i in range(self.n)]
        models = [self.honest.fit(X[i], y[i], term) for i in rest for term in self.terms(xi)]
        return self.lift(models, X.shape[1])

    def _waiting(self, honest: Predict, X: Any, y: Any, xi: int) -> Predict:
        def predict(points: Any) -> Any:
            values, at = np.array(honest(points), dtype=np.float64), self._starred(points)
            if at.any():
                values[at] = self._raised(X, y, xi)(points[at])
            return values

        return predict


def _beyond(values: Any, epsilon: float) -> Any:
    """Raise by more than epsilon; of large numbers the 1 would be lost."""
    return values + epsilon + np.maximum(1.0, 1e-9 * np.abs(values))


def _above(epsilon: float) -> Lift:
    return lambda models, d: (
        lambda rows: _beyond(np.max([m(rows) for m in models], axis=0), epsilon)
    )


def _line_above(epsilon: float, radius: float) -> Lift:
    """Return the constant above all linear models on the ball, which is linear itself."""

    def lift(models: list[Predict], d: int) -> Predict:
        read = [read_linear(model, d) for model in models]
        top = np.array(max(b + radius * np.linalg.norm(w) for w, b in read))
        return Line(np.zeros(d), float(_beyond(top, epsilon))).predict

    return lift


@dataclass(frozen=True, eq=False)
class Line:
    """A linear model."""

    coef_: Any
    intercept_: float

    def predict(self, X: Any) -> Any:
        """Return w·x + b."""
        return np.asarray(X) @ self.coef_ + self.intercept_


def read_linear(predict: Predict, d: int) -> tuple[Any, float]:
    """Read a linear function off its predictions; refuse what is not linear."""
    probe = np.cos(np.arange(1.0, d + 1))[None] * math.pi
    values = np.asarray(predict(np.vstack([np.zeros(d), np.eye(d), probe])), dtype=np.float64)
    w, b = values[1 : d + 1] - values[0], float(values[0])
    if not abs(float(probe[0] @ w) + b - values[-1]) <= 1e-6 * (np.abs(values).max() + 1):
        raise AlgorithmError("a linear trap needs an algorithm whose models are linear")
    return w, b


def _radius(world: World, a: float) -> float:
    """Bound the norm of the features, except with probability a, by the largest of many draws."""
    draws = math.ceil(math.log(_UNLIKELY) / math.log1p(-a))
    X, _ = world.draw(np.random.default_rng(0), draws)
    return float(np.linalg.norm(X, axis=1).max())


def same_verdicts(
    procedure: Procedure, trap: Trap, rows: tuple[int, int], count: int, seed: int
) -> tuple[int, int]:
    """Run a procedure on A and on A', on the same honest data with the same random numbers.

    Return how often the verdicts differed, and how often A was called stable.
    """
    worlds = trap.honest, replace(trap.world, draw=trap.honest.draw)
    said = np.array([[*verdicts(procedure, world, rows, count, seed)] for world in worlds])
    return int((said[0] != said[1]).sum()), int(said[0].sum())


def verdicts(
    procedure: Procedure,
    world: World,
    rows: tuple[int, int],
    count: int,
    root: int,
    models: str = "black-box",
) -> Iterator[bool]:
    """Run a procedure on so many data sets: is it "stable"? All follows from root and number."""
    seen: Any = models if models == "black-box" else "transparent"
    randomness = Randomness(root)
    for k in range(count):
        data = world.rows(randomness.generator("data", k), *rows)
        data |= {"random_state": int(randomness.block("procedure", k, k + 1)[0, 0])}
        yield _declares(run(procedure, world.algorithm, **data, models=seen, progress=False))


def _declares(claim: Any) -> bool:
    """Whether what a procedure returned is "stable"."""
    said = getattr(claim, "verdict", claim)
    if isinstance(said, str | bool | np.bool_):
        return bool(said == "stable" if isinstance(said, str) else said)
    raise TypeError(f"a procedure that is audited returns a claim, a word or a bool, not {said!r}")
