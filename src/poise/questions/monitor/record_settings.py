"""The settings of a record: what is asked, and how the fits are run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from poise.algorithms.algorithm import Algorithm
from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.distance import Distance, distance_code, distance_name, needs_response
from poise.algorithms.losses import as_change
from poise.arguments import without_addresses
from poise.errors import ArgumentError
from poise.procedures.checked_question import StabilityQuestion
from poise.protocol.randomness import Randomness, as_coupling
from poise.questions.settings import from_settings
from poise.questions.setup import Setup
from poise.running.execution import Execution
from poise.storage.journal.header import current_versions
from poise.storage.monitor_record import RecordHeader

__all__ = ["RecordSettings"]


@dataclass(frozen=True)
class RecordSettings:
    """What a record asks, of which algorithm, and how fits are run.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        The black box.
    question : StabilityQuestion
        n, ε, δ, α.
    setup : Setup
        What a trial is; rows are put in order by the record, not by the trials.
    execution : Execution
        How the fits are run.
    """

    algorithm: Any
    question: StabilityQuestion
    setup: Setup
    execution: Execution

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> RecordSettings:
        """Check the keywords of :class:`poise.Monitor`, before any file is opened."""
        if given["points"] == "spare":
            raise ArgumentError(
                "points must be a whole number >= 1 here, got 'spare': how many rows there will be "
                "is not known"
            )
        question = StabilityQuestion(given["n"], given["epsilon"], given["delta"], given["alpha"])
        setup = replace(from_settings(Setup, given), shuffle=False)
        if setup.removals == "all":
            setup = replace(setup, removals=setup.n)
        made = cls(given["algorithm"], question, setup, from_settings(Execution, given))
        return made.checked()

    def checked(self) -> RecordSettings:
        """Refuse what cannot be asked of any rows."""
        if self.labeled_test and self.setup.averages:
            raise ArgumentError(
                "removals and points must be 1 for losses: a trial averages over points that need "
                "no response"
            )
        return self

    @cached_property
    def black_box(self) -> Algorithm:
        """The algorithm, before it has seen rows."""
        return as_algorithm(self.algorithm, self.setup.response)

    @cached_property
    def distance(self) -> Distance:
        """How far apart two predictions are, as far as that is known without rows."""
        return as_change(self.setup.distance, self.black_box.natural_distance)

    @property
    def labeled_test(self) -> bool:
        """Whether test rows must have a response."""
        return needs_response(self.distance)

    @property
    def points(self) -> int:
        """Test points of a trial."""
        return int(self.setup.points or 1)

    @property
    def distance_as_asked(self) -> str:
        """The name of the distance; "auto" stays "auto", because rows decide what it means."""
        if self.setup.distance == "auto":
            return "auto"
        return distance_name(self.distance, self.black_box.natural_distance)

    def header(self) -> RecordHeader:
        """Return the header of a record with these settings, without a key."""
        question = {
            "algorithm": without_addresses(self.black_box.name),
            "n": int(self.setup.n),
            "epsilon": float(self.question.epsilon),
            "delta": float(self.question.delta),
            "alpha": float(self.question.alpha),
            "removals": int(self.setup.removals),
            "points": self.points,
            "coupling": as_coupling(self.setup.coupling).name,
            "distance": self.distance_as_asked,
            "response": self.setup.response,
            "labeled_test": self.labeled_test,
        }
        own = "" if self.setup.distance == "auto" else distance_code(self.distance)
        return RecordHeader(
            question,
            seed=Randomness.from_state(self.setup.random_state).root,
            name=self.setup.name or "",
            code=self.black_box.code,
            distance_code=own,
            versions=current_versions(),
        )
