"""Questions of a black-box test and their answers (Definition 2).

A *query* is one call of the algorithm: rows to train on, a random term, points
to evaluate. A *comparison* is a pair of queries that differ in what was removed;
its answer is one number, the change between the two predictions. *Removals* are
several comparisons that belong to one trial, each at several points; their answer
is a table of changes. A procedure yields batches of one kind and is sent the
answers in plan order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poise.data.synthetic_rows import Rows, SyntheticRows, n_rows
from poise.protocol.known_predictions import KnownPredictions

__all__ = [
    "FIT_BY_FIT",
    "Answer",
    "Answers",
    "Batch",
    "Change",
    "Comparison",
    "Failure",
    "Query",
    "Removals",
    "Reply",
    "StopWhenForced",
    "Task",
    "Tasks",
    "TellsState",
    "Until",
    "first_query",
    "queries_of",
    "with_queries",
]

FIT_BY_FIT = "fit by fit"


@dataclass(frozen=True, slots=True)
class Query:
    """One stage of Definition 2: train on these rows with ``xi``, predict at those points.

    ``evaluate`` may be None if the fitted model itself is asked for (Definition 3).

    Examples
    --------
    >>> Query(train=slice(0, 10), evaluate=np.array([12]), xi=7).xi
    7
    """

    train: Rows
    evaluate: Rows | None
    xi: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two queries whose predictions are compared: with all rows, and with some removed.

    Examples
    --------
    >>> full = Query(slice(0, 10), np.array([12]), xi=7)
    >>> reduced = Query(slice(0, 9), np.array([12]), xi=7)
    >>> Comparison(full, reduced).reduced.train
    slice(0, 9, None)
    """

    full: Query
    reduced: Query

    @classmethod
    def without_last(
        cls, train: NDArray[np.int64] | SyntheticRows, point: Rows, xi: int, xi_reduced: int
    ) -> Comparison:
        """Compare training on these rows with training on all but the last of them.

        Examples
        --------
        >>> Comparison.without_last(np.array([4, 2, 7]), np.array([9]), xi=1, xi_reduced=1).reduced
        Query(train=array([4, 2]), evaluate=array([9]), xi=1)
        """
        last = len(train) - 1
        shorter = train.take(0, last) if isinstance(train, SyntheticRows) else train[:last]
        return cls(Query(train, point, int(xi)), Query(shorter, point, int(xi_reduced)))


@dataclass(frozen=True, slots=True)
class Removals:
    """One trial of several comparisons: R removals, each seen at the same T points.

    Attributes
    ----------
    full : tuple of Query
        One per removal, or a single one that serves them all: right only where the
        order of the rows is known not to matter for one and the same random term. None
        where the batch has predictions that are known already.
    reduced : tuple of Query
        One per removal.

    Examples
    --------
    >>> points = np.array([12, 13])
    >>> full = Query(np.array([0, 1, 2]), points, xi=7)
    >>> without = (Query(np.array([0, 1]), points, xi=7), Query(np.array([0, 2]), points, xi=7))
    >>> trial = Removals((full,), without)
    >>> trial.shape, len(queries_of(trial))
    ((2, 2), 3)
    """

    full: tuple[Query, ...]
    reduced: tuple[Query, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """R removals and T points."""
        points = (*self.full, *self.reduced)[0].evaluate
        return len(self.reduced), 0 if points is None else n_rows(points)


Task = Query | Comparison | Removals
Tasks = Sequence[Task]
"""The tasks of a batch, all of one kind."""


def queries_of(task: Task) -> tuple[Query, ...]:
    """Return the calls of the algorithm that one task asks for, in order.

    Examples
    --------
    >>> question = Query(slice(0, 10), np.array([12]), xi=7)
    >>> queries_of(question) == (question,)
    True
    """
    if isinstance(task, Query):
        return (task,)
    if isinstance(task, Comparison):
        return task.full, task.reduced
    return (*task.full, *task.reduced)


def with_queries(task: Task, queries: Sequence[Query]) -> Task:
    """Return a task of the same kind that asks for these calls.

    Examples
    --------
    >>> one, two = Query(slice(0, 9), None, xi=7), Query(slice(0, 8), None, xi=7)
    >>> with_queries(Comparison(one, one), [one, two]).reduced.train
    slice(0, 8, None)
    """
    if isinstance(task, Query):
        return queries[0]
    if isinstance(task, Comparison):
        return Comparison(*queries)
    n_full = len(task.full)
    return Removals(tuple(queries[:n_full]), tuple(queries[n_full:]))


def first_query(tasks: Tasks) -> Query:
    """Return the first question of a batch: what the first fit trains on.

    Examples
    --------
    >>> first_query([Query(slice(0, 10), np.array([12]), xi=7)]).train
    slice(0, 10, None)
    """
    return queries_of(tasks[0])[0]


@dataclass(frozen=True, slots=True)
class Failure:
    """A trial that could not be computed; it is never dropped: a policy decides.

    ``changes`` holds what is known of a trial with several changes, nan where one of
    them failed; None if nothing is.

    Examples
    --------
    >>> Failure(trial=3, message="ValueError: singular matrix").kind
    'error'
    """

    trial: int
    message: str
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    kind: Literal["error", "death", "timeout"] = "error"
    changes: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one query: predictions and, if the procedure may see it, the fitted model."""

    predictions: Any
    model: Any = None


Change = float | NDArray[np.float64] | Failure
"""The change of one comparison, those of several that follow each other, or why there is none.

Removals are always in such a block, of shape (trials, R, T).
"""

Answer = Change | Reply
"""What an engine hands back."""


Until = Callable[[Any], bool]
"""A stopping rule: it gets the answers one by one, and says whether to stop."""


@runtime_checkable
class TellsState(Protocol):
    """The ``until`` of a batch that can say how things stand."""

    def state(self) -> str:
        """Say it in a few words, for progress."""
        ...


@runtime_checkable
class StopWhenForced(Protocol):
    """The ``until`` of a batch that knows when no later answer can change the verdict."""

    @property
    def forced(self) -> bool:
        """Whether the verdict is certain."""
        ...

    def __call__(self, answer: Any, /) -> bool:
        """Take in the next answer; say whether to stop."""
        ...


@dataclass(frozen=True)
class Batch:
    """The tasks that a procedure can name now; the engine may do them all at once.

    Attributes
    ----------
    tasks : sequence of Query, of Comparison, or of Removals
        Looked up by position, possibly made on demand: a million trials need
        not exist as a million objects.
    until : callable or None
        Fed the answers in plan order, one at a time (a failed comparison as nan: no
        change is known; removals as a table of changes); once it returns True the rest of
        the batch is cancelled and the answers stop there. It may be one that
        :class:`TellsState`.
    decision_points : tuple of float
        Changes at which a decision turns: 0 and ε. A shortcut must not round across them.
    models : bool
        Ask to see the fitted models of queries (Definition 3); refused unless
        the run allows it.
    known : KnownPredictions or None
        What removals without a full fit are compared with.

    Examples
    --------
    >>> question = Query(slice(0, 10), np.array([12]), xi=7)
    >>> batch = Batch([question, question])
    >>> len(batch), batch.compares
    (2, False)
    """

    tasks: Tasks
    until: Until | None = None
    decision_points: tuple[float, ...] = (0.0,)
    models: bool = False
    known: KnownPredictions | None = None

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def compares(self) -> bool:
        """Whether changes are asked for rather than predictions."""
        return len(self.tasks) > 0 and isinstance(self.tasks[0], Comparison | Removals)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one answer: (R, T) for removals, () for a single change."""
        first = self.tasks[0] if len(self.tasks) else None
        return first.shape if isinstance(first, Removals) else ()


@dataclass(frozen=True)
class Answers:
    """What came back, in plan order, up to where the batch was stopped.

    Attributes
    ----------
    changes : ndarray of float64
        One change per comparison; ``inf`` where the trial failed and the
        policy counts that as unstable. For removals a table of shape (R, T) per
        trial, with nan in the place of those that failed.
    failures : tuple of Failure
        The trials that failed under that policy.
    path : str
        How the answers were computed: fit by fit, or the name of a shortcut.
    predictions : tuple
        One array per query, with one prediction per evaluation point; a
        :class:`Failure` in its place where the call failed under that policy.
    models : tuple
        One fitted model per query, if the batch asked to see them; None where
        the call failed.

    Examples
    --------
    >>> Answers(changes=np.array([0.1, 0.4])).changes.max()
    np.float64(0.4)
    """

    changes: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    failures: tuple[Failure, ...] = ()
    path: str = FIT_BY_FIT
    predictions: tuple[Any, ...] = ()
    models: tuple[Any, ...] = ()

    @property
    def fed(self) -> list[Any]:
        """The answers in the form that ``until`` of a batch gets.

        Examples
        --------
        >>> Answers(np.array([0.1, np.inf]), failures=(Failure(1, "singular"),)).fed
        [0.1, nan]
        """
        if self.predictions:
            return list(self.predictions)
        if self.changes.ndim > 1:
            return list(self.changes)
        shown = self.changes.copy()
        shown[[failure.trial for failure in self.failures]] = np.nan
        return list(shown.tolist())
