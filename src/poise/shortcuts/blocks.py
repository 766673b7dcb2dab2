"""Changes of many trials: rows are gathered a block at a time, and judged by what rounding may do.

A number that is given is right to nine digits, and certainly not 0 where the fits would give 0.
A trial for which this cannot be promised is doubtful: the engine fits it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Algorithm
from poise.algorithms.distances import Distance
from poise.algorithms.estimator import Estimator
from poise.data.randomness import Ids
from poise.data.rows import Rows
from poise.data.sample import Sample
from poise.shortcuts import family_of

if TYPE_CHECKING:  # few estimators have a formula
    from poise.shortcuts import Family
    from poise.shortcuts.cells import Array, Cells

Floats = NDArray[np.float64]

AGREEMENT = 1e-9  # of the size of responses and predictions
_BLOCK = 1 << 19  # numbers, 4 MB: what a cache holds
_SCANNED = 1 << 16  # the same of a cache that is nearer
_MOST_CLASSES = 50
_LARGEST = 1e300  # an infinite scale would trust an infinite slack


@dataclass(frozen=True)
class Shortcut:
    """A family of formulas and the rows it is applied to, R removals a trial."""

    family: Family
    X: Floats
    y: Floats  # numbers of classes, for labels
    X_unlabeled: Floats | None
    labels: NDArray[Any] | None  # the classes
    removals: int = 1

    @classmethod
    def of(
        cls, algorithm: Algorithm, sample: Sample, distance: Distance, n: int
    ) -> Shortcut | None:
        """Return the shortcut of an algorithm for training sets of n of these rows, if any."""
        if type(algorithm) is not Estimator or algorithm.response != "predict":
            return None
        labels, classes = algorithm.is_classifier, algorithm.n_classes or 0
        names = ("label",) if labels else ("euclidean", "absolute")
        plain = distance.name in names and not (distance.user_code or distance.needs_response)
        rows = sample.groups is None and sample.y.single
        rows = rows and not (sample.per_row or sample.constant)
        known = labels == (algorithm.n_classes is not None) and classes != 1
        if not (plain and rows and known) or classes > _MOST_CLASSES:
            return None
        family = family_of(algorithm.estimator, n, len(sample.X.labels), classes)
        return None if family is None else cls.on(family, sample)

    @classmethod
    def on(cls, family: Family, sample: Sample, removals: int = 1) -> Shortcut | None:
        """Take the rows as numbers; single precision is computed in single precision by fits."""
        X, more = _numbers(sample.X), _numbers(sample.X_unlabeled)
        labels, y = None, sample.y.column(0)
        if X is None or (more is None) != (sample.X_unlabeled is None):
            return None
        if family.classes:
            labels, y = np.unique(y, return_inverse=True)
        elif not (y.dtype == np.float64 or y.dtype.kind in "iu"):
            return None
        return cls(family, X, y.astype(np.float64, copy=False), more, labels, removals)

    @np.errstate(all="ignore")
    def table(self, train: Ids, points: Ids) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Compute trials: their changes (m, R, T), errors, and whether they are doubtful.

        Given are rows (m, n) and points (m, T). An error is the mean loss of the full fit at the
        points that have a response. Some trials are computed at a time; the bits of one do not
        depend on which others are beside it.
        """
        _keep_freed_memory()
        (trials, n), d, near = train.shape, self.X.shape[1], self._distances(train, points)
        size = self.family.numbers(n, d if near is None else 0, self.removals, points.shape[1])
        step = max(1, min(trials, _BLOCK // size))
        y, parts = self.y.take(train), [slice(k, k + step) for k in range(0, trials, step)]
        blocks = [self._block(train[p], y[p], points[p], near) for p in parts]
        changes, errors, doubtful = (np.concatenate(each) for each in zip(*blocks, strict=True))
        return changes, errors, doubtful

    def _distances(self, train: Ids, points: Ids) -> Floats | None:
        """Return the distance of each row from the one point of its trial, if that is all it takes.

        To read the rows in their own order is several times as fast as in that of the trials.
        """
        from poise.shortcuts.neighbours import Neighbours, distance

        one_point = points.shape[1] == 1 and isinstance(self.family, Neighbours)
        if not one_point or 2 * train.size < len(self.X):
            return None
        trial = np.zeros(len(self.X), dtype=np.int64)
        trial[train.reshape(-1)] = np.repeat(np.arange(len(train)), train.shape[1])
        moved, step = -2.0 * self.rows(points)[:, 0], max(1, _SCANNED // self.X.shape[1])
        found = np.empty(len(self.X))
        for k in range(0, len(found), step):
            rows, shifted = self.X[k : k + step], moved.take(trial[k : k + step], axis=0)
            shifted += rows
            found[k : k + step] = distance(rows, shifted)
        return found

    def _block(
        self, train: Ids, y: Floats, points: Ids, near: Floats | None
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        family: Any = self.family
        taken = _Taken(self.X, train) if near is None else near.take(train)[:, None]
        compute = family.cells if near is None else family.nearest
        cells = compute(taken, y, self.rows(points), self.removals)
        changes, doubtful = self._judged(cells, y)
        return changes, self._errors(cells.full, points), doubtful

    def _judged(self, cells: Cells, y: Array) -> tuple[Floats, NDArray[np.bool_]]:
        """Return changes, and which trials rounding could decide."""
        full, reduced, slack, _ = cells
        if self.family.classes:
            moved = (reduced != full[:, None]).astype(np.float64)
            return moved, (slack != 0).any(axis=(1, 2))
        changes = np.abs(reduced - full[:, None])
        bound = AGREEMENT * np.minimum(_scale(y, full), _LARGEST)[:, None]
        sure = (slack <= bound) & ~(changes < slack)  # nan is not sure
        return changes, ~sure.all(axis=(1, 2))

    @np.errstate(all="ignore")
    def predictions(self, train: Ids, points: Ids) -> tuple[Array, Array, Array]:
        """Return what one trial predicts, (1 + R, P), how exactly, and where it is sure."""
        X, y = self.X.take(train, axis=0)[None], self.y.take(train)[None]
        full, reduced, slack, _ = self.family.cells(X, y, self.rows(points[None]), self.removals)
        predicted = np.concatenate([full, reduced[0]])
        tolerance = 0.0 if self.family.classes else AGREEMENT * _scale(y, full)[0]
        sure = (slack <= tolerance)[0].all(axis=0)
        if self.labels is not None:
            predicted = self.labels[predicted]
        return predicted, np.broadcast_to(tolerance, sure.shape), sure

    def rows(self, points: Ids) -> Floats:
        """Return the features of any rows, labelled or not."""
        if self.X_unlabeled is None:
            return self.X.take(points, axis=0)
        here = points < len(self.X)
        found = np.empty((*points.shape, self.X.shape[1]))
        found[here] = self.X.take(points[here], axis=0)
        found[~here] = self.X_unlabeled.take(points[~here] - len(self.X), axis=0)
        return found

    def _errors(self, full: Array, points: Ids) -> Floats:
        """Return the mean absolute error, or the share of wrong labels; nan without responses."""
        here = points < len(self.X)
        y = self.y.take(points, mode="clip")
        losses = full != y if self.family.classes else np.abs(full - y)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(here, losses, 0).sum(axis=1) / here.sum(axis=1))


@dataclass(frozen=True)
class _Taken:
    """The rows of trials, (m, n, d), taken when they are looked up."""

    X: Floats
    train: Ids

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.train.shape, self.X.shape[1])

    def __getitem__(self, some: slice) -> Floats:
        """Return those of some trials, without a copy if they follow one another."""
        train = self.train[some]
        first, last = int(train[0, 0]), int(train[-1, -1])
        if last - first == train.size - 1 and (np.diff(train.reshape(-1)) == 1).all():
            return self.X[first : last + 1].reshape(*train.shape, -1)
        return self.X.take(train, axis=0)


def _scale(y: Array, full: Array) -> Array:
    """Return the size of responses and predictions at each point, (m, T)."""
    typical = np.sqrt(np.vecdot(y, y) / y.shape[1])[:, None]
    return np.asarray(np.maximum(typical, np.abs(full)))


def _numbers(rows: Rows | None) -> Floats | None:
    """Return a table of double precision, or of whole numbers, as an array; None for others."""
    array = None if rows is None else rows.numbers()
    if array is None or array.ndim != 2 or not array.shape[1]:
        return None
    if array.dtype != np.float64 and array.dtype.kind not in "iu":
        return None
    return np.ascontiguousarray(array, dtype=np.float64)


@functools.cache
def _keep_freed_memory() -> None:
    """Free a long array: until then the C library returns every freed block to the system."""
    np.empty((1 << 22) - 4096)
