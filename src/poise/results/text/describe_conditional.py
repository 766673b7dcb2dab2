"""Words for data-conditional results: what was asked of this training set, and found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise.arguments import counted
from poise.arguments.printed_numbers import (
    at_least,
    at_most,
    confidence,
    exactly,
    level_in_words,
    number,
)
from poise.protocol.messages import FIT_BY_FIT
from poise.results.text.conditional_sentences import (
    NO_OTHER_TRAINING_SET,
    certified_sentence,
    compared_rows,
    statement,
)
from poise.results.text.describe_result import facts_of_limits
from poise.results.text.summary import Summary
from poise.results.text.verdict_cells import SeenChanges, larger_fact, pvalues
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.conditional_design import ConditionalDesign
    from poise.results.conditional_result import ConditionalResult
    from poise.results.conditional_trials import ConditionalTrials

__all__ = [
    "describe_conditional",
    "describe_conditional_trials",
    "facts_of_conditional",
    "facts_of_conditional_trials",
]


def describe_conditional(r: ConditionalResult) -> Summary:
    """Say what was asked of this training set, what was found, and what it does not mean.

    Examples
    --------
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> from poise.results.conditional_trials import ConditionalTrials
    >>> design = ConditionalDesign("mean", "deployed", n=2, n_fresh=60)
    >>> record = ConditionalTrials(np.full((60, 2), 0.1), design)
    >>> print(describe_conditional(record.test(epsilon=0.2, delta=0.1)).headline)
    STABLE: mean on this training set of 2 rows (deployed, epsilon = 0.2, delta = 0.1, error \
level 0.05).
    """
    parts = [_verdict(r), _done(r), _found(r), _limits(r), _not_meant(r), _next(r)]
    return Summary(_headline(r), tuple(part for part in parts if part), r.warnings)


def _headline(r: ConditionalResult) -> str:
    tolerated = "" if r.gamma is None else f", gamma = {exactly(r.gamma)}"
    return (
        f"{r.verdict.value.upper()}: {r.design.title} on this training set of {r.n:,} rows "
        f"({r.notion}, epsilon = {exactly(r.epsilon)}, delta = {exactly(r.delta)}{tolerated}, "
        f"error level {level_in_words(r.alpha)})."
    )


def _verdict(r: ConditionalResult) -> str:
    if r.stable:
        return certified_sentence(r)
    if r.verdict == Outcome.UNSTABLE:
        return (
            f"For this training set and these seeds this is not so: {statement(r)}. A procedure "
            f"that says so says it falsely with probability at most {at_most(r.alpha)}."
        )
    open_question = "For this training set and these seeds it is not settled whether this is so"
    return f"{open_question}: {statement(r)}."


def _done(r: ConditionalResult) -> str:
    ran = f"{r.n_observed:,} of " if r.stopped_early else ""
    stop = ", stopped once the verdict was forced" if r.stopped_early and r.settled else ""
    if r.stopped_early and not r.settled:
        stop = ", cut short before the verdict was settled"
    trials = f"{ran}{counted(r.n_trials, 'trial')}{stop}"
    return f"{trials}, independent given the training set: {compared_rows(r.design)}{_path(r)}."


def _path(r: ConditionalResult) -> str:
    return "" if r.design.path == FIT_BY_FIT else f" ({r.design.path}, {r.n_fits:,} fits)"


def _found(r: ConditionalResult) -> str:
    if not r.n_observed:
        return ""
    failed = ""
    if r.n_failures:
        failed = (
            f" {counted(r.n_failures, 'trial')} failed at least in part; what failed counts as a "
            f'larger change against "stable" and as none for "unstable" ({_size(r, r.n_moved)}).'
        )
    return f"{_in_words(r)}{failed}"


def _in_words(r: ConditionalResult) -> str:
    if r.gamma is not None:
        return (
            f"In {exactly(r.statistic)} of them a share larger than {exactly(r.gamma)} moved by "
            f"more than {exactly(r.epsilon)} (p = {number(_pvalue(r))})."
        )
    unstable = r.verdict == Outcome.UNSTABLE
    course = r.trajectory_unstable if unstable else r.trajectory
    value = course[-1] if course else r.alpha
    return (
        f"The share that moved by more than {exactly(r.epsilon)} is {_size(r, r.statistic)}. A bet "
        f"that shares are {'large' if unstable else 'small'}, begun with {number(r.alpha)}, stands "
        f"at {number(value)} after {counted(len(course), 'trial')} (1 decides)."
    )


def _size(r: ConditionalResult, total: float) -> str:
    if r.gamma is not None:
        return f"{exactly(total)} without them"
    return f"{number(total / r.n_observed)} on average"


def _pvalue(r: ConditionalResult) -> float:
    return r.pvalue_unstable if r.verdict == Outcome.UNSTABLE else r.pvalue


def _limits(r: ConditionalResult) -> str:
    low, high = r.delta_interval
    what = (
        "the mean share" if r.gamma is None else f"the probability of a share > {exactly(r.gamma)}"
    )
    change = f"the smallest epsilon that would do is at most {at_most(r.epsilon_hat)}"
    if math.isinf(r.epsilon_hat):
        change = "no epsilon is known that would do"
    return (
        f"Each at confidence {confidence(r.alpha)}: {what} at epsilon = {exactly(r.epsilon)} is "
        f"between {at_least(low)} and {at_most(high)}; {change}."
    )


def _not_meant(r: ConditionalResult) -> str:
    accurate = "Nor does it say that predictions are accurate."
    if r.verdict in (Outcome.INCONCLUSIVE, Outcome.NOT_CERTIFIED):
        accurate = 'It does not mean "unstable" either.'
    return f"{NO_OTHER_TRAINING_SET} {accurate}"


def _next(r: ConditionalResult) -> str:
    if r.stable:
        return (
            "Next: deploy the model of exactly these rows (of a randomised algorithm, the model "
            f"whose random state is {r.design.training_seed}); after new rows or another seed, ask "
            "again with other fresh rows."
        )
    if r.verdict == Outcome.UNSTABLE:
        look = "look at the rows that matter most, " if r.notion == "deployed" else ""
        return (
            f"Next: {look}regularise or bag the algorithm, or allow a larger epsilon or delta; ask "
            "it of other fresh rows."
        )
    return (
        "Next: ask it of other fresh rows alone (these fresh rows tested again together with more "
        "would not keep the error level), or ask about a larger epsilon or delta, of other fresh "
        "rows too."
    )


def facts_of_conditional(r: ConditionalResult) -> dict[str, str]:
    """Return the numbers a reader looks up, under the names that all places show."""
    tolerated = "" if r.gamma is None else f", tolerated share {exactly(r.gamma)}"
    larger = larger_fact(SeenChanges.of(r))
    if r.gamma is not None:
        larger = {"trials with a larger share": exactly(r.n_moved)}
    return {
        "notion": r.notion,
        "test": f"{r.test}{tolerated}",
        "trials": f"{r.n_observed:,} of {r.n_trials:,}",
        **larger,
        "failed trials": f"{r.n_failures:,}",
        **pvalues(r),
        "e-value": number(r.e_value),
        "confidence": f"{confidence(r.alpha)} for each of the limits",
        **facts_of_limits(r),
        "fits": f"{r.n_fits:,}",
        "seed": str(r.design.seed),
        "seed of the model": str(r.design.training_seed),
    }


def describe_conditional_trials(record: ConditionalTrials) -> Summary:
    """Say in a few lines what was measured; nothing is judged.

    Examples
    --------
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> from poise.results.conditional_trials import ConditionalTrials
    >>> design = ConditionalDesign("mean", "deployed", n=2, n_fresh=60)
    >>> trials = ConditionalTrials(np.full((60, 2), 0.1), design)
    >>> print(describe_conditional_trials(trials).headline)
    mean on this training set of 2 rows (deployed): 60 trials, nothing judged yet.
    """
    design = record.design
    done = counted(record.n_observed, "trial")
    headline = f"{design.title} on {_training_set(design)}: {done}, nothing judged yet."
    rows = compared_rows(design)
    parts = [f"Changes: {_quantiles(record)}.", f"{rows[0].upper()}{rows[1:]}."]
    if record.failures:
        parts.append(f"{_failed(record)}.")
    return Summary(headline, (*parts, NO_OTHER_TRAINING_SET), record.warnings)


def facts_of_conditional_trials(record: ConditionalTrials) -> dict[str, str]:
    """Return what was measured, and how large the changes were."""
    design = record.design
    facts = {
        "algorithm": design.algorithm,
        "notion": design.notion,
        "rows": f"{design.n:,} training, {design.n_fresh:,} fresh",
        "trials": f"{record.n_observed:,} of {record.n_trials:,} ({record.n_fits:,} fits)",
        "a trial has": counted(design.changes_per_trial, "change"),
        "distance": design.distance,
        "seed": str(design.seed),
        "seed of the model": str(design.training_seed),
        "changes": _quantiles(record),
    }
    return facts | ({"failed": _failed(record)} if record.failures else {})


def _training_set(design: ConditionalDesign) -> str:
    return f"this training set of {design.n:,} rows ({design.notion})"


def _failed(record: ConditionalTrials) -> str:
    failed = counted(record.n_failures, "trial")
    return f"{failed} failed at least in part, first: {record.failures[0]}"


def _quantiles(record: ConditionalTrials) -> str:
    if not record.changes.size:
        return "none"
    known = np.where(np.isnan(record.changes), np.inf, record.changes)
    middle, high = np.quantile(known, [0.5, 0.9], method="inverted_cdf")
    largest = number(float(known.max()))
    return f"median {number(float(middle))}, 90% up to {number(float(high))}, largest {largest}"
