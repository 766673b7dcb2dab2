"""A result in five lines, and measured changes in a few: every number rounded to the safe side."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from poise.checks import counted
from poise.numbers import at_least, at_most, confidence, exactly, level, number, percent
from poise.numbers import without_noise as tidy

if TYPE_CHECKING:
    from poise.results.design import Design
    from poise.results.result import Result
    from poise.results.trials import Trials

ASKED_AFTER = (
    "Asked after the fits: the level holds only if ε and δ were chosen without looking at the "
    "changes."
)
_NAMED = 5  # rows that leave are named by their numbers, counting from 0, if they are so few
_QUANTILES = (0.5, 0.3, 0.2, 0.1, 0.05)


def summary(result: Result) -> list[str]:
    """Return warnings about the level, the five lines, and whether the question came later."""
    lines = [_verdict(result), _seen(result), _limits(result), _about(result)]
    after = [ASKED_AFTER] if result.asked == "after" and result.n_observed else []
    return [*warned(result.warnings), *filter(None, lines), f"Next: {_step(result)}.", *after]


def warned(warnings: tuple[str, ...]) -> list[str]:
    """Return the lines that stand above everything that is said."""
    return [f"Warning: {text}" for text in warnings]


# what is asked: the only wording of it


def subject(design: Design) -> str:
    """Name the algorithm and its training size, or the training set that is given."""
    if design.notion == "changed":
        return design.title
    this = "" if design.notion == "new" else "this training set of "
    return f"{design.title} trained on {this}{counted(design.n, design.unit)}"


def change(design: Design) -> str:
    """Say what is done to the training set: "removing one of them"."""
    if design.notion != "new":
        return _change_given(design)
    one, k = design.remove == 1, f"{design.remove:,}"
    which, shuffled = f"{'one' if one else k} of them", ""
    if not design.order_free and design.position == "uniform":
        which += f", wherever {'it stands' if one else 'they stand'},"
    elif not design.order_free:
        which = "the last of them" if one else f"the last {k} of them"
        shuffled = f" ({design.unit}s were shuffled)" if design.shuffle else ""
    if not design.replace:
        return f"removing {which}{shuffled}"
    return f"replacing {which} by {'a new one' if one else 'new ones'}{shuffled}"


def _change_given(design: Design) -> str:
    """Say what is done to the training set that is given, or to the model."""
    new = f"{design.batch:,} new {design.unit}s" if design.batch > 1 else f"one new {design.unit}"
    gone = design.without
    few = f"row{'s' * (len(gone) > 1)} {', '.join(map(str, gone))}" * (len(gone) <= _NAMED)
    named = f" ({design.without_as_typed or few})" if design.without_as_typed or few else ""
    return {
        "deployed": "removing one of them, drawn at random,",
        "without": f"removing {len(gone):,} of them{named}",
        "update": f"training it again with {new}",
        "add-one": f"adding {new}",
        "jackknife": f"adding {new} to all of them but one, drawn at random,",
        "changed": "replacing old by new",
    }[design.notion]


def effect(design: Design, epsilon: str) -> str:
    """Say what happens then, if it is a larger change: "changes the prediction for a new row"."""
    row = "a new row" if design.n_groups is None else "a row of a new group"
    row = "the one that is left out" if design.notion == "jackknife" else row
    if design.distance == "label":
        return f"changes the predicted label of {row}"
    if not design.sized:
        return f"changes whether the prediction for {row} is right"
    loss = design.distance.removeprefix("change of ")
    what = f"the {loss} at" if design.compares == "losses" else "the prediction for"
    return f"changes {what} {row} by more than {epsilon}"


def _claim(result: Result, relation: str, failing: str = "") -> str:
    """State the claim of a verdict; ``relation`` is "at most" or "above"."""
    design, delta = result.design, exactly(result.delta)
    if design.compares == "decisions":
        much = "more than" if relation == "above" else relation
        return (
            f"{change(design)} changes on average {much} a share of {delta} of the decisions on "
            f"{counted(design.points, 'new row')} ({design.distance})"
        )
    if result.question.gamma is None:
        said = f"{change(design)} {effect(design, _allowed(result))}{failing}"
    else:  # a share of the rows is tolerated
        share = f"more than a share of {exactly(result.question.gamma)}"
        who = f"{share} of them, each removed by itself,"
        if design.notion == "jackknife":
            who = f"adding one new row lets {share} of the models without one of them"
        said = f"{who} {effect(design, _allowed(result)).replace('changes', 'change', 1)}"
    return f"{said} with probability {relation} {delta}"


def _allowed(result: Result) -> str:
    design, asked = result.design, result.trials.asked
    if design.epsilon_as_typed and asked is not None and asked.epsilon == result.epsilon:
        share = design.epsilon_as_typed.removesuffix("of sd").strip()
        rows = f"{design.set_aside:,} rows" if design.set_aside else "the responses"
        return f"{exactly(result.epsilon)} ({share} of the sd of {rows})"
    return exactly(result.epsilon)


# the five lines


def _verdict(result: Result) -> str:
    chosen_from = result.design.chosen_from
    head = f"{subject(result.design)}."
    wrong = level(tidy(min(1.0, result.alpha * chosen_from)))
    among = f", whichever of {chosen_from:,} sets of rows was chosen" if chosen_from > 1 else ""
    sure = f"(this verdict is wrong with probability at most {wrong}{among})"
    if (size := result.question.size) > 1:
        sure = f"(any of the {size} wrongly called {result.verdict}: at most {wrong})"
    if result.verdict == "inconclusive":
        claim = _claim(result, "at most")
        return f"INCONCLUSIVE: {head} Not decided: whether {claim} ({result.reason})."
    failing = ", or fails," if result.stable and result.n_failures else ""
    claim = _claim(result, "at most" if result.stable else "above", failing)
    return f"{result.verdict.upper()}: {head} {claim[0].upper()}{claim[1:]} {sure}."


def _seen(result: Result) -> str:
    design, zeta = result.design, number(result.trials.zeta)
    coin = f"; coin {zeta}; a repeat must use this result" if design.randomized else ""
    return _observed(result, _larger(result), _pvalues(result), coin)


def _observed(answer: Result | Trials, said: str, p: str = "", coin: str = "") -> str:
    """Say what was seen, in which trials, by which seed."""
    design, m, failed = answer.design, answer.n_observed, answer.n_failures
    if not m:
        return f"Seen: no trial. One takes {design.needed()}."
    ran = f"in the first {m:,} of {answer.n_trials:,} trials, stopped early, "
    seed = f"seed {design.seed}" if design.from_rows else ""
    beside = "; ".join(filter(None, [p, seed])) + coin
    beside = f" ({beside})" if beside else ""
    ends = f"; {failed:,} of {counted(m, 'trial')} failed." if failed else "."
    return f"Seen: {ran if answer.stopped_early else ''}{said}{beside}{ends}"


def _larger(result: Result) -> str:
    """Say how many changes were larger, among those that the test reads."""
    design, changes, m = result.design, result.changes, result.n_observed
    share, in_trials = _share(result.trials.observed(result.epsilon)), f" in {counted(m, 'trial')}"
    what, did = _moved(design)
    if design.compares == "decisions":
        return f"{share} of the decisions changed on average{in_trials}"
    if (gamma := result.question.gamma) is not None:
        beyond = f"a share of larger changes above {exactly(gamma)}"
        return f"{larger_changes(result, 'trial')} had {beyond}"
    found = larger_changes(result, what)
    one = found.startswith("1 of ") or " of 1 " in found
    if _averages(result):
        found += "" if result.stopped_early else in_trials
    elif changes.size > m:
        found += f" ({share} of all {changes.size:,})"
    larger = f"{'was' if one else 'were'} larger than {exactly(result.epsilon)}"
    return f"{found} {larger if design.sized else did}"


def _averages(result: Result) -> bool:
    """Whether the test reads shares of several changes, not one change for each trial."""
    several = result.design.shape != (1, 1)
    return result.test == "averaged" or (result.test == "open-ended" and several)


def _moved(design: Design) -> tuple[str, str]:
    """Name what may change, and what it does then where that has no size."""
    if design.sized:
        return "change", ""
    label = design.distance == "label"
    return ("label", "changed") if label else ("prediction", "changed between right and wrong")


def larger_changes(result: Result, what: str = "") -> str:
    """Count larger changes among those that the test reads: "0 of 40", or "3.7% of 240"."""
    total = result.changes.size if _averages(result) else result.n_observed
    if _averages(result):
        found = _share(result.trials.observed(result.epsilon))
    else:
        found = f"{round(result.delta_observed * total) if total else 0:,}"
    return f"{found} of {counted(total, what) if what else f'{total:,}'}"


def _pvalues(result: Result) -> str:
    shown = ["stable", "unstable"] if result.verdict == "inconclusive" else [result.verdict]
    said = ", ".join(f'{pvalue(result, side)} for "{side}"' for side in shown)
    size = result.question.size
    return f"p = {said}{f', adjusted for {size}' if size > 1 else ''}"


def pvalue(result: Result, side: str) -> str:
    """Write a p-value rounded up, but not beyond the level that it reaches."""
    p = result.pvalue_unstable if side == "unstable" else result.pvalue
    return _upper(p, result.alpha, p <= result.alpha)


def _upper(limit: float, bound: float, below: bool) -> str:
    """Write an upper limit rounded up, but not beyond a bound that it keeps."""
    rounded = at_most(limit)
    return exactly(bound) if below and float(rounded.replace(",", "")) > bound else rounded


def _share(share: float) -> str:
    return f"{number(100 * share, 3)}%"


def _limits(result: Result) -> str:
    """State the limits that agree with the verdict and say more than it does."""
    what = _chance(result.design)
    what += " of a larger share" if result.question.gamma is not None else ""
    limit = limit_of_delta(result)
    if result.contradicted:
        low, high = result.delta_interval
        limit = f"between {at_least(low)} and {at_most(high)}"
    sure = f"With {confidence(result.question.level)} confidence,"
    said = filter(None, [f"{what} is {limit}" if limit else "", _limit_of_epsilon(result)])
    return " ".join(f"{sure} {text}." for text in said)


def _chance(design: Design) -> str:
    return "the mean share" if design.compares == "decisions" else "the probability"


def limit_of_delta(result: Result) -> str:
    """Write the limit for the probability of a larger change, unless the verdict excludes it."""
    delta, upper, lower = result.delta, result.delta_upper, result.delta_lower
    if result.verdict == "unstable":
        return f"at least {at_least(lower)}" if lower >= delta else ""
    if upper >= 1 or (upper <= delta) != result.stable:
        return ""
    return f"at most {_upper(upper, delta, result.stable)}"


def _limit_of_epsilon(result: Result) -> str:
    upper, lower, epsilon = result.epsilon_upper, result.epsilon_lower, result.epsilon
    if upper is None or lower is None or epsilon is None or not result.delta:
        return ""
    if result.stopped_early or result.contradicted or result.question.gamma is not None:
        return ""  # trials that were not run count as any change
    share = percent(result.delta)
    if result.verdict == "unstable":
        shown = f"at least {share} of changes are {at_least(lower)} or larger"
        return shown if epsilon < lower < math.inf else ""
    if math.isinf(upper) or (upper <= epsilon) != result.stable:
        return ""
    return f"at most {share} of changes exceed {_upper(upper, epsilon, result.stable)}"


def _about(result: Result) -> str:
    """Say what the verdict is not about."""
    design, unit = result.design, result.design.unit
    if design.notion == "changed":
        valid = "This holds if the fresh rows trained, tuned or chose neither model"
        return f"{valid}; it is not about accuracy."
    if design.notion != "new":
        model = f"the model of these {counted(design.n, unit)}, not about other training sets"
        nothing = f"the fresh {unit}s must have chosen nothing"
        return f"This is about {model}, and not about accuracy; {nothing}."
    total = design.n_labeled + design.set_aside if design.n_groups is None else design.n_groups
    which = f"all {total:,}" if total > design.n else "these"
    model = f", not about the model of {which}" if design.from_rows else ""
    sets = f"This is about new training sets of {counted(design.n, unit)}"
    return f"{sets}{model}, and not about accuracy."


def _step(result: Result) -> str:
    design, unit, fresh = result.design, result.design.unit, f"unseen {result.design.unit}s"
    if result.stable:
        return _after_stable(result, fresh)
    if result.verdict == "unstable":
        if design.notion == "changed":
            return "look at the rows whose predictions change most: trials.to_frame() lists them"
        if design.all_leave:
            return "see which rows matter: trials.influence(epsilon) lists them"
        return f"regularize it or train on more {unit}s, then test on {fresh}"
    if result.test == "open-ended" and result.least_trials < math.inf:
        again = f"repeat the call that was interrupted, with the same {unit}s"
        return again if result.stopped_early else f"add {fresh}"
    if design.n_trials < result.least_trials:
        return design.remedy(result.least_trials)
    if result.stopped_early:
        return "compare without race=True" if result.raced else "run the other trials"
    failed = f"fix what made trials fail, then test on {fresh}"
    return failed if result.n_failures else f"test again, only on {fresh}"


def _after_stable(result: Result, fresh: str) -> str:
    design = result.design
    still = not (result.n_failures or result.trials.changes.any())
    if still and (design.sized or design.notion == "changed"):
        two = "these are two models" if design.notion == "changed" else ""
        learns = two or "the algorithm learns from its rows"
        return f"make sure that {learns}: no prediction moved at all"
    if design.notion != "new":
        return f"use this model. After the next training, test again on {fresh}"
    if result.n_failures:
        return "see why trials failed: result.trials.failures lists the reasons"
    such = f"train on {counted(result.n, design.unit)} such as these"
    if result.test == "open-ended":
        return f"{such}. You may go on adding {fresh}: the level holds at all times"
    return f"{such}. To test another algorithm or size, use {design.unit}s this test has not seen"


# changes that were only measured


def measured(trials: Trials) -> list[str]:
    """Say how large the changes are, at 95% confidence: a limit, a band, what could be shown."""
    design = trials.design
    what = "changes decisions" if design.compares == "decisions" else effect(design, "…")
    size = ", and by how much" if design.sized else ""
    often = f"how often {change(design)} {what.removesuffix(' by more than …')}{size}"
    lines = [f"{subject(design)}: {often}.", _measured_seen(trials), _measured_limit(trials)]
    return [*warned(trials.warnings), *filter(None, [*lines, _band(trials), _least(trials)])]


def _measured_seen(trials: Trials) -> str:
    if not trials.design.sized:
        return _observed(trials, _larger(trials.test(delta=trials.delta)))
    known = trials.changes[~np.isnan(trials.changes)]
    said = f"{counted(trials.changes.size, 'change')} in {counted(trials.n_observed, 'trial')}"
    if known.size:
        said += f", median {number(float(np.median(known)))}, largest {number(float(known.max()))}"
    return _observed(trials, said)


def _measured_limit(trials: Trials) -> str:
    design, delta, alpha = trials.design, trials.delta, trials.design.level
    limit, sure = trials.epsilon_upper(delta, alpha), f"With {confidence(alpha)} confidence,"
    if limit is None:
        chance = at_most(trials.delta_upper(alpha=alpha))
        if design.distance == "label":
            return f"{sure} the predicted label changes with probability at most {chance}."
        return f"{sure} {_chance(design)} is at most {chance}."
    if math.isinf(limit):
        return f"{sure} nothing can be said about the largest {percent(delta)} of changes."
    said = f"at most {percent(delta)} of changes exceed {at_most(limit)}{_compared(trials, limit)}"
    if design.notion != "new":
        return f"{sure} {said}."
    return (
        f"{sure} {said}. With the same confidence it is (ε, {exactly(delta)})-stable for every "
        f"ε ≥ {at_most(limit)}; no further test on these rows is needed."
    )


def _compared(trials: Trials, limit: float) -> str:
    """Compare a change with the sd of the responses and with the mean prediction error."""
    design = trials.design
    if design.compares != "predictions" or design.response != "predict":
        return ""
    parts = []
    if design.sd is not None:
        of = f"{design.set_aside:,}" if design.set_aside else "the"
        parts.append(f"{_share(limit / design.sd)} of the sd of {of} responses")
    if trials.error > 0 and design.n_classes is None:
        parts.append(f"{_share(limit / trials.error)} of the mean prediction error")
    return f" ({', '.join(parts)})" if parts else ""


def _band(trials: Trials) -> str:
    """State limits that hold for all shares at once."""
    alpha = trials.design.level
    profile = trials.profile(alpha) if trials.n_observed else None
    if profile is None:
        return ""
    found = [(share, profile.epsilon_for(share)) for share in _QUANTILES]
    smallest = {limit: share for share, limit in found if limit < math.inf}  # others are implied
    said = [f"{percent(share)} exceed {at_most(limit)}" for limit, share in smallest.items()]
    sure = f"All of these at once, with {confidence(alpha)} confidence: at most"
    return f"{sure} {', '.join(said)}." if said else ""


def _least(trials: Trials) -> str:
    """Say the smallest δ that these trials can show: their limit if nothing had moved."""
    if not trials.n_observed:
        return ""
    still = replace(trials, changes=np.zeros_like(trials.changes))
    limit = at_most(still.delta_upper(trials.design.least_epsilon, trials.design.level))
    return f"The smallest δ that {counted(trials.n_observed, 'trial')} can show is {limit}."
