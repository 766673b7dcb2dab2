"""Several random splits of the same rows, and one verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.rounding import reaches

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["vote"]


def vote(acceptance: ArrayLike, level_used: float, alpha: float) -> bool:
    """Say whether tests on several random splits of the same rows together declare stability.

    Each split is tested at level λ and has an acceptance probability; the vote accepts iff
    their average is at least λ/α.  By Markov's inequality that is valid at level α however
    the splits depend on each other; λ = α/2 is a majority of plain verdicts.  It helps only
    where one split has power well above 1/2; a smaller power it makes worse.  The averaged
    test is better on the same rows.

    Parameters
    ----------
    acceptance : list of float in [0, 1]
        Acceptance probability of each split; 0 or 1 for plain verdicts.
    level_used : float in (0, 1)
        Level λ at which each split was tested.
    alpha : float in (0, 1)
        Level of the vote.

    Returns
    -------
    bool

    Examples
    --------
    >>> vote([1, 0, 1, 1, 0], level_used=0.025, alpha=0.05)
    True
    """
    chances = arguments.probability("acceptance", acceptance)
    if chances.ndim != 1 or not chances.size:
        raise ArgumentError(f"acceptance must be a list of at least one, got {acceptance!r}")
    used = float(arguments.alpha(level_used, "level_used"))
    return reaches(float(np.mean(chances)) * float(arguments.alpha(alpha)), used)
