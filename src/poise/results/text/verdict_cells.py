"""What tables and facts show of every verdict: headings, and what stands under them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.arguments.printed_numbers import at_most, larger_of

if TYPE_CHECKING:
    from poise.results.conditional_result import ConditionalResult
    from poise.results.stability_result import StabilityResult

__all__ = [
    "DELTA_LIMIT",
    "EPSILON_LIMIT",
    "LARGER",
    "LIMITS",
    "larger_changes",
    "limits",
]

LARGER = "larger changes"
DELTA_LIMIT = "delta at most"
EPSILON_LIMIT = "epsilon at most"
LIMITS = (DELTA_LIMIT, EPSILON_LIMIT)


def larger_changes(result: StabilityResult | ConditionalResult) -> str:
    """Write how many trials moved, and apart from them how many failed.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([0.1] * 29 + [float("inf")], n=5, failures=["no fit"])
    >>> larger_changes(trials.test(epsilon=0.2, delta=0.1))
    '0 of 30, 1 failed'
    """
    return larger_of(result.n_moved, result.n_observed, result.n_failures)


def limits(result: StabilityResult | ConditionalResult) -> tuple[str, str]:
    """Write the upper limits that go with the verdict, under the headings ``LIMITS``.

    Examples
    --------
    >>> from poise import Trials
    >>> limits(Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1))
    ('0.09504', '0.1')
    """
    return at_most(result.printed_delta_hat), at_most(result.epsilon_hat)
