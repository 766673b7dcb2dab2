"""Missing responses (Theorem G), and ceilings for bounded outputs (Theorem H)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import (
    ceiling_large_epsilon,
    hedge,
    labelling_fits,
    largest_change_over_labels,
    n_trials,
    power_bound,
    trials_missing,
    which_ceiling,
)


def test_nothing_missing_is_the_papers_number_of_trials() -> None:
    for labeled, unlabeled in itertools.product((0, 7, 50, 200), (0, 3, 90)):
        assert trials_missing(6, labeled, unlabeled, 0) == n_trials(6, labeled, unlabeled)


def test_everything_missing_needs_no_responses() -> None:
    assert trials_missing(6, 0, 70, missing=6) == 10
    assert trials_missing(6, 0, 70, missing=6, points=4) == 7
    assert trials_missing(6, 0, 70, missing=5) == 0
    with pytest.raises(ArgumentError, match="missing must be at most n = 6"):
        trials_missing(6, 10, 10, missing=7)


def test_fits_by_counting_labellings() -> None:
    for values, missing in itertools.product((2, 3), range(5)):
        full = set(itertools.product(range(values), repeat=missing))
        reduced = {labelling[:-1] for labelling in full}
        assert labelling_fits(values, missing) == len(full) + len(reduced)


def test_the_largest_change_is_at_a_corner() -> None:
    rng = np.random.default_rng(0)
    for low, high in ((0.0, 1.0), (-1.0, 2.0), (3.0, 4.0)):
        g = rng.normal(size=6)
        corners = (abs(g @ np.array(y)) for y in itertools.product((low, high), repeat=6))
        assert largest_change_over_labels(g, low, high) == pytest.approx(max(corners))
        moved = [abs(0.7 + np.dot(g, y)) for y in itertools.product((low, high), repeat=6)]
        assert largest_change_over_labels(g, low, high, offset=0.7) == pytest.approx(max(moved))
    with pytest.raises(ArgumentError, match="low must be at most high"):
        largest_change_over_labels([1.0], 2.0, 1.0)


def test_the_hedge_keeps_its_level_on_the_worst_labelling() -> None:
    """The label of the first row is unknown; the worst of both labels is never below the truth."""
    rng, delta, alpha, runs, m = np.random.default_rng(1), 0.3, 0.2, 2000, 12
    accepted = 0
    for _ in range(runs):
        labels = rng.random(m) < 0.3 / 0.6  # the share is .6 under one label and 0 under the other
        true_share = np.where(labels, 0.6, 0.0)
        worst = np.maximum(true_share, rng.choice([0.0, 0.6], m))
        accepted += hedge(worst, delta, alpha).accepted
    assert accepted <= runs * alpha + 4.9 * math.sqrt(runs * alpha * (1 - alpha))


@pytest.mark.parametrize(
    ("n", "delta", "delta_star"),
    [(2, 0.3, 0.1), (10, 0.2, 0.19), (50, 0.1, 0.02), (2, 0.8, 0.75), (3, 0.9, 0.9)],
)
def test_the_root_is_the_supremum(n, delta, delta_star) -> None:
    alpha, rows = 1e-12, 7
    x = (alpha / ceiling_large_epsilon(n, rows, delta, delta_star, alpha)) ** (1 / rows)
    y = np.linspace(1e-6, 1 - 1e-9, 400_001)
    inside = y[y ** (n - 1) * (1 - y * delta_star) < (1 - delta) * (1 - 1e-9)]
    assert x == pytest.approx(inside.max(), abs=1e-5)


def test_known_ceilings() -> None:
    exact = 0.05 * (1 - 0.1) ** (-40 / 9)  # δ* = 0: exponent N/(n − 1)
    assert ceiling_large_epsilon(10, 40, 0.1, 0.0, 0.05) == pytest.approx(exact, rel=1e-12)
    assert ceiling_large_epsilon(10, 40, 0.1, 0.1, 0.05) == pytest.approx(0.05)
    assert ceiling_large_epsilon(10, 40, 0.1, 0.5, 0.05) == 0.05
    assert ceiling_large_epsilon(10, 40, 0.0, 0.0, 0.05) == pytest.approx(0.05)
    assert ceiling_large_epsilon(10, 10**6, 0.1, 0.0, 0.05) == 1
    # never below the ceiling for small ε
    unchanged = power_bound(10, 40, delta=0.1, delta_star=0.03, alpha=0.05, features="countable")
    assert ceiling_large_epsilon(10, 40, 0.1, 0.03, 0.05) > unchanged


@pytest.mark.parametrize(
    ("epsilon", "outputs", "kind", "expected"),
    [
        (0.49, "interval", {}, "unchanged"),
        (0.5, "interval", {}, "large-epsilon"),
        (1.0, "interval", {}, "always-stable"),
        (0.9, "interval", {"width": 2.0}, "unchanged"),
        (0.6, "probabilities", {"n_classes": 3}, "unchanged"),
        (0.5, "probabilities", {"n_classes": 2}, "large-epsilon"),
        (0.7, "probabilities", {"n_classes": 3}, "large-epsilon"),
        (0.0, "labels", {"n_classes": 2}, "large-epsilon"),
        (0.9, "labels", {"n_classes": 3}, "unchanged"),
        (1.0, "labels", {"n_classes": 3}, "always-stable"),
    ],
)
def test_which_part_of_the_theorem(epsilon, outputs, kind, expected) -> None:
    assert which_ceiling(epsilon, outputs, **kind) == expected


def test_a_width_is_positive() -> None:
    with pytest.raises(ArgumentError, match="width must be a finite number above 0"):
        which_ceiling(0.1, "interval", width=0.0)
