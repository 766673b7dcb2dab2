"""Records of evidence that may grow: trials, and identities of the rows used.

One JSON object per line, with a checksum. The first line says what is asked; later lines hold
batches of rows, their trials, and restarts. The file only grows. It holds no rows: only keyed
hashes of them, and the changes of predictions.

::

    leftovers_file  rows that were too few for a trial, kept beside the record if the user allows it
    record_content  what a record holds: batches, trials, epochs, and which rows were used
    record_file     a record that is open for writing, by one process at a time
    record_header   the first line of a record: which question is asked, of which algorithm
"""

from __future__ import annotations

from poise.storage.monitor_record.record_content import RecordContent, RowBatch, read_record
from poise.storage.monitor_record.record_file import RecordFile
from poise.storage.monitor_record.record_header import RecordHeader

__all__ = ["RecordContent", "RecordFile", "RecordHeader", "RowBatch", "read_record"]
