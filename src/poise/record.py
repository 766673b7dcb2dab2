"""What a black-box test asks and what it is told (Definition 1).

A *query* is one call of the algorithm: rows to train on, a random term, points
to evaluate. A *comparison* is a pair of queries that differ in what was removed;
its answer is one number, the change between the two predictions. A procedure
yields batches of one kind or the other and is sent the answers in plan order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batch", "Comparison", "Failure", "Made", "Query", "Rows"]


@dataclass(frozen=True, slots=True)
class Made:
    """Rows that a procedure made up, rather than took from the sample."""

    X: Any
    y: Any = None

    def __len__(self) -> int:
        shape = getattr(self.X, "shape", None)
        return int(shape[0]) if shape else len(self.X)


Rows = NDArray[np.int64] | slice | Made
"""Rows of the sample by index (labelled first, then unlabelled), or made-up ones."""


@dataclass(frozen=True, slots=True)
class Query:
    """One stage of Definition 1: train on these rows with ``xi``, predict at those points."""

    train: Rows
    evaluate: Rows
    xi: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two queries whose predictions are compared: with all rows, and with some removed."""

    full: Query
    reduced: Query


@dataclass(frozen=True, slots=True)
class Failure:
    """A trial that could not be computed; never dropped, always decided by policy."""

    trial: int
    message: str
    cause: BaseException | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Batch:
    """As much work as the procedure knows now; the engine may do it all at once.

    Attributes
    ----------
    tasks : sequence of Query, or sequence of Comparison
        Looked up by position, possibly made on demand: a million trials need
        not exist as a million objects.
    until : callable or None
        Fed the answers in plan order, one at a time; once it returns True the
        rest of the batch is cancelled and the answers stop there.
    """

    tasks: Sequence[Query] | Sequence[Comparison]
    until: Callable[[float], bool] | None = None

    def __len__(self) -> int:
        return len(self.tasks)
