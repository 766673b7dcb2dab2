"""Stop when no later trial can change the verdict about a training set."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.arguments.printed_numbers import number
from poise.questions.conditional.conditional_question import ConditionalQuestion
from poise.results.text.verdict_cells import SeenChanges
from poise.results.verdict import OPEN
from poise.theory.tolerated_share import tolerated_change

__all__ = ["stop_when_forced"]


def stop_when_forced(question: ConditionalQuestion, n_trials: int) -> _StopShares | _StopCount:
    """Return what is fed the changes of each trial, in order, and says when to stop.

    Examples
    --------
    >>> stop = stop_when_forced(ConditionalQuestion(0.5, delta=0.5, gamma=0.0), n_trials=20)
    >>> next(trial for trial in range(1, 21) if stop(np.array([[0.9, 0.1]])))
    15
    """
    kind = _StopShares if question.gamma is None else _StopCount
    return kind(question, n_trials)


class _StopShares:
    """Feeds shares to both bets of the averaged test."""

    def __init__(self, question: ConditionalQuestion, n_trials: int) -> None:
        from poise.theory.averaged_test import AveragedTest

        self.epsilon = question.epsilon
        self.watch = AveragedTest(n_trials, question.delta, question.alpha)

    def __call__(self, table: Any) -> bool:
        changes = np.asarray(table, dtype=np.float64)
        moved, failed = changes > self.epsilon, np.isnan(changes)
        share = float((moved | failed).mean())
        return self.watch.update(share, float(moved.mean()))

    def state(self) -> str:
        """Describe the current state for the progress display."""
        bet = f"the bet stands at {number(self.watch.hedge.value)}"
        return f"{bet}, verdict {self.watch.verdict or OPEN}"


class _StopCount:
    """Feeds yes-or-no answers to the curtailment of the Binomial test."""

    def __init__(self, question: ConditionalQuestion, n_trials: int) -> None:
        from poise.theory.early_stopping import Curtailment

        assert question.gamma is not None
        self.epsilon, self.gamma = question.epsilon, question.gamma
        self.watch = Curtailment.of_test(n_trials, question.delta, question.alpha)

    def __call__(self, table: Any) -> bool:
        changes = np.asarray(table, dtype=np.float64).reshape(1, -1)
        worst = tolerated_change(changes, self.gamma)[0] > self.epsilon
        surely = tolerated_change(changes, self.gamma, failures_exceed=False)[0] > self.epsilon
        self.watch.update(bool(surely), failed=bool(worst and not surely))
        return self.watch.worth_stopping

    def state(self) -> str:
        """Describe the current state for the progress display."""
        watch = self.watch
        seen = SeenChanges(watch.exceedances, watch.trials, watch.failures, shares=False)
        return f"{seen.in_words}, verdict {watch.verdict or OPEN}"
