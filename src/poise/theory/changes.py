"""What the tests read off the changes of a run, and what they answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import checks
from poise.errors import ArgumentError
from poise.theory.binomial_law import Floats


@dataclass(frozen=True, eq=False)
class Changes:
    """The changes of a run, a row for each trial in plan order; nan is a failed fit.

    Fewer rows than ``n_trials``, the planned number, mean that the run was stopped.
    """

    values: Floats
    n_trials: int

    @classmethod
    def of(cls, changes: ArrayLike | Sequence[ArrayLike], n_trials: int | None = None) -> Changes:
        """Check a table of changes, or one list for each trial; only shares of a list matter."""
        if not np.iterable(changes) or isinstance(changes, str):
            rule = "must hold an entry for each trial"
            raise ArgumentError(rule, argument="changes", got=changes)
        rows = [np.ravel(np.asarray(row, dtype=np.float64)) for row in changes]
        for row in rows:
            if not row.size or (row < 0).any():
                rule = "must hold at least one change for each trial, each at least 0"
                raise ArgumentError(rule, argument="changes", got=row.tolist())
        width = math.lcm(*(row.size for row in rows))  # lists are repeated to one length
        table = np.array([np.resize(row, width) for row in rows]).reshape(len(rows), width)
        return cls(table, planned("changes", len(rows), n_trials))

    @property
    def seen(self) -> int:
        """Number of trials that were run."""
        return len(self.values)

    @property
    def failures_largest(self) -> Floats:
        """The changes with failures as infinite: against "stable" they count as any change."""
        return np.where(np.isnan(self.values), np.inf, self.values)

    @property
    def failures_zero(self) -> Floats:
        """The changes with failures as 0: they are no evidence for "unstable"."""
        return np.where(np.isnan(self.values), 0.0, self.values)

    def shares(self, epsilon: float | None, *, failures_exceed: bool = True) -> Floats:
        """Compute each trial's share of changes beyond ε (strictly); None: they are shares."""
        table = self.failures_largest if failures_exceed else self.failures_zero
        beyond = np.minimum(table, 1.0) if epsilon is None else table > epsilon
        return np.asarray(beyond.mean(axis=1), dtype=np.float64)


def listed(name: str, values: ArrayLike, high: float = 1.0) -> Floats:
    """Return a list, perhaps an empty one, of numbers from 0 to ``high``."""
    rule = "a list of numbers in [0, 1]" if high == 1 else "a list of numbers >= 0"
    found = checks.reals(name, values, rule) if np.size(values) else np.empty(0)
    if found.ndim != 1:
        raise ArgumentError(f"must be {rule}", argument=name, got=values)
    return found


def planned(name: str, seen: int, n_trials: int | None) -> int:
    """Return the planned number of trials, which is not below the number seen."""
    m = seen if n_trials is None else checks.count("n_trials", n_trials)
    if m < seen:
        rule = f"must be at least the number of trials in {name}, {seen}"
        raise ArgumentError(rule, argument="n_trials", got=n_trials)
    return m


def counted(
    exceedances: ArrayLike, n_trials: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return both counts; of exceedances there are at most as many as trials."""
    b, m = checks.counts("exceedances", exceedances), checks.counts("n_trials", n_trials)
    pairs = np.broadcast_arrays(b, m)
    wrong = pairs[0] > pairs[1]
    if wrong.any():
        got, most = (int(each[wrong].flat[0]) for each in pairs)
        raise ArgumentError(f"must be at most n_trials = {most}", argument="exceedances", got=got)
    return b, m


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a test and its mirror image say about one question; P(wrong verdict) <= α.

    ``acceptance_probability`` is the chance, given the changes, that the test with a coin says
    "stable"; ``e_value`` is evidence for it that may be multiplied over disjoint rows; ``used`` are
    the trials after which the verdict stood, or all that were seen. The p-values are computed when
    one of them is first read.
    """

    verdict: str
    acceptance_probability: float
    e_value: float
    used: int
    compute_pvalues: Callable[[], tuple[float, float]]

    @cached_property
    def _pvalues(self) -> tuple[float, float]:
        return self.compute_pvalues()

    @property
    def pvalue(self) -> float:
        """P-value against "not stable"; at most α exactly if the test at α says "stable"."""
        return self._pvalues[0]

    @property
    def pvalue_unstable(self) -> float:
        """P-value against "stable"; at most α exactly if the mirror test at α says "unstable"."""
        return self._pvalues[1]


LEVELS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)


def union_profile(
    limit: Callable[[Changes, float, float], float],
    changes: Changes,
    alpha: float,
    levels: Sequence[float] = LEVELS,
) -> tuple[Floats, Floats]:
    """Compute upper limits for δ* that hold at every ε at once: from ε_i on it is δ_i.

    The steps ε_0 = 0 < ε_1 < … and the limits δ_0 >= δ_1 >= …, all of ``levels``, which must be
    fixed beforehand, or 1: each ε̂, the ``limit`` at δ, holds at α/J (union over J quantiles).
    """
    found = [limit(changes, delta, alpha / len(levels)) for delta in levels]
    steps = np.unique([0.0, *(each for each in found if each < math.inf)])
    limits = [
        min((d for d, e in zip(levels, found, strict=True) if e <= s), default=1.0) for s in steps
    ]
    return steps, np.array(limits)
