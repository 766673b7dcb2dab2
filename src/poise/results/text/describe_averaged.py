"""Words for the averaged test: what a share is, and how the bet went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.arguments import counted
from poise.arguments.printed_numbers import number
from poise.results.text.describe_design import allowed_in_sentences, moved, remarks
from poise.results.text.describe_result import done, facts_of_result, headline, in_ledger, limits
from poise.results.text.next_step import next_step
from poise.results.text.summary import Summary
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.averaged_result import AveragedResult
    from poise.results.design import Design
    from poise.results.monitor_status import MonitorStatus

__all__ = ["describe_averaged", "facts_of_averaged", "share_in_words", "share_of_a_trial"]


def describe_averaged(r: AveragedResult) -> Summary:
    """Say what was tested, what was found, what it does not mean, and what to do next.

    Examples
    --------
    >>> from poise import Trials
    >>> describe_averaged(Trials.from_changes([[[0.1, 0.2]]] * 30, n=5).test(0.2, 0.1)).headline
    'STABLE: unknown is declared (0.2, 0.1)-stable at n = 5 (error level 0.05).'
    """
    parts = [done(r)]
    if r.n_trials:
        parts += [share_in_words(r), _found(r)]
    parts += [r.why, _coin(r), limits(r), *remarks(r.design, r.power_bound)]
    parts += [r.verdict.not_meant, next_step(r), in_ledger(r)]
    return Summary(headline(r), tuple(part for part in parts if part), r.warnings)


def share_in_words(r: AveragedResult | MonitorStatus) -> str:
    """Explain in one sentence the fraction that a trial answers with.

    Examples
    --------
    >>> from poise import Trials
    >>> print(share_in_words(Trials.from_changes([[[0.1, 0.9]]] * 9, n=5).test(0.5, 0.1)))
    A trial answers with a fraction instead of yes or no: the share of its 2 points at which the \
prediction moved by more than 0.5; on average that share is the probability in question.
    """
    return share_of_a_trial(r.design, r.epsilon)


def share_of_a_trial(design: Design, epsilon: float) -> str:
    """Explain the same for any measurement whose trials have several changes."""
    removals = f"{design.removals} removals" if design.removals > 1 else ""
    points = counted(design.points, "point") if design.points > 1 or design.removals == 1 else ""
    among = " and ".join(part for part in (removals, points) if part)
    return (
        f"A trial answers with a fraction instead of yes or no: the share of its {among} at which "
        f"the {moved(design)} moved by more than {allowed_in_sentences(epsilon, design)}; on "
        "average that share is the probability in question."
    )


def _found(r: AveragedResult) -> str:
    unstable = r.verdict == Outcome.UNSTABLE
    course = r.trajectory_unstable if unstable else r.trajectory
    value = course[-1] if course else r.alpha
    bet = "large" if unstable else "small"
    return (
        f"{_mean(r)} A bet that they are {bet}, begun with {number(r.alpha)}, stands at "
        f"{number(value)} after {counted(r.n_used, 'trial')} (1 decides; e-value "
        f"{number(value / r.alpha)})."
    )


def _mean(r: AveragedResult) -> str:
    """Say how large the shares are; after failures, with and without what failed."""
    seen = max(1, r.n_observed)
    mean = number(r.statistic / seen)
    if not r.n_failures:
        return f"The shares are {mean} on average."
    failed = f"{counted(r.n_failures, 'trial')} failed at least in part"
    return (
        f"{failed}. The shares are {mean} on average with what failed counted as a larger change, "
        f'as it is against "stable", and {number(r.n_moved / seen)} without, as it is for '
        '"unstable".'
    )


def _coin(r: AveragedResult) -> str:
    if not r.randomized:
        return ""
    return (
        "The test was randomised: a coin declares stable with probability "
        f"{number(r.acceptance_probability)}, the value of the bet at its end."
    )


def facts_of_averaged(r: AveragedResult) -> dict[str, str]:
    """Return the numbers a reader looks up, under the names that all places show.

    Examples
    --------
    >>> from poise import Trials
    >>> facts_of_averaged(Trials.from_changes([[[0.1, 0.9]]] * 9, n=5).test(0.5, 0.1))["test"]
    'averaged over 1 removal and 2 points a trial'
    """
    over = f"{counted(r.removals, 'removal')} and {counted(r.points, 'point')}"
    facts = {"test": f"averaged over {over} a trial"} | facts_of_result(r)
    against = r.trajectory_unstable[-1] / r.alpha if r.trajectory_unstable else 1.0
    return facts | {"e-value, stable": number(r.e_value), "e-value, unstable": number(against)}
