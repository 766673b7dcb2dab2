"""How many random bags are enough, by Theorem K.

Theorems K and L (:mod:`poise.theory.subbagging`) are about the average over all bags. M random
bags, drawn again for n - 1 rows with any dependence, add W²/M to Theorem K's
W²p/(4(n - 1)(1 - p)), since each of the two averages has variance W²/(4M) at most.
:mod:`poise.theory.bags_by_chernoff` counts the bags for Theorem L.

If the bags are *coupled*, so that each bag of the n rows without the removed row is also a
bag of the n - 1 rows, only pW²/M is added: the other bags, a share p on average, differ by W
at most, and the difference of the two averages is a mean of M independent differences.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.theory.bag_deviation import checked_bag
from poise.theory.decimals import NOISE, ceiling
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.scalars import FloatOrArray, IntOrArray

__all__ = ["bags_needed", "finite_bag_delta"]


def bags_needed(
    n: ArrayLike,
    b: ArrayLike,
    eps: ArrayLike,
    delta: ArrayLike,
    width: ArrayLike = 1.0,
    coupled: bool = False,
) -> IntOrArray:
    """Compute how many random bags keep subbagging (ε, δ)-stable (Theorem K).

    ⌈1/(δε²/W² - p/(4(n - 1)(1 - p)))⌉: with M bags, drawn again for n - 1 rows with any
    dependence, W²/M is added to Theorem K's bound on the mean squared change. If the bags
    are coupled, pW²/M is added, and p times as many bags are enough.

    Parameters
    ----------
    n, b, eps, width
        As in :func:`poise.theory.bag_delta`.
    delta : float or array in [0, 1)
        Share of removals that may change more.
    coupled : bool, default False
        Whether bags without the removed row are kept for the n - 1 rows. The guarantee is
        then for fits that share their seed.

    Returns
    -------
    int or ndarray of int
        Number of bags; 0 if no number is enough.

    Examples
    --------
    >>> bags_needed(145, 56, 0.2, 0.05), bags_needed(145, 120, 0.2, 0.05)
    (1102, 0)
    >>> bags_needed(145, 56, 0.2, 0.05, coupled=True)
    426
    """
    rows = arguments.count("n", n, minimum=2)
    size = checked_bag(rows, b)
    allowed, tolerated = arguments.delta(delta), arguments.epsilon(eps, "eps")
    share = size / rows if arguments.flag("coupled", coupled) else 1.0
    needed = _each_needed(rows, size, tolerated, allowed, arguments.positive("width", width), share)
    return plain(np.asarray(needed, dtype=np.int64))


def _needed(n: int, b: int, eps: float, delta: float, width: float, share: float) -> int:
    """Count bags with the decimals as they are written: the difference loses digits in doubles."""
    given = Fraction(repr(delta)) * (Fraction(repr(eps)) / Fraction(repr(width))) ** 2
    spare = given - Fraction(b, 4 * (n - 1) * (n - b))
    return int(ceiling(share / float(spare))) if spare > given * Fraction(NOISE) else 0


_each_needed = np.vectorize(
    lambda n, b, *rest: _needed(int(n), int(b), *map(float, rest)), otypes=[np.int64]
)


def finite_bag_delta(
    n: ArrayLike,
    b: ArrayLike,
    n_bags: ArrayLike,
    eps: ArrayLike,
    width: ArrayLike = 1.0,
    coupled: bool = False,
) -> FloatOrArray:
    """Compute the δ of subbagging with a given number of random bags (Theorem K).

    W²(p/(4(n - 1)(1 - p)) + 1/M)/ε², capped at 1, with p/M for 1/M if the bags are coupled: the
    inverse of :func:`bags_needed`.

    Parameters
    ----------
    n, b, eps, width, coupled
        As in :func:`bags_needed`.
    n_bags : int or array of int, at least 1
        Number of bags M.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> finite_bag_delta(145, 56, 1102, 0.2)
    0.049995...
    """
    rows = arguments.count("n", n, minimum=2)
    size = checked_bag(rows, b)
    share = size / rows if arguments.flag("coupled", coupled) else 1.0
    relative = arguments.epsilon(eps, "eps") / arguments.positive("width", width)
    squares = size / (4 * (rows - 1) * (rows - size))
    squares = squares + share / arguments.count("n_bags", n_bags, minimum=1)
    with np.errstate(divide="ignore"):
        return plain(np.minimum(squares / relative**2, 1.0))
