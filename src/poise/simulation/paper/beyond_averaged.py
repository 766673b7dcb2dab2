"""Beyond the paper: the averaged test, its level and its power."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import theory
from poise.arguments import printed_numbers
from poise.simulation.paper.claim import (
    CONFIDENCE,
    Claim,
    beyond,
    claim_at_most,
    computed,
    equal,
    holds,
    simulated,
)
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds import Proportion
from poise.theory.many_hedges import hedge_side_by_side

__all__ = ["claims"]

Floats = NDArray[np.float64]

_LOOKS = [46 * 2**i for i in range(6)]


def claims(effort: Effort) -> list[Claim]:
    """Check the averaged test against the Binomial test, its ceiling, and its mistakes."""
    return computed(
        "beyond",
        _reduction,
        partial(_level, effort),
        partial(_power, effort),
        partial(_ceiling_attained, effort),
        _one_full_fit_of_a_pick,
        partial(_one_full_fit_of_a_forest, effort),
        _repeated_looks,
        partial(_one_process, effort),
    )


def _reduction() -> list[Claim]:
    """Run hedge and mirror on every 0/1 sequence: the randomised Binomial test, and its mirror."""
    cases = wrong = mirrored = 0
    for m, delta, alpha in product((1, 4, 9), (0.1, 0.35), (0.05, 0.3)):
        count, tie = theory.critical_value(m, delta, alpha)
        for bits in product((0.0, 1.0), repeat=m):
            ones = int(sum(bits))
            accepted = 1.0 if ones < count else tie if ones == count else 0.0
            cases += 1
            wrong += not np.isclose(_end(theory.Hedge(m, delta, alpha), bits), accepted)
            # the same question about the zeros, asked of the Binomial law at 1 - delta
            other = theory.acceptance_probability(m - ones, m, 1 - delta, alpha)
            mirrored += not np.isclose(_end(theory.Mirror(m, delta, alpha), bits), other)
    return [
        holds("beyond", "Theorem C: on 0/1 data the hedge is the Binomial test", cases, wrong),
        holds("beyond", "Theorem C: on 0/1 data the mirror is its mirror test", cases, mirrored),
    ]


def _end(process: theory.Hedge, shares: tuple[float, ...]) -> float:
    """Return the last u, or 1 once it was reached."""
    for share in shares:
        if process.update(share):
            return 1.0
    return process.value


# --- laws of shares with a given mean ---------------------------------------------------


def _shares(name: str, mean: float, rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Draw shares: constant, a multiple of 1/20, spread out, or whole trials that fail."""
    if name == "constant":
        return np.full(size, mean)
    if name == "twentieths":
        return rng.binomial(20, rng.beta(1.0, (1 - mean) / mean, size)) / 20
    if name == "beta":
        return rng.beta(2 * mean, 2 * (1 - mean), size)
    failed = rng.random(size) < mean / 2  # half of the mean; the rest is spread over the others
    return np.where(failed, 1.0, mean / (2 - mean))


_LAWS = ("constant", "twentieths", "beta", "whole trials fail")


def _accepted(law: str, delta_star: float, m: int, effort: Effort, usual: int) -> Proportion:
    """Simulate how often the plain hedge declares stable, at delta = .1 and alpha = .05."""
    count = effort.count(usual)
    rng = np.random.default_rng(41)
    found = hedge_side_by_side(_shares(law, delta_star, rng, (count, m)), 0.1, 0.05).accepted
    return Proportion(int(found.sum()), count, CONFIDENCE)


def _level(effort: Effort) -> list[Claim]:
    text = "Theorem A: level of the averaged test at delta* = delta, shares"
    return [
        claim_at_most("beyond", f"{text} {law}", 0.05, _accepted(law, 0.1, 100, effort, 4000))
        for law in _LAWS
    ]


def _power(effort: Effort) -> list[Claim]:
    """Compare with the Binomial test on as many trials, and with the ceiling of Theorem B."""
    binomial = theory.power(100, 0.1, 0.05, 0.05, randomized=False)
    known = printed_numbers.at_least(binomial)
    text = f"averaged test: power beyond the Binomial test's {known}, shares"
    rows = [
        beyond("beyond", f"{text} {law}", binomial, _accepted(law, 0.05, 100, effort, 2000))
        for law in ("constant", "twentieths")
    ]
    ceiling = theory.share_ceiling(40, 0.1, 0.05, 0.05)
    return rows + [
        claim_at_most(
            "beyond",
            f"Theorem B: power at most alpha((1-delta*)/(1-delta))^m, m = 40, shares {law}",
            ceiling,
            _accepted(law, 0.05, 40, effort, 2000),
        )
        for law in _LAWS
    ]


def _ceiling_attained(effort: Effort) -> Claim:
    """All-in with the coin, alpha <= (1-delta)^m: the mean of u is the ceiling."""
    count, m = effort.count(4000), 20
    rng = np.random.default_rng(42)
    shares = _shares("twentieths", 0.05, rng, (count, m))
    u = np.array([theory.all_in(row, 0.1, 0.05) for row in shares])
    accepted = Proportion(int((rng.random(count) <= u).sum()), count, CONFIDENCE)
    ceiling = theory.share_ceiling(m, 0.1, 0.05, 0.05)
    return simulated(
        "beyond", "Theorem B: all-in with the coin attains it, m = 20", ceiling, accepted
    )


# --- one full fit for all removals ------------------------------------------------------


def _one_full_fit_of_a_pick() -> list[Claim]:
    """Pick one row by xi, under every removal: exact shares on a grid that no edge falls on."""
    n, steps = 8, 8 * 7 * 40
    xi = (np.arange(steps) + 0.5) / steps
    full, reduced = np.floor(xi * n), np.floor(xi * (n - 1))
    last = float(np.mean(full != reduced))
    in_place = [np.mean(full != np.where(reduced < i, reduced, reduced + 1)) for i in range(n)]
    text = "the label of row floor(xi |D|) + 1"
    return [
        equal("beyond", f"{text}: delta* = 1/2", 0.5, last),
        equal(
            "beyond",
            f"{text}: with one full fit the mean share is (n+1)/(3n): a false certificate",
            (n + 1) / (3 * n),
            float(np.mean(in_place)),
        ),
    ]


def _one_full_fit_of_a_forest(effort: Effort) -> Claim:
    """Fit a tree to a bag drawn with one seed; remove the last row, or the first in its place."""
    n, epsilon, count = 20, 0.1, effort.count(300, least=200)
    moved = {"last": 0, "first": 0}
    for index in range(count):
        rng = np.random.default_rng([43, index])
        X, y, point = rng.normal(size=(n, 2)), rng.normal(size=n), rng.normal(size=(1, 2))
        full = _forest(X, y, index, point)
        for name, row in (("last", n - 1), ("first", 0)):
            rest = np.delete(np.arange(n), row)
            moved[name] += abs(full - _forest(X[rest], y[rest], index, point)) > epsilon
    first, last = (Proportion(moved[name], count, CONFIDENCE) for name in ("first", "last"))
    text = (
        "a forest with one seed, real fits: removed in place, its first row moves more than delta*"
    )
    return beyond("beyond", text, last.high, first)


def _forest(X: Any, y: Any, seed: int, point: Any) -> float:
    from sklearn.ensemble import RandomForestRegressor

    return float(RandomForestRegressor(1, random_state=seed).fit(X, y).predict(point)[0])


# --- looking again and again ------------------------------------------------------------


def _repeated_looks() -> list[Claim]:
    looks = theory.repeated_looks(_LOOKS, 0.1, 0.05)
    return [
        equal(
            "beyond",
            "one look, after 46 trials: .048",
            0.0480,
            round(looks[0], 4),
        ),
        equal("beyond", "five looks, each after doubling: .139", 0.1390, round(looks[4], 4)),
        equal("beyond", "six looks, five doublings: .165", 0.1648, round(looks[5], 4)),
    ]


def _one_process(effort: Effort) -> list[Claim]:
    """Look at the same trials as often, at the Binomial test and at the open-ended process."""
    count = effort.count(4000)
    rng = np.random.default_rng(44)
    steps = rng.binomial(np.diff(_LOOKS, prepend=0), 0.1, size=(count, len(_LOOKS)))
    seen = steps.cumsum(axis=1)
    limits = [theory.critical_count(m, 0.1, 0.05) for m in _LOOKS]
    repeated = Proportion(int((seen <= limits).any(axis=1).sum()), count, CONFIDENCE)
    reached = np.zeros(count, dtype=bool)
    for m, ones in zip(_LOOKS, seen.T, strict=True):
        values = {b: theory.mixture([1.0] * b + [0.0] * (m - b), 0.1) for b in set(ones.tolist())}
        reached |= np.array([values[b] >= 1 / 0.05 for b in ones.tolist()])
    process = Proportion(int(reached.sum()), count, CONFIDENCE)
    exact = theory.repeated_looks(_LOOKS, 0.1, 0.05)[-1]
    return [
        simulated("beyond", "six looks at the Binomial test, simulated", exact, repeated),
        claim_at_most("beyond", "six looks at one e-process, on the same trials", 0.05, process),
    ]
