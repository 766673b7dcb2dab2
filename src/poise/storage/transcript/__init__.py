"""Everything a procedure asked and was told, so that its verdict can be computed again.

::

    archive        A transcript in one file: a JSON header and plain arrays, nothing that is code
    array_pool     many small arrays in a few large ones, so that a file holds columns and not a m
    containers     containers of rows, written as plain arrays and read back as what they were
    recording      the record of one run: written while it happens, kept in a file, read back
    replay         the verdict again, from the record alone: the algorithm is not needed any more
    stage          one batch of a run: what was asked, and what was answered
    stage_columns  one stage of a transcript as columns: a row per question, a reference per part
"""

from __future__ import annotations

from poise.storage.transcript.recording import Recorder, Transcript
from poise.storage.transcript.replay import replay
from poise.storage.transcript.stage import Refusal, Stage

__all__ = ["Recorder", "Refusal", "Stage", "Transcript", "replay"]
