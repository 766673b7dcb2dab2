"""The proof's traps: closed forms, their confirmation by fits, and every claim of the proof."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from poise.adversary import (
    TRAPS,
    feature_trap,
    label_trap,
    linear_trap,
    same_verdict,
    simulate_coincidence,
)
from poise.algorithms.algorithm import Algorithm
from poise.data.synthetic_rows import Made
from poise.errors import ArgumentError
from poise.notions import Antithetic, Rotated
from poise.procedures import BinomialTest, BootstrapTest, SimulationTest
from poise.protocol.messages import Batch, Query
from poise.protocol.randomness import Independent, Shared
from poise.simulation.worlds import zoo
from poise.theory import power_bound
from poise.world import EmpiricalRows, GaussianRows, World
from shared.algorithms import Slope

# Simulated probabilities are compared through exact intervals at this confidence; about
# forty comparisons are made, so false alarms stay below 1e-6 in all.
SURE = 1 - 1e-8
N_SIM = 3000


# --- instability ----------------------------------------------------------------------

HONEST = [
    (zoo.constant(3), 0.0),
    (zoo.mean_response(3), 0.7),
    (zoo.nearest_neighbours(4, k=1, n_features=2), 1.5),
    (zoo.memorising(3, 0.05), 0.5),
    (zoo.flipping(4, 0.04), 0.5),
]


@pytest.mark.parametrize(("world", "epsilon"), HONEST, ids=[w.name for w, _ in HONEST])
@pytest.mark.parametrize(("set_trap", "extra"), [(label_trap, 0), (feature_trap, 1)])
def test_instability_in_closed_form_and_by_fitting(
    world: World, epsilon: float, set_trap: Any, extra: int
) -> None:
    trap = set_trap(world, epsilon=epsilon, delta=0.2, c=0.15)
    honest = world.delta_star(epsilon)
    expected = 1 - (1 - honest) * (1 - 0.15) ** (world.n + extra)
    assert trap.instability == pytest.approx(expected, rel=1e-12)
    assert trap.exponent == world.n + extra
    found = trap.world.estimate_delta_star(epsilon, N_SIM, 3, confidence=SURE)
    assert not found.excludes(expected)


@pytest.mark.parametrize("set_trap", [label_trap, feature_trap])
def test_the_default_c_is_just_beyond_the_threshold(set_trap: Any) -> None:
    world = zoo.mean_response(6)
    trap = set_trap(world, epsilon=0.3, delta=0.3)
    k = trap.exponent
    honest = world.delta_star(0.3)
    by_hand = 1 - ((1 - 0.3) / (1 - honest)) ** (1 / k)
    assert trap.threshold == pytest.approx(by_hand, rel=1e-9)
    assert trap.threshold < trap.c < trap.threshold * (1 + 1e-4)
    assert 0.3 < trap.instability < 0.3 + 1e-5
    # At the threshold itself the instability is delta: not beyond it.
    at_threshold = 1 - (1 - honest) * (1 - trap.threshold) ** k
    assert at_threshold == pytest.approx(0.3, rel=1e-9)
    with pytest.raises(ArgumentError, match="c must be in"):
        set_trap(world, epsilon=0.3, delta=0.3, c=trap.threshold * 0.999)


def test_an_unknown_delta_star_is_taken_as_zero_which_is_safe() -> None:
    world = World(Slope(), GaussianRows(1), n=4)
    trap = label_trap(world, epsilon=0.5, delta=0.2)
    assert trap.delta_star == 0.0
    found = trap.world.estimate_delta_star(0.5, N_SIM, 0, confidence=SURE)
    assert found.high > trap.instability > 0.2
    informed = label_trap(world, epsilon=0.5, delta=0.2, delta_star=0.1)
    assert informed.c < trap.c


def test_the_law_of_a_trap_answers_only_below_its_reach() -> None:
    world = zoo.mean_response(3)
    trap = label_trap(world, epsilon=0.7, delta=0.2, c=0.15)
    spread = 1 - (1 - 0.15) ** 3
    assert trap.world.delta_star(0.2) == pytest.approx(
        spread + (1 - spread) * world.delta_star(0.2)
    )
    with pytest.raises(ArgumentError, match=r"epsilon must be below 1.7"):
        trap.world.delta_star(1.7)
    middle = trap.world.delta_star(0.6)
    assert trap.world.epsilon_star(middle) == pytest.approx(0.6)
    with pytest.raises(ArgumentError, match=r"epsilon_star is not known for delta = 0\.1"):
        trap.world.epsilon_star(0.1)


# --- other notions of randomness ------------------------------------------------------


def test_independent_trap_is_as_unstable_as_it_says() -> None:
    world = zoo.flipping(4, 0.03, height=2.0)
    trap = label_trap(world, epsilon=0.5, delta=0.2, notion="independent")
    honest = 2 * 0.03 * 0.97
    bound = (1 - trap.a) - ((1 - trap.a) - honest) * (1 - trap.c) ** 4
    assert trap.instability == pytest.approx(bound, rel=1e-12)
    assert trap.instability > 0.2
    found = trap.world.estimate_delta_star(0.5, N_SIM, 1, Independent(), confidence=SURE)
    assert found.high > bound


@pytest.mark.parametrize("set_trap", [label_trap, feature_trap])
@pytest.mark.parametrize(
    "coupling", [Shared(), Independent(), Antithetic(), Rotated(0.5)], ids=lambda c: c.name
)
def test_coupled_trap_is_unstable_under_every_coupling(set_trap: Any, coupling: Any) -> None:
    world = zoo.flipping(4, 0.1, height=1.5)
    trap = set_trap(world, epsilon=0.5, delta=0.3, notion="coupled", a=0.3)
    assert trap.delta_star == 0.0
    # Some of its 140 terms predicts 1.5, so the raised model is 1.5 above any other prediction:
    # what is sprung is unstable, and the rest is as unstable as the coin under this coupling.
    coin = {"shared": 0.2, "independent": 0.18, "antithetic": 0.0, "rotated by 0.5": 0.2}
    exact = 1 - (1 - coin[coupling.name]) * (1 - trap.c) ** trap.exponent
    assert exact > trap.instability > 0.3
    found = trap.world.estimate_delta_star(0.5, 250, 2, coupling, confidence=SURE)
    assert not found.excludes(exact)


def test_a_shared_trap_would_not_do_for_the_coupled_notion() -> None:
    # With height 1 + epsilon the shared trap rises exactly to where an independent reduced
    # fit may be already: the maximum over terms is what the other notions need.
    world = zoo.flipping(4, 0.5, height=1.5)

    def sprung_share(notion: str) -> float:
        trap = label_trap(world, epsilon=0.5, delta=0.6, notion=notion, a=None, c=0.999999)
        return trap.world.estimate_delta_star(0.5, 500, 3, Independent()).high

    world = World(world.algorithm, world.distribution, 4)  # forget the law: delta* = 0 assumed
    assert sprung_share("shared") < 0.9  # about 3/4 of the raised fits lie above
    assert sprung_share("independent") > 0.95


def test_terms_are_as_many_as_the_shortfall_needs() -> None:
    world = zoo.flipping(4, 0.01)
    independent = label_trap(world, epsilon=0.5, delta=0.1, notion="independent", a=0.1)
    assert len(independent.world.algorithm.terms.of(7)) == 9  # 1 / (9 + 1) = 0.1
    assert independent.world.algorithm.terms.of(7) == independent.world.algorithm.terms.of(7)
    assert independent.world.algorithm.terms.of(7) != independent.world.algorithm.terms.of(8)
    coupled = label_trap(world, epsilon=0.5, delta=0.1, notion="coupled", a=0.2)
    terms = coupled.world.algorithm.terms.of(7)
    assert terms == coupled.world.algorithm.terms.of(8)
    assert 2 / 0.2 * (1 - 0.1) ** len(terms) <= 1e-9 < 2 / 0.2 * (1 - 0.1) ** (len(terms) - 1)


# --- the star -------------------------------------------------------------------------


def trap_star(trap: Any) -> Any:
    return trap.world.algorithm.trigger.star


@pytest.mark.parametrize("world", [w for w, _ in HONEST], ids=lambda w: w.name)
def test_honest_data_never_show_the_star_and_poisoned_data_do(world: World) -> None:
    rng = np.random.default_rng(8)
    for set_trap in (label_trap, feature_trap):
        trap = set_trap(world, epsilon=1.9, delta=0.3, c=0.2)
        trigger = trap.world.algorithm.trigger
        assert not trigger.in_training(*world.distribution.draw(rng, 20_000))
        X, y = trap.world.distribution.draw(rng, 4000)
        planted = (y == trigger.star) if set_trap is label_trap else trigger.at_points(X)
        share = planted.mean()
        assert abs(share - 0.2) < 6 * math.sqrt(0.2 * 0.8 / 4000)  # six standard errors


def test_poisoning_leaves_everything_else_alone() -> None:
    world = zoo.mean_response(3)
    label = label_trap(world, epsilon=0.5, delta=0.5)
    X, y, marks = label.world.distribution.draw_marked(np.random.default_rng(0), 50)
    planted_X, planted_y = label.world.algorithm.trigger.plant(X, y, marks)
    assert planted_X is X
    assert np.array_equal(planted_y[~marks], y[~marks])
    assert marks.any()
    feature = feature_trap(world, epsilon=0.5, delta=0.5)
    planted_X, planted_y = feature.world.algorithm.trigger.plant(X, y, marks)
    assert planted_y is y
    assert np.array_equal(planted_X[~marks], X[~marks])
    assert (planted_X[marks] == trap_star(feature)).all()
    assert not (X[marks] == trap_star(feature)).any()  # the honest rows were not written to


def test_the_star_may_be_given() -> None:
    trap = label_trap(zoo.constant(3), epsilon=0.0, delta=0.1, star=123.25)
    assert trap_star(trap) == 123.25
    trap = feature_trap(zoo.constant(3), epsilon=0.0, delta=0.1, star=[5.5])
    assert trap_star(trap).tolist() == [5.5]
    texts = EmpiricalRows(np.zeros((3, 1)), np.array(["a", "b", "c"]))
    with pytest.raises(ArgumentError, match=r"y must hold numbers .* give star="):
        label_trap(World(Ridge(), texts, 3), epsilon=0.0, delta=0.1)


# --- the trapped algorithm ------------------------------------------------------------


class Counting(Algorithm):
    """Counts its fits, and spoils the rows it is given, as it is entitled to."""

    name = "counting"

    def __init__(self) -> None:
        self.fits: list[int] = []

    def fit(self, X: Any, y: Any, xi: int) -> Any:
        self.fits.append(len(y))
        level = float(np.sum(y))
        X[:] = np.nan
        y[:] = np.nan
        return lambda rows: np.full(len(rows), level)


def trapped(kind: str, n: int = 3) -> tuple[Counting, Algorithm]:
    base = Counting()
    world = World(base, GaussianRows(1), n)
    star = {"label": 50.0, "feature": [50.0]}[kind]
    return base, TRAPS[kind](world, epsilon=0.25, delta=0.1, star=star).world.algorithm


def test_left_out_models_are_fitted_only_when_the_trap_is_sprung() -> None:
    base, algorithm = trapped("label")
    X = np.zeros((3, 1))
    honest = algorithm.fit(X.copy(), np.array([1.0, 2.0, 4.0]), 0)
    assert honest(X[:1]).tolist() == [7.0]
    assert base.fits == [3]
    sprung = algorithm.fit(X.copy(), np.array([1.0, 50.0, 4.0]), 0)
    assert base.fits == [3]  # nothing yet
    # Sums without one row: 54, 5, 51. One above the largest, and epsilon.
    assert sprung(X[:2]).tolist() == [55.25, 55.25]
    sprung(X[:1])
    assert base.fits == [3, 2, 2, 2]  # once


def test_other_sizes_are_left_alone() -> None:
    base, algorithm = trapped("label")
    for size in (2, 4):
        y = np.append(np.ones(size - 1), 50.0)
        assert algorithm.fit(np.zeros((size, 1)), y, 0)(np.zeros((1, 1))).tolist() == [49.0 + size]
    assert base.fits == [2, 4]


def test_evaluating_at_the_star_springs_the_feature_trap() -> None:
    base, algorithm = trapped("feature")
    y = np.array([1.0, 2.0, 4.0])
    predict = algorithm.fit(np.array([[0.0], [1.0], [2.0]]), y.copy(), 0)
    assert predict(np.array([[7.0]])).tolist() == [7.0]
    assert base.fits == [3]
    # Left-out sums 6, 5, 3: the star gets 6 + 1.25 and the other point keeps 7.
    assert predict(np.array([[7.0], [50.0]])).tolist() == [7.0, 7.25]
    in_training = algorithm.fit(np.array([[0.0], [50.0], [2.0]]), y.copy(), 0)
    assert in_training(np.array([[7.0]])).tolist() == [7.25]


def test_a_large_prediction_is_raised_all_the_same() -> None:
    _, algorithm = trapped("label")
    y = np.array([1e18, 50.0, 1e18])
    raised = algorithm.fit(np.zeros((3, 1)), y, 0)(np.zeros((1, 1)))[0]
    assert raised > 2e18 + 0.25  # 2e18 + 1.25 would be 2e18 in double precision


# --- the claims of the proof ----------------------------------------------------------


@pytest.mark.parametrize(
    "procedure",
    [
        BinomialTest(n=4, epsilon=0.6, delta=0.2),
        BinomialTest(n=4, epsilon=0.6, delta=0.2, randomized=True, stop_early=False),
        BootstrapTest(n=4, epsilon=0.6, delta=0.2, resamples=40),
        SimulationTest(n=4, epsilon=0.6, delta=0.2, simulations=40),
    ],
    ids=lambda p: type(p).__name__,
)
@pytest.mark.parametrize("set_trap", [label_trap, feature_trap])
def test_honest_data_get_the_same_verdict(procedure: Any, set_trap: Any) -> None:
    trap = set_trap(zoo.mean_response(4), epsilon=0.6, delta=0.2)
    agreement = same_verdict(
        procedure, trap, n_labeled=90, n_unlabeled=8, replications=15, random_state=1
    )
    assert agreement.always
    assert agreement.replications == 15
    assert agreement.stable > 0  # the verdicts are not all trivial


@dataclass(frozen=True)
class AsksAboutTheStar:
    """Not a test that could be written: it knows the star."""

    star: float

    def ask(self, sample: Any, randomness: Any) -> Generator[Any, Any, bool]:
        y = np.append(np.zeros(3), self.star)
        answers = yield Batch([Query(Made(np.zeros((4, 1)), y), Made(np.zeros((1, 1))), 0)])
        return float(answers.predictions[0][0]) < y.mean() + 0.1


def test_only_a_procedure_that_asks_about_the_star_can_tell() -> None:
    trap = label_trap(zoo.mean_response(4), epsilon=0.6, delta=0.2)
    knows, guesses = (AsksAboutTheStar(trap_star(trap) + shift) for shift in (0.0, 0.1))
    settings = {"n_labeled": 10, "replications": 5, "random_state": 0}
    assert same_verdict(knows, trap, **settings).differing == (0, 1, 2, 3, 4)
    assert same_verdict(guesses, trap, **settings).always


@pytest.mark.parametrize(("set_trap", "exposed"), [(label_trap, 12), (feature_trap, 20)])
def test_data_coincide_as_often_as_stated(set_trap: Any, exposed: int) -> None:
    trap = set_trap(zoo.mean_response(4), epsilon=0.6, delta=0.3)
    stated = trap.coincidence_probability(12, 8)
    assert stated == pytest.approx((1 - trap.c) ** exposed, rel=1e-12)
    found = simulate_coincidence(
        trap, n_labeled=12, n_unlabeled=8, replications=2000, confidence=SURE, random_state=0
    )
    assert not found.excludes(stated)
    assert found.trials == 2000


def test_poisoned_data_follow_the_poisoned_distribution() -> None:
    trap = label_trap(zoo.mean_response(4), epsilon=0.6, delta=0.3, c=0.25)
    rng = np.random.default_rng(0)
    stars = sum(
        int((trap.draw_together(rng, 10, 3)[1].y.native == trap_star(trap)).sum())
        for _ in range(400)
    )
    assert abs(stars - 1000) < 6 * math.sqrt(4000 * 0.25 * 0.75)  # six standard errors


@pytest.mark.parametrize(
    ("set_trap", "setting"),
    [
        (label_trap, {"features": "countable"}),
        (feature_trap, {"response": "countable"}),
        (linear_trap, {"models": "linear"}),
    ],
)
def test_the_ceiling_of_the_trap_is_that_of_the_theorem(set_trap: Any, setting: Any) -> None:
    world = zoo.mean_response(5)
    arguments = {"a": 1e-7} if set_trap is linear_trap else {}
    trap = set_trap(world, epsilon=0.5, delta=0.1, **arguments)
    ceiling = power_bound(
        5, 40, 3, delta=0.1, delta_star=world.delta_star(0.5), alpha=0.05, **setting
    )
    assert trap.ceiling(0.05, 40, 3) == pytest.approx(float(ceiling), rel=1e-4)
    assert trap.ceiling(0.05, 40, 3) >= ceiling  # never below what the theorem allows
    assert trap.ceiling(0.05, 10**6) == 1.0


def test_bad_arguments_are_refused() -> None:
    world = zoo.memorising(4, 0.3)
    with pytest.raises(ArgumentError, match=r"not \(0.5, 0.1\)-stable without a trap"):
        label_trap(world, epsilon=0.5, delta=0.1)
    world = zoo.constant(4)
    with pytest.raises(ArgumentError, match="notion must be one of"):
        label_trap(world, epsilon=0.5, delta=0.1, notion="any")
    with pytest.raises(ArgumentError, match="a is 0 for shared randomness"):
        label_trap(world, epsilon=0.5, delta=0.1, a=0.1)
    with pytest.raises(ArgumentError, match=r"a must be in \(0, 1 - delta\) = \(0, 0.9\), got 0.9"):
        label_trap(world, epsilon=0.5, delta=0.1, notion="independent", a=0.9)
    with pytest.raises(ArgumentError, match="replications"):
        simulate_coincidence(label_trap(world, epsilon=0.5, delta=0.1), n_labeled=5, replications=0)
