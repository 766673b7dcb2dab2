"""A plan in words: what was asked, what the answer is, and what it does not promise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from poise.arguments import counted
from poise.arguments.printed_numbers import at_least, at_most, exactly, level_in_words
from poise.theory.averaged_planning import trials_for_averaging

if TYPE_CHECKING:
    from poise.results.plan_result import Plan

__all__ = ["delta_in_words", "note", "summary"]


def summary(p: Plan) -> str:
    """Say what was asked, what the answer is, and what it does not promise."""
    parts = [_question(p), _answer(p), _variant(p), _assumed(p), _ceiling(p), note(p)]
    parts += [_proviso(p), _side_by_side(p)]
    return "\n".join(part for part in parts if part)


def note(p: Plan) -> str:
    """Say what the answer alone does not show; nothing if there is nothing."""
    return " ".join(part for part in (_dip(p), _does_not_pay(p), _not_a_power(p)) if part)


def delta_in_words(p: Plan) -> str:
    """Write δ: all digits of one that was asked for, and the answer rounded up.

    Examples
    --------
    >>> import poise
    >>> delta_in_words(poise.plan(n=100, n_labeled=5000, delta=0.123456))
    '0.123456'
    >>> delta_in_words(poise.plan(n=100, n_labeled=5000, power=0.9))
    '0.05931'
    """
    return at_most(p.delta) if p.solved_for == "delta" else exactly(p.delta)


def _question(p: Plan) -> str:
    asked = {
        "n_labeled": f"With how many labelled {_units(p)} is",
        "n": "Up to which training size n is",
        "delta": "For how small a delta is",
        "alpha": "At how small an error level alpha is",
        "power": "With which probability is",
    }
    aim = "" if p.solved_for == "power" else f" with probability at least {exactly(p.power)}"
    return (
        f"{asked[p.solved_for]} an algorithm declared stable{aim}, if its predictions change by "
        f"more than epsilon with probability {exactly(p.delta_star)}?"
    )


def _answer(p: Plan) -> str:
    answer = {
        "n_labeled": f"{p.n_labeled:,} labelled {_units(p)}",
        "n": f"n = {p.n:,}",
        "delta": f"delta = {delta_in_words(p)}",
        "alpha": f"alpha = {at_most(p.alpha)}",
        "power": f"probability {at_least(p.achieved_power)}",
    }
    kind = "randomised" if p.randomized else "plain"
    test, about = f"{kind} Binomial test", ""
    if p.test == "averaged":
        test, about = "averaged test", "about "
    points = f" of {counted(p.points, 'point')} each" if p.points > 1 else ""
    return (
        f"Answer: {answer[p.solved_for]}. At n = {p.n:,}, {_rows(p)} hold "
        f"{counted(p.n_trials, 'independent trial')}{points} "
        f"({p.n_fits:,} fits); the {test} for delta = {delta_in_words(p)} at level "
        f"{level_in_words(p.level, p.algorithms)} then has power "
        f"{about}{at_least(p.achieved_power)}."
    )


def _assumed(p: Plan) -> str:
    """Say what the averaged test's power rests on."""
    if p.test != "averaged":
        return ""
    return (
        f"This assumes that the shares S of the trials have spread E S^2 / E S = "
        f"{at_most(p.spread or 1.0)}: a planning value, not a guarantee. {_seen()} The error level "
        "holds whatever the spread."
    )


def _seen() -> str:
    return (
        "At 20 points trees, ridge and nearest neighbours had spreads from 0.13 to 0.31; with "
        "a spread of 1 nothing is gained."
    )


def _does_not_pay(p: Plan) -> str:
    least = trials_for_averaging(p.delta, p.level)
    if p.test != "averaged" or p.randomized or p.n_trials > least:
        return ""
    return (
        f"Averaging pays from {least:,} trials on; with fewer the Binomial test is the better one."
    )


def _side_by_side(p: Plan) -> str:
    if p.delta_star == 0:
        return (
            "Where no change exceeds epsilon, averaging gains nothing: plan for a true "
            "probability above 0 to see the averaged test beside the Binomial test."
        )
    if not p.needs:
        return ""
    binomial, *averaged = p.needs
    trials = _from_to(f"{needs.n_trials:,}" for needs in averaged)
    rows = _from_to(f"{needs.n_labeled:,}" for needs in averaged)
    points = _from_to(f"{needs.points:,}" for needs in averaged)
    spreads = _from_to(at_most(needs.spread) for needs in averaged)
    return (
        f"Side by side, for power {exactly(p.power_compared)}: the Binomial test needs "
        f"{counted(binomial.n_trials, 'trial')} ({binomial.n_labeled:,} labelled {_units(p)}), the "
        f"averaged test about {trials} trials of {points} points ({rows} labelled {_units(p)}) if "
        f"its shares have spread {spreads}: planning values, not a guarantee."
    )


def _from_to(words: Iterable[str]) -> str:
    """Join different words by "to".

    Examples
    --------
    >>> _from_to(["142", "77"]), _from_to(["9", "9"])
    ('142 to 77', '9')
    """
    return " to ".join(dict.fromkeys(words))


def _units(p: Plan) -> str:
    return f"{p.per_trial.unit}s"


def _rows(p: Plan) -> str:
    of = " groups" if p.groups else ""
    return f"{p.n_labeled:,} labelled{of} and {p.n_unlabeled:,} unlabelled rows"


def _variant(p: Plan) -> str:
    """Say how a trial differs from the paper's."""
    if p.per_trial.is_papers:
        return ""
    said = []
    unit = p.per_trial.unit
    if p.replace:
        said.append(f"{counted(p.remove, f'fresh {unit}')} in the place of as many removed")
    elif p.remove > 1:
        said.append(f"{p.remove} {unit}s removed")
    if p.groups:
        said.append("n counts groups")
    if p.losses:
        said.append("losses are compared, so unlabelled rows cannot serve")
    return f"In each trial: {'; '.join(said)}."


def _ceiling(p: Plan) -> str:
    if p.ceiling is None:
        return "No ceiling on the power of other tests is known for this variant."
    if at_most(p.ceiling) == "1":
        return (
            "The ceiling on the power of every valid black-box test is 1 here: it limits nothing."
        )
    return (
        "Where responses and predictions are numbers, no valid black-box test has power above "
        f"{at_most(p.ceiling)} with these rows."
    )


def _dip(p: Plan) -> str:
    if p.dips_at is None:
        return ""
    if p.solved_for == "n":
        safe = "even n = 2 does not meet it"
        if p.holds_from is not None:
            safe = f"every n up to {p.holds_from:,} meets it"
        return (
            f"A smaller n is not always better: at n = {p.dips_at:,} the plain test, with more "
            f"trials, falls short of {exactly(p.power)} again; {safe}."
        )
    return (
        f"More {_units(p)} are not always better: with {p.dips_at:,} labelled {_units(p)} the "
        f"plain test falls short of {exactly(p.power)} again; from {p.holds_from:,} {_units(p)} on "
        "it does not."
    )


def _not_a_power(p: Plan) -> str:
    if p.delta_star <= p.delta:
        return ""
    return (
        f"An algorithm with delta* = {exactly(p.delta_star)} > delta is not stable: the figure is "
        "the probability of declaring it stable in error."
    )


def _proviso(p: Plan) -> str:
    return (
        f"If they do so with a probability above {exactly(p.delta_star)}, the test is less likely "
        "to declare stable; epsilon enters in no other way."
    )
