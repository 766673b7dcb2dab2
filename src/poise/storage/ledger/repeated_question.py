"""A question that failed is not asked again of the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise.arguments.printed_numbers import number
from poise.errors import RecordError
from poise.storage.ledger.entries import AskedQuestion
from poise.storage.ledger.row_set import RowSet
from poise.storage.ledger.verdicts_that_hold import Standing

__all__ = ["about_repeated", "refuse_repeated"]


def refuse_repeated(
    question: AskedQuestion,
    rows: RowSet,
    known: Sequence[Standing],
    sets: Mapping[str, RowSet],
    name: str,
) -> None:
    """Refuse a question that failed on some of these rows, and name the valid ways.

    Parameters
    ----------
    question : AskedQuestion
        The question.
    rows : RowSet
        The rows that it is put to.
    known : list of Standing
        The questions that were put to the same data set.
    sets : mapping
        Their rows, by digest.
    name : str
        The ledger, for the message.
    """
    said = about_repeated(question, rows, known, sets, name)
    if said:
        raise RecordError(said)


def about_repeated(
    question: AskedQuestion,
    rows: RowSet,
    known: Sequence[Standing],
    sets: Mapping[str, RowSet],
    name: str,
) -> str:
    """Say that a question failed before on some of these rows; "" if it did not."""
    for each in known:
        if each.failed and each.question.same_as(question):
            shared = rows.shared_with(sets[each.question.rows])
            if shared:
                return _message(each, shared, rows, name)
    return ""


def _message(before: Standing, shared: int, rows: RowSet, name: str) -> str:
    assert before.answer is not None  # it failed
    total = rows.labeled + rows.unlabeled
    which = "these rows" if shared >= total else f"{shared:,} of these {total:,} rows"
    day = before.question.time[:10]
    return (
        f'the question "{before.question.title}" was put to {which} on {day} ({name}), and '
        f"the answer was {before.alone} (p = {number(before.answer.pvalue)}). A question that is "
        "asked until it passes is answered wrongly too often: five times, each with twice the "
        "rows, 0.139 instead of 0.05. Ask it of fresh rows only, or collect evidence with "
        "poise.Monitor (poise monitor), which may go on for as long as you like. The same call "
        "with the same rows and random_state is no new question, and is allowed"
    )
