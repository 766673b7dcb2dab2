"""The definition, line by line; what is refused before the first fit; levels and power."""

from __future__ import annotations

import inspect
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import erfcinv
from scipy.stats import binom
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import poise
from poise.algorithms.algorithm import seed_from
from poise.data.randomness import Randomness
from poise.errors import AlgorithmError, ArgumentError, DataError, PowerWarning, ValidityWarning
from poise.numbers import rounded_down
from poise.settings import Asked, MoreSettings, Settings, settings_of

X, Y = load_diabetes(return_X_y=True)
RNG = np.random.default_rng(0)
SMALL_X, SMALL_Y = RNG.normal(size=(60, 2)), RNG.normal(size=60)
LABELS = RNG.integers(0, 2, size=60)
WITH_A_HOLE = np.where(np.arange(60)[:, None] == 3, np.nan, SMALL_X)


def never(X, y, seed):
    raise AssertionError("fitted")


def mean(X, y, seed):
    return lambda points: np.full(len(points), y.mean() + 1e-9 * points[:, 0])


def by_hand(estimator, X, y, n):
    """Definition 1, written as the paper writes it: trial k is rows (k−1)n+1 … kn."""
    m = min(len(y) // n, len(X) // (n + 1))
    seeds = [seed_from(int(word)) for word in Randomness(0).block("xi", 0, m)[:, 0]]
    changes = []
    for k in range(m):
        rows = np.arange(k * n, (k + 1) * n)
        point = X[[m * n + k]]
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=seeds[k])
        full = estimator.fit(X[rows], y[rows]).predict(point)[0]
        reduced = estimator.fit(X[rows[:-1]], y[rows[:-1]]).predict(point)[0]
        changes.append(abs(full - reduced))
    return np.array(changes)


def test_trials_are_those_of_definition_1():
    for estimator in (Lasso(0.5), DecisionTreeRegressor(max_features=2)):
        trials = poise.measure(
            estimator, X, Y, n=30, shuffle=False, fast=False, points_per_trial=1, check=False
        )
        assert np.array_equal(trials.values, by_hand(estimator, X, Y, 30))
        assert trials.n_trials == min(442 // 30, 442 // 31) == 14


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ({"epsilon": 25, "delta": 0.2}, {"n": 10}),
        ({"epsilon": 30, "delta": 0.1}, {"n": 5, "points_per_trial": 4}),
        ({"epsilon": 25, "delta": 0.2, "test": "averaged"}, {"n": 10}),
    ],
)
def test_measuring_and_testing_agree(question, more):
    result = poise.stability_test(Lasso(), X, Y, **question, **more)
    later = poise.measure(Lasso(), X, Y, **more).test(**question)
    assert np.array_equal(result.trials.changes, later.trials.changes)
    for name in ("verdict", "pvalue", "pvalue_unstable", "delta_upper", "epsilon_upper"):
        assert getattr(result, name) == getattr(later, name)


def test_shares_of_the_sd_and_of_the_rows():
    result = poise.stability_test(Lasso(), X, Y, n=10, epsilon="40% of sd", delta=0.2)
    assert result.design.set_aside == 30
    assert result.epsilon == rounded_down(0.4 * result.design.sd)
    used = {int(row) for k in range(result.n_trials) for row in result.trials.rows(k)["trained"]}
    assert result.design.n_labeled == 412
    assert len(used) == result.n_trials * 10
    assert poise.measure(Lasso(), X, Y, n=0.05).design.n == 22  # a share of the rows


OF_LABELS = {"algorithm": LogisticRegression(), "y": LABELS}
SCORES = OF_LABELS | {"response": "predict_proba"}
TOP = "top_k(2, of=3)"
COUPLING = SimpleNamespace(name="mine", pairs=lambda words: sys.exit(0))
REFUSED = [
    (ArgumentError, "epsilon must be below 1", SCORES),  # no change of probabilities exceeds 1
    (ArgumentError, "n must be", {"n": 1}),
    (ArgumentError, "n is missing.*up to n = 11", {"n": None}),
    (ArgumentError, "delta", {"delta": None}),
    (ArgumentError, "n .*60", {"n": 61}),
    (ArgumentError, "epsilon is missing.*poise.measure", {"epsilon": None}),
    (ArgumentError, "epsilon must be .*5% of sd", {"epsilon": "5% of spread"}),
    (ArgumentError, r"delta must be a number in \[0, 1\), got 1.2", {"delta": 1.2}),
    (ArgumentError, "remove", {"remove": 10}),
    (ArgumentError, "removals_per_trial", {"removals_per_trial": 11}),
    (ArgumentError, "random_state", {"random_state": "seed"}),
    (ArgumentError, "distance", {"distance": "cosine"}),
    (ArgumentError, "for decisions", {"epsilon": None, "distance": TOP, "test": "binomial"}),
    (ArgumentError, "epsilon must be left out.*'5% of sd'", OF_LABELS | {"epsilon": "5% of sd"}),
    (ArgumentError, "response='predict_proba'", OF_LABELS | {"distance": "loss_change('log')"}),
    (AlgorithmError, "cannot be used: SystemExit: 0", {"coupling": COUPLING}),
    (TypeError, "n_job'; did you mean 'n_jobs'", {"n_job": 2}),
    (DataError, "60.*59", {"y": np.zeros(59)}),
    (AlgorithmError, "row 3", {"X": WITH_A_HOLE, "algorithm": Lasso()}),
    (DataError, "groups_unlabeled", {"groups": np.arange(60) // 2, "X_unlabeled": SMALL_X}),
    (AlgorithmError, "Lasso\\(\\)", {"algorithm": Lasso}),
]


@pytest.mark.parametrize(("kind", "message", "changed"), REFUSED)
def test_what_can_be_known_is_refused_before_the_first_fit(kind, message, changed):
    asked = {"algorithm": never, "X": SMALL_X, "y": SMALL_Y, "n": 10, "epsilon": 1.0, "delta": 0.5}
    with pytest.raises(kind, match=message):
        poise.stability_test(**asked | changed)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"delta": 0.01}, "trials"),
        ({"max_trials": 1}, "max_trials = 1; 5 trials are the least"),
        ({"n": 60}, "0 trials"),
        ({"n": 60, "randomized": True}, "0 trials, 1 are the least"),
        ({"n": 4, "delta": 0.3, "points_per_trial": 6}, "too few rows: 6 trials, "),
        ({"n": 4, "delta": 0.3, "points_per_trial": 6, "max_trials": None}, "too few rows: 6 tri"),
    ],
)
def test_a_hopeless_question_is_told_at_once(more, words):
    asked = {"n": 10, "epsilon": 1, "delta": 0.5} | more
    with pytest.warns(PowerWarning, match=words):
        result = poise.stability_test(mean, SMALL_X, SMALL_Y, **asked)
    assert result.verdict == "inconclusive"
    assert ("max_trials" in str(result)) == ("max_trials" in words)


def last_row(X, y, seed):
    return lambda points: np.full(len(points), y[-1]) + points[:, 0]


SEARCH = GridSearchCV(Lasso(), {"alpha": [0.001, 0.01]}, cv=2)
RARE = np.where(np.arange(60) < 3, "rare", LABELS.astype(str))  # missing in most sets of 10 rows


@pytest.mark.parametrize(
    ("algorithm", "y", "words"),
    [
        (last_row, SMALL_Y, "position='uniform'"),
        (DecisionTreeClassifier(), RARE, "Class rare has 3 of 60 rows.*larger n"),
        (SEARCH, SMALL_Y, "GridSearchCV searches again.* of 10 rows.*all 60"),
    ],
)
def test_what_narrows_the_answer_is_told_and_goes_with_it(algorithm, y, words):
    with pytest.warns(ValidityWarning, match=words) as caught:
        trials = poise.measure(algorithm, SMALL_X, y, n=10)
    assert caught[0].filename == __file__
    assert trials.warnings == (str(caught[0].message),)
    if y is RARE:
        assert not poise.measure(algorithm, SMALL_X, y, n=20).warnings


def test_signatures_and_documentation_come_from_the_settings():
    signature = inspect.signature(poise.stability_test).parameters
    more, asked = settings_of(MoreSettings), settings_of(Asked)
    assert set(settings_of(Settings)) < set(signature)
    for name, setting in {**more, **asked}.items():
        assert name in signature
        assert f"\n    {name} : " in poise.stability_test.__doc__
        default = signature[name].default
        assert default == setting.said.default or default is None
    for name in ("epsilon", "alpha", "test", "stop_early", "randomized"):  # no question is asked
        assert name not in inspect.signature(poise.measure).parameters
        with pytest.raises(ArgumentError, match=f"{name} is not an argument of measure"):
            poise.measure(Lasso(), SMALL_X, SMALL_Y, n=10, **{name: None})


# Levels and power, through real fits of a world with a known law --------------------------------

# The mean of n normal responses changes by |Y_n − mean of the others|/n when the last row is
# removed, so P(change > ε) = erfc(ε √(n(n−1)/2)). Seeds are fixed; each check alarms falsely with
# probability below 1e-7, and is told by exact Binomial tails.
N, RUNS, M = 4, 700, 30
ALARM = 1e-7


def agrees(count, counts, chance):
    """Require that a run is so often among some counts of larger changes as it must be."""
    low, high = binom.ppf([ALARM / 2, 1 - ALARM / 2], RUNS, binom.pmf(counts, M, chance).sum())
    assert low <= count <= high


def test_verdicts_and_limits_are_wrong_as_often_as_they_may():
    """Half the level, or < for <=, would give other chances at every one of these."""
    rng = np.random.default_rng(20261118)
    rows = RUNS * M * (N + 1)
    X, y = np.zeros((rows, 1)), rng.normal(size=rows)
    trials = poise.measure(mean, X, y, n=N, max_trials=None, check=False, fast=False)
    assert trials.n_trials == RUNS * M
    runs = [poise.Trials.from_changes(part, n=N) for part in trials.values.reshape(RUNS, M)]
    counts, alpha = np.arange(M + 1), 0.1
    for truth in (0.2, 0.05):
        epsilon = float(erfcinv(truth) / math.sqrt(N * (N - 1) / 2))
        said = [each.test(epsilon, 0.2, alpha).verdict for each in runs]
        upper = sum(each.delta_upper(epsilon, alpha) < truth for each in runs)
        lower = sum(each.test(epsilon, 0.1, alpha).delta_lower > truth for each in runs)
        # Clopper-Pearson: the limit is wrong where a test of δ* itself would reject
        for delta, few, many in (
            (0.2, said.count("stable"), said.count("unstable")),
            (truth, upper, lower),
        ):
            agrees(few, counts[binom.cdf(counts, M, delta) <= alpha], truth)
            agrees(many, counts[binom.sf(counts - 1, M, delta) <= alpha], truth)
