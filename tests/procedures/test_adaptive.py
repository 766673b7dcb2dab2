"""Procedures that learn from earlier stages: the heuristic one and the valid one."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.procedures import AdaptiveTest, ExploreThenTest
from poise.procedures.exploration import Explored, neighbourhood
from poise.protocol.randomness import Randomness
from shared.algorithms import mean
from shared.data import linear_rows

rng = np.random.default_rng(4)
X, y = linear_rows(200, [0.0, 0.0], rng)


def coin(X, y, seed):
    """Δ = 1 with probability 0.3, by its seed and the number of its rows; 0 otherwise."""
    level = float(seed % 10 < 3 and len(y) % 2 == 0)
    return lambda rows: np.full(len(rows), level)


def touchy(X, y, seed):
    """Moves by 10, at points with x > 0.5 only, for each of the rows 0 to 9 trained on."""
    moved = 10.0 * np.count_nonzero(y < 10)
    return lambda rows: np.where(rows[:, 0] > 0.5, moved, 0.0)


y_marked = np.arange(200.0)


# AdaptiveTest


def test_it_finds_the_row_and_the_region() -> None:
    test = AdaptiveTest(n=20, epsilon=1.0, delta=0.2, explorations=400, stages=2)
    run = poise.run(test, touchy, X, y_marked, random_state=0)
    explored, *targeted = run.transcript.stages
    assert [stage.asked for stage in run.transcript.stages] == [400, 100, 100]
    rows = [row for row, _ in run.result.details["worst_rows"]]
    points = [row for row, _ in run.result.details["worst_points"]]
    assert set(rows[:3]) <= set(range(10))
    assert (X[points, 0] > 0.5).all()

    def hits(stage) -> float:
        return float(np.mean(stage.answers.changes > 1.0))

    # At random 1 in 20 removes such a row and 1 in 3 of those looks at such a point.
    assert 0 < hits(explored) < 0.05
    assert hits(targeted[-1]) > 0.2


def test_comparisons_are_sound() -> None:
    test = AdaptiveTest(n=20, epsilon=1.0, delta=0.2, explorations=50, per_stage=30)
    run = poise.run(test, mean, X, y, random_state=0)
    for stage in run.transcript.stages:
        for task in stage.tasks:
            rows = task.full.train.tolist()
            assert len(set(rows)) == 20
            assert task.full.evaluate[0] not in rows  # never trained on the test point
            assert task.reduced.train.tolist() == rows[:-1]
    words = [task.full.xi for stage in run.transcript.stages for task in stage.tasks]
    assert len(set(words)) == len(words)


def test_targeted_comparisons_remove_the_worst_rows() -> None:
    test = AdaptiveTest(10, 0.1, 0.2, explorations=100, stages=1, per_stage=50, share=0.05)
    first, second = poise.run(test, mean, X, y, random_state=0).transcript.stages
    rows = [task.full.train[-1] for task in first.tasks]
    seen = Explored(np.array(rows), np.zeros(100, dtype=int), first.answers.changes)
    worst = set(seen.worst("removed", 0.05).tolist())
    assert {int(task.full.train[-1]) for task in second.tasks} <= worst


def test_test_points_are_unlabelled_where_there_are_any() -> None:
    test = AdaptiveTest(10, 0.1, 0.2, explorations=20, stages=1, per_stage=10)
    extra = np.zeros((4, 2))
    run = poise.run(test, mean, X[:10], y[:10], X_unlabeled=extra, random_state=0)
    points = {int(t.full.evaluate[0]) for stage in run.transcript.stages for t in stage.tasks}
    assert points == {10, 11, 12, 13}


def test_verdicts() -> None:
    options = {"n": 10, "delta": 0.2, "random_state": 0}

    def verdict(algorithm, epsilon, **settings):
        test = AdaptiveTest(options["n"], epsilon, options["delta"], **settings)
        return poise.run(test, algorithm, X, y, random_state=0).result.verdict.value

    assert verdict(mean, 10.0) == "stable"
    assert verdict(mean, 0.0) == "unstable"
    assert verdict(coin, 0.5, explorations=30) == "inconclusive"
    # Targeted comparisons alone are not enough: 5 random ones cannot pass at this level.
    assert verdict(mean, 10.0, explorations=5) == "inconclusive"


def test_targeted_hits_alone_never_say_unstable() -> None:
    test = AdaptiveTest(n=20, epsilon=1.0, delta=0.02, explorations=400, stages=3)
    result = poise.run(test, touchy, X, y_marked, random_state=0).result
    assert result.pvalue_unstable < 0.05  # the targeted count alone would say so
    assert result.verdict == "inconclusive"


def test_failures_are_infinite_changes() -> None:
    def picky(X, y, seed):
        if 7.0 in y:
            raise RuntimeError("row 7")
        return mean(X, y, seed)

    test = AdaptiveTest(20, 100.0, 0.2, explorations=40, stages=1, per_stage=10)
    run = poise.run(test, picky, X, y_marked, on_error="unstable", random_state=0)
    assert run.result.details["worst_rows"][0][1] == np.inf
    assert poise.replay(run.transcript) == run.result


def test_exploring_needs_a_row_to_spare() -> None:
    with pytest.raises(ArgumentError, match="needs 11 labelled rows, got 10"):
        poise.run(AdaptiveTest(10, 1.0, 0.2), mean, X[:10], y[:10])
    with pytest.raises(ArgumentError, match=r"n must be at most the number of labelled rows \(5\)"):
        poise.run(AdaptiveTest(10, 1.0, 0.2), mean, X[:5], y[:5])


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("kind", [AdaptiveTest, ExploreThenTest])
def test_shares_lie_between_none_and_all(kind, share: float) -> None:
    with pytest.raises(ArgumentError, match=rf"share must be in \(0, 1\), got {share}"):
        kind(n=10, epsilon=1.0, delta=0.2, share=share)


def test_means_are_means() -> None:
    seen = Explored(np.array([3, 1, 3, 2]), np.array([0, 0, 5, 5]), np.array([1.0, 3, 4, 0]))
    rows, means = seen.means("removed")
    assert (rows.tolist(), means.tolist()) == ([1, 3, 2], [3.0, 2.5, 0.0])
    assert seen.worst("removed", 0.7).tolist() == [1, 3]
    assert seen.worst("points", 0.01).tolist() == [0]
    both = seen + seen
    assert both.report()["worst_points"] == [[0, 2.0], [5, 2.0]]


def test_neighbours_are_nearest_in_standardised_features() -> None:
    features = np.array([[0.0, 0], [1.0, 0], [0.0, 1000], [50.0, 50_000], [60.0, 60_000]])
    sample = Sample(features, np.zeros(5))
    near = neighbourhood(sample, np.array([0]), np.arange(5), size=3)
    assert near.tolist() == [0, 1, 2]
    words = Sample([["a"], ["b"]], [0.0, 1.0])
    assert neighbourhood(words, np.array([1]), np.arange(2), size=2).tolist() == [1]


# ExploreThenTest


def test_explored_and_tested_rows_are_disjoint() -> None:
    test = ExploreThenTest(n=10, epsilon=1e9, delta=0.25, share=0.3, explorations=80)
    extra = rng.normal(size=(5, 2))
    run = poise.run(test, mean, X, y, X_unlabeled=extra, random_state=0)
    first, second = run.transcript.stages

    def used(stage) -> set[int]:
        tasks = stage.tasks
        rows = [t.full.train for t in tasks] + [t.full.evaluate for t in tasks]
        return set(np.concatenate(rows).tolist())

    assert used(first) & used(second) == set()
    assert len(used(first)) <= 60
    assert max(used(first)) < 200  # unlabelled rows are kept for the test
    trained = np.concatenate([task.full.train for task in second.tasks])
    points = [int(task.full.evaluate[0]) for task in second.tasks]
    assert trained.max() < 200
    assert sum(point >= 200 for point in points) == 3  # after the 10 labelled rows left over
    # 140 rows and 5 points: min(140 // 10, 145 // 11) trials.
    assert second.asked == 13 == run.result.n_trials
    assert run.result.details["kappa"] == pytest.approx(145 / 11)
    assert run.result.details["rows_explored"] == 60


def test_the_second_stage_is_the_binomial_test_on_the_rest() -> None:
    test = ExploreThenTest(n=10, epsilon=0.05, delta=0.4, share=0.3)
    run = poise.run(test, mean, X, y, random_state=5)
    order = Randomness(5).generator("rows to explore").permutation(200)
    rest = order[60:]
    direct = poise.stability_test(
        mean, X[rest], y[rest], n=10, epsilon=0.05, delta=0.4, random_state=5
    )
    assert run.result.verdict == direct.verdict
    assert run.result.statistic == direct.statistic
    assert run.result.pvalue == direct.pvalue
    assert run.result.details["delta_hat"] == direct.delta_hat
    assert run.result.details["epsilon_was_chosen"] is False


def test_epsilon_is_chosen_from_explored_rows_alone() -> None:
    test = ExploreThenTest(n=10, delta=0.2, explorations=100)
    run = poise.run(test, mean, X, y, random_state=0)
    changes = np.sort(run.transcript.stages[0].answers.changes)
    # The (1 - 0.2/2)-quantile of 100 values, rounded up: index ceil(0.9 * 99) = 90.
    assert run.result.epsilon == changes[90]
    assert run.result.details["epsilon_was_chosen"]
    assert run.result.certifies


def test_no_finite_quantile_leaves_the_largest_finite_change() -> None:
    def broken(X, y, seed):
        if len(y) == 10:
            raise RuntimeError("ten")
        return mean(X, y, seed)

    test = ExploreThenTest(n=10, delta=0.2)
    result = poise.run(test, broken, X, y, on_error="unstable", random_state=0).result
    assert result.epsilon == 0.0
    assert result.n_failures == result.statistic > 0
    assert result.verdict == "inconclusive"  # a failure is no change: nothing is shown to move


def test_its_level_is_exact_at_the_boundary() -> None:
    """δ* = δ = 0.3 and a coin for ties: accepted with probability α = 0.2 exactly.

    Of 300 runs, 60 on average; 29 to 97 hold all but 1e-6 of Binomial(300, 0.2).
    """
    test = ExploreThenTest(n=2, epsilon=0.5, delta=0.3, alpha=0.2, explorations=1, randomized=True)
    zeros = np.zeros((60, 1)), np.zeros(60)
    accepted = sum(
        poise.run(test, coin, *zeros, random_state=seed).result.stable for seed in range(300)
    )
    assert 29 <= accepted <= 97


def test_enough_rows_must_be_left_to_test_on() -> None:
    with pytest.raises(ArgumentError, match=r"leave 30 rows to test on after 31 to explore on"):
        poise.run(ExploreThenTest(n=30, delta=0.2), mean, X[:60], y[:60])
