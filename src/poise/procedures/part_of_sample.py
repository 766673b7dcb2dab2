"""Run a procedure on some of the rows, and keep the others for other uses."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from poise.data.synthetic_rows import Rows, SyntheticRows
from poise.errors import TrialError
from poise.protocol.budget import Counts, cost
from poise.protocol.messages import Answers, Batch, Query, Task, Tasks, queries_of, with_queries
from poise.protocol.randomness import Randomness

__all__ = ["Part"]

if TYPE_CHECKING:
    from poise.data.sample import Sample

Indices = NDArray[np.int64]
Concluded = TypeVar("Concluded")
Concluded_co = TypeVar("Concluded_co", covariant=True)


class _Asks(Protocol[Concluded_co]):
    """A procedure with its kind of verdict.

    The public :class:`~poise.protocol.procedure.Procedure` takes no type: every annotation with it,
    users' too, would have to name one.
    """

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, Concluded_co]: ...


@dataclass(frozen=True)
class Part:
    """Some rows of a sample, numbered from 0 as if there were no other rows.

    Parameters
    ----------
    labeled, unlabeled : ndarray of int
        Rows of the sample that belong to the part.
    n_classes, n_points : int or None
        What is known of the values of the whole sample, as in
        :class:`~poise.data.sample.Sample`.

    Examples
    --------
    >>> part = Part(np.array([5, 3, 8]), np.array([20]))
    >>> part.n_labeled, part.rows(np.array([0, 3])), part.rows(slice(1, 3))
    (3, array([ 5, 20]), array([3, 8]))
    """

    labeled: Indices
    unlabeled: Indices
    n_classes: int | None = None
    n_points: int | None = None

    rows_elsewhere: ClassVar[bool] = False

    @property
    def n_labeled(self) -> int:
        """Number of labelled rows in the part."""
        return len(self.labeled)

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows in the part."""
        return len(self.unlabeled)

    @property
    def groups(self) -> None:
        """A part consists of rows, never of groups."""
        return

    def rows(self, rows: Rows) -> Rows:
        """Turn the part's row numbers into those of the sample."""
        return rows if isinstance(rows, SyntheticRows) else self._all[rows]

    @cached_property
    def _all(self) -> Indices:
        return np.concatenate([self.labeled, self.unlabeled])

    def ask(
        self, procedure: _Asks[Concluded], randomness: Randomness
    ) -> Generator[Batch, Answers, Concluded]:
        """Run a procedure on this part alone; it may use only the size of the sample."""
        conversation = procedure.ask(cast("Sample", self), randomness)
        try:
            batch = next(conversation)
            while True:
                try:
                    answers = yield dataclasses.replace(batch, tasks=_Moved(batch.tasks, self))
                except TrialError as error:
                    batch = conversation.throw(error)
                else:
                    batch = conversation.send(answers)
        except StopIteration as stop:
            concluded: Concluded = stop.value
            return concluded


class _Moved(Sequence[Task]):
    """Tasks about a part, with the row numbers of the sample."""

    def __init__(self, tasks: Tasks, part: Part) -> None:
        self.tasks, self.part = tasks, part

    def __len__(self) -> int:
        return len(self.tasks)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> list[Task]: ...
    def __getitem__(self, index: int | slice) -> Task | list[Task]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        task = self.tasks[index]
        return with_queries(task, [self._query(query) for query in queries_of(task)])

    def _query(self, query: Query) -> Query:
        points = None if query.evaluate is None else self.part.rows(query.evaluate)
        return Query(self.part.rows(query.train), points, query.xi)

    def cost(self, stop: int) -> Counts:
        return cost(self.tasks, stop)
