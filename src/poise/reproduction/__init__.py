"""The paper, reproduced: every claim as a computation or a simulation that could fail."""

from __future__ import annotations

from poise.reproduction.claim import Claim
from poise.reproduction.everything import Reproduction, reproduce

__all__ = ["Claim", "Reproduction", "reproduce"]
