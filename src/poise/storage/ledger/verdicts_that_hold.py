"""Which verdicts hold together, by the rule that the ledger was begun with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poise.storage.ledger.entries import AskedQuestion, LedgerAnswer, LedgerHeader
from poise.storage.ledger.investing import accounts_of
from poise.theory.decision import declares, three_way
from poise.theory.holm_correction import holm
from poise.theory.online_levels import online_fallback

__all__ = ["Standing", "invested_standings", "standings"]

_DECLARED = ("stable", "unstable")


@dataclass(frozen=True)
class Standing:
    """Where a question stands among all questions of its data set.

    Attributes
    ----------
    question : AskedQuestion
        The question.
    answer : LedgerAnswer or None
        Its answer; None if its run did not end.
    alone : str
        "stable", "unstable" or "inconclusive" by its own p-values at the level of the ledger;
        "unanswered".
    holds : bool or None
        Whether this verdict holds together with the others; None if there is none to hold.
    level : float or None
        The level that alpha-investing left it; None with other rules.
    spoilt : str
        Why alpha-investing cannot count it, though it was answered.
    """

    question: AskedQuestion
    answer: LedgerAnswer | None
    alone: str
    holds: bool | None
    level: float | None = None
    spoilt: str = ""

    @property
    def claimed(self) -> tuple[str, bool | None]:
        """What the call said, at its own level, and whether that holds together with the others.

        A call with a larger level than the ledger may say more than holds.
        """
        if self.answer is None:
            return self.alone, None
        said = [each for each in self.answer.verdict.split(" / ") if each in _DECLARED]
        return self.answer.verdict, (self.alone in said and bool(self.holds)) if said else None

    @property
    def failed(self) -> bool:
        """Whether it was answered, and not with "stable"."""
        return self.answer is not None and self.alone != "stable"


def standings(
    header: LedgerHeader, asked: Sequence[tuple[AskedQuestion, LedgerAnswer | None]]
) -> list[Standing]:
    """Say which verdicts hold together; the questions are in the order of their times.

    A question without an answer counts with p-values of 1.

    Examples
    --------
    >>> asked = [AskedQuestion.of("rows", str(k), {"k": k}, {}) for k in range(2)]
    >>> answers = [LedgerAnswer(each.id, "stable", p, 1.0) for each, p in zip(asked, (0.04, 0.02))]
    >>> pairs = list(zip(asked, answers))
    >>> [each.holds for each in standings(LedgerHeader.new(0.05), pairs)]
    [True, True]
    >>> [each.holds for each in standings(LedgerHeader.new(0.05, "spending"), pairs)]
    [False, False]
    """
    stable = [1.0 if answer is None else answer.pvalue for _, answer in asked]
    unstable = [1.0 if answer is None else answer.pvalue_unstable for _, answer in asked]
    kept, kept_unstable = _kept(header, stable), _kept(header, unstable)
    found = []
    for k, (question, answer) in enumerate(asked):
        alone = _alone(header.alpha, answer)
        holds = {"stable": kept[k], "unstable": kept_unstable[k]}.get(alone)
        found.append(Standing(question, answer, alone, holds))
    return found


def invested_standings(
    header: LedgerHeader,
    asked: Sequence[tuple[AskedQuestion, LedgerAnswer | None]],
    families: Mapping[str, str],
) -> list[Standing]:
    """Say which verdicts hold by alpha-investing: each was given its level before its first fit.

    ``families`` names the data set of each set of rows.
    """
    accounts = accounts_of(header.alpha, asked, families)
    sides = {"stable": accounts.stable, "unstable": accounts.unstable}
    found = []
    for k, (question, answer) in enumerate(asked):
        alone = _alone(header.alpha, answer)
        side = sides.get(alone)
        holds = None if side is None else side.declared[k]
        level = (side or accounts.stable).levels[k]
        found.append(Standing(question, answer, alone, holds, level, accounts.spoilt[k]))
    return found


def _alone(alpha: float, answer: LedgerAnswer | None) -> str:
    """Return the verdict of a question by its own p-values."""
    if answer is None:
        return "unanswered"
    return three_way(declares(answer.pvalue, alpha), declares(answer.pvalue_unstable, alpha))


def _kept(header: LedgerHeader, pvalues: list[float]) -> list[bool]:
    """Say which p-values are small enough together; exactly, whichever test they come from."""
    if header.rule == "holm":
        return [declares(adjusted, header.alpha) for adjusted in holm(pvalues)]
    levels = online_fallback(pvalues, header.alpha)[:-1]
    return [declares(*each) for each in zip(pvalues, levels, strict=True)]
