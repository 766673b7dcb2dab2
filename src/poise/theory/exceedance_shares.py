"""Shares of changes beyond ε: what the averaged test reads off each trial.

Trial k makes R removals and looks at T test points, so it has RT changes; its share at ε is

    S_k(ε) = #{Δ in trial k : Δ > ε} / RT        (strict: ties Δ = ε do not count).

The shares are i.i.d. with mean δ*_ε (Lemma 1), however the changes of one trial depend on
each other.  A change that could not be measured is nan here: it counts against "stable"
and never for "unstable", so there are two shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from poise.theory.binomial_law import Floats

__all__ = ["TrialChanges", "shares"]

_CANDIDATES_AT_ONCE = 256  # values of ε; a table has a row of shares for each


def shares(
    changes: ArrayLike | Sequence[ArrayLike], epsilon: float, *, failures_exceed: bool = True
) -> Floats:
    """Compute each trial's share of changes beyond ε.

    Parameters
    ----------
    changes : array of shape (m,), (m, R, T) or the like, or a list of m lists; at least 0
        The changes of each trial. Trials may have different numbers of them if those were
        fixed before the trial. May hold infinities; nan stands for a failed fit.
    epsilon : float, at least 0
        Allowed change.
    failures_exceed : bool, default True
        How nan counts: as an exceedance (the share for "stable"), or not (the share for
        the mirror, "unstable").

    Returns
    -------
    ndarray of shape (m,)
        In [0, 1].

    Examples
    --------
    >>> shares([[0.1, 0.5], [0.2, float("nan")]], epsilon=0.2)
    array([0.5, 0.5])
    >>> shares([[0.1, 0.5], [0.2, float("nan")]], epsilon=0.2, failures_exceed=False)
    array([0.5, 0. ])
    """
    limit = float(arguments.epsilon(epsilon))
    return TrialChanges.of(changes, failures_exceed=failures_exceed).shares(limit)


@dataclass(frozen=True, eq=False)
class TrialChanges:
    """The changes of all trials in one flat array.

    Attributes
    ----------
    values : ndarray of float
        All changes; failures are infinite, or 0 where they do not count.
    trial : ndarray of int
        The trial, from 0, that each change belongs to.
    sizes : ndarray of int, shape (m,)
        Number of changes in each trial.
    """

    values: Floats
    trial: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(
        cls, changes: ArrayLike | Sequence[ArrayLike], *, failures_exceed: bool = True
    ) -> TrialChanges:
        """Check the changes and put them in one flat array."""
        values, sizes = _flat(changes)
        if (sizes == 0).any():
            empty = int(np.flatnonzero(sizes == 0)[0])
            raise ArgumentError(
                f"changes must hold at least one a trial, got none in trial {empty}"
            )
        if (values < 0).any():
            raise ArgumentError(f"changes must be at least 0, got {values[values < 0][0]}")
        values = np.where(np.isnan(values), np.inf if failures_exceed else 0.0, values)
        return cls(values, np.repeat(np.arange(sizes.size), sizes), sizes)

    @property
    def n_trials(self) -> int:
        """Number of trials m."""
        return self.sizes.size

    def first(self, n_trials: int) -> TrialChanges:
        """Keep only the first trials, as many as asked for."""
        kept = self.trial < n_trials
        return TrialChanges(self.values[kept], self.trial[kept], self.sizes[:n_trials])

    def shares(self, epsilon: float) -> Floats:
        """Compute S_k(ε) for every trial."""
        counts = np.bincount(self.trial[self.values > epsilon], minlength=self.n_trials)
        return counts / self.sizes

    def candidates(self) -> Floats:
        """Return the distinct finite changes and 0, upwards: S(ε) jumps nowhere else."""
        return np.unique(np.append(self.values[np.isfinite(self.values)], 0.0))

    def shares_downwards(self, block: int = _CANDIDATES_AT_ONCE) -> Iterator[tuple[Floats, Floats]]:
        """Go down the candidates, a block at a time; yield them and a row of shares for each.

        The next candidate below makes the changes equal to the last one exceed, so counts
        are updated instead of being computed again.
        """
        steps = self.candidates()[::-1]
        # Changes equal to steps[i] exceed from row i + 1 on; infinite ones from the start.
        row = np.searchsorted(-steps, -self.values, side="left") + 1
        row[np.isinf(self.values)] = 0
        order = np.argsort(row, kind="stable")
        row, trial = row[order], self.trial[order]
        counts = np.zeros(self.n_trials)
        for start in range(0, steps.size, block):
            rows = min(block, steps.size - start)
            inside = slice(*np.searchsorted(row, [start, start + rows]))
            added = np.zeros((rows, self.n_trials))
            np.add.at(added, (row[inside] - start, trial[inside]), 1.0)
            added[0] += counts
            table = np.cumsum(added, axis=0)
            counts = table[-1]
            yield steps[start : start + rows], table / self.sizes

    def shares_upwards(self, block: int = _CANDIDATES_AT_ONCE) -> Iterator[tuple[Floats, Floats]]:
        """Go up the candidates, a block at a time; yield them and a row of shares for each."""
        steps = self.candidates()
        # Changes equal to steps[i] no longer exceed from row i on; infinite ones always do.
        row = np.searchsorted(steps, self.values, side="left")
        order = np.argsort(row, kind="stable")
        row, trial = row[order], self.trial[order]
        counts = self.sizes.astype(np.float64)
        for start in range(0, steps.size, block):
            rows = min(block, steps.size - start)
            inside = slice(*np.searchsorted(row, [start, start + rows]))
            gone = np.zeros((rows, self.n_trials))
            np.add.at(gone, (row[inside] - start, trial[inside]), 1.0)
            table = counts - np.cumsum(gone, axis=0)
            counts = table[-1]
            yield steps[start : start + rows], table / self.sizes


def _flat(changes: ArrayLike | Sequence[ArrayLike]) -> tuple[Floats, NDArray[np.intp]]:
    """Put the changes of all trials in one row; also return how many each trial has."""
    if isinstance(changes, np.ndarray) and changes.ndim and changes.dtype != object:
        m = changes.shape[0]
        values = changes.astype(np.float64).ravel()
        return values, np.full(m, values.size // max(m, 1), dtype=np.intp)
    if not np.iterable(changes):
        raise ArgumentError(f"changes must hold one entry per trial, got {changes!r}")
    rows = [np.ravel(np.asarray(row, dtype=np.float64)) for row in changes]
    sizes = np.array([row.size for row in rows], dtype=np.intp)
    return np.concatenate([np.empty(0), *rows]), sizes
