"""Everything a procedure asked and was told, so that its verdict can be computed again."""

from __future__ import annotations

from poise.transcript.recording import Recorder, Refusal, Stage, Transcript
from poise.transcript.replaying import replay

__all__ = ["Recorder", "Refusal", "Stage", "Transcript", "replay"]
