"""Section 5.1: finite spaces, with known or unknown support."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from poise import theory
from poise.algorithms.algorithm import Predict
from poise.data.sample import Sample
from poise.data.synthetic_rows import SyntheticRows
from poise.procedures import ExhaustiveTest
from poise.protocol.messages import Answers, Batch, Query
from poise.protocol.randomness import Randomness
from poise.results import ProcedureResult
from poise.simulation.paper.claim import CONFIDENCE, Claim, beyond, computed, holds, simulated
from poise.simulation.paper.effort import Effort
from poise.simulation.traps import label_trap, same_verdict
from poise.simulation.worlds import EmpiricalRows, Proportion, World, zoo

__all__ = ["claims"]

# Two points and two labels, each row (x, y) as likely as any other.
_X, _Y = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0])
_COINS = EmpiricalRows(_X, _Y)
_COUNTABLE: dict[str, Any] = {"features": "countable", "response": "countable"}


def claims(effort: Effort) -> list[Claim]:
    """Check that a known support lifts the ceiling and an unknown one does not; check budgets."""
    return computed(
        "5.1",
        partial(_known_support, effort),
        partial(_unknown_support, effort),
        _budget_formula,
        partial(_budget_by_search, effort),
    )


def _mean(X: Any, y: Any, seed: int) -> Predict:
    level = float(np.mean(y))
    return lambda rows: np.full(len(rows), level)


def _ones(X: Any, y: Any, seed: int) -> Predict:
    """Count the labels 1: the prediction moves iff the removed row is one of them."""
    level = float(np.sum(y))
    return lambda rows: np.full(len(rows), level)


def _search(n: int, epsilon: float, delta: float, alpha: float) -> ExhaustiveTest:
    return ExhaustiveTest(n, epsilon, delta, alpha, support_X=_X, support_y=_Y, deterministic=True)


def _known_support(effort: Effort) -> list[Claim]:
    """Search all data sets: power 1 where black-box tests of R have α/(1−δ), and a level."""
    moved = World(_mean, _COINS, n=3, title="mean of coins")
    search = _search(3, 0.34, 0.1, 0.1)
    power = effort.accepted(search, moved, (3, 1), 100, 9, least=30, delta_star=0.0, **_COUNTABLE)
    ceiling = theory.power_bound(3, 3, 1, delta=0.1, alpha=0.1)
    unstable = World(_ones, _COINS, n=2, title="count of ones")
    level = effort.accepted(
        _search(2, 0.5, 0.45, 0.1), unstable, (12, 0), 500, seed=10, delta_star=0.5, **_COUNTABLE
    )
    return [
        beyond("5.1", "known support: a search exceeds the ceiling of Theorem 2", ceiling, power),
        simulated("5.1", "and keeps its level: (1/2)^4 at delta* = 1/2 > delta", 0.5**4, level),
    ]


@dataclass(frozen=True)
class _SearchOfWhatWasSeen:
    """Searches all data sets made of rows that were seen, as if no others could occur."""

    n: int
    epsilon: float
    delta: float
    alpha: float

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        seen = sample.X.native, sample.y.native
        question = (self.n, self.epsilon, self.delta, self.alpha)
        search = ExhaustiveTest(*question, support_X=seen[0], support_y=seen[1], deterministic=True)
        return (yield from search.ask(sample, randomness))


def _unknown_support(effort: Effort) -> list[Claim]:
    """Set a trap whose data are discrete too: knowing that much does not help."""
    trap = label_trap(World(_mean, _COINS, n=3), epsilon=0.34, delta=0.2)
    instability = effort.instability(trap, 0.34, 3000, seed=11)
    search = _SearchOfWhatWasSeen(3, 0.34, 0.2, 0.1)
    level = effort.accepted(search, trap, (4, 0), 100, seed=12)
    return [
        simulated(
            "5.1",
            "unknown discrete support: the trap stays, instability 1-(1-c)^n",
            1 - (1 - trap.c) ** 3,
            instability,
        ),
        beyond("5.1", "a search of the rows that were seen is not valid: its level", 0.1, level),
    ]


# --- budgets --------------------------------------------------------------------------


def _budget_formula() -> Claim:
    """Compare the ceiling with a budget with its formula, for a countable response."""
    wrong = cases = 0
    for budget, size, labeled in product((0, 10, 1000), (100, 10**6), (20, 60)):
        got = theory.power_bound(
            10,
            labeled,
            100,
            delta=0.1,
            alpha=0.05,
            **_COUNTABLE,
            n_response_values=size,
            train_budget=budget,
        )
        formula = min(1.0, 0.05 * (1 / 0.9) ** (labeled / 10) + budget / size)
        cases += 1
        wrong += not np.isclose(got, formula, rtol=1e-9)
    text = "a budget adds B_train/|Y| to alpha((1-delta*)/(1-delta))^(N_l/n)"
    return holds("5.1", text, cases, wrong)


_LABELS, _SUBMITTED, _STAR = 100, 20, 37.0


@dataclass(frozen=True)
class _TriesLabels:
    """Submits training sets with 20 of 100 possible labels; declares stable if nothing moves."""

    n: int

    def ask(self, sample: Sample, randomness: Randomness) -> Generator[Batch, Answers, bool]:
        labels = randomness.generator("labels").permutation(_LABELS)[:_SUBMITTED]
        X, point = np.zeros((self.n, 1)), SyntheticRows(np.zeros((1, 1)))
        sets = labels.reshape(-1, self.n).astype(np.float64)
        answers = yield Batch([Query(SyntheticRows(X, y), point, 0) for y in sets])
        return all(float(value[0]) == 0.0 for value in answers.predictions)


def _budget_by_search(effort: Effort) -> Claim:
    """Count how often a test submits y*, because only then it tells A from A′."""
    world = zoo.constant(n=5)
    trap = label_trap(world, epsilon=0.0, delta=0.1, star=_STAR)
    found = same_verdict(
        _TriesLabels(5),
        trap,
        n_labeled=6,
        replications=effort.count(1500),
        random_state=13,
        n_jobs=effort.n_jobs,
    )
    share = Proportion(len(found.differing), found.replications, CONFIDENCE)
    text = "20 rows submitted, 100 labels: A' is found out with probability .2"
    return simulated("5.1", text, _SUBMITTED / _LABELS, share)
