"""Words for numbers: the summary of a result, as text and as a table."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from html import escape
from typing import TYPE_CHECKING

from poise.arguments import counted
from poise.results.text.describe_design import (
    compared,
    moved,
    perturbation,
    qualified,
    remarks,
    shortage,
)
from poise.results.text.needs import needed, smaller_size
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.stability_result import StabilityResult

__all__ = ["at_least", "at_most", "html", "number", "summary"]


def number(value: float | None) -> str:
    """Write a number with the digits a reader needs; None is what nobody knows.

    Examples
    --------
    >>> number(0.123456), number(math.inf), number(12345.6), number(1e-9)
    ('0.1235', 'infinity', '12,346', '1e-09')
    """
    if value is None:
        return "not known"
    if math.isinf(value):
        return "infinity"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def at_most(limit: float | None) -> str:
    """Write an upper limit as :func:`number` does, rounded up: less would not be one.

    Examples
    --------
    >>> at_most(0.123411), at_most(1234.1), at_most(0.5), at_most(None)
    ('0.1235', '1,235', '0.5', 'not known')
    """
    return _rounded(limit, ROUND_CEILING)


def at_least(limit: float | None) -> str:
    """Write a lower limit as :func:`number` does, rounded down.

    Examples
    --------
    >>> at_least(0.123489), at_least(1234.9), at_least(0.0)
    ('0.1234', '1,234', '0')
    """
    return _rounded(limit, ROUND_FLOOR)


def _rounded(limit: float | None, direction: str) -> str:
    if limit is None or math.isinf(limit):
        return number(limit)
    if abs(limit) >= 1000:
        return number(math.ceil(limit) if direction == ROUND_CEILING else math.floor(limit))
    return number(float(Context(prec=4, rounding=direction).create_decimal(repr(float(limit)))))


def summary(result: StabilityResult) -> str:
    """Return paragraphs: verdict, what was done, what was found, what it does not mean, next."""
    parts = [_headline(result), _done(result), _found(result), _coin(result), _limits(result)]
    parts += [*remarks(result.design), result.verdict.not_meant, _next_step(result)]
    return "\n".join(part for part in parts if part)


def _question(r: StabilityResult) -> str:
    return f"({number(r.epsilon)}, {number(r.delta)})-{qualified(r.design)}"


def _headline(r: StabilityResult) -> str:
    verdict = r.verdict.value.upper()
    level = f"error level {number(r.alpha)}"
    if r.verdict == Outcome.INCONCLUSIVE:
        return (
            f"{verdict}: whether {r.design.algorithm} is {_question(r)} is not settled ({level})."
        )
    word = "declared" if r.stable else "declared not to be"
    return f"{verdict}: {r.design.algorithm} is {word} {_question(r)} ({level})."


def _done(r: StabilityResult) -> str:
    if r.n_trials == 0:
        return f"The data hold no independent trial: {shortage(r.design)}. Nothing was fitted."
    ran = f"{r.n_observed:,} of " if r.stopped_early else ""
    stop = ", stopped once the verdict was forced" if r.stopped_early else ""
    failed = f", of which {r.n_failures} failed and count as changes" if r.n_failures else ""
    trials = counted(r.n_trials, "independent trial")
    return f"{ran}{trials}{stop}{failed}: {compared(r.design)}."


def _found(r: StabilityResult) -> str:
    if r.n_trials == 0:
        return ""
    p = r.pvalue if r.verdict != Outcome.UNSTABLE else r.pvalue_unstable
    return (
        f"In {r.statistic:,} of them the {moved(r.design)} moved by more than {number(r.epsilon)} "
        f"(p = {number(p)}{_unfinished(r)})."
    )


def _unfinished(r: StabilityResult) -> str:
    return ", counting every unseen trial against the verdict" if r.stopped_early else ""


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


def _limits(r: StabilityResult) -> str:
    if r.n_trials == 0:
        return ""
    wide = " (wide: unseen trials count as changes)" if r.stopped_early else ""
    change = f"by more than {at_most(r.epsilon_hat)} with probability at most {number(r.delta)}"
    if math.isinf(r.epsilon_hat):
        change = f"these trials name no change whose probability is at most {number(r.delta)}"
    return (
        f"At confidence {number(1 - r.alpha)}: {perturbation(r.design)} moves a "
        f"{moved(r.design)} by more than {number(r.epsilon)} with probability "
        f"{_probability(r)}; {change}{wide}."
    )


def _probability(r: StabilityResult) -> str:
    """Say how large the probability is at most; of an unstable algorithm, at least."""
    from poise.theory.estimates import delta_hat

    if r.verdict != Outcome.UNSTABLE:
        return f"at most {at_most(r.delta_hat)}"
    # The upper limit for the share of small changes; unseen trials count as such.
    small = float(delta_hat(r.n_trials - r.statistic, r.n_trials, r.alpha))
    return f"at least {at_least(1 - small)}"


def _next_step(r: StabilityResult) -> str:
    """Say what would change the answer."""
    if r.n_trials == 0:
        return f"Next: {_what_would_settle(r)}."
    if r.verdict == Outcome.STABLE:
        return "Next: train at this n with this algorithm; test again if either changes."
    if r.verdict == Outcome.UNSTABLE:
        return (
            "Next: regularise or bag the algorithm, train on more rows, or ask whether a larger "
            "epsilon or delta would still be acceptable."
        )
    return f"Next: {_what_would_settle(r)}."


def _what_would_settle(r: StabilityResult) -> str:
    from poise.theory.binomial_test import critical_count

    options = []
    if r.delta == 0:
        options.append("a delta above 0: no amount of data can certify that a change never occurs")
    elif critical_count(r.n_trials, r.delta, r.alpha) < 0:
        trials, units = needed(r.design, r.delta, r.alpha)
        options.append(
            f"{trials:,} trials are the least with which the plain test can certify "
            f"delta = {number(r.delta)} at this level ({units:,} labelled {r.design.unit}s; "
            f"{smaller_size(r.design, r.delta, r.alpha)}){_hopeless(r)}"
        )
    else:
        options.append(f"more {r.design.unit}s")
    if r.epsilon < r.epsilon_hat < math.inf:
        options.append(f"a larger epsilon ({at_most(r.epsilon_hat)} would have passed)")
    if r.delta < r.delta_hat < 1:
        options.append(f"a larger delta ({at_most(r.delta_hat)} would have passed)")
    caution = " (choose before looking at new data)" if len(options) > 1 else ""
    return "; or ".join(options) + caution


def _hopeless(r: StabilityResult) -> str:
    if r.power_bound is None or r.power_bound > 0.99:
        return ""
    return f"; no valid black-box test has more than {number(r.power_bound)} power here"


def html(result: StabilityResult) -> str:
    """Return the verdict and the numbers behind it as an HTML fragment."""
    rows = {
        "algorithm": result.design.algorithm,
        "question": f"is it {_question(result)}?",
        "trials": f"{result.n_observed:,} of {result.n_trials:,}",
        "larger changes": f"{result.statistic:,}",
        "p-value (stable)": number(result.pvalue),
        "p-value (unstable)": number(result.pvalue_unstable),
        "delta_hat": at_most(result.delta_hat),
        "epsilon_hat": at_most(result.epsilon_hat),
        "power ceiling": number(result.power_bound),
    }
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in rows.items()
    )
    title = f"{result.verdict.value} at level {number(result.alpha)}"
    return f"<table><caption><b>{escape(title)}</b></caption>{body}</table>"
