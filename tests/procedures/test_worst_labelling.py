"""Training rows without a response: worst labelling against brute force and exact enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import poise
from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.losses import LossChange
from poise.data.sample import Sample
from poise.errors import ArgumentError, BudgetError, DataError
from poise.procedures import BinomialTest, WorstLabellingTest
from poise.protocol.randomness import Randomness
from poise.simulation.audit import audit
from poise.simulation.worlds import UniformCoins, World, zoo
from poise.simulation.worlds.replication import run_once
from poise.simulation.worlds.simple_algorithms import Memorising
from poise.theory import power, power_bound
from shared.algorithms import majority, mean, nearest, same_point

COINS = (0.0, 1.0)
RNG = np.random.default_rng(5)
X, Y, EXTRA = RNG.random((60, 1)), RNG.integers(2, size=60).astype(float), RNG.random((90, 1))


def change(algorithm, X, y, point) -> float:
    full, reduced = algorithm(X, y, 0), algorithm(X[:-1], y[:-1], 0)
    return float(np.abs(full(point) - reduced(point))[0])


# --- exact enumeration -----------------------------------------------------------------


def share_declared_stable(n: int, missing: int, m: int, alpha: float) -> float:
    """Run the test on every data set of m trials whose features and responses are bits."""
    labeled, rest = m * (n - missing), m * (missing + 1)
    test = WorstLabellingTest(n, 0.4, 0.3, alpha, responses=COINS, missing=missing)
    algorithm, accepted = as_algorithm(same_point), []
    for bits in product(COINS, repeat=2 * labeled + rest):
        x, y, extra = np.split(np.array(bits), [labeled, 2 * labeled])
        sample = Sample(x[:, None], y, extra[:, None])
        accepted.append(run_once(test, algorithm, sample, Randomness(3)).stable)
    return float(np.mean(accepted))


def counted(n: int, missing: int) -> float:
    """P(some labelling moves the prediction by more than 0.4), by looking at all of them."""
    hits = []
    for bits in product(COINS, repeat=n + n - missing + 1):
        x, y, point = np.split(np.array(bits), [n, 2 * n - missing])
        labellings = (np.append(y, guess) for guess in product(COINS, repeat=missing))
        hits.append(
            any(change(same_point, x[:, None], z, point[:, None]) > 0.4 for z in labellings)
        )
    return float(np.mean(hits))


@pytest.mark.parametrize(("n", "missing", "m"), [(2, 1, 1), (2, 1, 2), (3, 2, 1), (3, 1, 1)])
def test_the_level_by_exact_enumeration(n: int, missing: int, m: int) -> None:
    """All trials must be quiet at this alpha, so P("stable") is (1 - E S^w)^m to the last digit."""
    quiet = 1 - counted(n, missing)
    assert share_declared_stable(n, missing, m, 0.01 + 0.7**m) == pytest.approx(quiet**m)


def test_missing_responses_can_only_add_to_the_count() -> None:
    shares = [counted(3, missing) for missing in range(4)]
    assert shares == sorted(shares)
    assert shares[0] < shares[1]  # strictly, for this algorithm


# --- against the Binomial test, and brute force trial by trial -------------------------


def test_with_no_response_missing_it_is_the_binomial_test() -> None:
    question = {"n": 5, "epsilon": 0.1, "delta": 0.3}
    test = WorstLabellingTest(**question, responses=COINS, missing=0)
    ours = poise.run(test, mean, X, Y, X_unlabeled=EXTRA, random_state=4).result
    paper = BinomialTest(**question, stop_early=False)
    theirs = poise.run(paper, mean, X, Y, X_unlabeled=EXTRA, random_state=4).result
    assert (ours.statistic, ours.n_trials) == (theirs.statistic, theirs.n_trials)
    assert 0 < ours.statistic < ours.n_trials == 12
    assert ours.pvalue == theirs.pvalue


@pytest.mark.parametrize("missing", [1, 2, 4])
def test_every_labelling_is_tried_and_known_responses_are_kept(missing: int) -> None:
    seen: dict[tuple[float, ...], set[tuple[float, ...]]] = {}

    def spy(X, y, seed):
        seen.setdefault(tuple(X[:, 0].tolist()), set()).add(tuple(y.tolist()))
        return lambda rows: np.zeros(len(rows))

    test = WorstLabellingTest(4, 0.5, 0.3, responses=COINS, missing=missing)
    result = poise.run(test, spy, X[:30], Y[:30], X_unlabeled=EXTRA, random_state=0).result
    known = dict(zip(X[:30, 0].tolist(), Y[:30].tolist(), strict=True))
    for rows, labellings in seen.items():
        allowed = [[known[x]] if x in known else COINS for x in rows]
        assert labellings == set(product(*allowed))
    full = [rows for rows in seen if len(rows) == 4]
    assert len(full) == result.n_trials == min(30 // (4 - missing) if missing < 4 else 99, 24)
    used = [x for rows in full for x in rows]
    assert len(set(used)) == len(used)  # no row serves two trials
    assert result.details["n_fits"] == sum(map(len, seen.values()))


def test_the_count_is_that_of_brute_force() -> None:
    """Recompute every trial from what was asked, without stopping anywhere."""
    test = WorstLabellingTest(4, 0.5, 0.3, responses=COINS, missing=3)
    run = poise.run(test, nearest, X[:30], Y[:30], X_unlabeled=EXTRA, random_state=1)
    first = run.transcript.stages[0].tasks
    known = dict(zip(X[:30, 0].tolist(), Y[:30].tolist(), strict=True))
    count = 0
    for query in (query for query in first if len(query.train) == 4 and query.train.y[-1] == 0.0):
        rows = query.train.X
        allowed = [[known[x]] if x in known else COINS for x in rows[:, 0].tolist()]
        point = query.evaluate.X
        count += any(change(nearest, rows, np.array(z), point) > 0.5 for z in product(*allowed))
    assert run.result.statistic == count
    assert 0 < count < run.result.n_trials == 24
    assert poise.replay(run.transcript) == run.result


def test_a_trial_ends_where_something_moved() -> None:
    def jumpy(X, y, seed):
        return lambda rows: np.full(len(rows), float(len(y)))

    test = WorstLabellingTest(4, 0.5, 0.3, responses=COINS, missing=4)
    run = poise.run(test, jumpy, X[:4], Y[:4], X_unlabeled=EXTRA, random_state=0)
    assert run.result.statistic == run.result.n_trials == 18
    assert run.counts.calls == 18 * 3  # one fit without the last row, and one per response of it
    assert run.verdict == "inconclusive"  # never "unstable"
    assert run.result.pvalue_unstable == 1.0


# --- level and power by simulation: a true claim fails with probability 1e-6 -----------


def accepted(test, world, labeled: int, unlabeled: int, replications: int):
    return audit(
        test, world, n_labeled=labeled, n_unlabeled=unlabeled, replications=replications,
        random_state=2, confidence=1 - 2e-6, response="countable",
    )  # fmt: skip


def test_the_level_where_labels_do_not_matter_is_that_of_more_trials() -> None:
    """S^w = S: 12 trials from 24 responses. An alpha halved or doubled would show."""
    world = World(Memorising(0.3), UniformCoins(), 4, zoo.memorising(4, 0.3).law)
    test = WorstLabellingTest(4, 0.5, 0.299, 0.4, responses=COINS, missing=2, randomized=True)
    found = accepted(test, world, 24, 36, 250)
    assert found.measures == "level"
    assert not found.accepted.excludes(power(12, 0.299, 0.3, 0.4, randomized=True))
    assert found.ok


def test_the_power_is_that_of_the_proxy() -> None:
    """One nearest neighbour on coins: without its response a row moves 1/n, not 1/2n."""
    test = WorstLabellingTest(5, 0.5, 0.4, 0.1, responses=COINS, missing=2, randomized=True)
    found = accepted(test, zoo.nearest_coins(5), 30, 30, 150)
    assert not found.accepted.excludes(power(10, 0.4, 1 / 5, 0.1, randomized=True))
    assert found.accepted.excludes(power(10, 0.4, 1 / 10, 0.1, randomized=True))


def test_more_power_than_unknown_responses_would_allow_and_no_more_than_known_ones() -> None:
    world = World(Memorising(0.02), UniformCoins(), 4, zoo.memorising(4, 0.02).law)
    test = WorstLabellingTest(4, 0.5, 0.2, 0.1, responses=COINS, missing=4, randomized=True)
    found = accepted(test, world, 8, 42, 70)
    unknown = power_bound(4, 8, 42, delta=0.2, delta_star=0.02, alpha=0.1)
    known = power_bound(4, 8, 42, delta=0.2, delta_star=0.02, alpha=0.1, response="countable")
    assert found.accepted.low > unknown  # .15: the responses are no secret
    assert found.limit == known
    assert not found.accepted.excludes(power(10, 0.2, 0.02, 0.1, randomized=True))
    assert power(10, 0.2, 0.02, 0.1, randomized=True) == pytest.approx(known)  # attained: Theorem G


# --- failures and refusals -------------------------------------------------------------


def test_a_labelling_that_cannot_be_fitted_counts_against_stable() -> None:
    def picky(X, y, seed):
        if set(y.tolist()) == {1.0}:
            raise RuntimeError("one class")
        return lambda rows: np.zeros(len(rows))

    test = WorstLabellingTest(3, 0.5, 0.3, responses=COINS, missing=3)
    result = poise.run(test, picky, X[:3], Y[:3], X_unlabeled=EXTRA, on_error="unstable").result
    assert result.statistic == result.n_failures >= result.n_trials - 3
    missing = lambda X, y, seed: lambda rows: np.full(len(rows), np.nan if y.all() else 0.0)  # noqa: E731
    again = poise.run(test, missing, X[:3], Y[:3], X_unlabeled=EXTRA, on_error="unstable").result
    assert again.n_failures == result.n_failures


def test_words_are_labels() -> None:
    words = np.where(Y == 1, "spam", "ham")

    test = WorstLabellingTest(3, 0.5, 0.3, responses=("ham", "spam"), missing=3)
    result = poise.run(test, majority, X, words, X_unlabeled=EXTRA, random_state=0).result
    assert result.n_trials == 37
    assert result.statistic > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"responses": (1.0,)}, r"responses must list every value .* got \(1.0,\)"),
        ({"responses": (1.0, 1.0)}, "at least two and each once"),
        ({"responses": COINS, "missing": 6}, "missing must be at most n = 5, got 6"),
        ({"responses": COINS, "missing": -1}, "missing"),
        ({"responses": COINS, "randomized": 1}, "randomized must be True or False"),
    ],
)
def test_bad_arguments_are_refused(settings, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        WorstLabellingTest(5, 0.5, 0.3, **settings)


def test_bad_data_and_costs_are_refused_before_the_first_fit() -> None:
    test = WorstLabellingTest(5, 0.5, 0.3, responses=COINS, missing=2)
    with pytest.raises(DataError, match=r"row 1 has the response 0.5, which is not among"):
        poise.run(test, mean, X, np.where(np.arange(60) == 1, 0.5, Y))
    with pytest.raises(ArgumentError, match="needs 3 labelled rows and 6 rows in all"):
        poise.run(test, mean, X[:2], Y[:2], X_unlabeled=EXTRA)
    every = WorstLabellingTest(20, 0.5, 0.3, responses=COINS, missing=None, max_fits=1000)
    with pytest.raises(BudgetError, match=r"missing = 20 may need .* more than max_fits = 1,000"):
        poise.run(every, mean, X, Y, X_unlabeled=EXTRA)
    with pytest.raises(ArgumentError, match="must not need the response of the test row"):
        poise.run(test, mean, X, Y, X_unlabeled=EXTRA, distance=LossChange("squared"))
