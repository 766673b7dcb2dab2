"""A plan, and what rows can answer, in words: before anything is fitted."""

from __future__ import annotations

from collections.abc import Sequence

from poise.checks import counted
from poise.numbers import at_least, at_most, exactly, level
from poise.results.tables import TextTable
from poise.theory.counts import clean_trials, trials_for_averaging
from poise.theory.planning import MenuRow, Plan

_TRIALS_BY_DEFAULT = 10_000  # max_trials


def plan_lines(plan: Plan) -> list[str]:
    """Say what the answer is, what it rests on, and what it does not promise."""
    lines = [_answer(plan), _trials(plan), _too_few(plan) or _power(plan), _cap(plan)]
    return [line for line in [*lines, _averaged(plan), _ceiling(plan)] if line]


def menu_table(
    menu: Sequence[MenuRow],
    *,
    delta: float = 0.1,
    alpha: float = 0.05,
    power: float = 0.8,
    unit: str = "row",
) -> TextTable:
    """Write what rows can answer, one line for each training size; the rest as given to ``menu``.

    Examples
    --------
    >>> from poise.theory.planning import menu
    >>> for line in menu_table(menu(500)[4:8]).text().splitlines()[:5]:
    ...     print(line)
    n   trials  fits  smallest delta  delta* up to
    25  19      38    0.1459          -
    16  29      58    0.09815         0.007665
    10  45      90    0.06441         0.004946
    7   62      124   0.04717         0.02485
    """
    caption = (
        f"Each trial takes n {unit}s to train on and one more to predict at. smallest delta: what "
        f"a run without a single larger change shows, at level {level(alpha)}. delta* up to: if "
        "larger changes have at most this probability, the Binomial test for delta = "
        f"{exactly(delta)} says stable with probability at least {exactly(power)}; - where it "
        "never does."
    )
    rows = [
        {
            "n": f"{row.n:,}",
            "trials": f"{row.n_trials:,}",
            "fits": f"{row.n_fits:,}",
            "smallest delta": "-" if row.smallest_delta is None else at_most(row.smallest_delta),
            "delta* up to": "-" if row.delta_star is None else at_least(row.delta_star),
        }
        for row in menu
    ]
    return TextTable.of(rows, caption)


def _answer(plan: Plan) -> str:
    return {
        "n_labeled": f"{counted(plan.n_labeled, _row(plan))} are needed.",
        "n": f"n can be at most {plan.n or 0:,}.",
        "delta": f"The smallest delta is {_delta(plan)}.",
        "alpha": f"The smallest alpha is {_alpha(plan)}.",
        "power": f"The {_reached(plan)}.",
    }[plan.solved_for]


def _trials(plan: Plan) -> str:
    m, rows = plan.n_trials, counted(plan.n_labeled, _row(plan))
    if plan.each:
        each = f" of {counted(plan.each, 'row')} each" if plan.each > 1 else ""
        return f"{rows} hold {counted(m, 'independent trial')}{each}."
    rows += f" and {plan.n_unlabeled:,} unlabelled ones" if plan.n_unlabeled else ""
    if not m:
        least = f"one trial needs {plan.rows_for(1):,} labelled rows"
        return f"{rows} hold no trial at n = {plan.n:,}: {least}."
    each = f"({plan.n:,} + {plan.fresh:,} new ones)" if plan.fresh else f"{plan.n:,}"
    trained = f"{m:,} x {each} = {m * (plan.n + plan.fresh):,} rows to train on"
    return (
        f"{rows} hold {counted(m, 'independent trial')} at n = {plan.n:,}: {trained} and {m:,} "
        f"others to predict at, {plan.n_fits:,} fits."
    )


def _row(plan: Plan) -> str:
    return "fresh row" if plan.each else "labelled row"


def _power(plan: Plan) -> str:
    truth = plan.delta_star
    often = f"change by more than epsilon with probability {exactly(truth)}"
    often = often if truth else "never change by more than epsilon"
    end = ", and less often if they do so more often; epsilon enters in no other way"
    if truth > plan.delta:
        end = "; such an algorithm is not stable"
    return (
        f"{_test(plan)} says stable with {_reached(plan, short=True)} if predictions {often}{end}."
    )


def _too_few(plan: Plan) -> str:
    least = clean_trials(plan.delta, plan.alpha)
    if plan.randomized or plan.n_trials >= least:
        return ""
    why = f"{counted(plan.n_trials, 'trial')}, and {least:,} are the least"
    return f"{_test(plan)} cannot say stable: {'nothing shows it' if plan.delta == 0 else why}."


def _test(plan: Plan) -> str:
    kind = "Binomial test with its coin" if plan.randomized else "Binomial test"
    return f"The {kind} for delta = {_delta(plan)} at level {_alpha(plan)}"


def _reached(plan: Plan, short: bool = False) -> str:
    """Write a power rounded down, and a probability of error rounded up."""
    if plan.delta_star > plan.delta:
        name = "probability" if short else "probability of a wrong verdict is"
        return f"{name} {at_most(plan.reached)}"
    return f"{'probability' if short else 'power is'} {at_least(plan.reached)}"


def _cap(plan: Plan) -> str:
    asked = f"max_trials={plan.n_trials}"
    if plan.n_trials > _TRIALS_BY_DEFAULT:
        return f"A test runs at most {_TRIALS_BY_DEFAULT:,} trials unless {asked} is given."
    if plan.solved_for not in ("n_labeled", "n") or plan.randomized or not plan.delta_star:
        return ""
    return (
        "More trials are not always better without the coin; "
        f"{asked} keeps the power from falling below {exactly(plan.power)}."
    )


def _averaged(plan: Plan) -> str:
    """Say what the averaged test adds where it is used."""
    if plan.averaged is None or not 0 < plan.delta_star < plan.delta or plan.each:
        return ""
    powers = " to ".join(dict.fromkeys(f"{power:.2g}" for power in plan.averaged))
    least = trials_for_averaging(plan.delta, plan.alpha)
    return (
        f"With test='auto' the averaged test reads {plan.points} test points of each trial (from "
        f"{least:,} trials on); its power is about {powers}: an estimate, which depends on how "
        "often several points of a trial change together."
    )


def _ceiling(plan: Plan) -> str:
    limit = at_most(plan.ceiling)
    if limit == "1" or plan.delta_star > plan.delta:
        return ""
    return (
        "Where responses and predictions are numbers, no valid black-box test has power above "
        f"{limit} with these rows."
    )


def _delta(plan: Plan) -> str:
    return at_most(plan.delta) if plan.solved_for == "delta" else exactly(plan.delta)


def _alpha(plan: Plan) -> str:
    return at_most(plan.alpha) if plan.solved_for == "alpha" else level(plan.alpha)
