"""Trials that may exceed ε in a tolerated share γ of their changes.

A trial with K changes has the share S(ε) of those beyond ε. With a tolerated share γ it counts
as one yes-or-no answer, 1{S(ε) > γ}. More than γK changes exceed ε iff the (⌊γK⌋ + 1)-th largest
of them does, so this change takes the place of Δ in the Binomial test, and in its limits for ε.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.decimals import floor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats

__all__ = ["least_trials", "tolerated_change"]


def tolerated_change(changes: ArrayLike, gamma: float, *, failures_exceed: bool = True) -> Floats:
    """Compute the change that each trial exceeds in at most a share γ of its changes.

    S(ε) > γ iff the result is larger than ε.

    Parameters
    ----------
    changes : array of shape (m, K), at least 0
        K changes of each trial; nan stands for a failed fit.
    gamma : float in [0, 1)
        Tolerated share; γK is rounded down after noise of the decimals is removed.
    failures_exceed : bool
        Whether nan counts as a larger change (for "stable") or as none (for "unstable").

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> tolerated_change([[0.1, 0.9, 0.5, 0.3]], gamma=0.25)
    array([0.5])
    >>> tolerated_change([[0.1, np.nan]], 0.0), tolerated_change([[0.1, np.nan]], 0.5)
    (array([inf]), array([0.1]))
    """
    table = np.array(changes, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ArgumentError(
            f"changes must have shape (trials, changes of a trial), got {table.shape}"
        )
    share = float(arguments.delta(arguments.scalar("gamma", gamma), "gamma"))
    table[np.isnan(table)] = np.inf if failures_exceed else 0.0
    size = table.shape[1]
    place = size - 1 - int(floor(share * size))
    return np.asarray(np.partition(table, place, axis=1)[:, place])


def least_trials(delta: float, alpha: float) -> int | None:
    """Compute the least number of trials with which "stable" can be declared at all.

    The smallest m with (1 − δ)^m ≤ α: without a single exceedance, the plain Binomial test and
    the plain averaged test declare "stable" from there on. None for δ = 0: never.

    Parameters
    ----------
    delta : float in [0, 1)
        Allowed probability of a larger change.
    alpha : float in (0, 1)
        Level.

    Examples
    --------
    >>> least_trials(0.1, 0.05), least_trials(0.05, 0.05), least_trials(0.0, 0.05)
    (29, 59, None)
    """
    from poise.theory.binomial_test import critical_count

    allowed, level = float(arguments.delta(delta)), float(arguments.alpha(alpha))
    if allowed == 0:
        return None
    near = max(1, math.ceil(math.log(level) / math.log1p(-allowed)) - 1)
    # The test itself decides where the logarithms are equal up to rounding.
    return next(m for m in range(near, near + 3) if critical_count(m, allowed, level) >= 0)
