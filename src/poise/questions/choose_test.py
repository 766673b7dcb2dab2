"""Choose the test and the number of points, before the first fit.

The choice may depend only on the number of trials, δ, α, the coin and the cost. If
somebody looked at the changes first and then chose the test, its error level would not hold.
"""

from __future__ import annotations

from typing import NamedTuple

from poise.arguments import counted
from poise.procedures.checked_question import StabilityQuestion
from poise.procedures.trial_setup import TrialSetup
from poise.results.design import Design
from poise.theory.averaged_planning import trials_for_averaging
from poise.theory.plan_side_by_side import MOST_POINTS

__all__ = ["Choice", "choose_test"]

MOST_CHANGES = 2_000_000
"""All removals are taken by themselves up to so many changes in all, which are kept: 16 MB."""


class Choice(NamedTuple):
    """A test, and the removals and points of its trials.

    Attributes
    ----------
    test : str
        "binomial" or "averaged".
    removals, points : int or str
        R and T, as in :func:`poise.measure`.
    why : str
        One sentence for the result; empty where nothing was chosen.
    """

    test: str
    removals: int | str = 1
    points: int | str = 1
    why: str = ""


def choose_test(
    question: StabilityQuestion,
    setup: TrialSetup,
    paper: Design,
    begun: Design | None = None,
    *,
    free_removals: bool = False,
) -> Choice:
    """Choose the test that the question asks for; ``paper`` is the design with one change a trial.

    ``begun`` is the design of the journal that the run goes on with: its trials were chosen
    before its first fit. ``free_removals`` says that one fit of a trial serves all removals.

    Examples
    --------
    >>> design = Design("Ridge()", n=20, n_labeled=2000, n_unlabeled=1000)
    >>> question = StabilityQuestion(20, epsilon=0.1, delta=0.1)
    >>> choose_test(question, TrialSetup(20), design)[:3]
    ('averaged', 1, 10)
    """
    if question.test == "binomial":
        return Choice("binomial", setup.removals, setup.points or 1)
    if setup.averages:
        return Choice("averaged", setup.removals, setup.points or 1)
    points = _spare(paper)
    if question.test == "averaged":
        return Choice("averaged", 1, points if setup.points is None else 1)
    if setup.points == 1:
        return Choice("binomial", why=_because("binomial", "one point a trial was asked for"))
    removals = paper.n if free_removals and _can_be_kept(paper, points) else 1
    choice = _automatic(question, paper, removals, points)
    if begun is None or (choice.removals, choice.points) == (begun.removals, begun.points):
        return choice
    return _as_begun(begun)


def _can_be_kept(paper: Design, points: int) -> bool:
    return paper.is_papers and paper.n_trials * paper.n * points <= MOST_CHANGES


def _as_begun(begun: Design) -> Choice:
    """Go on with the trials of a journal, also of one that an older version began."""
    test = "averaged" if begun.shape else "binomial"
    changes = f"{counted(begun.removals, 'removal')} and {counted(begun.points, 'point')}"
    reason = f"the journal was begun with {changes} a trial"
    return Choice(test, begun.removals, begun.points, _because(test, reason))


def _spare(paper: Design) -> int:
    """Count the points that a trial can have without losing trials; at least 1."""
    return min(MOST_POINTS, paper.most_points)


def _automatic(question: StabilityQuestion, paper: Design, removals: int, points: int) -> Choice:
    if removals == points == 1:  # nothing to average: the averaged test would be the same
        reason = "there are no spare rows for more than one point a trial"
        return Choice("binomial", why=_because("binomial", reason))
    least = 0 if question.randomized else trials_for_averaging(question.delta, question.alpha)
    if paper.n_trials < least:
        have = "is" if paper.n_trials == 1 else "are"
        reason = (
            f"there {have} {counted(paper.n_trials, 'trial')}, and averaging pays from {least:,}"
        )
        if question.delta == 0:
            reason = "averaging never pays for delta = 0"
        return Choice("binomial", why=_because("binomial", reason))
    return Choice("averaged", removals, points, _because("averaged", _free(removals, points)))


def _free(removals: int, points: int) -> str:
    """Say what a trial gets without a further fit."""
    spare = f"the spare rows give each trial {counted(points, 'point')}"
    if removals == 1:
        return f"{spare} at no further fit"
    all_removals = f"one fit of a trial serves all of its {removals:,} removals"
    return all_removals if points == 1 else f"{all_removals}, and {spare} at no further fit"


def _because(test: str, reason: str) -> str:
    name = {"binomial": "Binomial", "averaged": "averaged"}[test]
    return f"The {name} test was chosen before the first fit: {reason}."
