"""Section 3.1, Theorem 1: size, level and power of the Binomial test."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import comb
from typing import Any

import numpy as np

from poise import theory
from poise.procedures import BinomialTest
from poise.results import Design, Trials
from poise.simulation.paper.claim import CONFIDENCE, Claim, computed, equal, holds, simulated
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds import Proportion, zoo
from poise.theory import binomial_law

__all__ = ["claims"]

_GRID = list(product(range(0, 41, 3), (0.01, 0.1, 0.25, 0.5), (0.01, 0.05, 0.1, 0.5)))  # (m, δ, α)


def claims(effort: Effort) -> list[Claim]:
    """Check the law of B, the decision (3.2), and Theorem 1 in both of its regimes."""
    return computed(
        "3",
        partial(_law_of_the_count, effort),
        _strict,
        _unique,
        _decision,
        partial(_no_trials, effort),
        partial(_level, effort),
        partial(_power_by_simulation, effort),
        _closed_form,
        _worked_example,
    )


def _law_of_the_count(effort: Effort) -> list[Claim]:
    """B ~ Binomial(floor(kappa), delta*), on nearest neighbours: delta* = k/n = 1/5."""
    world, sets = zoo.nearest_neighbours(n=5, k=1), effort.count(1500)
    changes = world.simulate_changes(20 * sets, random_state=1, fit=True)
    counts = (changes.reshape(-1, 20) > 0).sum(axis=1)
    return [
        simulated(
            "3.1",
            f"B is Binomial(20, 1/5): P(B = {k}), nearest neighbours",
            float(binomial_law.pmf(k, 20, 0.2)),
            Proportion(int((counts == k).sum()), len(counts), CONFIDENCE),
        )
        for k in (1, 4, 7)
    ]


def _strict() -> Claim:
    """Every change in this world is exactly ε = 1/2, which is allowed."""
    world = zoo.memorising(n=4, rarity=1.0, height=0.5)
    wrong = 0
    for seed in range(10):
        changes = Trials.from_changes(world.simulate_changes(20, seed, fit=True), n=4)
        wrong += changes.exceedances(0.5) != 0 or changes.exceedances(0.499) != 20
    return holds(
        "2.1, (2.1)", "a change of exactly eps does not count against stability", 10, wrong
    )


def _unique() -> Claim:
    """Exactly one k has an a in (0, 1] with P(B < k) + a P(B = k) = alpha: in exact arithmetic."""
    wrong = 0
    for m, delta, alpha in _GRID:
        found = _solutions(m, Fraction(delta), Fraction(alpha))
        count, tie = theory.critical_value(m, delta, alpha)
        right = len(found) == 1 and count in found and np.isclose(float(found[count]), tie)
        wrong += not right
    return holds("3.1", "k* and a* exist and are unique", len(_GRID), wrong)


@cache
def _solutions(m: int, delta: Fraction, alpha: Fraction) -> dict[int, Fraction]:
    """Return every k with its a, found by trying all of them."""
    found, below = {}, Fraction(0)
    for k in range(m + 1):
        atom = comb(m, k) * delta**k * (1 - delta) ** (m - k)
        if 0 < alpha - below <= atom:
            found[k] = (alpha - below) / atom
        below += atom
    return found


def _decision() -> Claim:
    """Declare stable iff B < k*, or B = k* and zeta <= a*: for every B, and zeta at a* itself."""
    wrong = cases = 0
    for m, delta, alpha in product((0, 1, 7, 12), (0.1, 0.3), (0.05, 0.2)):
        [(count, tie)] = _solutions(m, Fraction(delta), Fraction(alpha)).items()
        for B, zeta in product(range(m + 1), _around(m, delta, alpha, float(tie))):
            declared = count > B or (count == B and zeta <= float(tie) * (1 + 1e-12))
            cases += 1
            wrong += _trials(m, B, zeta).test(0.5, delta, alpha, randomized=True).stable != declared
    return holds("3.1, (3.2)", "declares stable iff B < k*, or B = k* and zeta <= a*", cases, wrong)


def _around(m: int, delta: float, alpha: float, tie: float) -> Iterator[float]:
    """Yield coins on both sides of a*, and a* as the library computes it."""
    yield from (0.999 * tie, min(1.0, 1.001 * tie + 1e-9), 1.0)
    yield theory.critical_value(m, delta, alpha)[1]


def _trials(m: int, B: int, zeta: float) -> Trials:
    changes = np.repeat([1.0, 0.0], [B, m - B])
    return Trials(changes, Design("any", 5, 5 * m, m, zeta=zeta))


def _test(**question: Any) -> BinomialTest:
    return BinomialTest(n=5, **({"epsilon": 0.0, "randomized": True} | question))


def _no_trials(effort: Effort) -> Claim:
    found = effort.accepted(_test(delta=0.2, alpha=0.2), zoo.constant(n=5), (5, 0), 1500, seed=2)
    return simulated("3.1", "floor(kappa) = 0: accepts with probability alpha = .2", 0.2, found)


def _level(effort: Effort) -> list[Claim]:
    """Check that the size is α at the boundary, and how much smaller the level is beyond it."""
    world = zoo.nearest_neighbours(n=5, k=1)
    size = effort.accepted(_test(delta=0.2, alpha=0.1), world, (120, 0), 1500, seed=2)
    level = effort.accepted(_test(delta=0.1, alpha=0.3), world, (60, 0), 1500, seed=3)
    return [
        simulated("3.1", "size exactly alpha = .1 at delta* = delta = .2", 0.1, size),
        simulated(
            "Theorem 1",
            "level at delta* = .2 > delta = .1, k* = 0: alpha (.8/.9)^10, alpha = .3",
            0.3 * (0.8 / 0.9) ** 10,
            level,
        ),
    ]


def _power_by_simulation(effort: Effort) -> list[Claim]:
    rare = zoo.memorising(n=5, rarity=0.02)
    first = effort.accepted(_test(delta=0.1, alpha=0.1), rare, (120, 0), 1500, seed=4)
    second = effort.accepted(_test(delta=0.1, alpha=0.1), zoo.constant(n=5), (132, 0), 500, seed=5)
    return [
        simulated(
            "Theorem 1",
            "first regime, k* = 0: power alpha((1-delta*)/(1-delta))^20, delta* = .02",
            0.1 * (0.98 / 0.9) ** 20,
            first,
        ),
        simulated(
            "Theorem 1",
            # The paper says of both regimes that acceptance can occur only when B = 0. In
            # the second k* > 0, and B = 0 holds almost surely instead.
            "second regime, k* > 0, delta* = 0: power 1, floor(kappa) = 22",
            1.0,
            second,
        ),
    ]


def _closed_form() -> Claim:
    wrong = cases = 0
    for m, delta, alpha in _GRID:
        first_regime = m == 0 or delta <= 1 - alpha ** (1 / m)
        for delta_star in (0.0, delta / 3, delta) if first_regime else (0.0,):
            closed = min(1.0, alpha * ((1 - delta_star) / (1 - delta)) ** m)
            cases += 1
            got = theory.power(m, delta, delta_star, alpha, randomized=True)
            wrong += not np.isclose(got, closed, rtol=1e-9)
    return holds("Theorem 1", "the closed form of the power, both regimes", cases, wrong)


def _worked_example() -> list[Claim]:
    """Work out delta = alpha = .1: the text says kappa < 21, and floor(kappa) = 21 holds too."""
    last = max(m for m in range(1, 60) if theory.critical_value(m, 0.1, 0.1)[0] == 0)
    rows = [equal("3.1", "delta = alpha = .1: k* = 0 for floor(kappa) <= 21", 21, last)]
    for m, expected in ((20, 0.8225), (21, 0.9139), (22, 1.0)):
        got = theory.power(m, 0.1, 0.0, 0.1, randomized=True)
        text = f"delta = alpha = .1, delta* = 0: power at kappa = {m}"
        rows.append(equal("3.1", text, expected, round(got, 4)))
    return rows
