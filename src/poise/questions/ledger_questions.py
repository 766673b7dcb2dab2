"""Questions that are put to a ledger before the first fit, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poise.errors import RecordError
from poise.procedures.checked_question import StabilityQuestion
from poise.results import Design, StabilityResult, Trials
from poise.results.pvalues_any_level import pvalues_at_any_level
from poise.storage.journal import begun_design
from poise.storage.ledger import AskedQuestion, Ledger, LedgerAnswer, RowSet, described
from poise.storage.ledger.ledger import Noted
from poise.storage.ledger.ledger_content import LedgerContent

if TYPE_CHECKING:
    from poise.questions.measurement import AnyJournal, Measurement

__all__ = ["PutQuestions", "put_one_each", "put_questions"]


@dataclass(frozen=True)
class PutQuestions:
    """Questions that a ledger holds, and that wait for their answers.

    Attributes
    ----------
    ledger : Ledger
        The ledger.
    ids : tuple of str
        The identities of the questions.
    """

    ledger: Ledger
    ids: tuple[str, ...]

    def answer(
        self,
        said: Sequence[str],
        trials: Sequence[Trials],
        asked: tuple[float, float],
        randomized: bool = False,
        test: str = "auto",
    ) -> None:
        """Write down what this call says, and the p-values by which it is compared with others.

        Parameters
        ----------
        said : sequence of str
            The verdict on each question.
        trials : sequence of Trials
            What they rest on.
        asked, randomized, test
            ε and δ, and how it was decided.
        """
        decided = asked, self.ledger.content.header.alpha, randomized, test
        self.ledger.answer(
            [
                LedgerAnswer(number, verdict, *pvalues_at_any_level(each, *decided))
                for number, verdict, each in zip(self.ids, said, trials, strict=True)
            ]
        )

    def judged(
        self, measurement: Measurement, trials: Trials, question: StabilityQuestion
    ) -> StabilityResult:
        """Judge the trials of the only question, by itself, and write the answer down."""
        result = measurement.judge(trials, question)
        decided = (question.epsilon, question.delta), question.randomized, result.test
        self.answer([result.verdict.value], [trials], *decided)
        return result

    def noted(self, result: Noted) -> Noted:
        """Return the result with what the ledger says now; warn if a verdict does not hold."""
        return self.ledger.noted(result, self.ids)


def put_questions(
    ledger: Ledger,
    asked: Sequence[tuple[Measurement, StabilityQuestion]],
    journal: AnyJournal = None,
) -> PutQuestions:
    """Write down that questions are put to the rows of a sample, which all of them share.

    Parameters
    ----------
    ledger : Ledger
        Where they are written.
    asked : sequence of pairs
        What is measured, and what is asked. The test has been chosen.
    journal : str, Path, Journal or None
        If a run is continued from here, its seed is that of the question.
    """
    rows, questions = _prepared(ledger, asked, journal)
    ledger.ask(rows, questions)
    return PutQuestions(ledger, tuple(each.id for each in questions))


def put_one_each(
    ledger: Ledger, asked: Sequence[tuple[str, Measurement, StabilityQuestion, AnyJournal]]
) -> list[PutQuestions]:
    """Write down questions that have rows of their own: all of them, or none if one is refused.

    Each has a label, with which a refusal begins.
    """
    ready = []
    for label, measurement, question, journal in asked:
        try:
            ready.append((label, *_prepared(ledger, [(measurement, question)], journal)))
        except RecordError as error:
            raise RecordError(f"{label}: {error}") from None
    ledger.ask_several(ready)
    return [PutQuestions(ledger, (only.id,)) for _, _, (only,) in ready]


def _prepared(
    ledger: Ledger,
    asked: Sequence[tuple[Measurement, StabilityQuestion]],
    journal: AnyJournal,
) -> tuple[RowSet, list[AskedQuestion]]:
    """Describe questions and the rows that they share."""
    first, key = asked[0][0], ledger.key(asked[0][1].alpha)
    content = ledger.content
    # The answer depends on the rows that gave the scale, too; other rules do not mind that.
    aside = first.aside.rows if content.invests and first.aside is not None else None
    rows = RowSet.of(key, first.sample, aside)
    begun = None if journal is None else begun_design(journal)
    questions = [_described(rows, each, question, begun) for each, question in asked]
    if begun is not None and content.invests:
        _refuse_measured(questions, content, ledger.path.name)
    return rows, questions


def _refuse_measured(questions: list[AskedQuestion], content: LedgerContent, name: str) -> None:
    """Refuse trials that were measured before their question was put."""
    for each in questions:
        if each.id not in content.questions:
            raise RecordError(
                f'the journal of "{each.title}" was begun before the question was put, and the '
                f'rule of {name} is "investing", which fixes the level of a question before its '
                "first fit: ask it of fresh rows, with a new journal"
            )


def _described(
    rows: RowSet, measurement: Measurement, question: StabilityQuestion, begun: Design | None
) -> AskedQuestion:
    design, choice = measurement.design, measurement.choice
    if begun is not None and measurement.setup.random_state is None:
        design = replace(design, seed=begun.seed)
    if begun is not None:
        design = replace(design, order=begun.order)
    test = question.test if choice is None else choice.test
    code, distance_code = measurement.oracle.codes
    more = {"code": code, "distance_code": distance_code, "response": measurement.setup.response}
    asked = question.epsilon, question.delta
    return described(rows, design, asked, {"test": test, "randomized": question.randomized}, more)
