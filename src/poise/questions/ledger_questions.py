"""Questions that are put to a ledger before the first fit, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poise.procedures.checked_question import StabilityQuestion
from poise.results import Design, StabilityResult, Trials
from poise.results.pvalues_any_level import pvalues_at_any_level
from poise.storage.journal import begun_design
from poise.storage.ledger import AskedQuestion, Ledger, LedgerAnswer, RowSet, described
from poise.storage.ledger.ledger import Noted

if TYPE_CHECKING:
    from poise.questions.measurement import AnyJournal, Measurement

__all__ = ["PutQuestions", "put_questions"]


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
    rows = RowSet.of(ledger.key(asked[0][1].alpha), asked[0][0].sample)
    begun = None if journal is None else begun_design(journal)
    questions = [_described(rows, each, question, begun) for each, question in asked]
    ledger.ask(rows, questions)
    return PutQuestions(ledger, tuple(each.id for each in questions))


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
