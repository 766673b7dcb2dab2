"""Audits: valid procedures pass, and every broken one is caught in a world that shows it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from poise.adversary import feature_trap, label_trap
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.notions import Antithetic
from poise.procedures import (
    AdaptiveTest,
    BinomialTest,
    BootstrapTest,
    ExploreThenTest,
    SimulationTest,
)
from poise.procedures.checked_question import Question
from poise.protocol.messages import Batch, Comparison
from poise.protocol.randomness import Independent, Randomness
from poise.simulation.audit import AuditResult, audit, audit_with_traps
from poise.simulation.worlds import zoo
from poise.theory import power
from poise.theory.number_of_trials import n_trials
from poise.world import World

# A valid procedure is found invalid, or a true claim refuted, with probability at most
# 1e-7 per audit; there are about thirty of them on fixed seeds.
SURE = 1 - 1e-7


def findings(*results: AuditResult) -> list[str]:
    return [result.finding for result in results]


# --- the Binomial test, whole and broken ----------------------------------------------


@dataclass(frozen=True)
class PlainBinomial(Question):
    """Example 1, written out so that it can be broken in one place at a time."""

    def ask(self, sample: Sample, randomness: Randomness) -> Generator[Batch, Any, bool]:
        answers = yield Batch(self.comparisons(sample, randomness))
        return self.accepts(self.exceedances(answers.changes), len(answers.changes))

    def comparisons(self, sample: Sample, randomness: Randomness) -> list[Comparison]:
        m = int(n_trials(self.n, sample.n_labeled, sample.n_unlabeled))
        return [
            Comparison.without_last(self.rows(k), np.array([m * self.n + k]), xi := k, xi)
            for k in range(m)
        ]

    def rows(self, k: int) -> np.ndarray:
        return np.arange(k * self.n, (k + 1) * self.n)

    def exceedances(self, changes: np.ndarray) -> int:
        return int(np.count_nonzero(changes > self.epsilon))

    def accepts(self, count: int, m: int) -> bool:
        return bool(stats.binom.cdf(count, m, self.delta) <= self.alpha)


class SharesARow(PlainBinomial):
    """Consecutive trials overlap: the row removed from one is the first row of the next."""

    def rows(self, k: int) -> np.ndarray:
        return np.arange(k * (self.n - 1), k * (self.n - 1) + self.n)


class SharesTheRemovedRow(PlainBinomial):
    """Two trials remove the same row."""

    def rows(self, k: int) -> np.ndarray:
        rows = super().rows(k)
        rows[-1] = (k // 2 + 1) * 2 * self.n - 1
        return rows


class CountsTies(PlainBinomial):
    """``>=`` for ``>``."""

    def exceedances(self, changes: np.ndarray) -> int:
        return int(np.count_nonzero(changes >= self.epsilon))


class AcceptsTies(PlainBinomial):
    """Accepts at k* itself, where the paper tosses a coin."""

    def accepts(self, count: int, m: int) -> bool:
        return bool(count <= stats.binom.ppf(self.alpha, m, self.delta))


class ThresholdsThePmf(PlainBinomial):
    """P(Bin = B) where P(Bin <= B) belongs."""

    def accepts(self, count: int, m: int) -> bool:
        return bool(stats.binom.pmf(count, m, self.delta) <= self.alpha)


# delta = 0.1 and alpha = 0.05 need 29 trials: 0.9^29 = 0.0471, and 0.9^28 > 0.05.
QUESTION = {"n": 2, "epsilon": 0.5, "delta": 0.1, "alpha": 0.05}
ROWS = 30 * 3
SETTING = {"n_labeled": ROWS, "replications": 400, "confidence": SURE, "random_state": 7}


def plain_power(delta_star: float) -> float:
    return float(power(30, 0.1, delta_star, 0.05, randomized=False))


def constant_half() -> World:
    """A world in which every change equals epsilon = 0.5: exactly stable."""
    return zoo.memorising(2, rarity=1.0, height=0.5)


UNSTABLE = zoo.memorising(2, rarity=0.1 + 1e-9)
LABEL_TRAP = label_trap(zoo.constant(2), epsilon=0.5, delta=0.1)


@pytest.mark.parametrize(
    ("world", "measures", "truth"),
    [
        (UNSTABLE, "level", plain_power(0.1)),
        (LABEL_TRAP, "level", plain_power(0.1)),
        (feature_trap(zoo.constant(2), epsilon=0.5, delta=0.1), "level", plain_power(0.1)),
        (constant_half(), "power", 1.0),
        (zoo.memorising(2, rarity=0.02), "power", plain_power(0.02)),
        (zoo.memorising(2, rarity=0.9), "level", 0.0),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_whole_test_is_what_it_claims_to_be(world: Any, measures: str, truth: float) -> None:
    result = audit(PlainBinomial(**QUESTION), world, claim=truth, **SETTING)
    assert (result.finding, result.measures) == ("no violation found", measures)
    assert result.ok


@pytest.mark.parametrize(
    ("broken", "world", "finding"),
    [
        (SharesARow, LABEL_TRAP, "invalid"),
        (SharesTheRemovedRow, UNSTABLE, "invalid"),
        (CountsTies, constant_half(), "not as claimed"),
        (AcceptsTies, UNSTABLE, "invalid"),
        (ThresholdsThePmf, zoo.memorising(2, rarity=0.9), "invalid"),
    ],
    ids=lambda value: getattr(value, "__name__", getattr(value, "name", None)),
)
def test_broken_tests_are_caught(broken: Any, world: Any, finding: str) -> None:
    claim = 1.0 if broken is CountsTies else None
    result = audit(broken(**QUESTION), world, claim=claim, **SETTING)
    assert result.finding == finding
    assert not result.ok
    assert finding in str(result)
    assert broken.__name__ in str(result)


def test_sharing_rows_shows_only_where_a_row_decides() -> None:
    # The same mistake is invisible in a world whose changes are independent of shared rows.
    assert audit(SharesARow(**QUESTION), zoo.constant(2), **SETTING).ok


@pytest.mark.parametrize("randomized", [True, False])
def test_poises_own_test_has_exactly_the_level_it_should(randomized: bool) -> None:
    test = BinomialTest(n=4, epsilon=0.5, delta=0.1, alpha=0.2, randomized=randomized)
    claim = 0.2 if randomized else float(power(18, 0.1, 0.1, 0.2, randomized=False))
    # Where delta* = delta the world is stable, and the ceiling is alpha itself.
    result = audit(
        test, zoo.memorising(4, rarity=0.1), n_labeled=90, replications=400, claim=claim,
        confidence=SURE, random_state=1,
    )  # fmt: skip
    assert result.finding == "no violation found"
    assert (result.limit, result.measures) == (pytest.approx(0.2), "power")
    assert result.binomial == pytest.approx(0.2)


# --- heuristics are shown invalid on traps, the valid ones are not --------------------

HEURISTICS = [
    BootstrapTest(n=4, epsilon=0.5, delta=0.2, resamples=30),
    SimulationTest(n=4, epsilon=0.5, delta=0.2, simulations=30),
    SimulationTest(n=4, epsilon=0.5, delta=0.2, simulations=30, estimate="smoothed-bootstrap"),
    AdaptiveTest(n=4, epsilon=0.5, delta=0.2, explorations=30, stages=1, per_stage=20),
]


@pytest.mark.parametrize("procedure", HEURISTICS, ids=lambda p: type(p).__name__)
def test_heuristics_are_caught_by_the_traps(procedure: Any) -> None:
    suite = audit_with_traps(
        procedure, zoo.constant(4), n_labeled=16, n_unlabeled=4, replications=60,
        confidence=SURE, random_state=0,
    )  # fmt: skip
    assert findings(*suite.results) == ["invalid"] * 3
    assert [r.measures for r in suite.results] == ["power", "level", "level"]
    assert suite.invalid
    assert suite.verdict.startswith("invalid: measured level")


@pytest.mark.parametrize(
    "procedure",
    [
        BinomialTest(n=4, epsilon=0.5, delta=0.2, alpha=0.1),
        BinomialTest(n=4, epsilon=0.5, delta=0.2, alpha=0.1, randomized=True),
        ExploreThenTest(n=4, epsilon=0.5, delta=0.2, alpha=0.1, explorations=5),
    ],
    ids=lambda p: type(p).__name__,
)
def test_valid_tests_survive_the_traps(procedure: Any) -> None:
    suite = audit_with_traps(
        procedure, zoo.constant(4), n_labeled=64, replications=150, confidence=SURE,
        random_state=0,
    )  # fmt: skip
    assert findings(*suite.results) == ["no violation found"] * 3
    assert not suite.invalid
    assert suite.verdict == "no violation found in 3 worlds; that is no proof of validity"


def test_a_suite_is_a_table() -> None:
    suite = audit_with_traps(
        BinomialTest(n=3, epsilon=0.5, delta=0.3), zoo.constant(3), traps=["label", "linear"],
        n_labeled=20, replications=20, random_state=0,
    )  # fmt: skip
    lines = suite.table().splitlines()
    assert len(lines) == 1 + 3 + 1
    assert "label trap in constant, n = 3" in lines[2]
    assert lines[-1] == suite.verdict
    frame = suite.to_frame()
    assert list(frame["measures"]) == ["power", "level", "level"]
    assert frame["limit"].between(0, 1).all()
    assert str(suite) == suite.table()


# --- notions of randomness ------------------------------------------------------------


@pytest.mark.parametrize("coupling", ["shared", Independent(), Antithetic()])
def test_each_notion_is_held_to_its_own_delta(coupling: Any) -> None:
    p = 0.1
    notion = {"shared": "shared", "independent": "independent"}.get(
        getattr(coupling, "name", coupling), "coupled"
    )
    truth = {"shared": 2 * p, "independent": 2 * p * (1 - p), "coupled": 0.0}[notion]
    test = BinomialTest(n=4, epsilon=0.5, delta=0.2, alpha=0.2, randomized=True, coupling=coupling)
    result = audit(
        test, zoo.flipping(4, p), n_labeled=40, replications=400, random_state=3,
        claim=float(power(8, 0.2, truth, 0.2, randomized=True)), confidence=SURE,
    )  # fmt: skip
    assert result.notion == notion
    assert result.delta_star == pytest.approx(truth)
    assert result.finding == "no violation found"
    assert result.limit == pytest.approx(min(1, 0.2 * ((1 - truth) / 0.8) ** 8))


def test_a_trap_is_for_one_notion() -> None:
    trap = label_trap(zoo.flipping(4, 0.01), epsilon=0.5, delta=0.2, notion="independent")
    with pytest.raises(ArgumentError, match="set for independent randomness"):
        audit(BinomialTest(n=4, epsilon=0.5, delta=0.2), trap, n_labeled=20)
    test = BinomialTest(n=4, epsilon=0.5, delta=0.2, alpha=0.2, coupling="independent")
    result = audit(test, trap, n_labeled=40, replications=100, confidence=SURE, random_state=0)
    assert (result.measures, result.finding) == ("level", "no violation found")
