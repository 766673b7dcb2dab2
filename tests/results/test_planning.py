"""Plans in words, rounded to the safe side."""

from __future__ import annotations

import pytest

import poise
from poise.errors import ArgumentError
from poise.results.design import Design
from poise.theory.planning import Plan, solve


def test_what_is_left_out_is_filled_in_or_solved_for():
    assert poise.plan(n=100, delta=0.05).n_labeled == 5959
    assert poise.plan(n=100, delta=0.1, replace=True).n_labeled == 29 * 102
    assert poise.plan(n_labeled=1000, delta=0.1).n == 33
    assert poise.plan(n_labeled=1000, delta=0.1, replace=True, remove=2).n == 31
    known = {"n": 100, "n_labeled": 3000}
    plan, other = poise.plan(**known), poise.plan(**known, delta=0.1, power=0.9)
    assert (plan.solved_for, plan.alpha, plan.power) == ("delta", 0.05, 0.8)
    assert (other.solved_for, other.power) == ("alpha", 0.9)
    same = solve(Plan(**known, delta=0.1, alpha=0.05))
    assert (same.solved_for, same.power) == ("power", 1.0)
    assert poise.plan(**known, delta=0.1).to_dict() == same.to_dict()


@pytest.mark.parametrize(
    ("asked", "batch"),
    [({"notion": "deployed"}, 0), ({"notion": "add-one"}, 1), ({"update": 30}, 30)],
)
def test_fresh_rows_are_counted_as_the_design_counts_them(asked, batch):
    plan = poise.plan(delta=0.05, **asked)
    notion = asked.get("notion", "update")
    for rows, trials in ((plan.n_labeled, 59), (plan.n_labeled - 1, 58)):
        known = {"algorithm": "a", "n": 100, "notion": notion, "batch": batch or 1}
        assert Design(**known, n_labeled=rows).n_trials == trials
        assert poise.plan(delta=0.05, n_labeled=rows, **asked).n_trials == trials
    assert plan.n_labeled == 59 * (batch + 1)
    assert "fresh rows hold 59 independent trials" in str(plan)
    assert "labelled" not in str(plan)
    assert poise.plan(n_labeled=29 * (batch + 1), **asked).delta < 0.1
    assert len(plan.plot().png()) > 5000
    assert plan.to_dict()["ceiling"] == 1


STAR = "n=100, n_labeled=5000, delta=0.1, delta_star=0.0123456"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("n=100, delta=0.1", "2,929 labelled rows are needed."),
        ("n=100, delta=0.1", "29 x 100 = 2,900 rows to train on and 29 others"),
        ("n_labeled=1000, delta=0.1", "n can be at most 33."),
        ("n_labeled=1000, delta=0.1", "29 independent trials"),
        # 0.28312…, rounded up: 9 trials do not show 0.2831.
        ("n=100, n_labeled=1000", "The smallest delta is 0.2832."),
        ("n=100, n_labeled=1000", "for delta = 0.2832"),
        ("n=100, n_labeled=1000, delta=0.1, power=0.9", "smallest alpha is 0.3875"),
        # A power is rounded down; the numbers of the question keep all digits.
        (STAR, "the verdict stable is 0.8772."),
        (STAR, "with probability 0.0123456"),
        ("n=100, n_labeled=1000, delta=0.1", "is 0.\n"),
        ("n=100, n_labeled=1000, delta=0.1", "say stable: 9 trials, and 29 are the least."),
        ("n=100, n_labeled=1000, delta=0.1", "0.142 with"),
        # Too few trials, and yet the coin says stable once in a while.
        ("n=100, n_labeled=1000, delta=0.1, randomized=True", "says stable with probability 0.129"),
        ("n=100, delta=0.1, delta_star=0.01", "max_trials=46 keeps the power from falling below"),
        ("n=100, n_labeled=5000, delta=0.1, delta_star=0.2", "is 0.0002364."),
        ("n=100, n_labeled=5000, delta=0.1, delta_star=0.2", "; such an algorithm is not stable."),
        (
            "n=10, n_labeled=1000, n_unlabeled=900, delta=0.1, delta_star=0.05",
            "reads 9 test points of each trial (from 41 trials on)",
        ),
    ],
)
def test_sentences(asked, said):
    assert said in str(eval(f"poise.plan({asked})"))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("n_labeled=3000", "must be left out, and here it is n, delta"),
        ("n=3, delta=0.1, remove=3", "remove must be below n = 3, got 3"),
        ("n=9, delta=0.1, update=3", "n is for new training sets, got 9"),
        ("notion='old'", "notion must be 'new', 'deployed'"),
        ("n=9, n_labeled=9, delta=0.1, alpha=0.1, power=0.9", "must be left out"),
    ],
)
def test_refusals(asked, message):
    with pytest.raises(ArgumentError, match=message):
        eval(f"poise.plan({asked})")
