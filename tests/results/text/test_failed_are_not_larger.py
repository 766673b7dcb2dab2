"""Tables count failed trials apart from larger changes: a failure is no change."""

from __future__ import annotations

import math

import poise
from poise.results import CompareResult

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
