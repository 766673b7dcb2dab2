"""What a verdict means, in sentences: what was done, found, and not shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from poise.arguments import counted
from poise.arguments.printed_numbers import (
    at_least,
    at_most,
    confidence,
    exactly,
    number,
)
from poise.results.text.describe_design import (
    allowed_change,
    allowed_in_sentences,
    compared,
    moved,
    perturbation,
    qualified,
    remarks,
    shortage,
)
from poise.results.text.next_step import next_step
from poise.results.text.summary import Summary
from poise.results.text.verdict_cells import (
    DELTA_LIMIT,
    EPSILON_LIMIT,
    SeenChanges,
    larger_fact,
    pvalues,
)
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.conditional_result import ConditionalResult
    from poise.results.judged_result import JudgedResult
    from poise.results.stability_result import StabilityResult

__all__ = [
    "describe_result",
    "done",
    "facts_of_limits",
    "facts_of_result",
    "headline",
    "in_ledger",
    "limits",
]


def describe_result(r: StabilityResult) -> Summary:
    """Say what was tested, what was found, what it does not mean, and what to do next.

    Examples
    --------
    >>> from poise import Trials
    >>> describe_result(Trials.from_changes([0.1] * 30, n=5).test(0.2, 0.1)).headline
    'STABLE: unknown is declared (0.2, 0.1)-stable at n = 5 (error level 0.05).'
    """
    # Without spare rows there was no choice, and nothing to explain.
    choice = r.why if r.design.most_points > 1 else ""
    parts = [done(r), _found(r), choice, _coin(r), limits(r), *remarks(r.design, r.power_bound)]
    parts += [r.verdict.not_meant, next_step(r), in_ledger(r)]
    return Summary(headline(r), tuple(part for part in parts if part), r.warnings)


def in_ledger(r: StabilityResult) -> str:
    """Say which verdicts on these rows hold together, if there is a ledger."""
    return "" if r.ledger is None else r.ledger.sentence()


def _question(r: JudgedResult) -> str:
    rounded = {Outcome.STABLE: at_most, Outcome.UNSTABLE: at_least}.get(r.verdict, number)
    asked = f"({allowed_change(r.epsilon, r.design, rounded)}, {exactly(r.delta)})"
    return f"{asked}-{qualified(r.design)}"


def headline(r: JudgedResult) -> str:
    """Say the verdict and its error level in one sentence; certificates hold it word by word."""
    name = r.design.title
    said = {
        Outcome.STABLE: f"{name} is declared {_question(r)}",
        Outcome.UNSTABLE: f"{name} is declared not to be {_question(r)}",
        Outcome.INCONCLUSIVE: f"whether {name} is {_question(r)} is not settled",
        Outcome.NOT_CERTIFIED: f"the full run would not declare {name} {_question(r)}",
    }[r.verdict]
    return f"{r.verdict.value.upper()}: {said} (error level {at_most(r.alpha)})."


def done(r: StabilityResult) -> str:
    """Say how many trials were run, and what each of them compares."""
    if r.n_trials == 0:
        return f"The data hold no independent trial: {shortage(r.design)}. Nothing was fitted."
    ran = f"{r.n_observed:,} of " if r.stopped_early else ""
    trials = counted(r.n_trials, "independent trial")
    return f"{ran}{trials}{_stop(r)}: {compared(r.design)}."


def _stop(r: StabilityResult) -> str:
    """Say why trials were left out; a run may also have been cut short by something else."""
    if not r.stopped_early:
        return ""
    if r.settled:
        return ", stopped once the verdict was forced"
    if r.verdict == Outcome.NOT_CERTIFIED:
        return ', stopped once "stable" was ruled out'
    return ", cut short before the verdict was settled"


def _found(r: StabilityResult) -> str:
    if r.n_trials == 0:
        return ""
    change = f"the {moved(r.design)} moved by more than {allowed_in_sentences(r.epsilon, r.design)}"
    if not r.n_failures:
        return f"In {r.statistic:,} of them {change} ({_pvalue(r)})."
    return (
        f"In {r.statistic:,} of them {change} or the trial failed: {r.n_moved:,} moved, "
        f"{r.n_failures:,} failed ({_pvalue(r)})."
    )


def _pvalue(r: StabilityResult) -> str:
    """Name the p-value that decided, and how it counts what is not known."""
    unstable = r.verdict == Outcome.UNSTABLE
    unknown = ["unseen"] * r.stopped_early + ["failed"] * bool(r.n_failures)
    as_what = "as no change" if unstable else "as a larger change"
    counting = f", counting every {' or '.join(unknown)} trial {as_what}" if unknown else ""
    return f"p = {number(r.pvalue_unstable if unstable else r.pvalue)}{counting}"


def _coin(r: StabilityResult) -> str:
    """Say what was left to chance, where the randomised test was asked for."""
    if not r.randomized:
        return ""
    if r.n_trials == 0:
        return (
            f"A coin alone decided: without data the randomised test declares stable with "
            f"probability {number(r.alpha)}, whatever the algorithm."
        )
    return (
        f"The test was randomised: at exactly {r.critical_count:,} larger changes a coin decides, "
        f"for stable with probability {number(r.tie_probability)}."
    )


def limits(r: StabilityResult) -> str:
    """Say between which limits the probability lies, and how large a change may be."""
    if r.n_trials == 0:
        return ""
    low, high = r.delta_interval
    counted_as_anything = r.stopped_early and r.test == "binomial"  # a bet uses what it has seen
    wide = " (wide: unseen trials count as anything)" if counted_as_anything else ""
    delta, epsilon = exactly(r.delta), allowed_in_sentences(r.epsilon, r.design)
    change = f"by more than {at_most(r.epsilon_hat)} with probability at most {delta}"
    if math.isinf(r.epsilon_hat):
        change = f"these trials name no change whose probability is at most {delta}"
    return (
        f"Each at confidence {confidence(r.alpha)}: {perturbation(r.design)} moves a "
        f"{moved(r.design)} by more than {epsilon} with probability between "
        f"{at_least(low)} and {at_most(high)}; {change}{wide}.{_one_sided(r)}"
    )


def _one_sided(r: StabilityResult) -> str:
    """Name the limit that the verdict used, where the two-sided interval does not show it."""
    low, high = r.delta_interval
    if r.stable and high > r.delta:
        limit = f"at most {at_most(r.printed_delta_hat)}"
    elif r.verdict == Outcome.UNSTABLE and low <= r.delta:
        limit = f"at least {at_least(r.printed_delta_lower)}"
    else:
        return ""
    return f" The verdict uses the one-sided limit of that confidence: {limit}."


def facts_of_result(r: StabilityResult) -> dict[str, str]:
    """Return the numbers a reader looks up, under the names that all places show.

    Examples
    --------
    >>> from poise import Trials
    >>> facts_of_result(Trials.from_changes([0.1] * 30, n=5).test(0.2, 0.1))["delta between"]
    '0 and 0.1158'
    """
    together = {} if r.ledger is None else {"ledger": r.ledger.fact()}
    return {
        "trials": f"{r.n_observed:,} of {r.n_trials:,}",
        **larger_fact(SeenChanges.of(r)),
        "failed trials": f"{r.n_failures:,}",
        **pvalues(r),
        "confidence": f"{confidence(r.alpha)} for each of the limits",
        **facts_of_limits(r),
        "power ceiling": "none proved" if r.power_bound is None else at_most(r.power_bound),
        "fits": f"{r.n_fits:,}",
        "seed": "unknown" if r.design.seed < 0 else str(r.design.seed),
        **together,
    }


def facts_of_limits(r: StabilityResult | ConditionalResult) -> dict[str, str]:
    """Return the limits that go with the verdict and the two-sided ones, under their names.

    Examples
    --------
    >>> from poise import Trials
    >>> facts_of_limits(Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1))
    {'delta at most': '0.09504', 'delta between': '0 and 0.1158', 'epsilon at most': '0.1'}
    """
    low, high = r.delta_interval
    return {
        DELTA_LIMIT: at_most(r.printed_delta_hat),
        "delta between": f"{at_least(low)} and {at_most(high)}",
        EPSILON_LIMIT: at_most(r.epsilon_hat),
    }
