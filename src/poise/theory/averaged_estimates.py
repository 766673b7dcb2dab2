"""Estimates δ̂ and ε̂ by the averaged test, and its profile.

The hedge is run again at every δ of a grid, or at every ε at which a share changes.  The
values are tried from the largest down to the first one that is not accepted.  The result is
sharper than the limits that go with a verdict (:mod:`poise.theory.averaged_limits`) and
also valid, but it does not belong to a verdict: choose one of the two modes before you look
at the data.  Never bisect here, because the hedge aimed at δ is not monotone in δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.betting_process import checked_shares
from poise.theory.exceedance_shares import TrialChanges
from poise.theory.many_hedges import hedge_side_by_side
from poise.theory.rounding import reaches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats

__all__ = [
    "LEVELS",
    "AveragedProfile",
    "averaged_profile",
    "delta_hat_grid",
    "epsilon_hat_scan",
]

LEVELS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
"""Default levels δ_1 < … < δ_J of a profile."""


def delta_hat_grid(S: ArrayLike, alpha: float, size: int = 200, *, zeta: float = 1.0) -> float:
    """Compute the upper limit δ̂ of estimation mode, from all m trials.

    δ̂ is the smallest grid value (j / size)² such that the hedge accepts there and at every
    larger grid value.  P(δ̂ < δ*) ≤ α, because the first grid value below δ* would have to
    be accepted.  On 0/1 shares it is the Clopper-Pearson limit rounded up to the grid.  It
    is not tied to a verdict: :func:`delta_hat_common` is.

    Parameters
    ----------
    S : array of shares in [0, 1]
        The shares of all trials.
    alpha : float in (0, 1)
        One minus the confidence.
    size : int, at least 2
        Number of steps of the grid; fix it before you look at the data.
    zeta : float in [0, 1], default 1
        The coin; 1 is the plain test.

    Returns
    -------
    float
        δ̂, 1 if not even the largest grid value is accepted.

    Examples
    --------
    >>> round(delta_hat_grid([0.05] * 60, alpha=0.05), 6)
    0.099225
    """
    shares = np.array(checked_shares(S))
    level, steps = float(arguments.alpha(alpha)), int(arguments.count("size", size, 2))
    grid = (np.arange(steps - 1, 0, -1) / steps) ** 2
    table = np.broadcast_to(shares, (grid.size, shares.size))
    accepted = _all_accepted(table, grid, level, zeta)
    return float(grid[accepted - 1]) if accepted else 1.0


def _all_accepted(shares: Floats, delta: Floats | float, alpha: float, zeta: float) -> int:
    """Count the rows that the hedge accepts before the first row that it does not accept."""
    coin = float(arguments.probability("zeta", zeta))
    runs = hedge_side_by_side(shares, delta, alpha)
    refused = ~(runs.accepted if coin == 1 else np.array([reaches(u, coin) for u in runs.values]))
    return int(refused.argmax()) if refused.any() else refused.size


def epsilon_hat_scan(
    changes: ArrayLike | Sequence[ArrayLike], delta: float, alpha: float, *, zeta: float = 1.0
) -> float:
    """Compute the upper limit ε̂ of estimation mode, from all m trials.

    It tries the distinct finite changes from the largest down, then 0, and returns the last
    value before the first one at which the hedge does not accept.  P(ε̂ < ε*_δ) ≤ α by the
    paper's Proposition 1(d), for one δ fixed beforehand.

    Parameters
    ----------
    changes : array of shape (m,), (m, R, T) or the like, or a list of lists
        The changes of all trials; nan stands for a failed fit.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε̂.
    alpha : float in (0, 1)
        One minus the confidence.
    zeta : float in [0, 1], default 1
        The coin; 1 is the plain test.

    Returns
    -------
    float
        ε̂, infinite if not even the largest change is accepted.

    Examples
    --------
    >>> epsilon_hat_scan([[0.1, 0.2], [0.15, 0.9]] * 10, delta=0.5, alpha=0.05)
    0.2
    """
    p, level = float(arguments.delta(delta)), float(arguments.alpha(alpha))
    lowest = math.inf
    for candidates, table in TrialChanges.of(changes).shares_downwards():
        accepted = _all_accepted(table, p, level, zeta)
        if accepted:
            lowest = float(candidates[accepted - 1])
        if accepted < candidates.size:
            break
    return lowest


@dataclass(frozen=True)
class AveragedProfile:
    """Upper limits ε̂ at several levels δ that hold together, and so for every ε at once.

    Attributes
    ----------
    levels : tuple of float
        δ_1 < … < δ_J, fixed beforehand.
    epsilon_hat : tuple of float
        ε̂ at each of them.
    alpha : float
        Probability that any of them fails.

    Examples
    --------
    >>> profile = AveragedProfile(levels=(0.1, 0.5), epsilon_hat=(0.9, 0.2), alpha=0.1)
    >>> profile.delta_hat(0.3), profile.delta_hat(1.0)
    (0.5, 0.1)
    """

    levels: tuple[float, ...]
    epsilon_hat: tuple[float, ...]
    alpha: float

    def delta_hat(self, epsilon: float) -> float:
        """Return min{δ_j : ε̂_j ≤ ε}, or 1: an upper limit for δ*_ε at any ε."""
        limit = float(arguments.epsilon(epsilon))
        pairs = zip(self.levels, self.epsilon_hat, strict=True)
        return min((level for level, reach in pairs if reach <= limit), default=1.0)


def averaged_profile(
    changes: ArrayLike | Sequence[ArrayLike],
    alpha: float,
    levels: Sequence[float] = LEVELS,
    *,
    zeta: float = 1.0,
) -> AveragedProfile:
    """Compute upper limits on δ*_ε that hold for all ε at once, by the averaged test.

    Each of J levels has its ε̂ from :func:`epsilon_hat_scan` at α/J, and δ̂(ε) = min{δ_j :
    ε̂_j ≤ ε}.  P(δ*_ε ≤ δ̂(ε) for all ε) ≥ 1 − α, by the union bound over the J levels.

    Parameters
    ----------
    changes : array of shape (m,), (m, R, T) or the like, or a list of lists
        The changes of all trials; nan stands for a failed fit.
    alpha : float in (0, 1)
        Probability that a limit fails somewhere.
    levels : sequence of float in [0, 1), increasing
        Levels δ_1 < … < δ_J, fixed before looking.
    zeta : float in [0, 1], default 1
        The coin; 1 is the plain test.

    Returns
    -------
    AveragedProfile

    Examples
    --------
    >>> profile = averaged_profile([[0.1, 0.2], [0.15, 0.9]] * 40, alpha=0.1, levels=(0.1, 0.5))
    >>> profile.epsilon_hat, profile.delta_hat(0.3)
    ((0.9, 0.2), 0.5)
    """
    chosen = tuple(arguments.delta(levels, "levels").ravel().tolist())
    if not chosen or any(a >= b for a, b in pairwise(chosen)):
        raise ArgumentError(f"levels must increase and not be empty, got {levels!r}")
    level = float(arguments.alpha(alpha))
    limits = (epsilon_hat_scan(changes, p, level / len(chosen), zeta=zeta) for p in chosen)
    return AveragedProfile(chosen, tuple(limits), level)
