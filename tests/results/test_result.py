"""Verdicts, p-values and limits belong together, in full runs and in stopped ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from poise.errors import ArgumentError
from poise.results.design import Design
from poise.results.question import Question, until
from poise.results.result import NUMBERS, Result
from poise.results.tables import table
from poise.results.trials import Trials

SHAPES = [(0, 1, 1), (1, 1, 1), (5, 1, 1), (29, 1, 1), (60, 1, 1), (60, 2, 2), (45, 1, 4)]


@st.composite
def measured(draw, shapes=SHAPES):
    """Trials with few or many large changes, ties at 1, failures, infinities; and a question."""
    m, removals, points = draw(st.sampled_from(shapes))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    large = draw(st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.9]))
    values = np.where(rng.uniform(size=(m, removals, points)) < large, 2.0, 0.5)
    values += draw(st.sampled_from([0.0, 0.5])) * rng.integers(0, 2, size=values.shape)
    values[rng.uniform(size=values.shape) < draw(st.sampled_from([0.0, 0.05]))] = np.nan
    values[rng.uniform(size=values.shape) < draw(st.sampled_from([0.0, 0.05]))] = np.inf
    rows = {"n_labeled": 10 * m, "n_unlabeled": points * m, "removals": removals}
    design = Design(algorithm="x", n=10, **rows, points=points, randomized=draw(st.booleans()))
    delta = draw(st.sampled_from([0.0, 0.02, 0.1, 0.2, 0.5]))
    alpha = draw(st.sampled_from([0.05, 0.2, 0.001, 0.7]))
    test = draw(st.sampled_from(["auto", "binomial", "averaged"]))
    zeta = draw(st.sampled_from([1e-9, 0.3, 1.0]))
    return Trials(values, design, zeta=zeta), Question(1.0, delta, alpha, test)


@settings(max_examples=100)
@given(measured())
def test_p_is_at_most_alpha_exactly_where_the_verdict_says_so(case):
    trials, question = case
    result = trials.judge(question)
    stable, unstable = result.pvalue <= result.alpha, result.pvalue_unstable <= result.alpha
    assert (result.verdict == "stable") <= stable
    assert (result.verdict == "unstable") <= unstable
    if result.n_trials:
        assert (result.verdict == "inconclusive") == (not stable and not unstable)
        assert stable + unstable < 2 or trials.design.randomized or result.test == "averaged"
    else:
        assert result.verdict == "inconclusive"
    assert bool(result.reason) == (result.verdict == "inconclusive")
    assert (result.n_failures, result.n_observed) == (trials.n_failures, len(trials.changes))


@settings(max_examples=25)
@given(measured())
def test_limits_agree_with_each_other_and_ignore_epsilon(case):
    trials, question = case
    result = trials.judge(question)
    low, high = result.delta_interval
    assert low <= min(result.delta_lower, result.delta_upper)
    assert high >= max(result.delta_lower, result.delta_upper)
    other = trials.judge(replace(question, epsilon=0.7))
    assert other.epsilon_upper == result.epsilon_upper
    assert other.epsilon_lower == result.epsilon_lower
    assert result.delta_upper >= result.delta_observed or np.isnan(result.delta_observed)
    without = Trials(trials.changes, replace(trials.design, randomized=False)).judge(question)
    if without.test == result.test:  # the coin is for the verdict alone
        assert without.delta_interval == result.delta_interval
        assert without.epsilon_upper == result.epsilon_upper
    if without.test == "binomial":
        assert (without.delta_upper <= question.delta) == without.stable or not result.n_trials
        assert (without.epsilon_upper <= 1.0) == without.stable or not result.n_trials


@settings(max_examples=100)
@given(measured())
def test_a_stopped_run_says_what_the_full_run_says(case):
    trials, question = case
    question = replace(question, stop_early=True)
    stop = until(question, trials.design)
    ends = (k for k, change in enumerate(trials.changes, 1) if stop(change))
    seen = next(ends, len(trials.changes))
    stopped = Trials(trials.changes[:seen], trials.design, zeta=trials.zeta)
    early, full = stopped.judge(question), trials.judge(question)
    assert early.verdict == full.verdict
    assert early.stopped_early == (seen < len(trials.changes))
    if early.stopped_early:
        assert early.verdict != "inconclusive"
        assert early.pvalue <= early.alpha or not early.stable
        if early.alpha < 0.5:  # else limits are wrong more often than not
            assert early.delta_upper >= full.delta_observed


def test_two_of_forty_have_the_interval_of_clopper_and_pearson():
    result = Trials.from_changes([0.0] * 38 + [1.0] * 2, n=10).test(0.5, 0.1, 0.05)
    low, high = beta.ppf(0.025, 2, 39), beta.ppf(0.975, 3, 38)
    assert result.delta_interval == pytest.approx((low, high), rel=1e-9)


def test_trials_that_change_their_kind_are_doubted():
    """Few changes below ε first, then none: the first to decide was "unstable"."""
    shares = np.zeros((100, 1, 10))
    shares[:54, 0, :3] = 9.0
    result = Trials.from_changes(shares, n=10).test(1.0, 0.2)
    assert result.verdict == "unstable"
    assert result.delta_upper <= 0.2 <= result.delta_lower
    low, high = result.delta_interval
    assert low <= result.delta_upper
    assert high >= result.delta_lower
    assert "at most 0.15 if" in result.warnings[-1]  # three statements, each wrong with 0.05
    assert "the probability is between 0.1" in result.summary()


def test_the_coin_is_drawn_once_and_never_from_the_seed():
    trials = Trials.from_changes([0.5] * 20 + [2.0], n=10)
    assert trials.zeta is None
    plain, tossed = trials.test(1.0, 0.2), trials.test(1.0, 0.2, randomized=True)
    assert 0 < trials.zeta <= 1
    assert tossed.trials.zeta == trials.zeta == trials.test(1, 0.1, randomized=True).trials.zeta
    assert tossed.pvalue <= plain.pvalue
    assert plain.pvalue == trials.test(1.0, 0.2, randomized=False).pvalue
    design = Design(algorithm="x", n=10, n_labeled=200, n_unlabeled=20, randomized=True)
    changes = np.r_[np.full(15, 0.5), np.full(5, 2.0)].reshape(-1, 1, 1)  # k* = 5, a* = .277
    assert len({Trials(changes, design).zeta for _ in range(5)}) == 5
    with pytest.raises(ArgumentError, match="zeta"):
        Trials(changes, design, zeta=0.0)
    # it decides at the critical count
    for zeta, verdict in [(0.2, "stable"), (0.3, "inconclusive")]:
        result = Trials(changes, design, zeta=zeta).test(1.0, 0.5, 0.01)
        assert result.verdict == verdict
        assert result.acceptance_probability == pytest.approx(0.2766873)
        assert f"coin {zeta};" in str(result)


@pytest.mark.parametrize(
    ("rows", "settings", "question", "reason"),
    [
        (99, {}, (1.0, 0.1), "too few rows: 9 trials, 29 are the least"),
        (11, {}, (1.0, 0.1), "too few rows: 1 trial, 29 are the least"),
        (29 * 11, {"max_trials": 28}, (1.0, 0.1), "max_trials = 28; 29 trials are the least"),
        (28 * 11, {"max_trials": 5}, (1.0, 0.1), "too few rows: 5 trials, 29 are the least"),
        (40 * 11, {}, (0.2, 0.5), "too close to call"),
        (440, {"max_trials": 5, "points": 20}, (1.0, 0.1), "max_trials = 5; 29 trials are the le"),
        (40 * 11, {}, (1.0, 0.0), "no number of trials can show this delta"),
        (99, {"randomized": True}, (0.2, 0.5), "too close to call"),
    ],
)
def test_an_open_verdict_says_why(rows, settings, question, reason):
    design = Design(algorithm="x", n=10, n_labeled=rows, **settings)
    changes = np.linspace(0, 0.4, design.n_trials).reshape(-1, 1, 1) + np.zeros(design.shape)
    result = Trials(changes, design, zeta=1.0).test(*question)
    assert result.verdict == "inconclusive"
    assert result.reason.startswith(reason)
    if rows == 40 * 11:
        assert Trials(changes * np.nan, design).test(1.0, 0.5).reason == "every trial failed"
    partial = Trials(changes[:1], design, zeta=1.0).test(0.2, 0.5)
    if design.n_trials > partial.least_trials:
        assert partial.reason == f"only 1 of {design.n_trials} trials were run"


def test_a_result_is_its_question_and_its_trials():
    trials = Trials.from_changes([0.5] * 60, n=10, algorithm="mine")
    result = trials.test(1.0, 0.1)
    assert result == Result(Question(1.0, 0.1), trials)
    assert {result: "kept"}[Result(Question(1.0, 0.1), trials)] == "kept"
    assert result.asked == "after"
    begun = replace(trials, asked=Question(1.0, 0.1))
    assert begun.test(1, 0.1).asked == "before"
    assert begun.test(1, 0.2).asked == begun.test(1, 0.1, randomized=True).asked == "after"
    with pytest.raises(TypeError, match=r"say result\.stable"):
        assert result
    assert repr(result) == "Result(mine, n=10, epsilon=1.0, delta=0.1, alpha=0.05, 60 trials)"
    assert set(vars(result)) <= {"question", "trials", "law"}  # nothing was computed for it
    frame = result.to_frame()
    assert list(frame) == ["algorithm", "n", "epsilon", "delta", "alpha", *NUMBERS, "warnings"]
    assert frame.verdict[0] == "stable"
    for epsilon, problem in ((None, "is missing"), ("5% of sd", "must be a finite number")):
        with pytest.raises(ArgumentError, match=f"epsilon {problem}"):
            trials.test(epsilon, 0.1)


def test_results_side_by_side():
    stable = Trials.from_changes([0.5] * 60, n=10, algorithm="a_b & c|d").test(1.0, 0.1)
    unstable = Trials.from_changes([2.0] * 59 + [np.nan], n=10).test(1.0, 0.1)
    averaged = Trials.from_changes(np.full((60, 2, 2), 0.5), n=10).test(1.0, 0.1)
    found = table({"one": stable, "two": unstable, "three": averaged})
    assert [len(row) for row in found.rows] == [9, 9, 9]
    assert [row[5] for row in found.rows] == ["0 of 60", "59 of 60, 1 failed", "0% of 240"]
    assert [row[-1] for row in found.rows] == ["stable", "unstable", "stable"]
    assert found.rows[1][7].startswith("at least 0.9")
    for text in (str(found), found.latex(), found.markdown(), found.html()):
        assert all(word in text for word in ("one", "unstable", "probability at most 0.05"))
    alone = table(stable)
    assert r"a\_b \& c|d" in alone.latex()
    assert r"$\varepsilon$" in alone.latex()
    assert r"a_b & c\|d" in alone.markdown()
    assert "a_b &amp; c|d" in alone.html()
    for text in ("rows are copies", "rows are copies."):
        doubted = replace(stable.trials, warnings=(text,)).test(1.0, 0.1)
        assert str(table(doubted)).endswith("Warning about a_b & c|d: rows are copies.")
    assert alone.latex() == stable.to_latex()
    assert table([stable]).rows == alone.rows
    with pytest.raises(ArgumentError, match="results must hold results: a has no verdict"):
        table({"a": stable.trials})
