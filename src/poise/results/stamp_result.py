"""Write on a result what its run knew: names of algorithm and distance, and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from typing import NamedTuple, TypeVar

from poise.errors import RecordError, TrialError
from poise.results.design import Design

__all__ = ["Names", "with_warnings"]

Result = TypeVar("Result")  # of a user's own procedure it may be anything


def with_warnings(result: Result, noted: Iterable[str]) -> Result:
    """Write what was noticed during a run on its result, if that has a place for it.

    Examples
    --------
    >>> from poise import Trials
    >>> with_warnings(Trials.from_changes([0.1], n=5), ["12 rows occur twice"]).warnings
    ('12 rows occur twice',)
    >>> with_warnings("stable", ["12 rows occur twice"])
    'stable'
    """
    before = getattr(result, "warnings", None)
    if not isinstance(before, tuple) or not is_dataclass(result):
        return result
    return replace(result, warnings=tuple(dict.fromkeys((*before, *noted))))  # type: ignore[type-var]


class Names(NamedTuple):
    """What a record calls the algorithm and the distance.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([0.1, 0.2], n=5)
    >>> Names("Ridge()", "absolute").on(trials).design.algorithm
    'Ridge()'
    >>> Names("Ridge()", "absolute").on("stable")
    'stable'
    """

    algorithm: str
    distance: str

    def on(self, result: Result) -> Result:
        """Write the names on the design of a result, if it has one."""
        design = getattr(result, "design", None)
        if not isinstance(design, Design):
            return result
        return replace(result, design=self.on_design(design))  # type: ignore[type-var]

    def on_design(self, design: Design) -> Design:
        """Return the same design with these names."""
        return replace(design, algorithm=self.algorithm, distance=self.distance)

    @contextmanager
    def on_partial_result(self) -> Iterator[None]:
        """Write the names on what had been measured before a run failed."""
        try:
            yield
        except (TrialError, RecordError) as error:
            error.partial = self.on(error.partial)
            raise
