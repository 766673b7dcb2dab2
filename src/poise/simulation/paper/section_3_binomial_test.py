"""Section 3.1 and Theorem 1: the Binomial test, its size, its level and its power."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np

from poise import theory
from poise.procedures import BinomialTest
from poise.simulation.audit import audit
from poise.simulation.paper.claim import CONFIDENCE, Claim, at_most, equal, holds, simulated
from poise.simulation.worlds import Proportion, World, zoo
from poise.theory import binomial_law

__all__ = ["claims"]

_REPLICATIONS = 2000
_GRID = list(product(range(41), (0.01, 0.1, 0.25, 0.5), (0.01, 0.05, 0.1, 0.5)))  # (m, δ, α)


def claims(n_jobs: int | None = None) -> list[Claim]:
    """Check the law of B, the critical value, and Theorem 1 in both of its regimes."""
    return [
        *_law_of_the_count(),
        _unique(),
        _no_trials(n_jobs),
        _size(n_jobs),
        _level(n_jobs),
        *_power_by_simulation(n_jobs),
        _closed_form(),
        *_worked_example(),
    ]


def _law_of_the_count() -> list[Claim]:
    """B ~ Binomial(floor(kappa), delta*), on nearest neighbours: delta* = k/n = 1/5."""
    changes = zoo.nearest_neighbours(n=5, k=1).simulate_changes(30_000, random_state=1, fit=True)
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


def _unique() -> Claim:
    """Exactly one k has an a in (0, 1] with P(B < k) + a P(B = k) = alpha: in exact arithmetic."""
    wrong = 0
    for m, delta, alpha in _GRID:
        found = _solutions(m, Fraction(delta), Fraction(alpha))
        count, tie = theory.critical_value(m, delta, alpha)
        right = len(found) == 1 and count in found and np.isclose(float(found[count]), tie)
        wrong += not right
    return holds("3.1", "k* and a* exist and are unique", len(_GRID), wrong)


def _solutions(m: int, delta: Fraction, alpha: Fraction) -> dict[int, Fraction]:
    """Return every k with its a, found by trying all of them."""
    found, below = {}, Fraction(0)
    for k in range(m + 1):
        atom = comb(m, k) * delta**k * (1 - delta) ** (m - k)
        if 0 < alpha - below <= atom:
            found[k] = (alpha - below) / atom
        below += atom
    return found


def _audit(test: BinomialTest, world: World, n_labeled: int, n_jobs: int | None) -> Proportion:
    found = audit(
        test,
        world,
        n_labeled=n_labeled,
        replications=_REPLICATIONS,
        confidence=CONFIDENCE,
        random_state=2,
        n_jobs=n_jobs,
        progress=False,
    )
    return found.accepted


def _test(**question: Any) -> BinomialTest:
    return BinomialTest(n=5, **({"epsilon": 0.0, "randomized": True} | question))


def _no_trials(n_jobs: int | None) -> Claim:
    found = _audit(_test(delta=0.2, alpha=0.2), zoo.constant(n=5), 5, n_jobs)
    return simulated("3.1", "floor(kappa) = 0: accepts with probability alpha = .2", 0.2, found)


def _size(n_jobs: int | None) -> Claim:
    world = zoo.nearest_neighbours(n=5, k=1)
    found = _audit(_test(delta=0.2, alpha=0.1), world, 120, n_jobs)
    return simulated("3.1", "size exactly alpha = .1 at delta* = delta = .2", 0.1, found)


def _level(n_jobs: int | None) -> Claim:
    world = zoo.nearest_neighbours(n=5, k=1)
    found = _audit(_test(delta=0.15, alpha=0.1), world, 120, n_jobs)
    return at_most("Theorem 1", "level at most alpha = .1 at delta* = .2 > delta", 0.1, found)


def _power_by_simulation(n_jobs: int | None) -> list[Claim]:
    rare = zoo.memorising(n=5, rarity=0.02)
    delta_star = rare.delta_star(0.0)
    first = _audit(_test(delta=0.1, alpha=0.1), rare, 120, n_jobs)
    second = _audit(_test(delta=0.1, alpha=0.1), zoo.constant(n=5), 132, n_jobs)
    return [
        simulated(
            "Theorem 1",
            "power alpha((1-delta*)/(1-delta))^20, delta* = .02: first regime, k* = 0",
            0.1 * ((1 - delta_star) / 0.9) ** 20,
            first,
        ),
        simulated(
            "Theorem 1",
            # The text says acceptance can occur only when B = 0 of both regimes; in the
            # second k* > 0, and B = 0 holds almost surely instead.
            "power 1, delta* = 0, floor(kappa) = 22: second regime, k* > 0 and B = 0 almost surely",
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
            wrong += not np.isclose(theory.power(m, delta, delta_star, alpha), closed, rtol=1e-9)
    return holds("Theorem 1", "the closed form of the power, both regimes", cases, wrong)


def _worked_example() -> list[Claim]:
    """Work out delta = alpha = .1: the text says kappa < 21, and floor(kappa) = 21 holds too."""
    last = max(m for m in range(1, 60) if 1 - 0.1 ** (1 / m) >= 0.1)
    rows = [equal("3.1", "delta = alpha = .1: first regime for floor(kappa) <= 21", 21, last)]
    for m, expected in ((20, 0.8225), (21, 0.9139), (22, 1.0)):
        got = theory.power(m, 0.1, 0.0, 0.1)
        text = f"delta = alpha = .1, delta* = 0: power at kappa = {m}"
        rows.append(equal("3.1", text, expected, round(got, 4)))
    return rows
