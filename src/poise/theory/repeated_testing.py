"""The true level of a fixed-size test that is repeated.

The Binomial test is valid for a number of trials fixed beforehand.  A user who tests,
collects more rows and tests again on all of them has several chances to be wrong, and the
chances add up.  Use one e-process instead: :mod:`poise.theory.open_ended_process`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_law
from poise.theory.binomial_test import critical_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poise.theory.binomial_law import Floats

__all__ = ["repeated_looks"]


@np.errstate(under="ignore")
def repeated_looks(
    sizes: Sequence[int], delta: float, alpha: float, randomized: bool = False
) -> list[float]:
    """Compute the probability of a false "stable" when the Binomial test is repeated.

    At δ* = δ the test is made after sizes[0], sizes[1], … trials, each time on all trials so
    far, until it declares stability.  The answer is exact and far above α.  It shows why
    one must *not* do this.

    Parameters
    ----------
    sizes : increasing list of int, each at least 1
        Numbers of trials at which one looks.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε, here also the true one.
    alpha : float in (0, 1)
        Level of each single test.
    randomized : bool, default False
        Whether a fresh coin is tossed at every look.

    Returns
    -------
    list of float
        The probability of having declared stability after each look.

    Examples
    --------
    >>> looks = repeated_looks([46 * 2**i for i in range(6)], delta=0.1, alpha=0.05)
    >>> [round(level, 3) for level in looks]
    [0.048, 0.072, 0.093, 0.121, 0.139, 0.165]
    """
    m = arguments.count("sizes", sizes, 1) if len(sizes) else np.empty(0, dtype=np.int64)
    if (np.diff(m) <= 0).any():
        raise ArgumentError(f"sizes must increase, got {sizes!r}")
    p = float(arguments.delta(delta))
    waiting, accepted, levels = np.ones(1), 0.0, []  # P(B = j and nothing declared so far)
    for size, step in zip(m.tolist(), np.diff(m, prepend=0).tolist(), strict=True):
        waiting = np.convolve(waiting, binomial_law.pmf(np.arange(step + 1), step, p))
        chance = _acceptance(size, p, alpha, randomized)
        accepted += float(waiting @ chance)
        waiting = waiting * (1 - chance)
        levels.append(accepted)
    return levels


def _acceptance(size: int, delta: float, alpha: float, randomized: bool) -> Floats:
    """Chance that one test accepts, for B = 0, …, size."""
    count, tie = critical_value(size, delta, alpha)
    chance = np.zeros(size + 1)
    chance[:count] = 1.0
    chance[count] = tie if randomized else float(tie >= 1)
    return chance
