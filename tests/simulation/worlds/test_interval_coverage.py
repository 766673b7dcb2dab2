"""Coverage of jackknife intervals, simulated: on the zoo, near d = n, and with heavy tails.

Every comparison has confidence 1 - 1e-7, so the file raises a false alarm with probability
below 1e-6; seeds are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import poise
from poise import theory
from poise.results.coverage import CoverageGuarantee
from poise.simulation.worlds import GaussianRows, World, zoo
from poise.simulation.worlds.interval_coverage import IntervalMisses

CONFIDENCE = 1 - 1e-7


def misses(world, replications=1500, level=0.8):
    return IntervalMisses(world, level, replications, seed=1, confidence=CONFIDENCE)


@cache
def misses_in_the_zoo(build):
    """Fit once for all promises about a world: they are about the same intervals."""
    return misses(build(n=9), 500)


def granted(world, epsilon, delta):
    """Return a verdict "stable" about a world without a single fit."""
    result = poise.Trials.from_changes([0.0] * 1000, n=world.n).test(epsilon=epsilon, delta=delta)
    assert result.stable
    return replace(result, design=replace(result.design, algorithm=world.algorithm.name))


@pytest.mark.parametrize(("level", "missed"), [(0.8, 2), (0.75, 2), (0.9, 1)])
def test_the_rank_is_exact_for_a_constant(level, missed):
    """Residuals are exchangeable, so exactly ⌊a(n + 1)⌋ of n + 1 = 10 ranks are missed."""
    found = misses(zoo.constant(n=9), 3000, level)
    assert not found.of_jackknife().excludes(missed / 10)
    # The ends are those of one constant: the two intervals are the same.
    assert found.of_plus().successes == found.of_jackknife().successes


@pytest.mark.parametrize("method", ["jackknife", "plus"])
@pytest.mark.parametrize("delta", [0.005, 0.02])
@pytest.mark.parametrize("build", [zoo.mean_response, zoo.nearest_neighbours, zoo.memorising])
def test_the_promise_holds_on_the_zoo(build, delta, method):
    world = build(n=9)
    epsilon = world.epsilon_star(delta)
    promise = CoverageGuarantee.certified(method, granted(world, epsilon, delta), 0.8)
    found = misses_in_the_zoo(build)
    simulate = found.of_plus if promise.plus else found.of_jackknife
    assert simulate(promise.widening).low <= promise.miss


def test_without_stability_the_jackknife_breaks_and_jackknife_plus_does_not():
    found = misses(zoo.flipping(n=9, probability=0.3, height=5.0))
    assert found.of_jackknife().low > 0.3
    assert found.of_plus().low <= 0.4
    # Widened by what the flip amounts to it covers again.
    assert found.of_jackknife(widening=10.0).high < 0.2


def least_squares(X, y, seed):
    coefficients = np.linalg.lstsq(X, y)[0]
    return lambda rows: rows @ coefficients


def test_with_as_many_columns_as_rows_coverage_is_lost_without_a_certificate():
    """Barber et al. (2021) see it with n = 100: the full fit is a square system."""
    found = misses(World(least_squares, GaussianRows(14, slope=1.0), n=14), 400)
    assert found.of_jackknife().low > 0.2
    assert found.of_plus().low <= 0.4


@dataclass(frozen=True)
class CauchyRows:
    """Responses without a mean: one of them may move every prediction."""

    def draw(self, rng, size):
        return rng.normal(size=(size, 1)), rng.standard_cauchy(size)


@pytest.mark.parametrize("build", [zoo.mean_response, zoo.nearest_neighbours])
def test_heavy_tails(build):
    world = World(build(n=9).algorithm, CauchyRows(), n=9)
    found = misses(world, 500)
    assert found.of_plus().low <= 0.4
    # The smallest ε with δ = 0.05, as if it had been certified.
    changes = world.simulate_changes(4000, 0, fit=True)
    epsilon = float(np.quantile(changes, 0.96))
    assert found.of_jackknife(epsilon).low <= theory.jackknife_miss(9, 0.2, 0.05)


def test_the_whole_rule_keeps_its_bound():
    """Certify on other rows, else fall back: mean response, right at δ* = δ and beyond it."""
    n, delta, trials, replications = 9, 0.1, 29, 400
    for epsilon_delta in (0.1, 0.3):  # stable, just; and not stable
        world = zoo.mean_response(n=n)
        epsilon = world.epsilon_star(epsilon_delta)
        rng = np.random.default_rng(3)
        exceedances = rng.binomial(trials, world.delta_star(epsilon), size=replications)
        certified = exceedances < theory.critical_value(trials, delta, 0.05)[0]
        found = misses(world, replications)
        sets = found.training_sets
        quantiles = np.array([theory.residual_quantile(s.residuals, 0.2) for s in sets])
        widened = np.abs([s.error for s in sets]) > quantiles + epsilon
        ends = [theory.jackknife_plus_ends(s.errors[None], s.residuals, 0.2)[0] for s in sets]
        plain = np.array([low > 0 or high < 0 for low, high in ends])
        missed = int(np.where(certified, widened, plain).sum())
        rule = theory.rule_miss(n, 0.2, delta, 0.05, a_refused=0.2)
        bound = rule.stable if epsilon_delta <= delta else rule.unstable
        assert poise.world.Proportion(missed, replications, CONFIDENCE).low <= bound


def test_the_simulation_is_what_the_regressor_does():
    world = zoo.nearest_neighbours(n=12, k=2)
    [seen] = misses(world, 1).training_sets
    X, y = world.distribution.draw(np.random.default_rng(1), 13)
    model = poise.JackknifeRegressor(world.algorithm, level=0.8).fit(X[:12], y[:12])
    predictions, [[low, high]] = model.predict_interval(X[12:])
    np.testing.assert_allclose(model.residuals_, seen.residuals)
    np.testing.assert_allclose(predictions - y[12], seen.error)
    ends = theory.jackknife_plus_ends(seen.errors[None], seen.residuals, 0.2)[0] + y[12]
    np.testing.assert_allclose([low, high], ends)
