"""The line "Next: …" of a summary: what to do after a verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from poise.arguments import counted
from poise.arguments.printed_numbers import at_most, exactly
from poise.results.text.rows_needed import model_of_all_rows, needed, smaller_size
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.stability_result import StabilityResult

__all__ = ["next_step"]

_SETTLED = {
    Outcome.STABLE: "train at this n with this algorithm; test again if either changes",
    Outcome.UNSTABLE: (
        "regularise or bag the algorithm, train on more rows, or ask whether a larger epsilon or "
        "delta would still be acceptable; ask it of fresh rows"
    ),
    Outcome.NOT_CERTIFIED: (
        'run every trial to learn whether the verdict is "unstable" or "inconclusive"'
    ),
}


def next_step(r: StabilityResult) -> str:
    """Say what would change the answer.

    A new test on these rows and some more does not keep the error level, so the advice is always
    to use fresh rows. The limits of a run that stopped early count every unseen trial as a
    change, so they are never given as advice.

    Examples
    --------
    >>> from poise import Trials
    >>> next_step(Trials.from_changes([0.1] * 30, n=5).test(0.2, 0.1))
    'Next: train at this n with this algorithm; test again if either changes.'
    """
    if r.n_trials > 0 and r.verdict in _SETTLED:
        return f"Next: {_SETTLED[r.verdict]}.{_if_nothing_moved(r)}"
    options = [*_mend(r), _more_data(r), *_weaker(r)]
    other = model_of_all_rows(r.design)
    return f"Next: {'; or '.join(options)}." + (f" {other}." if other else "")


def _if_nothing_moved(r: StabilityResult) -> str:
    """Doubt an algorithm whose predictions never move at all: perhaps it does not learn."""
    if not r.stable or r.epsilon > 0 or r.statistic > 0 or r.design.distance == "label":
        return ""
    return (
        " No prediction moved at all, not even in its last digit: make sure that the algorithm "
        "learns from its rows (poise.check_algorithm)."
    )


def _mend(r: StabilityResult) -> list[str]:
    if not r.n_failures:
        return []
    failed = counted(r.n_failures, "trial")
    return [
        f"repair {failed} that failed (each counts against stable), and ask again of fresh rows"
    ]


def _more_data(r: StabilityResult) -> str:
    from poise.theory.binomial_test import critical_count
    from poise.theory.planning import SMALLEST_DELTA

    if r.delta < SMALLEST_DELTA:
        never = "never occurs" if r.delta == 0 else "is so rare"
        return f"a larger delta: no amount of data can certify that a change {never}"
    if critical_count(r.n_trials, r.delta, r.alpha) >= 0:
        return (
            f"fresh {r.design.unit}s alone (these {r.design.unit}s tested again together with "
            "fresh ones would not keep the error level)"
        )
    trials, units = needed(r.design, r.delta, r.alpha)
    instead = smaller_size(r.design, r.delta, r.alpha)
    rows = f"{units:,} fresh labelled {r.design.unit}s; {instead}"
    return (
        f"{trials:,} trials are the least with which the plain test can certify "
        f"delta = {exactly(r.delta)} at this level ({rows})"
    )


def _weaker(r: StabilityResult) -> list[str]:
    """Name weaker questions that these trials would have passed, if all of them were run."""
    if r.test == "averaged":  # its limits keep the bets of this question; another has its own
        return ["a larger epsilon or delta, asked of fresh rows"]
    if r.stopped_early:
        return []
    passed = []
    if r.epsilon < r.epsilon_hat < math.inf:
        passed.append(f"a larger epsilon ({at_most(r.epsilon_hat)} would have passed)")
    if r.delta < r.delta_hat < 1:
        passed.append(f"a larger delta ({at_most(r.delta_hat)} would have passed)")
    if passed:
        passed[-1] += ", asked of fresh rows"
    return passed
