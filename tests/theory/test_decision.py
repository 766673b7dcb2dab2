"""The decision rule: every run with moved, failed and unseen trials, by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import poise
from poise.errors import ArgumentError
from poise.theory.decision import DecisionRule, cut_offs, three_way, unless_both

M = 7
KINDS = ("still", "moved", "failed")


def counts(run):
    return run.count("moved"), run.count("failed")


def full_verdict(run, rule):
    """Judge a complete run by the two definitions, one after the other."""
    moved, failed = counts(run)
    if moved + failed <= rule.stable_at_most:
        return "stable"
    return "unstable" if moved >= rule.unstable_at_least else "inconclusive"


def states(rule):
    """Every state (moved, trials, failed) with the verdicts that its continuations lead to."""
    reached = {}
    for run in itertools.combinations_with_replacement(KINDS, rule.n_trials):
        moved, failed = counts(run)
        still = rule.n_trials - moved - failed
        for a, b, c in itertools.product(range(moved + 1), range(failed + 1), range(still + 1)):
            reached.setdefault((a, a + b + c, b), set()).add(full_verdict(run, rule))
    return reached


@pytest.mark.parametrize(("low", "high"), [(-1, 8), (0, 1), (1, 4), (2, 5), (7, 8), (-1, 3)])
def test_a_verdict_is_settled_exactly_when_no_continuation_changes_it(low, high) -> None:
    rule = DecisionRule(M, low, high)
    for (moved, trials, failed), verdicts in states(rule).items():
        assert rule.is_settled(moved, trials, failed) == (len(verdicts) == 1)
        stable = {verdict == "stable" for verdict in verdicts}
        assert rule.is_settled(moved, trials, failed, scope="stable") == (len(stable) == 1)
        said = rule.verdict(moved, trials, failed)
        if len(verdicts) == 1:
            assert verdicts == {said}
        else:
            assert said == ("not certified stable" if stable == {False} else "inconclusive")


@pytest.mark.parametrize("delta_star", [0.05, 0.2, 0.21, 0.5])
def test_each_verdict_errs_with_probability_at_most_alpha(delta_star) -> None:
    """Exact: moved and failed are multinomial; a failure may have any probability."""
    m, delta, alpha = 30, 0.2, 0.1
    rule = DecisionRule.of_test(m, delta, alpha)
    for failing in (0.0, 0.03, 0.2):
        moving = max(0.0, delta_star - failing)
        law = stats.multinomial(m, [moving, failing, 1 - moving - failing])
        chance = dict.fromkeys(("stable", "unstable", "inconclusive"), 0.0)
        for moved in range(m + 1):
            for failed in range(m + 1 - moved):
                atom = law.pmf([moved, failed, m - moved - failed])
                chance[rule.verdict(moved, m, failed)] += atom
        if moving + failing > delta:
            assert chance["stable"] <= alpha
        if moving <= delta:
            assert chance["unstable"] <= alpha
    assert sum(chance.values()) == pytest.approx(1)


def test_results_curtailment_and_comparison_agree_on_a_tie_of_doubles() -> None:
    """P(Bin(3, 1/2) >= 2) is 1/2 exactly; doubles may put a p-value a hair above it."""
    for m, delta in ((3, 0.5), (5, 0.5), (7, 0.5), (20, 0.25), (60, 0.1)):
        for count in range(m + 1):
            alpha = float(stats.binom.sf(count - 1, m, delta))
            if not 0 < alpha < 0.5:
                continue
            trials = poise.Trials.from_changes([1.0] * count + [0.0] * (m - count), n=5)
            watch = poise.theory.Curtailment.of_test(m, delta, alpha)
            for exceeds in [True] * count + [False] * (m - count):
                watch.update(exceeds)
            assert trials.test(0.5, delta, alpha).verdict == watch.verdict


def test_stable_comes_first_and_cut_offs_are_checked() -> None:
    assert three_way(True, True) == "stable"
    assert cut_offs(10, delta=0.5, alpha=0.9) == (6, 7)  # the regions overlap at 4 to 6
    with pytest.raises(ArgumentError, match="got 2 and 2 for 9 trials"):
        DecisionRule(9, 2, 2)
    with pytest.raises(ArgumentError, match="scope must be one of 'verdict', 'stable'"):
        DecisionRule(9, 2, 4).is_settled(1, 3, scope="both")  # type: ignore[arg-type]


def test_declarations_in_no_order_cancel_each_other() -> None:
    for stable, unstable in itertools.product((True, False), repeat=2):
        both = stable and unstable
        expected = "inconclusive" if both else three_way(stable, unstable)
        assert unless_both(stable, unstable) == expected


def test_whole_arrays_of_states() -> None:
    rule = DecisionRule(100, 4, 16)
    settled = rule.is_settled(np.array([4, 5, 16]), np.array([99, 99, 20]))
    assert settled.tolist() == [False, True, True]
