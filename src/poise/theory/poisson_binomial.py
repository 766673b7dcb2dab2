"""The Binomial test averaged over its randomness: a sum of unequal coins.

For every trial, toss a coin that shows an exceedance with probability S_k, and give the
number of exceedances to the Binomial test: this is again a Binomial test.  Averaging over
these coins, given the shares, gives an acceptance probability with the same mean and a
smaller variance (Proposition E).  It has no more power; it is here for comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.theory.betting_process import checked_shares
from poise.theory.binomial_test import critical_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats

__all__ = ["rao_blackwell"]


@np.errstate(under="ignore")
def rao_blackwell(S: ArrayLike, delta: float, alpha: float) -> float:
    """Compute the chance, given the shares, that the Binomial test would accept.

    π = P(PB < k*) + a* P(PB = k*), where PB is the sum of independent Bernoulli(S_k).  E π
    is the Binomial test's power, so π is valid as the probability of a coin, E π ≤ α if
    δ* ≥ δ (Proposition E).  It gives no useful plain test: π = 1 only if at most k* − 1
    shares are not 0 (k* if a* = 1).

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> round(rao_blackwell([0.05] * 60, delta=0.1, alpha=0.05), 4)
    0.3999
    """
    shares = np.array(checked_shares(S))
    count, tie = critical_value(shares.size, delta, alpha)
    law = _lowest(shares, int(count))
    return float(min(law[:count].sum() + tie * law[count], 1.0))


@np.errstate(under="ignore")
def _lowest(shares: Floats, count: int) -> Floats:
    """P(PB = j) for j = 0, …, count; all terms are positive."""
    law = np.zeros(count + 1)
    law[0] = 1.0
    for share in shares:
        law[1:] = law[1:] * (1 - share) + law[:-1] * share
        law[0] *= 1 - share
    return law
