"""Limits for δ* that hold at all times together, from the shares of a growing record.

Both ends come from the open-ended processes of :mod:`poise.theory.open_ended_test`: the
upper limit holds all δ that the evidence for "stable" does not reject, the lower limit all
that the evidence for "unstable" does not reject.  Each is the best of all moments so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from poise.theory.betting_process import checked_shares
from poise.theory.open_ended_process import OpenEnded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from poise.theory.binomial_law import Floats

__all__ = ["LimitsOverTime", "limits_over_time"]

_MOST_MOMENTS = 500


@dataclass(frozen=True, eq=False)
class LimitsOverTime:
    """A confidence sequence for δ*: limits at growing numbers of trials.

    P(δ* ≤ every upper limit) ≥ 1 − α, and P(δ* ≥ every lower limit) ≥ 1 − α; both together
    hold with probability at least 1 − 2α.

    Attributes
    ----------
    trials : ndarray of int
        0 and the numbers of trials at which limits were computed.
    upper, lower : ndarray of float
        The smallest upper and the largest lower limit up to each of them.

    Examples
    --------
    >>> limits = limits_over_time([0.02] * 60, alpha=0.05)
    >>> bool((np.diff(limits.upper) <= 0).all()), limits.upper[-1].round(4)
    (True, np.float64(0.0906))
    """

    trials: NDArray[np.int64]
    upper: Floats
    lower: Floats


def limits_over_time(
    S: ArrayLike, alpha: float, *, S_unstable: ArrayLike | None = None
) -> LimitsOverTime:
    """Compute both limits for δ* at every number of trials, or at 500 of them.

    P(δ* ≤ upper limit at all times) ≥ 1 − α, and likewise for the lower limits, however
    often one looks.  Fewer moments than trials make the limits no less valid.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; failures counted as exceedances.
    alpha : float in (0, 1)
        Probability that some limit of one side fails.
    S_unstable : array of shares, optional
        The shares with failures counted as no change, if there were any.

    Returns
    -------
    LimitsOverTime

    Examples
    --------
    >>> limits = limits_over_time([0.02] * 60, alpha=0.05)
    >>> limits.trials[-1], limits.upper[[0, 30, 60]].round(4), limits.lower[-1].round(4)
    (np.int64(60), array([1.    , 0.1554, 0.0906]), np.float64(0.0186))
    """
    shares = checked_shares(S)
    others = np.array(shares if S_unstable is None else checked_shares(S_unstable))
    moments = _moments(len(shares))
    upper = _running(shares, moments, alpha)
    lower = 1 - _running((1 - others).tolist(), moments, alpha)
    return LimitsOverTime(np.array(moments), upper, lower)


def _moments(trials: int) -> list[int]:
    step = max(1, -(-trials // _MOST_MOMENTS))
    return sorted({*range(0, trials + 1, step), trials})


def _running(shares: list[float], moments: list[int], alpha: float) -> Floats:
    """Compute the smallest upper limit up to each moment."""
    evidence, limits = OpenEnded(), [1.0]
    for before, now in pairwise(moments):
        for share in shares[before:now]:
            evidence.update(share)
        limits.append(evidence.delta_hat_below(limits[-1], alpha))
    return np.array(limits)
