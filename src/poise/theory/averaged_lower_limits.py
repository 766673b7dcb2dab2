"""Lower limits of the averaged test for the probability of a change.

They invert the mirror, as the upper limits invert the hedge. With the fractions c_k that
the mirror staked at the user's (ε, δ),

    u_t(ε, δ) = α Π_{k≤t} (1 − c_k + c_k S_k(ε) / δ)

never rises in ε or in δ. So the largest δ at which it has reached 1 is above δ* with
probability at most α, by the proof of Theorem F. The verdict is "unstable" iff the mirror
has reached 1 at the user's δ. A failed fit shows no change: here it counts as a small one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.theory.averaged_limits import delta_hat_common
from poise.theory.betting_process import Mirror, checked_shares, mirror_growth, planned
from poise.theory.exceedance_shares import TrialChanges
from poise.theory.many_hedges import hedge_side_by_side
from poise.theory.rounding import reaches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from poise.theory.binomial_law import Floats

__all__ = [
    "delta_interval_common",
    "delta_lower_common",
    "delta_lower_grid",
    "epsilon_lower_common",
    "epsilon_lower_scan",
]

_BISECTIONS = 60


def delta_lower_common(
    S: ArrayLike, reference_delta: float, alpha: float, *, n_trials: int | None = None
) -> float:
    """Compute the lower limit for δ* that goes with the averaged test's verdict at δ.

    The limit is at least δ iff the mirror declares instability, at whatever trial it
    stopped, and P(limit > δ*) ≤ α (Theorem F, for the mirror). It is valid alone; for
    limits on both sides see :func:`delta_interval_common`.

    Parameters
    ----------
    S : array of shares in [0, 1]
        The shares of the trials up to the stop, in plan order, failures counted as 0.
    reference_delta : float in [0, 1)
        The δ of the test.
    alpha : float in (0, 1)
        Level.
    n_trials : int, optional
        Number of trials planned, if ``S`` holds only the first of them.

    Returns
    -------
    float
        In [0, 1]; 0 if no δ can be excluded.

    Examples
    --------
    >>> round(delta_lower_common([0.2, 0.6] * 12, reference_delta=0.2, alpha=0.05), 4)
    0.2007
    """
    shares = checked_shares(S)
    process = _run(Mirror(planned(shares, n_trials), reference_delta, alpha), shares)
    staked = np.array(process.fractions), np.array(process.shares)
    accepted, refused = 0.0, 1.0  # at 0 nothing is claimed, and at 1 no share exceeds δ
    if process.delta > 0 and _accepts(staked, process.delta, process.alpha):
        accepted = process.delta
    for _ in range(_BISECTIONS):
        middle = (accepted + refused) / 2
        if _accepts(staked, middle, process.alpha):
            accepted = middle
        else:
            refused = middle
    return accepted if _accepts(staked, accepted, process.alpha) else 0.0


def _run(process: Mirror, shares: Sequence[float]) -> Mirror:
    for share in shares:
        if process.update(share):
            break
    return process


def _accepts(staked: tuple[Floats, Floats], delta: float, alpha: float) -> bool:
    """Tell whether the mirror with these fractions has reached 1 at δ."""
    if delta == 0:
        return False  # a positive share shows δ* > 0 only: no lower limit above 0
    return _reached(mirror_growth(*staked, delta), alpha)


def _reached(factors: Floats, alpha: float) -> bool:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        u = alpha * np.multiply.accumulate(np.maximum(factors, 0.0))
    return reaches(np.fmax.reduce(u, initial=alpha))


def delta_interval_common(
    S: ArrayLike,
    S_unstable: ArrayLike,
    reference_delta: float,
    alpha: float,
    *,
    n_trials: int | None = None,
) -> tuple[float, float]:
    """Compute limits for δ* on both sides that hold together, by the averaged test.

    P(low ≤ δ* ≤ high) ≥ 1 − α: hedge and mirror start with α/2 each. It holds at any
    stopping time and whatever the verdict; "stable" spends all of α on one side, so
    ``high`` may exceed δ where it is declared.

    Parameters
    ----------
    S, S_unstable : array of shares in [0, 1]
        The shares, failures counted as 1 in the first and as 0 in the second.
    reference_delta : float in [0, 1)
        The δ that the bets aim at.
    alpha : float in (0, 1)
        One minus the confidence of the interval.
    n_trials : int, optional
        Number of trials planned, if there are shares of the first of them only.

    Returns
    -------
    low, high : float
        In [0, 1].

    Examples
    --------
    >>> low, high = delta_interval_common([0.2, 0.6] * 30, [0.2, 0.6] * 30, 0.3, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.301, 0.467)
    """
    level = float(arguments.alpha(alpha)) / 2
    low = delta_lower_common(S_unstable, reference_delta, level, n_trials=n_trials)
    return low, delta_hat_common(S, reference_delta, level, n_trials=n_trials)


def epsilon_lower_common(
    changes: ArrayLike | Sequence[ArrayLike],
    epsilon: float,
    delta: float,
    alpha: float,
    *,
    n_trials: int | None = None,
) -> float:
    """Compute the lower limit for ε*_δ that goes with the averaged test's verdict at (ε, δ).

    The limit is the smallest ε at which the mirror, with the fractions of the test, has not
    reached 1. It is above the test's ε iff the mirror declares instability, and
    P(limit > ε*_δ) ≤ α.

    Parameters
    ----------
    changes : array of shape (trials,), (trials, R, T) or the like, or a list of lists
        The changes of the trials up to the stop; nan stands for a failed fit.
    epsilon, delta, alpha
        As in the test.
    n_trials : int, optional
        Number of trials planned, if ``changes`` holds only the first of them.

    Returns
    -------
    float
        In [0, ∞]; 0 if nothing is shown.

    Examples
    --------
    >>> changes = [[0.1, 0.7], [0.8, 0.9]] * 10
    >>> epsilon_lower_common(changes, epsilon=0.5, delta=0.2, alpha=0.05)
    0.7
    """
    table = TrialChanges.of(changes, failures_exceed=False)
    shares = table.shares(float(arguments.epsilon(epsilon))).tolist()
    process = _run(Mirror(planned(shares, n_trials), delta, alpha), shares)
    used, staked = table.first(process.trials), np.array(process.fractions)
    candidates = used.candidates()

    def accepts(place: int) -> bool:
        at = used.shares(float(candidates[place]))
        if process.delta == 0:
            return bool((at > 0).any())
        return _reached(mirror_growth(staked, at, process.delta), process.alpha)

    accepted, refused = -1, candidates.size
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        accepted, refused = (middle, refused) if accepts(middle) else (accepted, middle)
    return float(candidates[refused]) if refused < candidates.size else math.inf


def delta_lower_grid(S: ArrayLike, alpha: float, size: int = 200) -> float:
    """Compute the lower limit for δ* of estimation mode, from all m trials.

    The limit is the largest grid value (j / size)² such that the mirror accepts there and
    at every smaller grid value. P(limit > δ*) ≤ α, because the first grid value from δ* on
    would have to be accepted.

    Parameters
    ----------
    S : array of shares in [0, 1]
        The shares of all trials, failures counted as 0.
    alpha : float in (0, 1)
        One minus the confidence.
    size : int, at least 2
        Number of steps of the grid; fix it before you look at the data.

    Returns
    -------
    float
        0 if not even the smallest grid value is accepted.

    Examples
    --------
    >>> round(delta_lower_grid([0.5] * 60, alpha=0.05), 4)
    0.4489
    """
    shares = np.array(checked_shares(S))
    level, steps = float(arguments.alpha(alpha)), int(arguments.count("size", size, 2))
    grid = (np.arange(1, steps) / steps) ** 2
    table = np.broadcast_to(shares, (grid.size, shares.size))
    accepted = _all_accepted(hedge_side_by_side(table, grid, level, mirror=True).accepted)
    return float(grid[accepted - 1]) if accepted else 0.0


def _all_accepted(accepted: NDArray[np.bool_]) -> int:
    """Count the accepted values before the first one that is not accepted."""
    return int(accepted.argmin()) if not accepted.all() else accepted.size


def epsilon_lower_scan(
    changes: ArrayLike | Sequence[ArrayLike], delta: float, alpha: float
) -> float:
    """Compute the lower limit for ε*_δ of estimation mode, from all m trials.

    It goes up from 0 over the distinct finite changes and returns the first value at which
    the mirror does not accept. P(limit > ε*_δ) ≤ α, for one δ fixed beforehand.

    Parameters
    ----------
    changes : array of shape (m,), (m, R, T) or the like, or a list of lists
        The changes of all trials; nan stands for a failed fit.
    delta : float in [0, 1)
        Allowed probability of a larger change.
    alpha : float in (0, 1)
        One minus the confidence.

    Returns
    -------
    float
        In [0, ∞]; 0 if nothing is shown.

    Examples
    --------
    >>> epsilon_lower_scan([[0.1, 0.7], [0.8, 0.9]] * 10, delta=0.2, alpha=0.05)
    0.8
    """
    p, level = float(arguments.delta(delta)), float(arguments.alpha(alpha))
    for candidates, table in TrialChanges.of(changes, failures_exceed=False).shares_upwards():
        if p == 0:
            reached = np.asarray((table > 0).any(axis=1))
        else:
            reached = hedge_side_by_side(table, p, level, mirror=True).accepted
        accepted = _all_accepted(reached)
        if accepted < candidates.size:
            return float(candidates[accepted])
    return math.inf
