"""Section 2: symmetry, transcripts, trials and the cost of a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from poise import theory
from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.symmetrized import Symmetrized
from poise.procedures import AdaptiveTest, BinomialTest, BootstrapTest, SimulationTest
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.procedure import Procedure
from poise.protocol.randomness import Randomness, Shared
from poise.questions.run_procedure import Run, run
from poise.simulation.paper.claim import CONFIDENCE, Claim, computed, equal, holds, simulated
from poise.simulation.paper.effort import Effort
from poise.simulation.traps import feature_trap, label_trap, linear_trap
from poise.simulation.worlds import Proportion, World, zoo
from poise.storage.transcript import replay

__all__ = ["claims"]

_SIZES = list(product(range(2, 8), range(0, 50, 3), range(0, 12, 2)))  # (n, N_l, N_u)


def claims(effort: Effort) -> list[Claim]:
    """Check symmetry, the role of the transcript, the number of trials, and the cost."""
    return computed(
        "2",
        _symmetric,
        partial(_shuffled, effort),
        _function_of_the_transcript,
        _learns,
        _largest,
        _no_row_twice,
        _limited_by_labels,
        _no_unlabeled,
        _two_calls,
    )


# --- symmetry -------------------------------------------------------------------------


def _symmetric() -> Claim:
    """Reorder rows, a star among them: no prediction may change."""
    rng = np.random.default_rng(0)
    wrong = cases = 0
    for world in _symmetric_worlds():
        X, y = (np.asarray(part) for part in world.distribution.draw(rng, 6))
        at = X[:1] + 0.1
        expected = _prediction(world.algorithm, X, y, at)
        for _ in range(20):
            order = rng.permutation(6)
            cases += 1
            reordered = _prediction(world.algorithm, X[order], y[order], at)
            wrong += not np.isclose(reordered, expected, rtol=1e-9)
    text = "algorithms are symmetric, and stay so in each of the proof's traps"
    return holds("2", text, cases, wrong)


def _symmetric_worlds() -> Iterator[World]:
    yield from (build(n=6) for build in zoo.ZOO.values())
    for build in (label_trap, feature_trap, linear_trap):
        # With c = 1/2 nearly every data set shows the star, and not in its last row alone.
        yield build(zoo.mean_response(n=6), epsilon=0.5, delta=0.3, c=0.5).world


def _prediction(algorithm: Algorithm, X: Any, y: Any, at: object) -> float:
    return float(np.asarray(algorithm.fit(X.copy(), y.copy(), 7)(at))[0])


def _shuffled(effort: Effort) -> Claim:
    """Make an algorithm that looks at its last row only symmetric by xi."""

    def last_response(X: Any, y: Any, seed: int) -> Predict:
        return lambda rows: [y[-1]] * len(rows)

    algorithm, draws = Symmetrized(last_response), effort.count(3000)
    models = (algorithm.fit([[0.0]] * 3, [1.0, 2.0, 3.0], xi) for xi in _terms(draws))
    first = sum(model([[0.0]])[0] == 1.0 for model in models)
    text = "shuffled by xi, the first of 3 rows decides as often as any other"
    return simulated("2", text, 1 / 3, Proportion(first, draws, CONFIDENCE))


def _terms(count: int) -> list[int]:
    return [int(word) for word in Randomness(3).block("terms", 0, count)[:, 0]]


# --- transcripts ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Counting(Algorithm):
    """Nearest neighbours that count their calls."""

    base: Algorithm
    calls: list[int] = field(default_factory=list)
    name: str = "counted"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        self.calls.append(len(y))
        return self.base.fit(X, y, xi)


_ASKED: dict[str, Any] = {"n": 5, "epsilon": 0.1, "delta": 0.3}
_PROCEDURES: tuple[Procedure, ...] = (
    BinomialTest(**_ASKED, alpha=0.2, randomized=True),
    BootstrapTest(**_ASKED, resamples=10),
    SimulationTest(**_ASKED, simulations=10),
    AdaptiveTest(**_ASKED, explorations=10, per_stage=5),
)


def _ran(procedure: Procedure, world: World, algorithm: Algorithm, seed: int) -> Run:
    sample = world.draw(np.random.default_rng(seed), 40, 10)
    assert sample.X_unlabeled is not None
    points = sample.X_unlabeled.native
    data = sample.X.native, sample.y.native
    return run(procedure, algorithm, *data, X_unlabeled=points, random_state=seed, progress=False)


def _function_of_the_transcript() -> Claim:
    """Compute every result again from what was asked and answered, without the algorithm."""
    world = zoo.nearest_neighbours(n=5)
    wrong = cases = 0
    for procedure, seed in product(_PROCEDURES, range(3)):
        algorithm = _Counting(world.algorithm)
        ran = _ran(procedure, world, algorithm, seed)
        called = len(algorithm.calls)
        again = replay(ran.transcript)
        cases += 1
        wrong += again != ran.result or len(algorithm.calls) != called or called == 0
    text = "Definition 2: the verdict is a function of the transcript alone"
    return holds("2.3", text, cases, wrong)


def _learns() -> Claim:
    """Stage 2 depends on the answers of stage 1; a test of one stage always asks the same."""
    worlds = [zoo.nearest_neighbours(n=5), zoo.mean_response(n=5)]
    wrong = 0
    for seed in range(5):
        first, second = (
            [
                _ran(procedure, worlds[0], world.algorithm, seed).transcript.stages
                for world in worlds
            ]
            for procedure in (AdaptiveTest(**_ASKED, explorations=30, per_stage=5), _PROCEDURES[1])
        )
        same = [repr(one[0].tasks) == repr(other[0].tasks) for one, other in (first, second)]
        differ = repr(first[0][1].tasks) != repr(first[1][1].tasks)
        wrong += not (all(same) and differ)
    text = "adaptive tests: what is asked later depends on what was answered"
    return holds("2.3.1", text, 5, wrong)


# --- Example 1: how many trials, and at what cost -------------------------------------


def _most_sets(n: int, labeled: int, unlabeled: int) -> int:
    """Count disjoint sets of n labelled rows and a point, by handing rows out set by set."""
    sets = 0
    while labeled >= n and (labeled - n) + unlabeled >= 1:
        labeled -= n
        # A point comes from the unlabelled rows while they last.
        labeled, unlabeled = (labeled, unlabeled - 1) if unlabeled else (labeled - 1, 0)
        sets += 1
    return sets


def _largest() -> Claim:
    wrong = sum(theory.n_trials(*size) != _most_sets(*size) for size in _SIZES)
    text = "floor(kappa) is the largest number of disjoint sets of n rows and a point"
    return holds("2.3, Example 1", text, len(_SIZES), wrong)


def _no_row_twice() -> Claim:
    wrong = 0
    for n, labeled, unlabeled in _SIZES:
        m = _most_sets(n, labeled, unlabeled)
        split = Split(TrialSizes(n, m, labeled, unlabeled), Randomness(1), Shared())
        used = [row for k in range(m) for row in _rows_of(split, k)]
        wrong += len(set(used)) != m * (n + 1)
    return holds("2.3, Example 1", "the trials share no row", len(_SIZES), wrong)


def _rows_of(split: Split, trial: int) -> list[int]:
    rows = np.asarray(split[trial].full.train)
    return [*rows.tolist(), split.test_row(trial)]


def _limited_by_labels() -> Claim:
    wrong = sum(
        (theory.kappa(n, labeled, unlabeled) == Fraction(labeled, n))
        != (unlabeled >= Fraction(labeled, n))
        for n, labeled, unlabeled in _SIZES
    )
    return holds("2.3", "kappa = N_l/n if and only if N_u >= N_l/n", len(_SIZES), wrong)


def _no_unlabeled() -> Claim:
    sizes = [(n, labeled) for n, labeled, unlabeled in _SIZES if unlabeled == 0]
    wrong = sum(theory.kappa(n, labeled) != Fraction(labeled, n + 1) for n, labeled in sizes)
    return holds("2.3", "N_u = 0 gives kappa = N_l/(n+1)", len(sizes), wrong)


def _two_calls() -> list[Claim]:
    rng = np.random.default_rng(0)
    rows = []
    for labeled, unlabeled, m in ((60, 0, 10), (5, 1, 1)):
        sample = zoo.constant(n=5).draw(rng, labeled, unlabeled)
        test = BinomialTest(n=5, epsilon=0.0, delta=0.5, stop_early=False)
        points = None if sample.X_unlabeled is None else sample.X_unlabeled.native
        ran = run(
            test, zoo.constant(n=5).algorithm, sample.X.native, sample.y.native, X_unlabeled=points
        )
        text = f"the Binomial test makes 2 floor(kappa) calls, N_l = {labeled}, N_u = {unlabeled}"
        rows.append(equal("3.2", text, 2 * m, ran.counts.calls))
    best = theory.power_bound(5, 5, 1, delta=0.1, alpha=0.1)
    text = "N_l = n, N_u = 1, alpha = delta = .1: power at most alpha/(1-delta)"
    return [*rows, equal("3.2.1", text, 0.1 / 0.9, best)]
