"""What a ledger says about a verdict: how many questions the rows have answered, and what holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from poise.arguments import counted
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.results.text.numbers import at_most

__all__ = ["LedgerNote", "LedgerVerdict", "holds", "parts_that_hold", "passes"]

_RULES = {"holm": "Holm", "spending": "online fallback"}
_NAMED = 6  # so many verdicts are named in a sentence


@dataclass(frozen=True)
class LedgerVerdict:
    """One question that was put to the same rows, or to some of them.

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
    """

    title: str
    verdict: str
    holds: bool | None
    own: bool

    def __str__(self) -> str:
        return f"{self.title} ({self.verdict})"


@dataclass(frozen=True)
class LedgerNote(ShownAsCard):
    """Which verdicts on the same rows hold together.

    With Holm's rule, P(any verdict "stable" that holds is wrong) ≤ α, and the same for "unstable",
    for a family of questions that was chosen without looking at the answers. With the rule
    "spending" it may also be decided after each answer whether to go on. A question that was
    chosen by looking at these rows is covered by no rule.

    Attributes
    ----------
    file : str
        The ledger.
    alpha : float
        Error level of all verdicts together.
    rule : str
        "holm" or "spending".
    verdicts : tuple of LedgerVerdict
        All questions of this data set, in the order in which they were put.

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
        """Questions that these rows, or some of them, have answered."""
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
        if self.n_questions == 1 and self.holds:
            return f"This is the first question that was put to these rows ({self.file})."
        asked = counted(self.n_questions, "question")
        level = f"error level {at_most(self.alpha)} ({_RULES.get(self.rule, self.rule)})"
        held = [each for each in self.verdicts if each.holds]
        fallen = [each for each in self.verdicts if each.holds is False]
        said = [_listed(held, "holds", "hold")] if held or not fallen else []
        said += [_listed(fallen, "does not", "do not")] if fallen else []
        return (
            f"These rows have answered {asked} ({self.file}). Together at {level} "
            f"{'; '.join(said)}."
        )

    def doubt(self) -> str:
        """Say that verdicts of this call do not hold; "" if all of them do."""
        if self.holds:
            return ""
        which = "; ".join(map(str, self._fallen_here))
        others = counted(self.n_questions, "question")
        return (
            f"{which} does not hold at error level {at_most(self.alpha)} together with all the "
            f"{others} that these rows have answered ({self.file}): it is true only as the answer "
            "to a single question. Ask it of fresh rows"
        )

    def fact(self) -> str:
        """Say the same in a few words, for tables."""
        kept = "holds" if self.holds else "does not hold"
        return f"{counted(self.n_questions, 'question')} put to these rows; {kept} together"

    def _card(self) -> Card:
        parts = parts_that_hold([each.holds for each in self.verdicts])
        badge = "holds" if self.holds else "does not hold"
        return Card(self.sentence(), badge, (), [*filter(None, [self.doubt()])], parts=parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self) | {"n_questions": self.n_questions, "holds": self.holds}

    @classmethod
    def from_dict(cls, content: object) -> LedgerNote:
        """Read what :meth:`to_dict` returned."""
        from poise.arguments.typed_fields import read_object

        return read_object(cls, content, "a note of a ledger", derived=True)


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


def holds(result: Any) -> bool:
    """Whether the verdicts of a result hold together with the others; True without a ledger."""
    note: LedgerNote | None = getattr(result, "ledger", None)
    return note is None or note.holds


def passes(result: Any) -> bool:
    """Whether a result is "stable" and, if there is a ledger, holds together with the others.

    Examples
    --------
    >>> from poise import Trials
    >>> passes(Trials.from_changes([0.1] * 30, n=5).test(0.2, 0.1))
    True
    """
    return bool(result.stable) and holds(result)
