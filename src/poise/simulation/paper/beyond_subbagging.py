"""Beyond the paper: Theorems K, L and M on subbagging."""

from __future__ import annotations

import math

import numpy as np

from poise import theory
from poise.simulation.paper.claim import Claim, computed, equal, holds
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds.all_bags import AllBags

__all__ = ["claims"]

_BAGS = ((4, 1), (4, 2), (4, 3), (5, 2), (6, 2), (6, 3), (6, 5), (7, 3))


def claims(effort: Effort) -> list[Claim]:
    """Check that no base algorithm escapes Theorem L, and no pair of scores Theorem M."""
    return computed("beyond", _linear_programmes, _never_worse, _gain, _shared_labels)


def _linear_programmes() -> Claim:
    cases = [(n, b, k) for n, b in _BAGS for k in range(1, n + 1)]
    worst = {(n, b, k): AllBags(n, b).reach(k) for n, b, k in cases}
    beyond = sum(value > theory.bag_reach(*case) + 1e-9 for case, value in worst.items())
    text = "Theorem L: no base algorithm moves k removals further (linear programmes)"
    return holds("beyond", text, len(cases), beyond)


def _never_worse() -> Claim:
    """Compare with Soloff, Barber & Willett (2024), Theorem 8, which is Theorem K."""
    cases = [
        (n, epsilon, delta)
        for n in (10, 50, 200)
        for epsilon in (0.05, 0.1, 0.3)
        for delta in (0.02, 0.1, 0.3)
    ]
    smaller = sum(theory.largest_admissible_bag(*c) < theory.largest_bag(*c) for c in cases)
    text = "Theorem L allows bags as large as Soloff, Barber & Willett's Theorem 8, or larger"
    return holds("beyond", text, len(cases), smaller)


def _gain() -> Claim:
    sharp, plain = theory.bag_count(1000, 500, 0.02), theory.bag_delta(1000, 500, 0.02)
    text = "Theorem L: δ shrinks by 2/π where many rows move"
    return equal("beyond", text, 2 / math.pi, sharp / (1000 * plain), tolerance=0.01)


def _shared_labels() -> Claim:
    rng = np.random.default_rng(0)
    w = rng.uniform(size=(5000, 4)) * rng.choice([0.1, 0.5, 1.0], size=(5000, 1))
    step = rng.normal(size=w.shape)
    v = w + 0.2999 * step / np.linalg.norm(step, axis=1, keepdims=True)
    failures = 0
    for k in range(1, 5):
        shared = theory.inflated_mask(w, k, 0.3) & theory.inflated_mask(v, k, 0.3)
        failures += int(np.count_nonzero(shared.sum(axis=1) < k))
    text = "Theorem M: scores within ε share k labels of their inflated top-k"
    return holds("beyond", text, 4 * len(w), failures)
