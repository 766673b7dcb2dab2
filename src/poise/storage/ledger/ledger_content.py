"""What a ledger holds: rows, questions and answers, whatever the order of its lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from poise.errors import RecordError
from poise.storage.ledger.entries import AskedQuestion, LedgerAnswer, LedgerHeader
from poise.storage.ledger.families import families_of
from poise.storage.ledger.investing import Accounts, accounts_of
from poise.storage.ledger.row_set import RowSet
from poise.storage.ledger.verdicts_that_hold import Standing, invested_standings, standings

__all__ = ["LedgerContent"]


@dataclass(frozen=True)
class LedgerContent:
    """A ledger, read. The lines after the first may come in any order, also more than once.

    Attributes
    ----------
    header : LedgerHeader
        What was decided before the first question.
    rows : dict
        The sets of rows, by their digests.
    questions : dict
        The questions, by their identities.
    answers : dict
        The answers, by the identities of the questions.
    """

    header: LedgerHeader
    rows: dict[str, RowSet] = field(default_factory=dict)
    questions: dict[str, AskedQuestion] = field(default_factory=dict)
    answers: dict[str, LedgerAnswer] = field(default_factory=dict)

    def take(self, entry: dict[str, Any]) -> None:
        """Take in a line."""
        if "question" in entry:
            asked = AskedQuestion.from_entry(entry)
            known = self.questions.get(asked.id, asked)
            self.questions[asked.id] = min(known, asked, key=lambda each: (each.time, each.levels))
        elif "answer" in entry:
            answer = LedgerAnswer.from_entry(entry)
            known_answer = self.answers.get(answer.id, answer)
            self.answers[answer.id] = known_answer.with_another(answer)
        elif "labeled" in entry:
            rows = RowSet.from_entry(entry)
            self.rows[rows.digest] = rows
        elif "format" in entry:
            if LedgerHeader.from_entry(entry) != self.header:
                raise RecordError(
                    "it is the beginning of another ledger, with a key of its own: their rows "
                    "cannot be compared. Begin one ledger, and copy it before it is used in two "
                    "places"
                )
        else:
            raise RecordError("it is neither rows, nor a question, nor an answer")

    def require_complete(self) -> None:
        """Refuse questions whose rows are missing, and answers whose question is missing."""
        without_rows = [q.title for q in self.questions.values() if q.rows not in self.rows]
        without_question = [each for each in self.answers if each not in self.questions]
        if without_rows or without_question:
            what = f"the rows of {without_rows[0]}" if without_rows else "a question with an answer"
            raise RecordError(f"not in it: {what}. Lines were removed")

    @cached_property
    def _families(self) -> dict[str, str]:
        return families_of(self.rows)

    @property
    def invests(self) -> bool:
        """Whether all data sets share one wealth."""
        return self.header.rule == "investing"

    def _asked(
        self, questions: Iterable[AskedQuestion]
    ) -> list[tuple[AskedQuestion, LedgerAnswer | None]]:
        """Return questions in the order of their times, with their answers."""
        ordered = sorted(questions, key=lambda each: (each.time, each.id))
        return [(each, self.answers.get(each.id)) for each in ordered]

    def standings(self, rows: Iterable[str]) -> list[Standing]:
        """Say which verdicts on the data sets of these rows hold together.

        With alpha-investing, these are all verdicts of the ledger.
        """
        if self.invests:
            asked = self._asked(self.questions.values())
            return invested_standings(self.header, asked, self._families)
        names = {self._families[digest] for digest in rows}
        family = [q for q in self.questions.values() if self._families[q.rows] in names]
        return standings(self.header, self._asked(family))

    def accounts(self) -> Accounts:
        """Follow the wealth of alpha-investing through all questions."""
        return accounts_of(self.header.alpha, self._asked(self.questions.values()), self._families)

    def data_sets(self) -> list[list[Standing]]:
        """Return the questions of each data set, the one that was asked first at the beginning."""
        names = {self._families[question.rows] for question in self.questions.values()}
        if self.invests:
            every = self.standings(names)
            found = [[s for s in every if self._families[s.question.rows] == n] for n in names]
        else:
            found = [self.standings([name]) for name in names]
        return sorted(found, key=lambda each: (each[0].question.time, each[0].question.id))

    def with_lines(self, entries: Iterable[dict[str, Any]]) -> LedgerContent:
        """Return what it would hold with these lines too."""
        parts = dict(self.rows), dict(self.questions), dict(self.answers)
        grown = LedgerContent(self.header, *parts)
        for entry in entries:
            grown.take(entry)
        return grown
