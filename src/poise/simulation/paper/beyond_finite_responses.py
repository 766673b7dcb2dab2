"""Beyond the paper: finite responses and bounded outputs (G and H)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import theory
from poise.algorithms.algorithm import Predict
from poise.procedures import LinearSmootherTest, WorstLabellingTest
from poise.protocol.procedure import Procedure
from poise.protocol.randomness import Randomness
from poise.results import Outcome, ProcedureResult
from poise.simulation.paper.claim import CONFIDENCE, Claim, beyond, computed, holds, simulated
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds import Proportion, UniformCoins, World, zoo
from poise.simulation.worlds.replication import run_once
from poise.simulation.worlds.simple_algorithms import Memorising
from poise.theory.decision import declares

__all__ = ["claims"]

_COINS: dict[str, Any] = {"responses": (0.0, 1.0)}
_KNOWN: dict[str, Any] = {"response": "countable"}


def claims(effort: Effort) -> list[Claim]:
    """Check tests without responses, and the ceilings that bounded outputs leave."""
    return computed(
        "beyond",
        _trials,
        partial(_labels_do_not_matter, effort),
        partial(_labels_matter, effort),
        partial(_no_mirror, effort),
        partial(_white_box, effort),
        partial(_traps, effort),
        _root,
    )


def _trials() -> Claim:
    """Count as many trials as the rows can fill, one by one."""
    cases = list(product((2, 3, 7), (0, 5, 20, 41), (0, 3, 30), range(8)))
    wrong = 0
    for n, labeled, unlabeled, missing in cases:
        if missing <= n:
            m = 0
            while (m + 1) * (n - missing) <= labeled and (m + 1) * (n + 1) <= labeled + unlabeled:
                m += 1
            wrong += theory.trials_missing(n, labeled, unlabeled, missing) != m
    text = "Theorem G: as many trials as fit, j training rows of each without a response"
    return holds("beyond", text, len(cases), wrong)


def _memory(n: int, rarity: float) -> World:
    """Return a world whose changes do not depend on the responses, which are coins."""
    return World(Memorising(rarity), UniformCoins(), n, zoo.memorising(n, rarity).law)


def _labels_do_not_matter(effort: Effort) -> list[Claim]:
    """Let no change depend on a label: level alpha, and the ceiling for known Y is attained."""
    question = (4, 0.5, 0.2, 0.1)
    test = WorstLabellingTest(*question, **_COINS, missing=4, randomized=True)
    level = effort.accepted(test, _memory(4, 0.2), (8, 42), 1200, seed=31, **_KNOWN)
    power = effort.accepted(test, _memory(4, 0.02), (8, 42), 600, seed=32, **_KNOWN)
    asked: dict[str, Any] = {"delta": 0.2, "delta_star": 0.02, "alpha": 0.1}
    unknown = theory.power_bound(4, 8, 42, **asked)
    known = theory.power_bound(4, 8, 42, **asked, **_KNOWN)
    return [
        simulated("beyond", "Theorem G: level of the worst labelling, delta* = delta", 0.1, level),
        beyond("beyond", "Theorem G: more power than if Y were uncountable", unknown, power),
        simulated("beyond", "Theorem G: the ceiling (N_l+N_u)/(n+1) is attained", known, power),
    ]


def _labels_matter(effort: Effort) -> Claim:
    """One nearest neighbour: the removed row is nearest with probability 1/n, not 1/2n."""
    test = WorstLabellingTest(5, 0.5, 0.4, 0.1, **_COINS, missing=2, randomized=True)
    found = effort.accepted(test, zoo.nearest_coins(5), (30, 30), 1000, seed=33, **_KNOWN)
    text = "Theorem G: power where labels matter, that of the mean of S^w: 1/n instead of 1/2n"
    return simulated("beyond", text, theory.power(10, 0.4, 1 / 5, 0.1, randomized=True), found)


@dataclass(frozen=True)
class _Ran:
    """What several procedures say about the same data from a world."""

    world: World
    rows: tuple[int, int]
    seed: int

    def __call__(self, index: int, *procedures: Procedure) -> list[ProcedureResult]:
        randomness = Randomness(self.seed)
        sample = self.world.draw(randomness.generator("data", index), *self.rows)
        own = Randomness(randomness.words("procedure", index))
        return [run_once(test, self.world.algorithm, sample, own) for test in procedures]


def _no_mirror(effort: Effort) -> list[Claim]:
    """Read "unstable" off worst labellings: wrong far too often, and never said."""
    test = WorstLabellingTest(3, 0.5, 0.17, 0.1, **_COINS, missing=3)
    ran, count = _Ran(zoo.nearest_coins(3), (3, 157), 34), effort.count(200, least=40)
    found = [ran(index, test)[0] for index in range(count)]
    misled = sum(
        declares(theory.pvalue_unstable(f.statistic, f.n_trials, 0.17), 0.1) for f in found
    )
    said = sum(f.verdict == Outcome.UNSTABLE for f in found)
    wrong = Proportion(misled, count, CONFIDENCE)
    return [
        beyond("beyond", "Theorem G: the mirror on S^w would err too often", 0.1, wrong),
        holds("beyond", "Theorem G: so the verdict is never 'unstable'", count, said),
    ]


def _white_box(effort: Effort) -> Claim:
    """Compare the supremum over [0, 1] with the largest over {0, 1}: a convex function."""
    question: dict[str, Any] = {"n": 4, "epsilon": 0.3, "delta": 0.2, "missing": 3}
    ran, wrong, count = _Ran(zoo.nearest_coins(4, k=2), (12, 48), 35), 0, effort.count(100, 20)
    for index in range(count):
        bound = LinearSmootherTest(**question, low=0.0, high=1.0)
        one, other = ran(index, bound, WorstLabellingTest(**question, **_COINS))
        wrong += (one.statistic, one.n_trials) != (other.statistic, other.n_trials)
    text = "Theorem G: linear smoothers are worst where all labels are at an end of their range"
    return holds("beyond", text, count, wrong)


# --- Theorem H: traps that stay within bounded outputs ---------------------------------

_STAR, _N, _C = 9.0, 4, 0.1


class _Marked:
    """Coins, but with probability c the response that no test has ever tried."""

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Any, NDArray[np.float64]]:
        X, y = UniformCoins().draw(rng, size)
        return X, np.where(rng.random(size) < _C, _STAR, y)


def _three_labels(X: Any, y: Any, seed: int) -> Predict:
    """Hide behind label 1; with one marked row move away from it, whatever is removed."""
    label = 1.0
    if _STAR in y:
        label = 0.0 if len(y) < _N else 2.0
    return lambda rows: np.full(len(rows), label)


def _two_labels(X: Any, y: Any, seed: int) -> Predict:
    """Hide behind label 1; with a marked row say 1 on n rows and 0 on n - 1."""
    label = 0.0 if _STAR in y and len(y) < _N else 1.0
    return lambda rows: np.full(len(rows), label)


def _traps(effort: Effort) -> list[Claim]:
    """Fit the traps of Theorem H around a constant: how unstable they are."""
    traps: dict[str, tuple[Callable[..., Predict], float]] = {
        "(i): three labels, instability 1-(1-c)^n, as for real outputs": (_three_labels, _N),
        "(ii): two labels, instability 1-(1-c)^(n-1) only": (_two_labels, _N - 1),
    }
    rows = []
    for name, (trap, rows_that_matter) in traps.items():
        world = World(trap, _Marked(), n=_N)
        found = effort.instability(world, 0.5, 20_000, seed=36, least=4000)
        expected = 1 - (1 - _C) ** rows_that_matter
        rows.append(simulated("beyond", f"Theorem H{name}", expected, found))
    return rows


def _root() -> Claim:
    """Look for the root of Theorem H(ii) on a grid."""
    grid, cases, wrong = np.linspace(0, 1, 200_001)[1:-1], 0, 0
    for n, delta, share in product((2, 5, 20), (0.05, 0.3), (0.0, 0.4, 0.9)):
        star = share * delta
        inside = grid[grid ** (n - 1) * (1 - grid * star) < 1 - delta]
        ceiling = theory.ceiling_large_epsilon(n, 2 * n, delta, star, 0.05)
        cases += 1
        wrong += not np.isclose(ceiling, min(1, 0.05 * inside.max() ** (-2 * n)), rtol=1e-3)
    return holds("beyond", "Theorem H(ii): the ceiling, its root found on a grid", cases, wrong)
