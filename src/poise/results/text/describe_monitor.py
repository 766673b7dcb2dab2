"""Words for a growing record: its evidence, its limits, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.arguments import counted
from poise.arguments.printed_numbers import at_least, at_most, confidence, exactly, number
from poise.results.text.describe_averaged import share_in_words
from poise.results.text.describe_design import compared, moved, perturbation
from poise.results.text.describe_result import headline
from poise.results.text.summary import Summary
from poise.results.text.verdict_cells import SeenChanges, larger_fact
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.monitor_status import MonitorStatus

__all__ = ["describe_monitor", "facts_of_monitor"]

_ANY_TIME = (
    "The error level holds for all looks together, however often you look and whether or not you "
    "add rows because of what you saw."
)
_ONE_DISTRIBUTION = (
    "All of this is about rows from one distribution: it does not watch for drift. If the rows "
    "have changed, a restart begins a new epoch, in which older evidence no longer counts."
)
_NEXT = {
    Outcome.STABLE: (
        "train at this n with this algorithm; fresh rows may go on to be added, and narrow the "
        "limits"
    ),
    Outcome.UNSTABLE: (
        "regularise or bag the algorithm, or train on more rows; another algorithm or question "
        "needs a record and rows of its own"
    ),
    Outcome.INCONCLUSIVE: "add fresh rows: the evidence goes on from where it stands",
}


def describe_monitor(r: MonitorStatus) -> Summary:
    """Say what was found so far, what it rests on, what it does not mean, and what is next.

    Examples
    --------
    >>> from poise.results.design import Design
    >>> from poise.results.monitor_status import MonitorStatus
    >>> quiet = (0.0,) * 60
    >>> status = MonitorStatus(Design("Ridge()", 20, 1260), 0.5, 0.1, 0.05, quiet, quiet)
    >>> describe_monitor(status).headline
    'STABLE: Ridge() is declared (0.5, 0.1)-stable at n = 20 (error level 0.05).'
    """
    parts = [_done(r), _shares(r), _found(r), _limits(r), _ANY_TIME, _contradiction(r)]
    parts += [_ONE_DISTRIBUTION, _epochs(r), r.verdict.not_meant, _waiting(r)]
    parts.append(f"Next: {_NEXT[r.verdict]}.")
    return Summary(headline(r), tuple(part for part in parts if part), r.warnings)


def _done(r: MonitorStatus) -> str:
    if not r.n_trials:
        return "No trial has been run yet."
    calls = counted(len(r.looks), "call")
    rows = counted(r.n_rows, "row")
    trials = counted(r.n_trials, "independent trial")
    return f"{trials} so far, in {calls} with {rows} in all: {compared(r.design)}."


def _shares(r: MonitorStatus) -> str:
    return share_in_words(r) if r.removals * r.points > 1 else ""


def _found(r: MonitorStatus) -> str:
    if not r.n_trials:
        return ""
    return f"{_counted(r)} {_evidence(r)}"


def _seen(r: MonitorStatus) -> SeenChanges:
    several = r.removals * r.points > 1
    return SeenChanges(sum(r.shares_unstable), r.n_trials, r.n_failures, several)


def _counted(r: MonitorStatus) -> str:
    """Say in how many trials the prediction moved; failures apart."""
    failed = ""
    if r.n_failures:
        failed = (
            f" ({counted(r.n_failures, 'trial')} failed at least in part: against "
            '"stable", and not for "unstable")'
        )
    if _seen(r).shares:
        return f"The shares are {number(r.statistic / r.n_trials)} on average{failed}."
    change = f"the {moved(r.design)} moved by more than {exactly(r.epsilon)}"
    larger = round(sum(r.shares_unstable))
    return f"In {larger:,} of them {change}{failed}."


def _evidence(r: MonitorStatus) -> str:
    when = "" if r.decided_at is None else f", as it did after {counted(r.decided_at, 'trial')}"
    return (
        f'The evidence for "stable" is {number(r.e_value)} (e-value) and that for "unstable" '
        f"{number(r.e_value_unstable)}; the first to reach {at_most(1 / r.alpha)} decides{when}."
    )


def _limits(r: MonitorStatus) -> str:
    if not r.n_trials:
        return ""
    return (
        f"{perturbation(r.design).capitalize()} moves a {moved(r.design)} by more than "
        f"{exactly(r.epsilon)} with probability at most {at_most(r.delta_hat)} and at least "
        f"{at_least(r.delta_lower)}: each limit holds at all times together with confidence "
        f"{confidence(r.alpha)}."
    )


def _contradiction(r: MonitorStatus) -> str:
    if not r.contradicted:
        return ""
    return (
        "The evidence for the opposite has reached the same threshold since then. With rows from "
        f"one distribution that has probability at most {at_most(r.alpha)}: suspect drift."
    )


def _epochs(r: MonitorStatus) -> str:
    if r.epoch == 1:
        return ""
    together = at_most(min(1.0, r.epoch * r.alpha))
    return (
        f"This is epoch {r.epoch}; trials of earlier epochs do not count. Each epoch has an error "
        f"level of its own: that one of the {r.epoch} verdicts is wrong has probability at most "
        f"{together}."
    )


def _waiting(r: MonitorStatus) -> str:
    parts = []
    if r.n_unfinished:
        parts.append(
            f"The last call was interrupted, and {counted(r.n_unfinished, 'trial')} of it "
            "{} missing: give its rows again to finish it.".format(
                "is" if r.n_unfinished == 1 else "are"
            )
        )
    if r.n_leftover:
        were = "was" if r.n_leftover == 1 else "were"
        parts.append(f"{counted(r.n_leftover, 'row')} {were} too few for a trial: not used yet.")
    return " ".join(parts)


def facts_of_monitor(r: MonitorStatus) -> dict[str, str]:
    """Return the numbers a reader looks up, under the names that all places show.

    Examples
    --------
    >>> from poise.results.design import Design
    >>> from poise.results.monitor_status import MonitorStatus
    >>> quiet = (0.0,) * 60
    >>> status = MonitorStatus(Design("Ridge()", 20, 1260), 0.5, 0.1, 0.05, quiet, quiet)
    >>> facts_of_monitor(status)["e-value, stable"]
    '91.08'
    """
    return {
        "epoch": f"{r.epoch:,}",
        "trials": f"{r.n_trials:,}",
        "rows used": f"{r.n_rows:,}",
        **larger_fact(_seen(r)),
        "failed trials": f"{r.n_failures:,}",
        "e-value, stable": number(r.e_value),
        "e-value, unstable": number(r.e_value_unstable),
        "decides at": at_most(1 / r.alpha),
        "confidence": f"{confidence(r.alpha)} for each of the limits, at all times together",
        "upper limit": at_most(r.delta_hat),
        "lower limit": at_least(r.delta_lower),
        "seed": str(r.design.seed),
    }
