"""The words of a growing record: trials are counted, and shares are averaged."""

from __future__ import annotations

from dataclasses import replace

from poise.results.design import Design
from poise.results.monitor_status import MonitorStatus

ONE_CHANGE = Design("Ridge()", 20, 1260)


def test_one_change_a_trial_is_counted() -> None:
    seen = (1.0,) * 3 + (0.0,) * 57
    status = MonitorStatus(ONE_CHANGE, 0.5, 0.1, 0.05, seen, seen)
    assert status.facts()["larger changes"] == "3"
    assert "mean share" not in status.facts()
    assert "In 3 of them the prediction moved by more than 0.5." in status.summary()
    assert "on average" not in status.summary()


def test_several_changes_a_trial_are_averaged() -> None:
    shares = (0.5,) * 3 + (0.0,) * 57
    design = replace(ONE_CHANGE, removals=2)
    status = MonitorStatus(design, 0.5, 0.1, 0.05, shares, shares)
    assert status.facts()["mean share"] == "0.025"
    assert "larger changes" not in status.facts()
    assert "The shares are 0.025 on average." in status.summary()
    assert " of them the prediction moved" not in status.summary()
