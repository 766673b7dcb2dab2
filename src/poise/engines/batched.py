"""Thousands of trials at once, where the algorithm knows how.

Some algorithms can compute both predictions of many trials together, hundreds
of times faster than fit by fit. Nothing else changes: trials keep their rows,
their random terms and their order. Whatever such a shortcut is not sure of
(ill-conditioned data, a change so close to ε that rounding could decide) is
computed fit by fit; and a sample of the trials is computed both ways before the
first answer counts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithm import Algorithm, BatchAlgorithm, Stack
from poise.distance import DISTANCES, Distance
from poise.errors import PoiseWarning
from poise.sample import Sample

__all__ = ["BatchedWork", "batched"]

_TOLERANCE = 1e-9  # agreement asked of a shortcut, relative to the size of the predictions
_COMPARED = 8  # trials computed both ways before the first answer counts
_WORTHWHILE = 4 * _COMPARED  # fewer trials than this are sooner done fit by fit
_NO_TERMS = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True)
class BatchedWork:
    """Answers a range of trials in blocks; yields arrays of changes, or single failures.

    Attributes
    ----------
    fit_by_fit : Work
        The same trials, computed one fit at a time.
    batch : BatchAlgorithm
        What computes many of them at once.
    sample, tasks : Sample, Split
        The rows, and which of them each trial uses.
    distance : callable
        How far apart two predictions are.
    near : tuple of float
        Changes this close to a decision are computed fit by fit: 0 and ε.
    """

    fit_by_fit: Any
    batch: BatchAlgorithm
    sample: Sample
    tasks: Any
    distance: Distance
    near: tuple[float, ...] = (0.0,)

    @property
    def data(self) -> tuple[Any, Any]:
        """What workers need besides user code; it travels once."""
        return self.sample, self.tasks

    def with_data(self, sample: Any, tasks: Any) -> BatchedWork:
        """Return the same work on these data."""
        plain = self.fit_by_fit.with_data(sample, tasks)
        return replace(self, fit_by_fit=plain, sample=sample, tasks=tasks)

    def without_data(self) -> BatchedWork:
        """Return the part that travels with every chunk."""
        return self.with_data(None, None)

    def with_algorithm(self, wrap: Callable[[Algorithm], Algorithm]) -> BatchedWork:
        """Return the same work with the algorithm wrapped."""
        return replace(self, fit_by_fit=self.fit_by_fit.with_algorithm(wrap))

    def __call__(self, start: int, stop: int) -> Iterator[Any]:
        """Yield the changes of trials ``start`` to ``stop - 1``, in blocks."""
        size = self.grain
        for first in range(start, stop, size):
            changes, doubtful = self.changes(first, min(first + size, stop))
            yield from self._settled(first, changes, doubtful)

    def changes(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute the changes of a block, and say which of them need the fits themselves."""
        stack = self.stack(start, stop)
        pairs = self._pairs(stack)
        if pairs.full.dtype.kind != "f":
            return self._label_changes(pairs), ~pairs.trusted
        with np.errstate(invalid="ignore", over="ignore"):
            changes = _gaps(pairs, self.distance)
            sure = pairs.trusted & np.isfinite(changes)
            if self.batch.exact:
                slack = self._slack(stack, pairs)
                for value in self.near:
                    sure &= (np.abs(changes - value) > slack) | (changes == value)
        if self.distance is DISTANCES["label"]:
            changes = np.sign(changes)
        if self.distance is DISTANCES["total_variation" if pairs.full.ndim == 1 else "absolute"]:
            sure[:] = False  # numbers are no probabilities, nor vectors numbers: let a fit say so
        return changes, ~sure

    def _pairs(self, stack: Stack) -> Any:
        """Compute both predictions; what is compiled always sees blocks of one size.

        A program compiled for another size may round differently, so a last,
        smaller block is filled up with copies of its last trial.
        """
        missing = 0 if self.batch.exact else self.grain - len(stack.X)
        if missing <= 0:
            return self.batch.pairs(stack)
        filled = (np.concatenate([part, part[-1:].repeat(missing, axis=0)]) for part in stack)
        pairs = self.batch.pairs(Stack(*filled))
        return type(pairs)(*(part[: len(stack.X)] for part in pairs))

    def _slack(self, stack: Stack, pairs: Any) -> NDArray[np.float64]:
        """Bound the rounding by which two correct computations may differ."""
        size = np.maximum(np.abs(pairs.full), np.abs(pairs.reduced))
        return np.asarray(_TOLERANCE * np.maximum(size, np.abs(stack.y).mean(axis=1)))

    def _label_changes(self, pairs: Any) -> NDArray[np.float64]:
        changes = np.zeros(len(pairs.full))
        for i in np.flatnonzero((pairs.full != pairs.reduced) & pairs.trusted):
            changes[i] = self.distance(pairs.full[i], pairs.reduced[i])
        return changes

    def stack(self, start: int, stop: int) -> Stack:
        """Gather the rows of a block of trials."""
        train, points = self.tasks.rows(start, stop)
        shape = (stop - start, self.tasks.n)
        X = _selected(self.sample.X.native, train).reshape(*shape, -1)
        y = _selected(self.sample.y.native, train).reshape(shape)
        # A stand-in for a deterministic estimator has no use for random terms.
        terms = (_NO_TERMS, _NO_TERMS) if self.batch.exact else self.tasks.terms(start, stop)
        return Stack(X, y, self.sample.points(points), *terms)

    def _settled(
        self, first: int, changes: NDArray[np.float64], doubtful: NDArray[np.bool_]
    ) -> Iterator[Any]:
        """Yield a block with its doubtful trials computed fit by fit."""
        done = 0
        for i in np.flatnonzero(doubtful):
            yield changes[done:i]
            yield from self.fit_by_fit(first + int(i), first + int(i) + 1)
            done = int(i) + 1
        yield changes[done:]

    @property
    def grain(self) -> int:
        """How many trials are computed at once."""
        n, d = self.tasks.n, self.sample.X.native.shape[1]
        per_trial: int = 8 * n * d + self.batch.workspace_bytes(n, d)
        trials = len(self.tasks)
        blocks = math.ceil(trials * per_trial / self.batch.block_bytes)
        return math.ceil(trials / blocks)

    def agrees(self) -> bool:
        """Compute a few trials both ways; warn and say no where they differ."""
        for trial in np.linspace(0, len(self.tasks) - 1, _COMPARED).astype(int):
            changes, doubtful = self.changes(int(trial), int(trial) + 1)
            if doubtful[0]:
                continue
            (slow,) = self.fit_by_fit(int(trial), int(trial) + 1)
            stack = self.stack(int(trial), int(trial) + 1)
            slack = (
                self._slack(stack, self.batch.pairs(stack))[0] if stack.y.dtype.kind == "f" else 0
            )
            if not isinstance(slow, float) or abs(slow - changes[0]) > slack:
                _warn_of_disagreement(self.batch.name, int(trial), float(changes[0]), slow)
                return False
        return True


def _warn_of_disagreement(name: str, trial: int, fast: float, slow: Any) -> None:
    warnings.warn(
        f"the shortcut '{name}' gives {fast} in trial {trial} where the fits give {slow}; "
        "every trial is computed fit by fit instead",
        PoiseWarning,
        stacklevel=2,
    )


def batched(work: Any, batch: BatchAlgorithm | None, near: tuple[float, ...]) -> BatchedWork | None:
    """Return the batched form of fit-by-fit work where it applies and has been checked."""
    if batch is None or not _applies(work, _WORTHWHILE if batch.exact else 1):
        return None
    fast = BatchedWork(work, batch, work.sample, work.tasks, work.distance, near)
    return fast if not batch.exact or fast.agrees() else None


def _applies(work: Any, at_least: int) -> bool:
    """Batches need plain numbers, a split into equal trials, and a distance known here."""
    tables = [work.sample.X, work.sample.X_unlabeled]
    features = [table.native for table in tables if table is not None]
    return (
        hasattr(work.tasks, "rows")
        and len(work.tasks) >= at_least
        and work.distance in DISTANCES.values()
        and all(_plain(array, 2) and array.dtype == np.float64 for array in features)
        and _plain(work.sample.y.native, 1)
        and work.sample.all_finite
    )


def _gaps(pairs: Any, distance: Distance) -> NDArray[np.float64]:
    """Return absolute differences of numbers; of vectors the total variation or the length."""
    differences = pairs.full - pairs.reduced
    if differences.ndim == 1:
        return np.asarray(np.abs(differences))
    if distance is DISTANCES["total_variation"]:
        return np.asarray(np.abs(differences).sum(axis=1) / 2)
    return np.asarray(np.linalg.norm(differences, axis=1))


def _selected(array: NDArray[Any], rows: NDArray[np.int64] | slice) -> NDArray[Any]:
    """Select rows without copying a contiguous range: batched code does not write to them."""
    return array[rows] if isinstance(rows, slice) else array.take(rows, axis=0)


def _plain(array: Any, dimensions: int) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == dimensions
