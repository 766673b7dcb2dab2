"""Comparing algorithms: the same trials for all, and one error level for all verdicts."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.errors import ArgumentError, DataError, PowerWarning, TrialError
from poise.results import CompareResult, Design, Trials

X, y = load_diabetes(return_X_y=True)
THREE = [Ridge(), LinearRegression(), KNeighborsRegressor()]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_closure_of_bonferroni(pvalues) -> None:
    """H is rejected iff Bonferroni rejects every intersection of hypotheses that holds H."""
    adjusted = poise.theory.holm(pvalues)
    k = len(pvalues)
    families = [f for r in range(1, k + 1) for f in itertools.combinations(range(k), r)]
    for i in range(k):
        worst = max(len(f) * min(pvalues[j] for j in f) for f in families if i in f)
        assert adjusted[i] == pytest.approx(min(1.0, worst), abs=1e-15)


@pytest.mark.parametrize("pvalues", [[0.5, 1.2], [[0.1]], [float("nan")], ["a"]])
def test_holm_refuses_what_is_no_list_of_probabilities(pvalues) -> None:
    with pytest.raises(ArgumentError, match="pvalues must be"):
        poise.theory.holm(pvalues)


def test_every_algorithm_sees_the_trials_it_would_see_alone() -> None:
    result = poise.compare(THREE, X, y, n=12, epsilon=20, delta=0.2, random_state=7)
    for algorithm, trials in zip(THREE, result.trials, strict=True):
        alone = poise.measure(algorithm, X, y, n=12, random_state=7)
        assert trials.changes.tolist() == alone.changes.tolist()


def test_without_a_seed_the_trials_are_still_the_same_for_all() -> None:
    twins = {"one": Ridge(), "two": Ridge()}
    result = poise.compare(twins, X, y, n=12, epsilon=20, delta=0.2)
    first, second = (trials.changes.tolist() for trials in result.trials)
    assert first == second


def test_verdicts_are_those_of_adjusted_pvalues() -> None:
    result = poise.compare(THREE, X, y, n=12, epsilon=20, delta=0.2, random_state=0)
    assert [row.verdict.value for row in result.rows] == ["stable", "unstable", "inconclusive"]
    assert result.stable == ("Ridge()",)
    assert not result.all_stable
    for row, trials in zip(result.rows, result.trials, strict=True):
        alone = trials.test(20, 0.2)
        assert (row.pvalue, row.pvalue_unstable) == (alone.pvalue, alone.pvalue_unstable)
        assert row.delta_hat == trials.delta_hat(20, 0.05 / 3)
        assert row.epsilon_hat == trials.epsilon_hat(0.2, 0.05 / 3)
    assert result["Ridge()"].adjusted == pytest.approx(3 * result["Ridge()"].pvalue)


def test_one_algorithm_is_a_plain_test() -> None:
    for epsilon in (1.0, 6.0, 20.0):
        result = poise.compare([Ridge()], X, y, n=12, epsilon=epsilon, delta=0.2, random_state=0)
        plain = poise.measure(Ridge(), X, y, n=12, random_state=0).test(epsilon, 0.2)
        assert result.rows[0].verdict == plain.verdict
        assert result.rows[0].delta_hat == plain.delta_hat


def test_the_chance_of_any_false_stable_is_at_most_alpha() -> None:
    """Four algorithms just beyond δ, two of them always alike, and a coin for exact size.

    400 comparisons with a false-alarm rate below 1e-6; without adjustment the chance is
    0.14, which is noticed.
    """
    rng = np.random.default_rng(0)
    m, delta, alpha, wrong = 60, 0.1, 0.05, 0
    for _ in range(400):
        uniform = rng.random((3, m))
        changes = (uniform[[0, 0, 1, 2]] < delta + 1e-9).astype(float)
        coin = float(rng.random())
        trials = {
            str(i): Trials(row, Design("", 5, 5 * m, m, zeta=coin)) for i, row in enumerate(changes)
        }
        result = CompareResult.judge(trials, 0.5, delta, alpha, randomized=True)
        wrong += len(result.stable) > 0
    assert wrong <= stats.binom.isf(1e-6, 400, alpha)


def test_a_verdict_turns_exactly_where_the_adjusted_pvalue_does() -> None:
    """Two algorithms, every pair of counts: the smaller p-value counts twice, the other once."""
    m, delta, alpha = 30, 0.2, 0.05
    of = [Trials.from_changes([1.0] * b + [0.0] * (m - b), n=5) for b in range(m + 1)]
    for a, b in itertools.product(range(0, m + 1, 2), range(1, m + 1, 3)):
        result = CompareResult.judge({"a": of[a], "b": of[b]}, 0.5, delta, alpha)
        stable = [stats.binom.cdf(count, m, delta) for count in (a, b)]
        unstable = [stats.binom.sf(count - 1, m, delta) for count in (a, b)]
        for i, row in enumerate(result.rows):
            assert (row.verdict == "stable") == (_step_down(stable, i) <= alpha)
            assert (row.verdict == "unstable") == (_step_down(unstable, i) <= alpha)


def _step_down(pvalues: list[float], i: int) -> float:
    """Return Holm's adjusted p-value of one of two, written out."""
    smaller = 2 * min(pvalues)
    return smaller if pvalues[i] == min(pvalues) else max(smaller, pvalues[i])


def test_more_algorithms_never_make_a_verdict_easier() -> None:
    calm = Trials.from_changes([0.0] * 30, n=5)
    assert CompareResult.judge({"calm": calm}, 0.5, 0.1).stable == ("calm",)
    wild = Trials.from_changes([1.0] * 30, n=5)
    crowd = {"calm": calm, "wild": wild, "wilder": wild}
    assert CompareResult.judge(crowd, 0.5, 0.1).stable == ()


def test_results_as_text_frame_json_html_and_picture() -> None:
    result = poise.compare(
        {"<ridge>": Ridge(), "ols": LinearRegression()},
        X,
        y,
        n=12,
        epsilon=20,
        delta=0.2,
        random_state=0,
    )
    text = str(result)
    assert text.startswith("2 algorithms on the same trials, (20, 0.2)-stability at n = 12: 1 st")
    assert 'any "stable" is wrong is at most 0.05' in text
    frame = result.to_frame()
    assert frame["name"].tolist() == ["<ridge>", "ols"]
    assert frame["verdict"].tolist() == ["stable", "unstable"]
    content = json.loads(result.to_json())
    assert content["algorithms"][0]["adjusted"] == result.rows[0].adjusted
    assert "&lt;ridge&gt;" in result._repr_html_()
    axes = result.plot().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "<ridge>\nstable",
        "ols\nunstable",
    ]
    with pytest.raises(KeyError, match="did you mean 'ols'"):
        _ = result["oils"]


def test_hopeless_comparisons_are_called_so_at_the_level_they_need() -> None:
    # 31 clean trials certify δ = 0.1 at level 0.05 (0.9^31 = 0.038), but not at 0.025.
    poise.compare([Ridge()], X, y, n=13, epsilon=20, delta=0.1, random_state=0)
    with pytest.warns(PowerWarning, match=r"at level 0\.025 \(= 0\.05 / 2 algorithms\)") as warned:
        poise.compare(THREE[:2], X, y, n=13, epsilon=20, delta=0.1, random_state=0)
    # A table of several has no summary that would name the n: 442 // 36 - 1 for 36 clean trials.
    assert ", n <= 11, a larger delta" in str(warned[0].message)
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    ("algorithms", "message"),
    [
        ([], "at least one algorithm, got none"),
        ({}, "at least one algorithm, got none"),
        ([Ridge(), Ridge()], "different names.*dict"),
        ([Ridge], "write Ridge"),
        ([("ridge", Ridge())], r"got tuple \('ridge', Ridge\(\)\); to give names, use a dict"),
        ({"a": 7}, "must be an estimator"),
    ],
)
def test_unusable_algorithms(algorithms, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        poise.compare(algorithms, X, y, n=12, epsilon=20, delta=0.2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 1}, "n must be a whole number >= 2"),
        ({"epsilon": -1}, "epsilon must be"),
        ({"delta": 1.0}, "delta must be"),
        ({"alpha": 0.0}, "alpha must be"),
        ({"journal": 7}, "journal must be the path of a folder"),
    ],
)
def test_bad_arguments_are_refused_before_the_first_fit(wrong, message) -> None:
    def never(X, y, seed):
        raise AssertionError("fitted")

    arguments = {"n": 12, "epsilon": 20, "delta": 0.2} | wrong
    with pytest.raises(ArgumentError, match=message):
        poise.compare([never], X, y, **arguments)
    with pytest.raises(DataError):
        poise.compare([never], X, y[:-1], n=12, epsilon=20, delta=0.2)


def test_variants_of_the_question_reach_every_algorithm() -> None:
    groups = np.arange(len(y)) // 2
    result = poise.compare(
        [Ridge()], X, y, n=12, epsilon=20, delta=0.2, random_state=0, groups=groups, remove=2
    )
    alone = poise.measure(Ridge(), X, y, n=12, random_state=0, groups=groups, remove=2)
    assert result.trials[0].changes.tolist() == alone.changes.tolist()
    assert result.rows[0].n_trials == 221 // 13
    # 17 trials of groups cannot certify δ = 0.1 even for one algorithm.
    with pytest.warns(PowerWarning, match="17 trials"):
        poise.compare([Ridge()], X, y, n=12, epsilon=20, delta=0.1, groups=groups)


def test_a_failed_fit_names_the_algorithm() -> None:
    def failing(X, y, seed):
        raise ZeroDivisionError("singular")

    with pytest.raises(TrialError, match="singular") as caught:
        poise.compare([Ridge(), failing], X, y, n=12, epsilon=20, delta=0.2)
    assert caught.value.__notes__ == ["The algorithm is 'failing'."]


def test_only_a_name_that_somebody_gave_is_a_name() -> None:
    def names(algorithms) -> list[str]:
        found = poise.compare(algorithms, X, y, n=10, epsilon=1, delta=0.3, random_state=0)
        return [trials.design.name for trials in found.trials]

    assert names([Ridge()]) == [""]
    assert names({"mine": Ridge(), "Ridge(alpha=2)": Ridge(alpha=2), " ": Ridge()}) == [
        "mine",
        "",
        "",
    ]
