"""Transcripts: all questions and answers of a run, to recompute its verdict.

::

    archive        the file format of transcripts: a JSON header and plain arrays, no code
    array_pool     many small arrays stored as a few large ones
    containers     tables and lists of rows, written as plain arrays and read back with their type
    recording      the transcript of one run: recorded during the run, saved, and loaded
    replay         recompute a verdict from a transcript, without the algorithm
    stage          one batch of a run: what was asked, and what was answered
    stage_columns  one stage of a transcript as columns, with one row per question
"""

from __future__ import annotations

from poise.storage.transcript.recording import Recorder, Transcript
from poise.storage.transcript.replay import replay
from poise.storage.transcript.stage import Refusal, Stage

__all__ = ["Recorder", "Refusal", "Stage", "Transcript", "replay"]
