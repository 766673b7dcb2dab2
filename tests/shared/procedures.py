"""Procedures that several tests run."""

from __future__ import annotations

from poise import Batch


class Ask:
    """A procedure that yields the batches it is given and returns all answers."""

    def __init__(self, *batches: Batch) -> None:
        self.batches = batches

    def ask(self, sample, randomness):
        answers = []
        for batch in self.batches:
            answers.append((yield batch))
        return answers
