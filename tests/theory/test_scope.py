"""What must be settled before a run may stop: two words are known, and no others."""

from __future__ import annotations

import pytest

from poise.errors import ArgumentError
from poise.theory.averaged_test import AveragedTest
from poise.theory.decision import DecisionRule
from poise.theory.early_stopping import Curtailment, expected_trials, is_forced

CALLS = {
    "rule": lambda scope: DecisionRule.of_test(20, 0.1, 0.05).is_settled(0, 5, scope=scope),
    "is_forced": lambda scope: is_forced(
        0, 5, n_trials=20, stable_at_most=2, unstable_at_least=9, scope=scope
    ),
    "curtailment": lambda scope: Curtailment(20, 2, 9, scope=scope),
    "expected_trials": lambda scope: expected_trials(20, 2, 9, 0.1, scope),
    "averaged": lambda scope: AveragedTest(20, 0.1, 0.05, scope=scope),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("scope", ["unstable", "", None, "Verdict"])
def test_another_scope_is_refused(call, scope) -> None:
    with pytest.raises(ArgumentError, match="scope must be"):
        call(scope)
    call("verdict")
    call("stable")
