"""Which test reads the trials, and when a run may stop: decided before any change is seen."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise.errors import ArgumentError
from poise.theory import counts

if TYPE_CHECKING:
    from poise.results.design import Design
    from poise.results.question import Question

Floats = NDArray[np.float64]


def law_for(design: Design, delta: float, alpha: float, test: str = "auto") -> ModuleType:
    """Return :mod:`poise.theory.binomial` or :mod:`poise.theory.averaged`.

    Both answer the same questions about a table of changes. "auto" takes the averaged test where
    more than one change a trial was planned, and the trials suffice for it to have more power or
    ties are decided by a coin.
    """
    if _averages(design, delta, alpha, test):
        from poise.theory import averaged

        return averaged
    from poise.theory import binomial

    return binomial


def _averages(design: Design, delta: float, alpha: float, test: str) -> bool:
    if design.compares == "decisions":
        if test == "binomial":
            raise ArgumentError(
                "must not be 'binomial' for decisions, whose changes are shares", argument="test"
            )
        return True
    if test != "auto":
        return test == "averaged"
    several = design.removals > 1 or design.points > 1
    enough = design.randomized or design.n_trials >= counts.trials_for_averaging(delta, alpha)
    return several and delta > 0 and enough


def until(question: Question, design: Design) -> Callable[[Floats], bool]:
    """Return what says, fed each trial's table in plan order, whether the verdict stands.

    A run whose verdict would be inconclusive goes on: its limits are all that it has.
    """
    test = (question.delta, question.alpha, question.test)
    threshold = design.threshold(question.epsilon)
    watch = _watch_shares if _averages(design, *test) else _watch_counts
    return watch(question, design, threshold)


def _watch_counts(
    question: Question, design: Design, threshold: float | None
) -> Callable[[Floats], bool]:
    from poise.theory.binomial import CountRule

    rule = (design.n_trials, question.delta, question.alpha)
    plain = CountRule.of(*rule)
    lucky = CountRule.of(*rule, zeta=0.0) if design.randomized else plain  # whatever the coin
    counted = np.zeros(3, dtype=np.int64)  # moved, seen, failed

    def decided(table: Floats) -> bool:
        first = table[0, 0]
        counted[:] += (first > threshold, 1, np.isnan(first))
        moved, seen, failed = counted.tolist()
        stable = plain.verdict(moved, seen, failed) == "stable"
        return stable or lucky.verdict(moved, seen, failed) == "unstable"

    return decided


def _watch_shares(
    question: Question, design: Design, threshold: float | None
) -> Callable[[Floats], bool]:
    from poise.theory import averaged
    from poise.theory.changes import Changes

    bets = averaged.both_ways(design.n_trials, question.delta, question.alpha)

    def decided(table: Floats) -> bool:
        trial = Changes(table.reshape(1, -1), 1)
        both = [trial.shares(threshold, failures_exceed=exceed) for exceed in (True, False)]
        bets.run(lambda rows, a, b: np.array(both)[rows], until=bets.trials + 1)
        reached = bool((bets.reached_at > 0).any())
        return reached and averaged.decided(bets, coin=design.randomized)

    return decided
