"""Worlds, traps and audits: closed forms by fits, broken tests are caught, valid ones are not.

Every interval has confidence 1 - 1e-8, so that all of this is wrong once in a million runs.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

from poise import research
from poise.errors import PoiseError
from poise.research import BinomialTest, audit, trap, worlds
from poise.simulation.worlds import Share, gaussian

SURE = 1 - 1e-8
WORLDS = (
    (worlds.constant(3), 0.0, ("shared", "independent")),
    (worlds.mean_response(3), 0.7, ("shared", "independent")),
    (worlds.nearest_neighbours(4), 1.5, ("shared",)),
    (worlds.nearest_neighbours(7, 2, on_coins=True), 0.3, ("shared",)),
    (worlds.memorising(4, 0.15), 0.5, ("shared",)),
    (worlds.unlucky_sets(4, 0.15), 0.5, ("shared",)),
    (worlds.flipping(4, 0.04), 0.5, ("shared", "independent")),
    (worlds.flipping(5, 0.3), 0.5, ("shared", "independent")),
)
ASKED = {"n": 2, "epsilon": 0.5, "delta": 0.1, "alpha": 0.05}
ROWS = {"n_labeled": 90, "replications": 250, "confidence": SURE, "random_state": 7}


def test_closed_forms_agree_with_fits():
    for k, (world, epsilon, couplings) in enumerate(WORLDS):
        for coupling in couplings:
            found = world.estimate_delta_star(epsilon, 1000, k, coupling, SURE)
            assert not found.excludes(world.delta_star(epsilon, coupling)), (world.name, coupling)
    antithetic = type("", (), {"name": "mirrored", "pairs": lambda self, w: (w[:, 0], ~w[:, 0])})()
    assert (worlds.flipping(5, 0.3).changes(100, 0, antithetic) == 0).all()


def test_sprung_traps_are_as_unstable_as_the_proof_says():
    for (world, epsilon, _), kind in product(WORLDS[:5], ("label", "feature")):
        found = trap(world, kind, epsilon=epsilon, delta=0.3, c=0.2)
        expected = 1 - (1 - world.delta_star(epsilon)) * 0.8 ** (world.n + (kind == "feature"))
        assert found.world.delta_star(epsilon) == pytest.approx(expected)
        barely = trap(world, kind, epsilon=epsilon, delta=0.3)
        assert 0.3 < barely.world.delta_star(epsilon) < 0.3 + 1e-5


def test_traps_are_set_at_n_and_honest_fits_stay_honest():
    fits = []

    def greedy(X, y, seed):
        fits.append(len(y))
        level = float(y.sum())
        X[:], y[:] = np.nan, np.nan
        return lambda rows: np.full(len(rows), level)

    world = worlds.World("greedy", greedy, gaussian(), 3)
    found = trap(world, epsilon=2.0, delta=0.1, star=9.0).world.algorithm
    X = np.arange(4.0)[:, None]
    for y, expected, made in (
        ([1.0, 2.0, 3.0], 6.0, [3]),
        ([1.0, 2.0, 9.0], 11.0 + 3.0, [2, 2, 2]),  # above 3, 10 and 11 by 1 + epsilon
        ([1.0, 9.0], 10.0, [2]),
        ([1.0, 2.0, 3.0, 9.0], 15.0, [4]),
    ):
        fits.clear()
        assert found.fit(X[: len(y)].copy(), np.array(y), 0)(X[:1]) == [expected]
        assert fits == made
    large = trap(worlds.mean_response(3), epsilon=1.0, delta=0.1, star=2e18).world.algorithm
    raised = large.fit(X[:3].copy(), np.full(3, 2e18), 0)(X[:1])
    assert raised > 2e18 * (1 + 1e-10)


def test_what_makes_no_trap_or_no_audit_is_refused():
    world, test = worlds.memorising(2, 0.3), BinomialTest(**ASKED)
    unknown = worlds.World("mine", LinearRegression(), gaussian(), 5)
    independent = trap(worlds.flipping(2, 0.02), epsilon=0.5, delta=0.1, notion="independent")
    bent = trap(worlds.nearest_neighbours(6), "linear", epsilon=3.0, delta=0.5).world.algorithm
    X = np.arange(6.0)[:, None]
    bare, three = type("", (), {"epsilon": 0.1})(), worlds.constant(3)
    for call, message in (
        (lambda: trap(world, epsilon=0.5, delta=0.1), "is not .*-stable as it is"),
        (lambda: trap(world, epsilon=0.5, delta=0.4, c=0.01), "must be in"),
        (lambda: bent.fit(X, np.append(X[1:, 0], bent.star), 0), "models are linear"),
        (lambda: unknown.delta_star(0.1), "no closed form"),
        (lambda: independent.world.delta_star(0.5, "shared"), "not known for this trap"),
        (lambda: audit(test, independent, n_labeled=9), "not known for this trap"),
        (lambda: audit(test, three, n_labeled=9), "n must be 3"),
        (lambda: audit(bare, three, n_labeled=9), "delta is missing"),
    ):
        with pytest.raises(PoiseError, match=message):
            call()


@dataclass(frozen=True, kw_only=True)
class Broken(BinomialTest):
    """The Binomial test with a mistake."""

    mistake: str = ""

    def split(self, sample, randomness):
        trials = super().split(sample, randomness)
        return [trials[0]] * 30 if self.mistake == "shares a row" else trials

    def judge(self, changes, **more):
        count, m = int((changes > self.epsilon).sum()), len(changes)
        if self.mistake == "counts ties":
            count = int((changes >= self.epsilon).sum())
        if self.mistake == "thresholds the pmf":  # as another public implementation does
            return bool(stats.binom.pmf(count, m, self.delta) <= self.alpha)
        if self.mistake == "forgets alpha":
            return bool(stats.binom.cdf(count, m, self.delta) <= 4 * self.alpha)
        return bool(stats.binom.cdf(count, m, self.delta) <= self.alpha)


@pytest.mark.parametrize(
    ("mistake", "world", "finding"),
    [
        ("", worlds.memorising(2, 0.1 + 1e-9), "no violation found"),
        ("counts ties", worlds.memorising(2, 1.0, height=0.5), "not as claimed"),
        ("thresholds the pmf", worlds.memorising(2, 0.9), "invalid"),
        ("forgets alpha", worlds.memorising(2, 0.1 + 1e-9), "invalid"),
        ("shares a row", trap(worlds.constant(2), epsilon=0.5, delta=0.1), "invalid"),
    ],
)
def test_broken_tests_are_caught(mistake, world, finding):
    claim = 1.0 if mistake == "counts ties" else None
    found = audit(Broken(**ASKED, mistake=mistake), world, claim=claim, **ROWS)
    assert found.rows[0].finding == finding
    assert found.ok == (finding == "no violation found")
    assert finding in found.verdict


def test_power_beyond_the_ceiling_is_shown_invalid_by_a_trap():
    test = research.BootstrapTest(n=4, epsilon=0.5, delta=0.1, resamples=40)
    few = {"replications": 40, "confidence": SURE, "random_state": 0}
    found = audit(test, worlds.constant(4), n_labeled=10, traps=("label", "feature"), **few)
    assert [row.measures for row in found.rows] == ["power", "level", "level"]
    assert [row.finding for row in found.rows] == ["invalid"] * 3
    assert found.invalid
    assert found.rows[0].limit == pytest.approx(0.05 / 0.9**2)
    assert "not stable" in str(found)
    with pytest.raises(TypeError, match=r"audit\.ok"):
        bool(found)
    truth = Share(30, 100)
    either = audit(test, worlds.World("?", LinearRegression(), gaussian(), 4), n_labeled=10,
                   delta_star=truth, delta=0.3, replications=2)  # fmt: skip
    assert either.rows[0].measures == "either"
    assert either.rows[0].delta_star == truth.interval[0]
