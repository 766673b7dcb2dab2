"""How stable an average over bags is, whatever is bagged (Theorems K and L).

Subbagging fits the base algorithm to bags of b of the n rows, drawn without replacement, and
averages. Here f is the average over all bags, f^{∖i} the average over the bags
without row i, which is subbagging of the other n - 1 rows with the same b; d_i = f - f^{∖i}
at one point x, p = b/n, and base fits lie in a range of width W. Base fits ignore the order
of their rows, or each bag is shuffled. Everything holds for every data set and every x.

**Theorem K** (Soloff, Barber & Willett, 2024, Theorem 8). Σ_i ‖d_i‖² <= V np/((n - 1)(1 - p)),
V the variance of the base fits over bags: V <= W²/4 for numbers, V <= 1 - 1/L for
probability vectors of L classes. So subbagging is (ε, δ)-stable with δ = Vp/((n - 1)(1 - p)ε²).

*Proof.* (1 - p)d_i is the covariance of f_r and 1{i in r}. So (1 - p) Σ ‖d_i‖² = E⟨f_r - f,
Σ (1{i in r} - p)d_i⟩ <= √V √(Σ dᵀCd) over coordinates, C the covariance matrix of the
memberships, whose norm is p(1 - p)n/(n - 1). A share Σ ‖d_i‖²/(nε²) at most has ‖d_i‖ >= ε. ∎

**Theorem L.** At most k° rows have |d_i| > ε, where k° = max{k : W·M_k/(2(1 - p)k) > ε} and M_k is
:func:`poise.theory.bag_mad`. So subbagging is (ε, k°/n)-stable.

*Proof.* Let s_i be the signs of d_i for k such rows and Z = Σ s_i 1{i in r}. Then kε < Σ s_i d_i =
Cov(f_r, Z)/(1 - p) <= W E(Z - EZ)_+/(1 - p) = W E|Z - EZ|/(2(1 - p)). (k - 1)Z is the sum of the k
sums with one row left out, so (k - 1)M_k <= k M_{k-1}: M_k/k is non-increasing. ∎

k° is non-decreasing in b: whatever bags of b rows do, bags of b + 1 rows can do by
averaging over their subsets of b rows, with the same f and the same f^{∖i}.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.theory.bag_deviation import checked_bag, reach
from poise.theory.decimals import NOISE, floor
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from poise.theory.scalars import FloatOrArray, IntOrArray

__all__ = [
    "EXACT_UP_TO",
    "bag_count",
    "bag_delta",
    "clipped_delta",
    "largest",
    "largest_admissible_bag",
    "largest_bag",
    "probability_width",
]

# Theorem L is computed for at most this many rows; beyond, Theorem K is used.
EXACT_UP_TO = 1000


def probability_width(n_classes: float) -> float:
    """Compute the width that stands for probability vectors in Theorem K: 2√(1 - 1/L).

    With this width every formula for numbers holds for vectors of L class probabilities
    and Euclidean distances. For two classes so does Theorem L, since both
    coordinates move by the same amount.

    Parameters
    ----------
    n_classes : int, at least 2, or inf
        Number of classes L; infinite if it is not known.

    Returns
    -------
    float

    Examples
    --------
    >>> probability_width(4), probability_width(float("inf"))
    (1.732050..., 2.0)
    """
    if n_classes == math.inf:
        return 2.0
    return 2 * math.sqrt(1 - 1 / int(arguments.count("n_classes", n_classes, minimum=2)))


def bag_delta(n: ArrayLike, b: ArrayLike, eps: ArrayLike, width: ArrayLike = 1.0) -> FloatOrArray:
    """Compute the δ of subbagging for every distribution (Theorem K).

    W²p/(4(n - 1)(1 - p)ε²) with p = b/n, capped at 1: at most this share of the n removals
    changes a prediction by ε or more, with all bags.

    A δ of 1 does not mean that the algorithm is unstable: then the theorem says nothing.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows.
    b : int or array of int, from 1 to n - 1
        Rows in a bag.
    eps : float or array, at least 0
        Largest change that is tolerated.
    width : float or array, positive
        Width of the range of the base fits, in the units of ``eps``.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> bag_delta(145, 56, 0.2)
    0.027309...
    """
    rows = arguments.count("n", n, minimum=2)
    size = checked_bag(rows, b)
    relative = arguments.epsilon(eps, "eps") / arguments.positive("width", width)
    with np.errstate(divide="ignore"):
        return plain(np.minimum(size / (4 * (rows - 1) * (rows - size) * relative**2), 1.0))


def largest_bag(
    n: ArrayLike, eps: ArrayLike, delta: ArrayLike, width: ArrayLike = 1.0
) -> IntOrArray:
    """Compute the largest bag that is (ε, δ)-stable by Theorem K, with all bags.

    ⌊nt/(1 + t)⌋, at most n - 1, with t = 4(n - 1)δε²/W². :func:`largest_admissible_bag` may
    allow a larger one.

    Parameters
    ----------
    n, eps, width
        As in :func:`bag_delta`.
    delta : float or array in [0, 1)
        Share of removals that may change more.

    Returns
    -------
    int or ndarray of int
        Rows in a bag; 0 if not even bags of one row will do.

    Examples
    --------
    >>> largest_bag(100, 0.1, 0.1), largest_bag(17, 0.05, 0.2, 10)
    (28, 0)
    """
    rows = arguments.count("n", n, minimum=2)
    relative = arguments.epsilon(eps, "eps") / arguments.positive("width", width)
    t = 4 * (rows - 1) * arguments.delta(delta) * relative**2
    return plain(np.minimum(floor(rows * (t / (1 + t))), rows - 1))


def bag_count(n: ArrayLike, b: ArrayLike, eps: ArrayLike, width: ArrayLike = 1.0) -> IntOrArray:
    """Count the rows whose removal can change a prediction by more than ε (Theorem L).

    At most k° rows, whatever the base algorithm, the data and the point, with all bags;
    subbagging is (ε, k°/n)-stable for every distribution.

    It is an upper bound: linear programmes for small n show that it is often, but not
    always, attained.

    Parameters
    ----------
    n, b, eps, width
        As in :func:`bag_delta`.

    Returns
    -------
    int or ndarray of int

    Examples
    --------
    >>> bag_count(100, 39, 0.1), bag_count(100, 40, 0.1)
    (10, 11)
    """
    rows = arguments.count("n", n, minimum=2)
    size = checked_bag(rows, b)
    relative = arguments.epsilon(eps, "eps") / arguments.positive("width", width)
    return plain(np.asarray(_each_count(rows, size, relative), dtype=np.int64))


def _count(n: int, b: int, relative: float) -> int:
    return largest(n, lambda k: _exceeds(reach(n, b, k), relative))


_each_count = np.vectorize(_count, otypes=[np.int64])


def _exceeds(value: float, limit: float) -> bool:
    """Say whether a value is above a limit by more than rounding errors."""
    return value > limit * (1 + NOISE)


def largest(high: int, holds: Callable[[int], bool]) -> int:
    """Find the largest of 1 … ``high`` for which ``holds`` by bisection; 0 if there is none."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def largest_admissible_bag(n: int, eps: float, delta: float, width: float = 1.0) -> int:
    """Find the largest bag that is (ε, δ)-stable by Theorem L, or by K beyond 1,000 rows.

    The largest b with k°(b) <= δn, with all bags. k° is non-decreasing in b, so bisection
    finds it.

    Parameters
    ----------
    n, eps, delta, width
        As in :func:`largest_bag`; one number each.

    Returns
    -------
    int
        Rows in a bag; 0 if not even bags of one row will do.

    Examples
    --------
    >>> largest_admissible_bag(100, 0.1, 0.1), largest_bag(100, 0.1, 0.1)
    (39, 28)
    """
    rows = arguments.training_size(n)
    relative = float(arguments.epsilon(eps, "eps") / arguments.positive("width", width))
    allowed = int(floor(arguments.delta(delta) * rows))
    if rows > EXACT_UP_TO:
        return int(largest_bag(rows, eps, delta, width))
    if allowed == rows:
        return rows - 1
    return largest(rows - 1, lambda b: not _exceeds(reach(rows, b, allowed + 1), relative))


def clipped_delta(n: ArrayLike, delta: ArrayLike) -> FloatOrArray:
    """Compute the δ of subbagging whose fits are clipped to the training range: δ + 2/n.

    If every bag's predictions are clipped to [min Y, max Y] of all training rows, then
    ``P(|d| > ε·(max Y - min Y)) <= δ + 2/n`` for bags that are (ε, δ)-stable on a range of width 1:
    at most two rows change the range when they are removed.

    This is relative to a range that the data decide. It is no (ε, δ)-certificate, and no
    input to the intervals of :func:`poise.theory.jackknife_miss`.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows.
    delta : float or array in [0, 1]
        The δ of the same bags on a range of width 1.

    Returns
    -------
    float or ndarray of float
        At most 1.

    Examples
    --------
    >>> clipped_delta(100, 0.25)
    0.27
    """
    rows = arguments.count("n", n, minimum=2)
    return plain(np.minimum(arguments.probability("delta", delta) + 2 / rows, 1.0))
