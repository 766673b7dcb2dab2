"""What a ledger says about a verdict: how many questions the rows have answered, and what holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from poise.arguments import counted
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import at_least, at_most, level_in_words

__all__ = ["LedgerNote", "LedgerVerdict", "holds", "parts_that_hold", "passes", "rate_in_words"]

_RULES = {"holm": "Holm", "spending": "online fallback"}
_INVESTING = "investing"
_NAMED = 6  # so many verdicts are named in a sentence


@dataclass(frozen=True)
class LedgerVerdict:
    """One question that was put to the same rows, or to some of them.

    With the rule "investing" each question of the ledger has rows of its own.

    Attributes
    ----------
    title : str
        The question in a few words.
    verdict : str
        "stable", "unstable", "inconclusive" or "unanswered", by itself.
    holds : bool or None
        Whether the verdict holds together with the others; None if there is none to hold.
    own : bool
        Whether it is a question of this call.
    level : float or None
        With the rule "investing", the level that it was given before its first fit: for "unstable"
        if that is the verdict, else for "stable".
    spoilt : str
        Why it cannot hold whatever its p-value is, after copies of the ledger were merged.
    """

    title: str
    verdict: str
    holds: bool | None
    own: bool
    level: float | None = None
    spoilt: str = ""

    def __str__(self) -> str:
        return f"{self.title} ({self.verdict})"


@dataclass(frozen=True)
class LedgerNote(ShownAsCard):
    """Which verdicts on the same rows hold together.

    With Holm's rule, P(any verdict "stable" that holds is wrong) ≤ α, and the same for "unstable",
    for a family of questions that was chosen without looking at the answers. With the rule
    "spending" it may also be decided after each answer whether to go on. A question that was
    chosen by looking at these rows is covered by no rule.

    With the rule "investing", whose questions have fresh rows, E[V] / (E[R] + 1 − α) ≤ α for V
    wrong ones among R verdicts "stable" that hold, and the same for "unstable". That does not bound
    the chance that any of them is wrong.

    Attributes
    ----------
    file : str
        The ledger.
    alpha : float
        Error level of all verdicts together; with the rule "investing" their marginal false
        discovery rate.
    rule : str
        "holm", "spending" or "investing".
    verdicts : tuple of LedgerVerdict
        All questions of this data set, in the order in which they were put; with the rule
        "investing" all questions of the ledger.

    Examples
    --------
    >>> verdicts = (LedgerVerdict("Ridge()", "stable", True, False),
    ...             LedgerVerdict("tree", "stable", False, True))
    >>> note = LedgerNote("stability.ledger", 0.05, "holm", verdicts)
    >>> print(note.sentence())
    These rows have answered 2 questions (stability.ledger). Together at error level 0.05 (Holm) \
1 verdict holds: Ridge() (stable); 1 verdict does not: tree (stable).
    >>> note.holds
    False
    """

    file: str
    alpha: float
    rule: str
    verdicts: tuple[LedgerVerdict, ...]

    @property
    def n_questions(self) -> int:
        """Questions that these rows, or some of them, have answered.

        With the rule "investing", all questions of the ledger.
        """
        return len(self.verdicts)

    @property
    def holds(self) -> bool:
        """Whether every verdict of this call holds together with the others."""
        return not self._fallen_here

    @property
    def _fallen_here(self) -> list[LedgerVerdict]:
        return [each for each in self.verdicts if each.own and each.holds is False]

    def sentence(self) -> str:
        """Say how many questions there were, and which verdicts hold together."""
        if self.rule == _INVESTING:
            return self._invested()
        if self.n_questions == 1 and self.holds:
            return f"This is the first question that was put to these rows ({self.file})."
        asked = counted(self.n_questions, "question")
        level = f"error level {level_in_words(self.alpha)} ({_RULES.get(self.rule, self.rule)})"
        return (
            f"These rows have answered {asked} ({self.file}). Together at {level} {self._which()}."
        )

    def _which(self) -> str:
        """Name the verdicts that hold and those that do not."""
        held = [each for each in self.verdicts if each.holds]
        fallen = [each for each in self.verdicts if each.holds is False]
        said = [_listed(held, "holds", "hold")] if held or not fallen else []
        said += [_listed(fallen, "does not", "do not")] if fallen else []
        return "; ".join(said)

    def _invested(self) -> str:
        """Say which level this question had, which verdicts hold, and what that promises."""
        asked = counted(self.n_questions, "question")
        return (
            f"Alpha-investing gave this question {self._level} before its first fit. Of {asked} in "
            f"{self.file}, each with rows of its own, {self._which()}. {rate_in_words(self.alpha)}"
        )

    @property
    def _level(self) -> str:
        """The level that alpha-investing gave the question of this call, which has one."""
        only = next(each for each in self.verdicts if each.own)
        side = "unstable" if only.verdict == "unstable" else "stable"
        return f'the level {at_least(only.level)} for "{side}"'

    def doubt(self) -> str:
        """Say that verdicts of this call do not hold; "" if all of them do."""
        if self.holds:
            return ""
        which = "; ".join(map(str, self._fallen_here))
        if self.rule == _INVESTING:
            return f"{which} does not hold: {self._why_not()}. Ask it of fresh rows"
        others = counted(self.n_questions, "question")
        return (
            f"{which} does not hold at error level {level_in_words(self.alpha)} together with all "
            f"the {others} that these rows have answered ({self.file}): it is true only as the "
            "answer to a single question. Ask it of fresh rows"
        )

    def _why_not(self) -> str:
        """Say why the first of the verdicts of this call that do not hold does not."""
        first = self._fallen_here[0]
        if first.spoilt:
            return f"{first.spoilt} ({self.file}), put by somebody with another copy of the ledger"
        return (
            f"its p-value is above the level {at_least(first.level)} that alpha-investing "
            f"gives it ({self.file}), and it is true only as the answer to a single question"
        )

    def fact(self) -> str:
        """Say the same in a few words, for tables."""
        asked = counted(self.n_questions, "question")
        if self.rule == _INVESTING:
            return f"{asked} of fresh rows; {self._kept} at {self._level}"
        return f"{asked} put to these rows; {self._kept} together"

    @property
    def _kept(self) -> str:
        """Whether the verdicts of this call hold; "inconclusive" is none that could."""
        if self._fallen_here:
            return "does not hold"
        return "holds" if any(each.own and each.holds for each in self.verdicts) else "no verdict"

    def _card(self) -> Card:
        parts = parts_that_hold([each.holds for each in self.verdicts])
        badge = "holds" if self.holds else "does not hold"
        return Card(self.sentence(), badge, (), [*filter(None, [self.doubt()])], parts=parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; levels only with the rule that gives them."""
        content = asdict(self) | {"n_questions": self.n_questions, "holds": self.holds}
        if self.rule != _INVESTING:
            given = {"level", "spoilt"}
            content["verdicts"] = [
                {name: value for name, value in each.items() if name not in given}
                for each in content["verdicts"]
            ]
        return content

    @classmethod
    def from_dict(cls, content: object) -> LedgerNote:
        """Read what :meth:`to_dict` returned."""
        from poise.arguments.typed_fields import read_object

        return read_object(cls, content, "a note of a ledger", derived=True)


def rate_in_words(alpha: float) -> str:
    """Say what alpha-investing promises, and what it does not.

    Examples
    --------
    >>> print(rate_in_words(0.05))
    The expected number of false "stable" among the verdicts that hold, divided by the expected \
number of "stable" among them plus 0.95, is at most 0.05 (marginal false discovery rate, Foster \
and Stine 2008), and the same is true of "unstable". It is not the chance that any of them is \
wrong, which can be larger.
    """
    return (
        'The expected number of false "stable" among the verdicts that hold, divided by the '
        f'expected number of "stable" among them plus {at_least(1 - alpha)}, is at most '
        f"{at_most(alpha)} (marginal false discovery rate, Foster and Stine 2008), and the same is "
        'true of "unstable". It is not the chance that any of them is wrong, which can be larger.'
    )


def parts_that_hold(states: Sequence[bool | None]) -> dict[str, int]:
    """Count the verdicts that hold together, those that do not, and the questions without one.

    Examples
    --------
    >>> parts_that_hold([True, None, True])
    {'hold together': 2, 'do not': 0, 'no verdict': 1}
    """
    names = {"hold together": True, "do not": False, "no verdict": None}
    return {name: states.count(state) for name, state in names.items()}


def _listed(verdicts: list[LedgerVerdict], one: str, several: str) -> str:
    if not verdicts:
        return f"no verdict {one}"
    names = [str(each) for each in verdicts[:_NAMED]]
    more = [f"{len(verdicts) - _NAMED:,} more"] if len(verdicts) > _NAMED else []
    verb = one if len(verdicts) == 1 else several
    return f"{counted(len(verdicts), 'verdict')} {verb}: {', '.join([*names, *more])}"


class _Declared(Protocol):
    """What may be declared stable."""

    @property
    def stable(self) -> bool: ...


def holds(result: object) -> bool:
    """Whether the verdicts of a result hold together with the others; True without a ledger."""
    # A verdict about one training set is never put to a ledger, and has no such attribute.
    note: LedgerNote | None = getattr(result, "ledger", None)
    return note is None or note.holds


def passes(result: _Declared) -> bool:
    """Whether a result is "stable" and, if there is a ledger, holds together with the others.

    Examples
    --------
    >>> from poise import Trials
    >>> passes(Trials.from_changes([0.1] * 30, n=5).test(0.2, 0.1))
    True
    """
    return result.stable and holds(result)
