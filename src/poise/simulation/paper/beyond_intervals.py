"""Beyond the paper: Theorem J, against its linear programme and on simulated rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from poise import theory
from poise.simulation.paper.claim import (
    CONFIDENCE,
    Claim,
    beyond,
    claim_at_most,
    computed,
    simulated,
)
from poise.simulation.paper.claim import holds as in_all_cases
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds import GaussianRows, World, zoo
from poise.simulation.worlds.interval_coverage import IntervalMisses

__all__ = ["claims"]

_LEVEL, _SHARE = 0.8, 0.2


def claims(effort: Effort) -> list[Claim]:
    """Check the coverage of jackknife intervals where the algorithm is stable, and where not."""
    rows = (_extreme_laws, partial(_exact_rank, effort), partial(_stable, effort))
    unstable = (_unstable, _interpolating, _heavy_tails)
    return computed("beyond", *rows, *(partial(row, effort) for row in unstable))


def _extreme_laws() -> Claim:
    """Maximise P(U <= K + N) over laws of a rank U and a count N with E N <= nδ."""
    cases = [(n, a, d) for n in (3, 6) for a in (0.0, 0.2, 0.5) for d in (0.01, 0.05, 0.2, 0.6)]
    apart = sum(abs(theory.jackknife_miss(*case) - _largest_miss(*case)) > 1e-9 for case in cases)
    text = "Theorem J: the bound is the worst case of its linear programme"
    return in_all_cases("beyond", text, len(cases), apart)


def _largest_miss(n: int, a: float, delta: float) -> float:
    rank, count = (grid.ravel() for grid in np.mgrid[1 : n + 2, 0 : n + 2])
    missed = rank <= int(round(a * (n + 1), 9)) + count
    at_most_t: list[NDArray[Any]] = [(rank <= t).astype(float) for t in range(1, n + 2)]
    answer = linprog(
        -missed.astype(float),
        A_ub=np.array([*at_most_t, count.astype(float)]),
        b_ub=[*(t / (n + 1) for t in range(1, n + 2)), n * delta],
        A_eq=np.ones((1, rank.size)),
        b_eq=[1.0],
    )
    return -float(np.asarray(answer.fun))


def _misses(world: World, effort: Effort, usual: int, least: int = 60) -> IntervalMisses:
    """Simulate at least as many training sets as are needed to show the claim."""
    count = effort.count(usual, least)
    return IntervalMisses(world, _LEVEL, count, seed=0, confidence=CONFIDENCE)


def _exact_rank(effort: Effort) -> Claim:
    """Predict a constant: residuals are exchangeable, and exactly K of n + 1 ranks are missed."""
    found = _misses(zoo.constant(n=9), effort, 4000, 1500).of_jackknife()
    return simulated("beyond", "Jackknife of a constant: misses with probability a", 0.2, found)


def _stable(effort: Effort) -> list[Claim]:
    world, delta = zoo.mean_response(n=12), 0.02
    epsilon, misses = world.epsilon_star(delta), _misses(world, effort, 2000)
    bounds = {plus: theory.jackknife_miss(12, _SHARE, delta, plus) for plus in (False, True)}
    text = "Theorem J, mean response: {} misses no more often than the bound"
    return [
        claim_at_most(
            "beyond", text.format("jackknife"), bounds[False], misses.of_jackknife(epsilon)
        ),
        claim_at_most(
            "beyond", text.format("jackknife+"), bounds[True], misses.of_plus(2 * epsilon)
        ),
    ]


def _unstable(effort: Effort) -> list[Claim]:
    """Flip a coin at odd sizes: the full model is not what the models without one row are."""
    misses = _misses(zoo.flipping(n=9, probability=0.3, height=5.0), effort, 2000, 1000)
    return _without_stability("Flipping, unstable", misses)


def _interpolating(effort: Effort) -> list[Claim]:
    """Least squares with as many columns as rows: the worst case for stability."""
    world = World(_least_squares, GaussianRows(20, slope=1.0), n=20)
    misses = _misses(world, effort, 800, 400)
    return _without_stability("Least squares with d = n", misses)


def _without_stability(where: str, misses: IntervalMisses) -> list[Claim]:
    """Claim that the jackknife fails without stability, and that jackknife+ does not."""
    more = f"{where}: the jackknife without widening misses more often than a"
    free = f"{where}: jackknife+ misses at most 2a, without stability"
    return [
        beyond("beyond", more, _SHARE, misses.of_jackknife()),
        claim_at_most("beyond", free, 2 * _SHARE, misses.of_plus()),
    ]


@dataclass(frozen=True)
class CauchyRows:
    """Responses without a mean, whose average is as wild as one of them."""

    def draw(
        self, rng: np.random.Generator, size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw rows."""
        return rng.standard_normal((size, 1)), rng.standard_cauchy(size)


def _heavy_tails(effort: Effort) -> Claim:
    """Average responses with the heaviest tails: no ε is exceeded rarely enough to help."""
    misses = _misses(World(_mean, CauchyRows(), n=12), effort, 1500, 400)
    text = "Mean of Cauchy responses: jackknife+ misses at most 2a"
    return claim_at_most("beyond", text, 2 * _SHARE, misses.of_plus())


def _mean(X: Any, y: Any, seed: int) -> Any:
    level = float(np.mean(y))
    return lambda rows: np.full(len(rows), level)


def _least_squares(X: Any, y: Any, seed: int) -> Any:
    coefficients = np.linalg.lstsq(X, y)[0]
    return lambda rows: rows @ coefficients
