"""Journals: each trial is written to disk at once, so that a run can be continued.

One JSON object per line, with a checksum. The first line says what is measured; each further
line holds one trial, in plan order. The file only grows: a process that is killed at any moment
leaves a journal that is complete up to its last line.

::

    append_only_file  a file that only grows, line by line, for one process at a time
    complete_lines    the complete lines of a file that only grows, each checked
    header            the first line of a journal: what is measured, and by which versions
    journal           the journal of a run: it writes each trial, and continues an earlier run
    journal_folder    a folder of journals, one file for each measurement of a comparison or curve
    read_journal      read a journal, finished or not, without changing it
    trial_lines       how a trial is written as a line of a journal, and read back bit for bit
"""

from __future__ import annotations

from poise.storage.journal.header import Header, OtherLines, begun_randomness
from poise.storage.journal.journal import Journal
from poise.storage.journal.journal_folder import JournalFolder, journals_of
from poise.storage.journal.read_journal import JournalContent, begun_design, read_journal

__all__ = [
    "Header",
    "Journal",
    "JournalContent",
    "JournalFolder",
    "OtherLines",
    "begun_design",
    "begun_randomness",
    "journals_of",
    "read_journal",
]
