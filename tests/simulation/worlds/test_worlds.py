"""Worlds know their own stability: closed forms against independent formulas and real fits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from poise.errors import ArgumentError
from poise.notions import Antithetic, Mixed, Rotated
from poise.protocol.randomness import Coupling, Independent, Shared
from poise.simulation.worlds import zoo
from poise.simulation.worlds.change_laws import (
    FlippingChange,
    HalfNormalChange,
    NoChange,
    PointChange,
    Sometimes,
)
from poise.simulation.worlds.simple_algorithms import NearestNeighbours
from poise.world import EmpiricalRows, GaussianRows, Proportion, UniformRows, World

# Every comparison with a simulation asks whether an exact interval at this
# confidence holds the truth; about sixty are made, so false alarms stay below 1e-6.
SURE = 1 - 1e-8
N_SIM = 5_000


def test_proportions_are_clopper_pearson_intervals() -> None:
    for successes, trials in [(0, 10), (3, 10), (10, 10), (420, 1000)]:
        found = Proportion(successes, trials, 0.9)
        exact = stats.binomtest(successes, trials).proportion_ci(0.9, "exact")
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)
        assert found.value == successes / trials
    assert Proportion(1, 10).excludes(0.9)
    assert not Proportion(1, 10).excludes(0.1)
    with pytest.raises(ArgumentError, match="trials"):
        Proportion(0, 0)
    with pytest.raises(ArgumentError, match="confidence"):
        Proportion(0, 1, 1.0)


# --- closed forms, worked out by hand -------------------------------------------------


def test_constant() -> None:
    assert zoo.constant(7).delta_star(0.0) == 0.0
    assert zoo.constant(7).epsilon_star(0.0) == 0.0


@pytest.mark.parametrize(("n", "sigma", "epsilon"), [(2, 1.0, 0.5), (5, 2.0, 0.3), (40, 0.1, 0.01)])
def test_mean_response(n: int, sigma: float, epsilon: float) -> None:
    # Y_n minus the mean of n - 1 others has variance sigma^2 (1 + 1/(n-1)).
    spread = sigma * math.sqrt(1 + 1 / (n - 1))
    expected = 2 * stats.norm.sf(epsilon * n, scale=spread)
    assert zoo.mean_response(n, sigma).delta_star(epsilon) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "k", "epsilon"), [(2, 1, 0.0), (20, 3, 0.0), (20, 3, 0.4)])
def test_nearest_neighbours(n: int, k: int, epsilon: float) -> None:
    expected = k / n * 2 * stats.norm.sf(epsilon * k, scale=math.sqrt(2))
    found = zoo.nearest_neighbours(n, k).delta_star(epsilon)
    assert found == pytest.approx(expected, rel=1e-12)


def test_flipping_is_apart_in_the_three_notions() -> None:
    for p in (0.1, 0.5, 0.8):
        world = zoo.flipping(6, p, height=2.0)
        deltas = [world.delta_star(1.0, q) for q in ("shared", "independent", "coupled")]
        assert deltas == pytest.approx([2 * min(p, 1 - p), 2 * p * (1 - p), 0.0])
        assert world.delta_star(2.0) == 0.0  # the inequality is strict


def test_memorising() -> None:
    world = zoo.memorising(6, rarity=0.07, height=3.0)
    assert [world.delta_star(e) for e in (0.0, 2.9, 3.0)] == [0.07, 0.07, 0.0]


ZOO = [
    zoo.constant(4),
    zoo.mean_response(3),
    zoo.nearest_neighbours(7, k=2, n_features=2),
    zoo.flipping(4, 0.2),
    zoo.flipping(5, 0.7),
    zoo.memorising(4, 0.15),
    zoo.nearest_coins(7, k=2),
    zoo.unlucky_sets(4, 0.15),
]


@pytest.mark.parametrize("world", ZOO, ids=lambda w: w.name)
@given(delta=st.floats(0, 0.999), epsilon=st.floats(0, 3))
def test_delta_star_and_epsilon_star_say_the_same(
    world: World, delta: float, epsilon: float
) -> None:
    # Section 4.1: delta >= delta*_eps iff eps >= eps*_delta; rounding is kept off the boundary.
    star = world.delta_star(epsilon)
    if abs(star - delta) > 1e-9:
        assert (delta >= star) == (epsilon >= world.epsilon_star(delta) * (1 - 1e-12))


# --- the same by simulation -----------------------------------------------------------

QUESTIONS = [
    (0, 0.0, Shared()),
    (1, 0.2, Shared()),
    (1, 0.6, Independent()),
    (2, 0.0, Shared()),
    (2, 0.4, Shared()),
    (3, 0.5, Shared()),
    (3, 0.5, Independent()),
    (4, 0.5, Shared()),
    (5, 0.5, Shared()),
    (6, 0.4, Shared()),
    (7, 0.5, Shared()),
]


@pytest.mark.parametrize(("index", "epsilon", "coupling"), QUESTIONS)
@pytest.mark.parametrize("fit", [True, False], ids=["by fitting", "from the law"])
def test_simulation_agrees_with_the_closed_form(
    index: int, epsilon: float, coupling: Coupling, fit: bool
) -> None:
    world = ZOO[index]
    found = world.estimate_delta_star(epsilon, N_SIM, 11, coupling, confidence=SURE, fit=fit)
    assert not found.excludes(world.delta_star(epsilon, coupling.name))
    assert found.trials == N_SIM


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize(
    "coupling", [Antithetic(), Mixed(0.4), Rotated(0.15)], ids=lambda c: c.name
)
def test_couplings_reach_the_delta_they_should(n: int, coupling: Coupling) -> None:
    p = 0.2
    expected = {
        "antithetic": 0.0,
        "shared with probability 0.4": 0.4 * 2 * p + 0.6 * 2 * p * (1 - p),
        "rotated by 0.15": _rotated_disagreement(n, p, 0.15),
    }[coupling.name]
    for fit in (True, False):
        found = zoo.flipping(n, p).estimate_delta_star(
            0.5, N_SIM, 4, coupling, confidence=SURE, fit=fit
        )
        assert not found.excludes(expected)


def _rotated_disagreement(n: int, p: float, by: float) -> float:
    """Measure the disagreement on a fine grid of ξ."""
    u = (np.arange(200_000) + 0.5) / 200_000
    shifted = (u + by) % 1
    full, reduced = (u, 1 - shifted) if n % 2 == 0 else (1 - u, shifted)
    return float(np.mean((full < p) != (reduced < p)))


def test_rotation_tells_even_sizes_from_odd_ones() -> None:
    assert _rotated_disagreement(4, 0.2, 0.15) != _rotated_disagreement(5, 0.2, 0.15)


def test_neighbours_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    X, y, points = rng.normal(size=(30, 2)), rng.normal(size=30), rng.normal(size=(9, 2))
    for k in (1, 4, 30, 50):
        ours = NearestNeighbours(k).fit(X, y, 0)(points)
        theirs = KNeighborsRegressor(min(k, 30)).fit(X, y).predict(points)
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_a_world_without_a_law_simulates_and_says_so() -> None:
    world = World(Ridge(), GaussianRows(2, slope=1.0), n=10)
    with pytest.raises(ArgumentError, match=r"no closed form .* estimate_delta_star"):
        world.delta_star(0.1)
    first = world.simulate_changes(300, 5)
    assert np.array_equal(first, world.simulate_changes(300, 5))
    assert not np.array_equal(first, world.simulate_changes(300, 6))


def test_blocks_do_not_repeat_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.simulation.worlds.world._ROWS_AT_ONCE", 40)
    changes = zoo.mean_response(3).simulate_changes(25, 0, fit=True)
    assert changes.shape == (25,)
    assert len(np.unique(changes)) == 25


# --- data -----------------------------------------------------------------------------


def test_draws_have_the_shape_asked_for_and_follow_the_generator() -> None:
    world = zoo.memorising(4)
    sample = world.draw(np.random.default_rng(0), 9, 5)
    assert (sample.n_labeled, sample.n_unlabeled) == (9, 5)
    again = world.draw(np.random.default_rng(0), 9, 5)
    assert sample.digest() == again.digest()
    assert world.draw(np.random.default_rng(1), 9).n_unlabeled == 0


@pytest.mark.parametrize(
    ("rows", "a"), [(GaussianRows(1), 0.05), (GaussianRows(4), 0.2), (UniformRows(3), 0.0)]
)
def test_the_radius_holds_all_but_a(rows: Any, a: float) -> None:
    X, _ = rows.draw(np.random.default_rng(1), 20_000)
    outside = int((np.linalg.norm(X, axis=1) > rows.radius(a)).sum())
    if a == 0.0:
        assert outside == 0
    else:
        assert not Proportion(outside, 20_000, SURE).excludes(a)


def test_gaussian_rows_have_the_slope_and_noise_they_say() -> None:
    X, y = GaussianRows(2, sigma=0.5, slope=3.0).draw(np.random.default_rng(0), 50_000)
    residual = y - 3.0 * X.sum(axis=1)
    # Standard errors .0022 and .0016: six of them on either side.
    assert abs(residual.mean()) < 0.014
    assert abs(residual.std() - 0.5) < 0.01


def test_empirical_rows_keep_pairs_and_containers() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    rows = EmpiricalRows(frame, np.array([10.0, 20.0, 30.0]))
    X, y = rows.draw(np.random.default_rng(0), 50)
    assert isinstance(X, pd.DataFrame)
    assert (10 * X["a"].to_numpy() == y).all()
    assert set(y) == {10.0, 20.0, 30.0}
    world = World(Ridge(), rows, n=2)
    assert world.draw(np.random.default_rng(0), 4, 2).n_unlabeled == 2
    assert "EmpiricalRows(3 rows)" in world.name


# --- laws -----------------------------------------------------------------------------

LAWS = [
    NoChange(),
    PointChange(0.7),
    HalfNormalChange(0.5),
    Sometimes(0.3, HalfNormalChange(0.5)),
    Sometimes(0.3, PointChange(0.7)),
    FlippingChange(0.3, 1.0),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("epsilon", [0.0, 0.6, 0.7])
def test_laws_draw_what_they_say(law: Any, epsilon: float) -> None:
    changes = law.sample(np.random.default_rng(2), 20_000, Shared())
    above = int((changes > epsilon).sum())
    truth = law.delta_star(epsilon)
    assert (
        above == 20_000 * truth
        if truth in (0, 1)
        else not Proportion(above, 20_000, SURE).excludes(truth)
    )


# --- refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: World(Ridge(), GaussianRows(), 1), "n must be a whole number >= 2"),
        (lambda: World(Ridge(), "normal", 5), r"distribution must have a method draw"),
        (lambda: World("ridge", GaussianRows(), 5), "algorithm must be"),
        (lambda: zoo.nearest_neighbours(5, k=5), "k must be from 1 to n - 1 = 4, got 5"),
        (lambda: zoo.mean_response(1), "n must be"),
        (lambda: zoo.mean_response(5, sigma=0.0), "sigma must be a number > 0, got 0.0"),
        (lambda: zoo.flipping(5, 1.5), r"probability must be in \[0, 1\], got 1.5"),
        (lambda: zoo.constant(5).delta_star(-1.0), "epsilon"),
        (lambda: zoo.constant(5).delta_star(0.0, "any"), "notion must be one of"),
        (lambda: zoo.constant(5).epsilon_star(1.0), "delta"),
        (lambda: zoo.constant(5).simulate_changes(0), "n_sim"),
    ],
)
def test_bad_arguments_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


def test_the_registry_builds_every_world_from_its_size_alone() -> None:
    for make in zoo.ZOO.values():
        world = make(n=6)
        assert world.n == 6
        assert 0 <= world.delta_star(0.0) <= 1


def test_the_ends_of_an_interval_belong_to_it() -> None:
    share = Proportion(31, 100)
    assert not share.excludes(share.low)
    assert not share.excludes(share.high)
    assert share.excludes(math.nextafter(share.low, 0))
    assert share.excludes(math.nextafter(share.high, 1))
