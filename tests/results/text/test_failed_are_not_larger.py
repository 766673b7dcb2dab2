"""Tables count failed trials apart from larger changes: a failure is no change."""

from __future__ import annotations

import math

import numpy as np

import poise
from poise.procedures.averaged import AveragedTest
from poise.procedures.averaged import _StopWhenForced as StopShares
from poise.questions.conditional.conditional_question import ConditionalQuestion
from poise.questions.conditional.stop_when_forced import stop_when_forced
from poise.results import CompareResult, Design

TRIALS = poise.Trials.from_changes(
    [0.9, math.inf, math.inf] + [0.1] * 57, n=5, failures=["no memory", "no memory"]
)


def test_comparisons() -> None:
    compared = CompareResult.judge({"fails": TRIALS}, epsilon=0.5, delta=0.1)
    assert compared.table().rows[0][2] == "1 of 60, 2 failed"
    (row,) = compared.to_dict()["algorithms"]
    assert (row["statistic"], row["n_moved"], row["n_failures"]) == (3, 1, 2)


def test_profiles() -> None:
    profile = TRIALS.profile()
    assert profile.table([0.5]).rows[0][1] == "1 of 60, 2 failed"
    assert profile.at(0.5) == TRIALS.profile().at(0.5)
    assert poise.Profile.from_json(profile.to_json()) == profile
    clean = poise.Trials.from_changes([0.9] + [0.1] * 59, n=5).profile()
    assert clean.table([0.5]).rows[0][1] == "1 of 60"


def test_what_a_run_shows_while_it_runs_has_the_words_of_its_result() -> None:
    """A failed trial was counted in the share of the averaged test, and is no larger change."""
    asked = {"n": 5, "epsilon": 0.5, "delta": 0.3}
    averaged = StopShares(AveragedTest(**asked, removals=1, points=2), Design("mean", 5, 200))
    averaged([0.1, 0.9])
    averaged([0.1, math.nan])
    assert averaged.state().startswith("mean share 0.25, 1 failed, the bet stands at ")
    counted = stop_when_forced(ConditionalQuestion(0.5, delta=0.3, gamma=0.4), n_trials=20)
    for table in ([[0.1, 0.9]], [[0.1, math.nan]], [[0.1, 0.1]]):
        counted(np.array(table))
    assert counted.state() == "1 larger changes, 1 failed, verdict open"
