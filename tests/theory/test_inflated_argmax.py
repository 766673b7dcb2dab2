"""The inflated argmax against a general optimiser, Theorem M on random pairs, reference values."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from poise import theory
from poise.errors import ArgumentError

CASES = [
    case
    for case in json.loads((Path(__file__).parent / "beyond.json").read_text())["cases"]
    if case["function"] in ("distance_to_winner", "inflated_top")
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(list(case["given"].values())))
def test_reference_values(case):
    got = getattr(theory, case["function"])(**case["given"])
    if case["function"] == "inflated_top":
        assert got == case["value"]
    else:
        assert got == pytest.approx(float(case["value"]), rel=1e-12)


def test_the_distance_is_that_of_a_general_optimiser():
    rng = np.random.default_rng(0)
    for _ in range(40):
        size = int(rng.integers(2, 6))
        w, eps, i = rng.uniform(0, 1, size), float(rng.uniform(0.05, 1.5)), int(rng.integers(size))
        wins = np.eye(size)[i] - np.delete(np.eye(size), i, axis=0)
        start = w.copy()
        start[i] = w.max() + eps
        found = minimize(
            lambda v, w=w: np.sum((v - w) ** 2),
            start,
            jac=lambda v, w=w: 2 * (v - w),
            constraints={"type": "ineq", "fun": lambda v, s=wins, e=eps: s @ v - e / math.sqrt(2)},
            options={"ftol": 1e-14, "maxiter": 400},
        )
        assert theory.distance_to_winner(w, i, eps) == pytest.approx(math.sqrt(found.fun), abs=1e-5)


def pairs(rng, n_pairs, labels, length):
    """Scores with many near-ties, and neighbours at a given distance, some along the worst ways."""
    w = rng.uniform(0, 1, (n_pairs, labels)) * rng.choice([0.1, 0.5, 1.0, 2.0], (n_pairs, 1))
    step = rng.normal(size=(n_pairs, labels))
    # Every other step lowers the leaders and lifts the followers: that swaps most labels.
    half = n_pairs // 2
    step[:half] = np.median(w[:half], axis=1, keepdims=True) - w[:half]
    step[:half] += 0.3 * rng.normal(size=(half, labels)) * np.abs(step[:half])
    return w, w + length * step / np.linalg.norm(step, axis=1, keepdims=True)


@pytest.mark.parametrize("labels", [2, 3, 5, 8])
def test_neighbours_share_as_many_labels_as_promised(labels):
    """Theorem M: deterministic, so one violation in 40,000 pairs would refute it."""
    rng = np.random.default_rng(labels)
    for eps in (0.2, 0.7):
        w, v = pairs(rng, 5000, labels, 0.9999 * eps)
        for k in range(1, labels + 1):
            shared = theory.inflated_mask(w, k, eps) & theory.inflated_mask(v, k, eps)
            assert shared.sum(axis=1).min() >= k


def test_the_distance_is_not_far_from_the_largest_that_works():
    """Pairs a little further apart share nothing: sets are no larger than they must be."""
    rng = np.random.default_rng(1)
    w, v = pairs(rng, 20000, 2, 1.02 * 0.5)
    shared = theory.inflated_mask(w, 1, 0.5) & theory.inflated_mask(v, 1, 0.5)
    assert not shared.any(axis=1).all()


def test_membership_is_monotone_and_the_winner_is_in():
    rng = np.random.default_rng(2)
    scores = rng.dirichlet(np.ones(5), size=500)
    mask = theory.inflated_mask(scores, 1, 0.1)
    assert mask[np.arange(500), scores.argmax(axis=1)].all()
    lowest_chosen = np.where(mask, scores, np.inf).min(axis=1)
    highest_left_out = np.where(mask, -np.inf, scores).max(axis=1)
    assert (lowest_chosen > highest_left_out).all()
    wider = theory.inflated_mask(scores, 1, 0.2)
    assert (wider >= mask).all()
    assert 1 < mask.sum(axis=1).mean() < wider.sum(axis=1).mean() < 5


def test_two_labels_are_both_chosen_within_a_margin():
    """With two labels the loser is in the set if it trails by less than ε/√2."""
    eps = 0.4
    gap = eps / math.sqrt(2)
    assert theory.inflated_top([0.0, gap * 0.999], 1, eps) == [0, 1]
    assert theory.inflated_top([0.0, gap * 1.001], 1, eps) == [1]


def test_ties_rows_and_shapes():
    assert theory.inflated_top([0.5, 0.5, 0.0], 2, 0.001) == [0, 1]
    assert theory.inflated_top([0.2, 0.9, 0.9, 0.9], 1, 0.001) == [1, 2, 3]
    assert theory.inflated_top([0.7], 1, 0.1) == [0]
    assert theory.distance_to_winner([0.7], 0, 0.1) == 0.0
    cube = np.random.default_rng(0).uniform(size=(3, 2, 4))
    mask = theory.inflated_mask(cube, 2, 0.3)
    assert mask.shape == cube.shape
    assert np.flatnonzero(mask[2, 1]).tolist() == theory.inflated_top(cube[2, 1], 2, 0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.inflated_top([0.1, 0.2], 3, 0.1), "k must be at most .* 2, got 3"),
        (lambda: theory.inflated_top([0.1, 0.2], 0, 0.1), "k must be a whole number >= 1, got 0"),
        (lambda: theory.inflated_top([0.1, 0.2], 1, 0.0), "eps must be a finite number above 0"),
        (lambda: theory.inflated_top([0.1, math.nan], 1, 0.1), "finite scores"),
        (lambda: theory.inflated_top([], 1, 0.1), "one score per label"),
        (lambda: theory.inflated_top([[0.1, 0.2]], 1, 0.1), "list of scores"),
        (lambda: theory.distance_to_winner([[0.1]], 0, 0.1), "list of scores"),
        (lambda: theory.distance_to_winner([0.1, 0.2], 2, 0.1), "i must be a position in w"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
