"""A journal: every trial of a run on disk the moment it is known, so that a run can go on.

One JSON object per line. The first line says what is being measured; each line
after it holds one trial, in plan order. The file only ever grows: a process
killed at any moment leaves a journal that is whole up to its last line.

::

    append_only_file  A file that only grows, line by line, for one process at a time
    folder            A folder of journals: one file for each of several measurements that belong
    header            the first line of a journal: what is measured, by which versions, for which
    journal           A run that writes down its trials, and goes on where an earlier one ended
    lines             one trial, one line: numbers that read back bit for bit, failures with their
    read_journal      look into a journal, finished or not, without touching it
"""

from __future__ import annotations

from poise.storage.journal.folder import JournalFolder, journals_of
from poise.storage.journal.header import Header
from poise.storage.journal.journal import Journal
from poise.storage.journal.read_journal import JournalContent, read_journal

__all__ = [
    "Header",
    "Journal",
    "JournalContent",
    "JournalFolder",
    "journals_of",
    "read_journal",
]
