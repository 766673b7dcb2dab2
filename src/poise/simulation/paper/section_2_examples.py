"""Section 2.3: other examples of black-box tests."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from poise import theory
from poise.data.sample import Sample
from poise.data.synthetic_rows import SyntheticRows
from poise.procedures import AdaptiveTest, BootstrapTest, ExploreThenTest, SimulationTest
from poise.protocol.messages import Answers, Batch, Query
from poise.protocol.procedure import Procedure
from poise.protocol.randomness import Randomness
from poise.simulation.paper.claim import Claim, beyond, computed, holds, simulated
from poise.simulation.paper.effort import Effort
from poise.simulation.traps import Trap, feature_trap, label_trap, same_verdict
from poise.simulation.worlds import zoo

__all__ = ["claims"]

_N = 10
_ROWS = (12, 3)
_ASKED: dict[str, Any] = {"n": _N, "epsilon": 0.0, "delta": 0.1}
_HEURISTICS: dict[str, tuple[str, Procedure]] = {
    "2.3.1, Example 2": ("bootstrapped samples", BootstrapTest(**_ASKED, resamples=40)),
    "2.3.1, Example 3": ("simulated samples", SimulationTest(**_ASKED, simulations=40)),
    "2.3.1": ("an adaptive test", AdaptiveTest(**_ASKED, explorations=40, per_stage=40, stages=1)),
}


def claims(effort: Effort) -> list[Claim]:
    """Check that nothing but the Binomial test is valid, and what a supremum would need."""
    return computed(
        "2.3",
        partial(_heuristics, effort),
        partial(_explored, effort),
        _suprema,
    )


def _heuristics(effort: Effort) -> list[Claim]:
    """Each has more power than Theorem 2 allows, and is invalid on a trap."""
    world = zoo.constant(n=_N)
    trap = label_trap(world, epsilon=0.0, delta=0.1)
    ceiling = theory.power_bound(_N, *_ROWS, delta=0.1, alpha=0.05)
    rows = []
    for section, (name, test) in _HEURISTICS.items():
        power = effort.accepted(test, world, _ROWS, 60, seed=6, least=30)
        level = effort.accepted(test, trap, _ROWS, 60, seed=7, least=30)
        rows += [
            beyond(section, f"{name}: more power than the ceiling allows", ceiling, power),
            beyond(section, f"{name}: so not valid; its level on the label trap", 0.05, level),
        ]
    return rows


def _explored(effort: Effort) -> Claim:
    """Explore on a quarter of 64 rows and test on the rest: 9 trials, accepted if B = 0."""
    trap = label_trap(zoo.constant(n=4), epsilon=0.5, delta=0.25)
    test = ExploreThenTest(n=4, epsilon=0.5, delta=0.25, alpha=0.1, explorations=5)
    quiet = 1 - _sprung(trap, 4)
    found = effort.accepted(test, trap, (64, 0), 600, seed=8)
    text = "learning on rows that are not tested is valid: level on the label trap"
    return simulated("2.3.1", text, quiet**9, found)


def _sprung(trap: Trap, k: int) -> float:
    return 1 - (1 - trap.c) ** k


# --- section 2.3.2: suprema -----------------------------------------------------------


@dataclass(frozen=True)
class _Supremum:
    """Tries many values for one coordinate, and declares stable if nothing moves beyond ε.

    The supremum over all of R is not a black-box test: it would need uncountably
    many calls. This is its version with finitely many calls.

    Parameters
    ----------
    over : {"y", "x"}
        The response of the last training row, or the point of evaluation.
    values : tuple of float
        What to try.
    """

    n: int
    epsilon: float
    over: str
    values: tuple[float, ...]

    def ask(self, sample: Sample, randomness: Randomness) -> Generator[Batch, Answers, bool]:
        rows = np.arange(self.n)
        X, y = (np.asarray(part) for part in sample.training(rows))
        points = np.array([[value] for value in self.values]) if self.over == "x" else X[:1]
        reduced = SyntheticRows(X[:-1], y[:-1])
        tried = [y] if self.over == "x" else [np.append(y[:-1], value) for value in self.values]
        tasks = [Query(SyntheticRows(X, labels), SyntheticRows(points), 0) for labels in tried]
        answers = yield Batch([*tasks, Query(reduced, SyntheticRows(points), 0)])
        *full, last = (np.asarray(values) for values in answers.predictions)
        return bool(max(np.abs(values - last).max() for values in full) <= self.epsilon)


def _suprema() -> list[Claim]:
    world, rows = zoo.constant(n=5), []
    for over, trap in (
        ("y", label_trap(world, epsilon=0.0, delta=0.1)),
        ("x", feature_trap(world, epsilon=0.0, delta=0.1)),
    ):
        grid = tuple(np.linspace(-9.0, 9.0, 181).tolist())
        star = float(np.ravel(trap.world.algorithm.trigger.star)[0])
        blind = _differing(_Supremum(5, 0.0, over, grid), trap)
        told = _differing(_Supremum(5, 0.0, over, (*grid, star)), trap)
        rows += [
            holds("2.3.2", f"181 values of {over} do not tell A from A'", 20, blind),
            holds(
                "2.3.2", f"the supremum over all {over} would: with {over}* it does", 20, 20 - told
            ),
        ]
    return rows


def _differing(procedure: Procedure, trap: Trap) -> int:
    found = same_verdict(procedure, trap, n_labeled=6, replications=20, random_state=1)
    return len(found.differing)
