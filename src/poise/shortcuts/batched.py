"""Many trials in one computation, for algorithms that can do that.

Some algorithms can compute both predictions of many trials together, hundreds of
times faster than fit by fit. Nothing else changes: trials keep their rows, their
random terms and their order. A trial about which the shortcut is not certain
(ill-conditioned data, a change so close to ε that rounding could decide) is computed
fit by fit. And some trials are computed both ways before the first answer is used.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Algorithm, BatchAlgorithm, Stack
from poise.algorithms.distance import DISTANCES, Distance
from poise.data.sample import Sample
from poise.data.tables import Table, array_of, as_table
from poise.errors import PoiseWarning, in_one_line
from poise.protocol.messages import Answer, Failure, Tasks
from poise.protocol.work import NO_SAMPLE, FitByFit, WorkData
from poise.shortcuts.equal_trials import EqualTrials
from poise.shortcuts.shortcut import AGREEMENT, Pairs

__all__ = ["FEWEST_TRIALS", "BatchedWork", "compared_trials", "rows_of", "warn_of_disagreement"]

_TRIALS_COMPARED = 8  # trials computed both ways before the first answer is used
_BYTES_COMPARED = 1 << 25  # of their rows; fewer trials if they are larger, but not less than two
FEWEST_TRIALS = 4 * _TRIALS_COMPARED  # fewer trials than this are faster fit by fit
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
    decision_points : tuple of float
        Changes this close to a decision are computed fit by fit: 0 and ε.
    """

    fit_by_fit: FitByFit
    batch: BatchAlgorithm
    sample: Sample
    tasks: EqualTrials
    distance: Distance
    decision_points: tuple[float, ...] = (0.0,)

    @property
    def suits_threads(self) -> bool:
        """Whether fits of this size run mostly outside Python's global lock."""
        return self.fit_by_fit.suits_threads

    @property
    def data(self) -> WorkData:
        """What workers need besides user code; it is sent once."""
        return self.fit_by_fit.data

    def with_data(self, sample: Sample, tasks: Tasks) -> BatchedWork:
        """Return the same work on these data."""
        plain = self.fit_by_fit.with_data(sample, tasks)
        trials = cast("EqualTrials", tasks)  # the same trials as before they were sent
        return replace(self, fit_by_fit=plain, sample=sample, tasks=trials)

    def without_data(self) -> BatchedWork:
        """Return the part that is sent with every chunk."""
        return self.with_data(NO_SAMPLE, ())

    def with_algorithm(self, wrap: Callable[[Algorithm], Algorithm]) -> BatchedWork:
        """Return the same work with the algorithm wrapped."""
        return replace(self, fit_by_fit=self.fit_by_fit.with_algorithm(wrap))

    def __call__(self, start: int, stop: int) -> Iterator[Answer]:
        """Yield the changes of trials ``start`` to ``stop - 1``, in blocks."""
        size = self.grain
        for first in range(start, stop, size):
            last = min(first + size, stop)
            try:
                changes, doubtful = self.changes(first, last)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # of user code, or for labels that nobody sorts
                yield from self._one_by_one(first, last, error)
            else:
                yield from self._settled(first, changes, doubtful)

    def _one_by_one(self, first: int, last: int, error: BaseException) -> Iterator[Answer]:
        """Compute a block fit by fit; if no trial fails, warn of the error of the block."""
        for trial, answer in enumerate(self.fit_by_fit(first, last), first):
            if trial == first and not isinstance(answer, Failure):
                warnings.warn(
                    f"'{self.batch.name}' failed ({in_one_line(error)}); trials {first} "
                    f"to {last - 1} are computed fit by fit instead",
                    PoiseWarning,
                    stacklevel=2,
                )
            yield answer

    def changes(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute the changes of a block, and mark those that must be computed fit by fit."""
        stack = self.stack(start, stop)
        return self._judged(stack, self._pairs(stack))

    def _judged(self, stack: Stack, pairs: Pairs) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Turn predictions into changes, and mark those that are not certain."""
        if self._undefined(pairs.full):
            return np.zeros(len(pairs.full)), np.ones(len(pairs.full), dtype=np.bool_)
        if pairs.full.dtype.kind != "f":
            return self._label_changes(pairs), ~pairs.trusted
        with np.errstate(invalid="ignore", over="ignore"):
            changes = _gaps(pairs, self.distance)
            doubtful = ~(pairs.trusted & np.isfinite(changes))
            if self.batch.exact and not doubtful.all():
                doubtful |= self._too_close(changes, stack, pairs)
        if self._compares_labels:
            changes = np.sign(changes)
        return changes, doubtful

    def _undefined(self, predictions: NDArray[Any]) -> bool:
        """Tell whether this distance cannot compare the predictions; the fit then says why.

        Text is not a number, numbers are not probabilities, and vectors are not numbers.
        """
        if self._compares_labels:
            return False
        unsuited = "total_variation" if predictions.ndim == 1 else "absolute"
        return predictions.dtype.kind not in "biufc" or self.distance is DISTANCES[unsuited]

    def _pairs(self, stack: Stack) -> Pairs:
        """Compute both predictions; compiled code always gets blocks of one size.

        Code compiled for another size may round differently, so a last,
        smaller block is filled up with copies of its last trial.
        """
        missing = 0 if self.batch.exact else self.pairs_at_once - len(stack.X)
        if missing <= 0:
            return self.batch.pairs(stack)
        filled = (np.concatenate([part, part[-1:].repeat(missing, axis=0)]) for part in stack)
        pairs = self.batch.pairs(Stack(*filled))
        return type(pairs)(*(part[: len(stack.X)] for part in pairs))

    def _too_close(
        self, changes: NDArray[np.float64], stack: Stack, pairs: Pairs
    ) -> NDArray[np.bool_]:
        """Mark changes so close to a threshold that rounding could decide.

        Few blocks have such changes. The bound for the largest numbers of the block is
        tried first, because a bound for every trial needs another pass over the data.
        """
        largest = max(np.fmax.reduce(np.abs(part), axis=None) for part in (*pairs[:2], stack.y))
        suspects = self._near(changes, AGREEMENT * largest)
        if suspects.any():
            suspects = self._near(changes, _slack(stack, pairs))
        return suspects

    def _near(
        self, changes: NDArray[np.float64], slack: float | NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Mark changes within ``slack`` of a decision; a change of exactly 0 has no error."""
        near = np.zeros(len(changes), dtype=np.bool_)
        for value in self.decision_points:
            near |= np.abs(changes - value) <= slack
        return np.asarray(near & (changes != 0))

    @property
    def _compares_labels(self) -> bool:
        return self.distance is DISTANCES["label"]

    def _label_changes(self, pairs: Pairs) -> NDArray[np.float64]:
        changes = np.zeros(len(pairs.full))
        differ = (pairs.full != pairs.reduced).reshape(len(changes), -1).any(axis=1)
        for i in np.flatnonzero(differ & pairs.trusted):
            changes[i] = self.distance(pairs.full[i], pairs.reduced[i])
        return changes

    def stack(self, start: int, stop: int) -> Stack:
        """Collect the rows of a block of trials."""
        # The shortcut of a deterministic estimator needs no random terms.
        terms = (_NO_TERMS, _NO_TERMS) if self.batch.exact else self.tasks.terms(start, stop)
        return Stack(*self._gathered(*self.tasks.rows(start, stop)), *terms)

    def _gathered(
        self, train: NDArray[np.int64] | slice, points: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the training rows, responses and test points of successive trials."""
        shape = (len(points), self.tasks.n)
        X, y = rows_of(self.sample.X), rows_of(self.sample.y)
        rows = self._taken("stacked rows", X, train).reshape(*shape, -1)
        responses = self._taken("stacked responses", y, train).reshape(shape)
        return rows, responses, rows_of(as_table(self.sample.points(points), "X"))

    def _taken(
        self, what: str, array: NDArray[Any], rows: NDArray[np.int64] | slice
    ) -> NDArray[Any]:
        """Select rows; for a shortcut, into memory that the next block overwrites.

        A contiguous range is not copied: batched code does not write to it. Compiled
        code may still read one block while the next is made.
        """
        if isinstance(rows, slice):
            return array[rows]
        if not array.flags.c_contiguous:
            return array[rows]  # `take` would copy the whole array first
        if not self.batch.exact or array.dtype != np.float64:
            return array.take(rows, axis=0)
        from poise.shortcuts.block_memory import scratch

        memory = scratch(what, (len(rows), *array.shape[1:]))
        # All rows exist; checking that would cost a second copy.
        return array.take(rows, axis=0, out=memory, mode="clip")

    def _settled(
        self, first: int, changes: NDArray[np.float64], doubtful: NDArray[np.bool_]
    ) -> Iterator[Answer]:
        """Yield a block; its uncertain trials are computed fit by fit."""
        done = 0
        for i in np.flatnonzero(doubtful):
            yield changes[done:i]
            yield from self.fit_by_fit(first + int(i), first + int(i) + 1)
            done = int(i) + 1
        yield changes[done:]

    @property
    def grain(self) -> int:
        """How many trials are computed at once."""
        return self.pairs_at_once

    @property
    def pairs_at_once(self) -> int:
        """How many pairs of fits are computed at once."""
        return self._equal_blocks(len(self.tasks))

    def _equal_blocks(self, pairs: int) -> int:
        """Divide so many pairs into blocks of one size, which fit the memory."""
        blocks = math.ceil(pairs * self._bytes_per_trial / self.batch.block_bytes)
        return math.ceil(pairs / blocks)

    @property
    def _bytes_per_trial(self) -> int:
        n, d = self.tasks.n, rows_of(self.sample.X).shape[1]
        return int(8 * n * d + self.batch.workspace_bytes(n, d))

    def agrees(self) -> bool:
        """Compute a few trials both ways; warn and return False if a prediction differs.

        Return False as well if the shortcut is certain of no trial, or if the estimator
        refuses the data.
        """
        trials = compared_trials(self.tasks, rows_of(self.sample.X).shape[1])
        stack = self._stack_of(trials)
        try:
            pairs = self.batch.pairs(stack)
            sure = np.flatnonzero(~self._judged(stack, pairs)[1])
        except Exception:  # such as labels that cannot be sorted
            return False
        if not len(sure):
            return False
        slack = _slack(stack, pairs) if pairs.full.dtype.kind == "f" else np.zeros(len(trials))
        for i, fitted in zip(sure, self._fitted([trials[i] for i in sure], stack), strict=True):
            if isinstance(fitted, Failure):
                return False
            stand_in = pairs.full[i], pairs.reduced[i]
            if not all(map(_agree, stand_in, fitted, (slack[i],) * 2)):
                warn_of_disagreement(self.batch.name, trials[i], stand_in, fitted)
                return False
        return True

    def _stack_of(self, trials: list[int]) -> Stack:
        """Collect the rows of trials that need not be successive."""
        train, points = zip(*(self.tasks.rows(i, i + 1) for i in trials), strict=True)
        rows = np.concatenate([_numbers(part) for part in train])
        return Stack(*self._gathered(rows, np.concatenate(points)), _NO_TERMS, _NO_TERMS)

    def _fitted(self, trials: list[int], stack: Stack) -> Iterator[Any]:
        """Return both predictions of the fits; after the first, skip checks that cannot fail."""
        finite = bool(np.isfinite(stack.X).all() and np.isfinite(stack.x).all())
        chosen = [self.tasks[trial] for trial in trials]
        return self.fit_by_fit.comparing(chosen, _both, relax=finite)(0, len(chosen))


def compared_trials(tasks: EqualTrials, columns: int) -> list[int]:
    """Return the trials that are computed both ways: a few, from the first to the last."""
    most = _BYTES_COMPARED // (8 * tasks.n * columns)
    count = min(_TRIALS_COMPARED, max(2, most))
    found: list[int] = np.linspace(0, len(tasks) - 1, count).astype(int).tolist()
    return found


@np.errstate(invalid="ignore")
def _slack(stack: Stack, pairs: Pairs) -> NDArray[np.float64]:
    """Bound the rounding error by which two correct computations may differ."""
    size = np.maximum(np.abs(pairs.full), np.abs(pairs.reduced))
    return np.asarray(AGREEMENT * np.maximum(size, np.abs(stack.y).mean(axis=1)))


def _both(full: object, reduced: object) -> Any:
    """Return the predictions themselves; used in place of a distance."""
    return full, reduced


def _agree(stand_in: Any, fitted: Any, slack: float) -> bool:
    """Compare two predictions: labels must be the same, numbers nearly the same."""
    if stand_in == fitted:
        return True
    return isinstance(fitted, float) and bool(abs(fitted - stand_in) <= slack)


def warn_of_disagreement(name: str, trial: int, stand_in: Any, fitted: Any) -> None:
    """Say that a shortcut and the fits predict different things."""
    warnings.warn(
        f"the shortcut '{name}' predicts {_in_words(stand_in)} in trial {trial} where the fits "
        f"predict {_in_words(fitted)}; every trial is computed fit by fit instead",
        PoiseWarning,
        stacklevel=2,
    )


def _in_words(predictions: tuple[Any, Any]) -> str:
    return " and ".join(str(prediction) for prediction in predictions)


def _gaps(pairs: Pairs, distance: Distance) -> NDArray[np.float64]:
    """Return absolute differences of numbers; of vectors the total variation or the length."""
    differences = pairs.full - pairs.reduced
    if differences.ndim == 1:
        return np.asarray(np.abs(differences))
    if distance is DISTANCES["total_variation"]:
        return np.asarray(np.abs(differences).sum(axis=1) / 2)
    return np.asarray(np.linalg.norm(differences, axis=1))


def rows_of(table: Table) -> NDArray[Any]:
    """Return rows of a table that is an array or behaves like one; others are not batched."""
    return np.asarray(array_of(table))


def _numbers(rows: NDArray[np.int64] | slice) -> NDArray[np.int64]:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
