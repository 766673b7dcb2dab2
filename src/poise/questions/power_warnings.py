"""Warnings before the first fit: no trials, or no chance of a certificate."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from poise.arguments import counted
from poise.arguments.printed_numbers import at_most, level_in_words
from poise.errors import PowerWarning
from poise.procedures.checked_question import StabilityQuestion
from poise.results.design import Design
from poise.results.text.describe_design import ceiling_in_words, shortage
from poise.results.text.rows_needed import largest_size, needed

__all__ = ["warn_if_empty", "warn_if_hopeless", "warn_of_few_trials"]

_WORTH_ASKING = 0.5  # a test with a smaller chance of success is not worth its fits
_EVEN_CHANCE = 0.5
_CALLER = 4  # this function, `Measurement.check`, the public function, and its caller


def warn_if_empty(design: Design) -> None:
    """Warn if there are too few rows for a single trial."""
    if design.n_trials == 0:
        warnings.warn(
            f"no trial can be run: {shortage(design)}. Ask about a smaller n",
            PowerWarning,
            stacklevel=_CALLER,
        )


def warn_if_hopeless(design: Design, question: StabilityQuestion, algorithms: int = 1) -> None:
    """Warn if not even a run without a large change could be declared stable.

    Each of several ``algorithms`` is tested at its share of their level, which the question has.
    """
    from poise.theory.binomial_test import power

    delta, alpha, randomized = question.delta, question.alpha, question.randomized
    at_best = power(design.n_trials, delta, 0.0, alpha, randomized=randomized)
    if at_best >= (_WORTH_ASKING if randomized else 1.0):
        return
    ceiling = design.ceiling(delta, alpha, question.epsilon)
    reason = ""
    if ceiling is not None and ceiling < _WORTH_ASKING:
        reason = f": {ceiling_in_words(design, ceiling)}"
    what = "can hardly certify" if randomized else "cannot certify"
    test = "the randomised test" if randomized else "the plain test"
    warnings.warn(
        f"with {counted(design.n_trials, 'trial')} at n = {design.n:,} {test} {what} delta = "
        f"{delta} at level {level_in_words(alpha, algorithms)}{reason}. "
        f"{_remedy(design, delta, alpha, summary_follows=algorithms == 1)}",
        PowerWarning,
        stacklevel=_CALLER,
    )


def warn_of_few_trials(designs: Sequence[Design], delta: float | None, level: float) -> None:
    """Warn of the training sizes that have too few trials for a useful limit.

    Without δ, a limit is useful if a run without a large change gives a limit below one half.
    """
    from poise.theory.binomial_test import critical_count

    asked = _EVEN_CHANCE if delta is None else delta
    few = [d for d in designs if d.n_trials and critical_count(d.n_trials, asked, level) < 0]
    if not few or asked == 0:
        return
    where = ", ".join(f"n = {d.n:,} ({counted(d.n_trials, 'trial')})" for d in few)
    what = "no epsilon is certified" if delta is not None else "no delta below 0.5 is certified"
    size = largest_size(few[0], asked, level)
    enough = "more rows are needed" if size is None else f"there are enough up to n = {size:,}"
    warnings.warn(
        f"too few trials at {where}: {what} there, whatever is seen "
        f"(level {at_most(level)} for each limit); {enough}",
        PowerWarning,
        stacklevel=_CALLER - 1,
    )


def _remedy(design: Design, delta: float, alpha: float, *, summary_follows: bool) -> str:
    if delta == 0:
        return "No amount of data can certify delta = 0; ask about a larger delta."
    # The summary of a result names the n and other questions; this would say them twice.
    size = largest_size(design, delta, alpha)
    smaller = "" if size is None else "a smaller n, " if summary_follows else f"n <= {size:,}, "
    return (
        f"You need {needed(design, delta, alpha)[1]:,} {_labelled_units(design)} at this n "
        f"(now {design.n_units:,}), {smaller}a larger delta or a larger alpha."
    )


def _labelled_units(design: Design) -> str:
    return "labelled rows" if design.unit == "row" else "groups"
