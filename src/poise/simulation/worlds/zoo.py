"""Ready-made worlds whose stability has a closed form."""

from __future__ import annotations

import math
from collections.abc import Callable

from poise import arguments
from poise.errors import ArgumentError
from poise.simulation.worlds import simple_algorithms
from poise.simulation.worlds.change_laws import (
    FlippingChange,
    HalfNormalChange,
    NoChange,
    PointChange,
    Sometimes,
)
from poise.simulation.worlds.distributions import GaussianRows, UniformCoins, UniformRows
from poise.simulation.worlds.world import World

__all__ = [
    "ZOO",
    "constant",
    "flipping",
    "mean_response",
    "memorising",
    "nearest_coins",
    "nearest_neighbours",
    "unlucky_sets",
]


def constant(n: int, value: float = 0.0) -> World:
    """Predict one number whatever the data: δ*_ε = 0 for every ε.

    Examples
    --------
    >>> constant(n=5).delta_star(0.0)
    0.0
    """
    return World(simple_algorithms.Constant(value), GaussianRows(), n, NoChange(), "constant")


def mean_response(n: int, sigma: float = 1.0) -> World:
    r"""Predict the mean of N(0, σ²) responses: δ*_ε = 2Φ(−ε√(n(n−1))/σ).

    ``Δ = |Y_n − Ȳ_{n−1}|/n``, and ``Y_n − Ȳ_{n−1}`` has variance σ²n/(n−1).

    Examples
    --------
    >>> round(mean_response(n=5).delta_star(0.3), 4)
    0.1797
    """
    size = arguments.training_size(n)
    law = HalfNormalChange(_positive("sigma", sigma) / math.sqrt(size * (size - 1)))
    return World(
        simple_algorithms.MeanResponse(), GaussianRows(sigma=sigma), n, law, "mean response"
    )


def nearest_neighbours(n: int, k: int = 1, n_features: int = 1, sigma: float = 1.0) -> World:
    """Average the k nearest of N(0, σ²) responses: δ*_ε = (k/n)·2Φ(−εk/(σ√2)), and δ*_0 = k/n.

    The removed row is among the k nearest of n with probability k/n; then the
    next nearest takes its place, and Δ is the difference of the two responses over k.

    Examples
    --------
    >>> nearest_neighbours(n=20, k=3).delta_star(0.0)
    0.15
    """
    _check_neighbours(k, n)
    algorithm = simple_algorithms.NearestNeighbours(k)
    law = Sometimes(k / n, HalfNormalChange(_positive("sigma", sigma) * math.sqrt(2) / k))
    return World(algorithm, GaussianRows(n_features, sigma), n, law, algorithm.name)


def nearest_coins(n: int, k: int = 1) -> World:
    """Average the k nearest of responses that are fair coins: δ*_ε = k/(2n) for every ε < 1/k.

    The responses are finite and known, and the predictions linear in them. The removed row is
    among the k nearest of n with probability k/n, and in half of these cases it differs
    from the next nearest. If the responses of removed rows are unknown, it may differ in
    all of them.

    Examples
    --------
    >>> nearest_coins(n=10).delta_star(0.5), nearest_coins(n=10, k=2).delta_star(0.5)
    (0.05, 0.0)
    """
    _check_neighbours(k, n)
    algorithm = simple_algorithms.NearestNeighbours(k)
    law = Sometimes(k / (2 * n), PointChange(1 / k))
    return World(algorithm, UniformCoins(), n, law, f"{algorithm.name} on coins")


def flipping(n: int, probability: float = 0.05, height: float = 1.0) -> World:
    """Flip a coin made of ξ: three notions of stability, three different δ.

    For ε below the height δ* = 2·min(p, 1−p) with shared, 2p(1−p) with independent
    and 0 with antithetic randomness, the best coupling.

    Examples
    --------
    >>> world = flipping(n=5, probability=0.25)
    >>> [world.delta_star(0.0, notion) for notion in ("shared", "independent", "coupled")]
    [0.5, 0.375, 0.0]
    """
    p = float(arguments.probability("probability", probability))
    law = FlippingChange(p, height, even=n % 2 == 0)
    return World(
        simple_algorithms.Flipping(p, height), GaussianRows(), n, law, f"flipping with p = {p:g}"
    )


def memorising(n: int, rarity: float = 0.05, height: float = 1.0) -> World:
    """Memorise rare rows: δ*_ε = ``rarity`` for every ε below the height.

    A sample that happens to hold no rare row looks perfectly stable.

    Examples
    --------
    >>> memorising(n=5, rarity=0.1).delta_star(0.5)
    0.1
    """
    q = float(arguments.probability("rarity", rarity))
    algorithm, law = simple_algorithms.Memorising(q, height), Sometimes(q, PointChange(height))
    return World(algorithm, UniformRows(), n, law, f"memorising rows of rarity {q:g}")


def unlucky_sets(n: int, probability: float = 0.05, height: float = 1.0) -> World:
    """Be unstable on a few training sets only: δ*_ε = ``probability`` for ε below the height.

    Given its training set D, the algorithm is perfectly stable or moves at every point: δ_D is 0
    or 1. So a certificate for D says nothing about δ* (Proposition I).

    Examples
    --------
    >>> unlucky_sets(n=5, probability=0.1).delta_star(0.5)
    0.1
    """
    p = float(arguments.probability("probability", probability))
    algorithm = simple_algorithms.UnluckySets(arguments.training_size(n), p, height)
    return World(algorithm, UniformRows(), n, Sometimes(p, PointChange(height)), algorithm.name)


def _check_neighbours(k: int, n: int) -> None:
    if not 1 <= k < n:
        raise ArgumentError(f"k must be from 1 to n - 1 = {n - 1}, got {k}")


def _positive(name: str, value: float) -> float:
    if not value > 0:
        raise ArgumentError(f"{name} must be a number > 0, got {value}")
    return float(value)


ZOO: dict[str, Callable[..., World]] = {
    "constant": constant,
    "mean-response": mean_response,
    "nearest-neighbours": nearest_neighbours,
    "nearest-coins": nearest_coins,
    "flipping": flipping,
    "memorising": memorising,
    "unlucky-sets": unlucky_sets,
}
"""Worlds by name; each takes ``n`` and has defaults for the rest."""
