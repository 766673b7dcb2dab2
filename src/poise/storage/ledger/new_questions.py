"""Questions that are put to a ledger: what is refused, and the lines that are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from poise.storage.ledger.entries import AskedQuestion
from poise.storage.ledger.investing import refuse_used_rows, with_stakes
from poise.storage.ledger.ledger_content import LedgerContent
from poise.storage.ledger.repeated_question import refuse_repeated
from poise.storage.ledger.row_set import RowSet

__all__ = ["lines_of_new_questions"]


def lines_of_new_questions(
    content: LedgerContent, rows: RowSet, questions: Sequence[AskedQuestion], name: str
) -> list[dict[str, Any]]:
    """Return the lines of the questions that are not there yet; refuse what is not valid.

    Parameters
    ----------
    content : LedgerContent
        What the ledger holds.
    rows : RowSet
        The rows that the questions are put to.
    questions : sequence of AskedQuestion
        The questions.
    name : str
        The ledger, for messages.

    Examples
    --------
    >>> from poise.storage.ledger.entries import LedgerHeader
    >>> rows = RowSet("rows", 442, 0, {})
    >>> asked = AskedQuestion.of("rows", "Ridge() at n = 20", {}, {})
    >>> header = LedgerHeader.new(0.05, "investing")
    >>> lines = lines_of_new_questions(LedgerContent(header), rows, [asked], "a.ledger")
    >>> round(lines[1]["stake"]["level"], 4)
    0.0232
    """
    new = [each for each in questions if each.id not in content.questions]
    if not new:
        return []
    if content.invests:
        refuse_used_rows(new, rows, content.questions, content.rows, name)
        new = with_stakes(new, content.accounts(), name)
    else:
        known = _with_rows(content, rows).standings([rows.digest])
        for each in new:
            refuse_repeated(each, rows, known, content.rows, name)
    lines = [] if rows.digest in content.rows else [rows.to_entry()]
    return [*lines, *(each.to_entry() for each in _timed(new, content))]


def _with_rows(content: LedgerContent, rows: RowSet) -> LedgerContent:
    """Return the content with rows that no question was put to yet."""
    return replace(content, rows={**content.rows, rows.digest: rows})


def _timed(questions: Sequence[AskedQuestion], content: LedgerContent) -> list[AskedQuestion]:
    """Date questions: now, but later than every question that is there."""
    now = datetime.now(UTC)
    latest = max((each.time for each in content.questions.values()), default="")
    if latest >= now.isoformat():
        now = datetime.fromisoformat(latest) + timedelta(microseconds=1)
    times = (now + timedelta(microseconds=k) for k in range(len(questions)))
    return [
        replace(each, time=when.isoformat(timespec="microseconds"))
        for each, when in zip(questions, times, strict=True)
    ]
