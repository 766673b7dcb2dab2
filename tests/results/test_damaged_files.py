"""Numbers that no measurement and no test can give; more damage is in tests/test_fuzz.py."""

from __future__ import annotations

import json

import pytest

import poise
from poise.errors import RecordError


def test_more_changes_than_trials_are_refused() -> None:
    trials = poise.Trials.from_changes([0.5] * 20, n=5)
    content = trials.to_dict() | {"changes": [0.5] * 40}
    with pytest.raises(RecordError, match="40 changes for 20 trials"):
        poise.Trials.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("name", "value"),
    [("alpha", 1.5), ("delta", -0.1), ("pvalue", 2.0), ("n_observed", 50), ("statistic", -1)],
)
def test_numbers_that_no_test_can_give(name, value) -> None:
    result = poise.Trials.from_changes([0.5] * 20, n=5).test(0.1, 0.2)
    with pytest.raises(RecordError, match="not a result written by poise"):
        poise.StabilityResult.from_json(json.dumps(result.to_dict() | {name: value}, default=str))
