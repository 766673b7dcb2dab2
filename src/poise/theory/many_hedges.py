"""Many hedges side by side: the averaged test at many δ or many ε at once.

Estimates run the hedge again at every value they try.  One trial of all these runs is one
step of arrays here.  The step is that of :class:`~poise.theory.betting_process.Hedge`; a
run that has reached 1 or 0 stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.theory.betting_fraction import fraction_of_many
from poise.theory.betting_process import growth, mirror_growth
from poise.theory.rounding import less_rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from poise.theory.binomial_law import Floats

__all__ = ["Runs", "hedge_side_by_side"]


class Runs(NamedTuple):
    """How many hedges ended.

    Attributes
    ----------
    accepted : ndarray of bool
        Whether u reached 1.
    values : ndarray of float
        The last u of each run.
    """

    accepted: NDArray[np.bool_]
    values: Floats


@np.errstate(under="ignore")
def hedge_side_by_side(
    shares: Floats, delta: Floats | float, alpha: float, *, mirror: bool = False
) -> Runs:
    """Run the hedge, or its mirror, on every row of a table of shares, each with its own δ.

    Parameters
    ----------
    shares : array of shape (runs, m), in [0, 1]
        One run a row.
    delta : float, or array of shape (runs,), in [0, 1); above 0 for the mirror
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.
    mirror : bool
        Whether to bet on "unstable" instead.

    Returns
    -------
    Runs

    Examples
    --------
    >>> hedge_side_by_side(np.full((2, 40), 0.05), np.array([0.1, 0.2]), 0.05).accepted
    array([False,  True])
    """
    runs, m = shares.shape
    u, p = np.full(runs, float(alpha)), np.broadcast_to(np.asarray(delta, dtype=float), runs)
    s1, s2 = np.zeros(runs), np.zeros(runs)
    going = np.arange(runs)
    for k in range(m):
        going = going[(u[going] > 0) & (u[going] < less_rounding(1.0))]
        if not going.size:
            break
        now, share, at = u[going], shares[going, k], p[going]
        left = np.full(going.size, float(m - k))
        c = fraction_of_many(mirror, now, left, s1[going], s2[going], at)
        factor = mirror_growth(c, share, at) if mirror else growth(c, share, at)
        u[going] = now * np.maximum(factor, 0.0)
        s1[going] += share
        s2[going] += share * share
    return Runs(u >= less_rounding(1.0), u)
