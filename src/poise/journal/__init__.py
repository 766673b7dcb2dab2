"""A journal: every trial of a run on disk the moment it is known, so that a run can go on.

One JSON object per line. The first line says what is being measured; each line
after it holds one trial, in plan order. The file only ever grows: a process
killed at any moment leaves a journal that is whole up to its last line.
"""

from __future__ import annotations

from poise.journal.folder import JournalFolder, journals_of
from poise.journal.header import Header
from poise.journal.journal import Journal
from poise.journal.reading import JournalContent, read_journal

__all__ = [
    "Header",
    "Journal",
    "JournalContent",
    "JournalFolder",
    "journals_of",
    "read_journal",
]
