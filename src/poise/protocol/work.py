"""The interface of work: tasks that any worker can compute, with or without their data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, cast, runtime_checkable

from numpy.typing import NDArray

from poise.data.sample import Sample
from poise.protocol.messages import Answer, Query, Tasks

if TYPE_CHECKING:
    from poise.algorithms.algorithm import Algorithm
    from poise.algorithms.distance import Distance

__all__ = ["NO_SAMPLE", "FitByFit", "TablesFitByFit", "Work", "WorkData"]

NO_SAMPLE: Sample = cast("Sample", None)
"""What stands for the rows in work that travels without them."""

WorkData = tuple[Sample, Tasks]
"""The rows, and the tasks that refer to them."""


class Work(Protocol):
    """The tasks of one batch, which can be computed anywhere.

    Serial or in sixty processes, an engine needs only these members.
    """

    @property
    def grain(self) -> int:
        """How many tasks are computed for the cost of one; ranges are multiples of it."""
        ...

    @property
    def suits_threads(self) -> bool:
        """Whether fits of this size run mostly outside Python's global lock."""
        ...

    @property
    def data(self) -> WorkData:
        """What workers need besides user code; it is sent once."""
        ...

    def __call__(self, start: int, stop: int) -> Iterator[Answer]:
        """Yield the answers to tasks ``start`` to ``stop - 1``, in order."""
        ...

    def without_data(self) -> Self:
        """Return the part that is sent with every chunk; it cannot compute without data."""
        ...

    def with_data(self, sample: Sample, tasks: Tasks) -> Self:
        """Return the same work on these data."""
        ...

    def with_algorithm(self, wrap: Callable[[Algorithm], Algorithm]) -> Self:
        """Return the same work with the algorithm wrapped."""
        ...


class FitByFit(Work, Protocol):
    """Comparisons computed one fit at a time; a shortcut replaces these fits."""

    @property
    def distance(self) -> Distance:
        """How far apart two predictions are."""
        ...

    def comparing(self, tasks: Tasks, distance: Distance, relax: bool) -> Self:
        """Return work on other tasks of the same sample, by another distance."""
        ...


@runtime_checkable
class TablesFitByFit(FitByFit, Protocol):
    """Trials of several removals and points, computed one fit at a time."""

    def at_first_point(self) -> FitByFit:
        """Return the first removal at the first point of every trial, as trials by themselves."""
        ...

    def predictions(self, queries: Sequence[Query]) -> list[NDArray[Any]] | None:
        """Return the predictions of these fits, an array each; None if one fails."""
        ...
