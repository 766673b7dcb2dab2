"""Every training set that a finite, known support allows, as queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.sample import Sample
from poise.data.synthetic_rows import SyntheticRows
from poise.data.tables import is_sparse
from poise.errors import ArgumentError, DataError
from poise.protocol.messages import Query

__all__ = ["Chosen", "SearchSpace"]

Chosen = Sequence[int]
"""Rows of the support by their positions, with repetitions."""


@dataclass(frozen=True)
class SearchSpace:
    """The rows (x, y) that can occur, each once, and the training sets made of them.

    Parameters
    ----------
    X, y : tuple
        Features and responses of each row, as plain values.

    Examples
    --------
    >>> space = SearchSpace.of([[0], [1], [0]], [5.0, 5.0, 5.0])
    >>> space.size, space.multisets(2), space.n_multisets(2)
    (2, [(0, 0), (0, 1), (1, 1)], 3)
    """

    X: tuple[Any, ...]
    y: tuple[Any, ...]

    @classmethod
    def of(cls, support_X: object, support_y: object) -> SearchSpace:
        """Check the support and drop repetitions."""
        X, y = _tuples(support_X, "support_X"), _tuples(support_y, "support_y")
        if len(X) != len(y) or not X:
            raise ArgumentError(
                "support_X and support_y must be of equal length, at least 1, got "
                f"{len(X)} and {len(y)}"
            )
        rows = list(dict.fromkeys(zip(X, y, strict=True)))
        return cls(tuple(x for x, _ in rows), tuple(label for _, label in rows))

    @property
    def size(self) -> int:
        """Number of rows that can occur."""
        return len(self.X)

    def multisets(self, size: int) -> list[tuple[int, ...]]:
        """Return every choice of ``size`` rows with repetitions, the order left open."""
        return list(combinations_with_replacement(range(self.size), size))

    def n_multisets(self, size: int) -> int:
        """Return how many there are, without making them."""
        return comb(self.size + size - 1, size)

    @cached_property
    def _arrays(self) -> tuple[NDArray[Any], NDArray[Any], SyntheticRows]:
        """The rows that can occur, and the distinct points among them."""
        points = np.array(list(dict.fromkeys(self.X)))
        return np.array(self.X), np.array(self.y), SyntheticRows(points)

    def query(self, rows: Iterable[int], xi: int) -> Query:
        """Ask for predictions at every point, after training on these rows in this order."""
        X, y, points = self._arrays
        chosen = list(rows)
        return Query(SyntheticRows(X[chosen], y[chosen]), points, int(xi))

    def require(self, sample: Sample) -> None:
        """Refuse data that contradict the support."""
        possible = set(zip(self.X, self.y, strict=True))
        X, y = _tuples(sample.X.native, "X"), _tuples(sample.y.native, "y")
        for index, row in enumerate(zip(X, y, strict=True)):
            if row not in possible:
                raise DataError(f"row {index} of the data, {row}, is not in the support given")
        if sample.X_unlabeled is not None:
            outside = set(_tuples(sample.X_unlabeled.native, "X_unlabeled")) - set(self.X)
            if outside:
                raise DataError(f"X_unlabeled holds {outside.pop()}, which is not in the support")


def _tuples(rows: object, name: str) -> Sequence[Any]:
    """Return rows as plain values that can be compared and looked up."""
    if is_sparse(rows):
        raise DataError(f"{name} must be dense to be searched exhaustively, got a sparse matrix")
    values = np.asarray(rows).tolist()
    return tuple(tuple(row) if isinstance(row, list) else row for row in values)
