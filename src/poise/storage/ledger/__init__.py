"""Ledgers: which questions were put to the rows of a data set, and which verdicts hold together.

One JSON object per line, with a checksum: first what was decided beforehand, then sets of rows,
questions and answers, in any order. The file only grows. It holds no rows: only keyed hashes.

::

    described_question  a question as a ledger keeps it: what is asked, and how it is put
    entries             the lines of a ledger: its header, questions as they were put, and answers
    families            sets of rows that overlap, directly or through others: one data set
    investing           alpha-investing: each question has rows and a level of its own
    ledger              ``poise.Ledger``: the questions that were put to the rows of a data set
    ledger_content      what a ledger holds: rows, questions and answers, in any order of lines
    ledger_file         a ledger on disk: read at any time, written by one process after the other
    ledger_table        a ledger for people and programs: one line per question
    merge_ledgers       merge two copies of a ledger to which different questions were added
    new_questions       questions that are put to a ledger: what is refused, and what is written
    repeated_question   a question that failed is not asked again of the same rows
    row_set             the rows of one question: known by their features and by their responses
    row_sketch          which rows a question was put to: keyed hashes, or the smallest of these
    verdicts_that_hold  which verdicts on one data set hold together, by the rule of the ledger
"""

from __future__ import annotations

from poise.storage.ledger.described_question import described
from poise.storage.ledger.entries import AskedQuestion, LedgerAnswer
from poise.storage.ledger.ledger import AnyLedger, Ledger
from poise.storage.ledger.row_set import RowSet

__all__ = ["AnyLedger", "AskedQuestion", "Ledger", "LedgerAnswer", "RowSet", "described"]
