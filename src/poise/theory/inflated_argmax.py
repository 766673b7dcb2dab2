"""The inflated argmax: sets of labels that change little with the scores.

The label with the largest score can change when scores move by a very small amount. The
inflated argmax (Soloff, Barber & Willett, 2024) instead returns every label that wins
clearly for some scores within ε, and the inflated top-k (k - 1 certain labels and the
inflated argmax of the rest) does the same for the k best.

**Theorem M.** If ``‖w - v‖ < ε``, the inflated top-k sets of w and v share at least k labels.

*Proof.* Scale so that ε = 1, and let c = 1/√2. Write T_w(a) for Σ (w_i - a)_+² over all but
the k - 1 largest. If w_i >= a and T_w(a) < 1/2, or w_i > a and T_w(a) <= 1/2, then i is
chosen: clip the rest at a and lift w_i to a + c. If w_i <= a is not among the k - 1 largest,
its squared distance is at most T_w(a) + (c + a - w_i)². Let a₀ be the k-th largest
min(w_i, v_i). If both T_w(a₀) and T_v(a₀) are below 1/2, the k labels with min >= a₀ are in
both sets. Else let T_w(a₀) >= 1/2. The set C where both exceed a₀ has at most k - 1 elements.
On P = {w > a₀} without C, v_i = a₀ - z_i with z_i >= 0; on Q = {v > a₀} without C, w <= a₀. So
‖w - v‖² is at least Σ_P (w_i - a₀ + z_i)² + Σ_Q (v_i - a₀)², and τ = T_v(a₀) is at most
Σ_Q (v_i - a₀)². If τ >= 1/2 the sum is at least 1. Take a >= a₀ with T_w(a) = 1/2: all of
P′ = {w > a} is chosen for w. If fewer than k of P′ are chosen for v, at least |P′| - k + 1 of
them are not, and there z_i >= ζ = √(1 - τ) - c > 0. They hold Σ (w_i - a)² >= 1/2, hence
Σ (w_i - a₀) >= c, so ‖w - v‖² >= 1/2 + 2ζc + ζ² + τ = 1: a contradiction. ∎
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from poise.theory.binomial_law import Floats

__all__ = ["distance_to_winner", "inflated_mask", "inflated_top"]


def distance_to_winner(w: ArrayLike, i: int, eps: float) -> float:
    """Compute how far the scores are from scores that label i wins by at least ε/√2.

    The Euclidean distance from w to {v : v_i >= v_j + ε/√2 for all j ≠ i}.

    Parameters
    ----------
    w : array of float
        One finite score per label.
    i : int
        The label, as a position in ``w``.
    eps : float, positive
        The inflation ε.

    Returns
    -------
    float

    Examples
    --------
    >>> distance_to_winner([0.52, 0.79, 0.41, 0.35, 0.77], 4, 0.3)
    0.164142...
    >>> distance_to_winner([0.83, 0.43], 0, 0.3)
    0.0
    """
    scores = _scores(w)
    if scores.ndim != 1:
        raise ArgumentError(f"w must be a list of scores, got {scores.ndim} dimensions")
    label = int(arguments.count("i", arguments.scalar("i", i)))
    if label >= scores.size:
        raise ArgumentError(f"i must be a position in w, at most {scores.size - 1}, got {i}")
    return float(_distance(scores[None, :], label, _inflation(eps))[0])


def inflated_top(w: ArrayLike, k: int, eps: float) -> list[int]:
    """List the labels of the inflated top-k; k = 1 is the inflated argmax.

    The k - 1 largest scores (ties by position), and every label of the rest whose
    :func:`distance_to_winner` among the rest is below ε. If two score vectors are less
    than ε apart, their lists share at least k labels (Theorem M).

    The list does not say which label is right, and may hold all of them.

    Parameters
    ----------
    w : array of float
        One finite score per label.
    k : int, from 1 to the number of labels
        How many labels two neighbouring lists must share.
    eps : float, positive
        The inflation ε.

    Returns
    -------
    list of int
        Positions in ``w``, increasing; at least k of them.

    Examples
    --------
    >>> inflated_top([0.52, 0.79, 0.41, 0.35, 0.77], 1, 0.3)
    [1, 4]
    >>> inflated_top([0.52, 0.79, 0.41, 0.35, 0.77], 1, 0.01)
    [1]
    """
    scores = _scores(w)
    if scores.ndim != 1:
        raise ArgumentError(f"w must be a list of scores, got {scores.ndim} dimensions")
    return [int(label) for label in np.flatnonzero(inflated_mask(scores, k, eps))]


def inflated_mask(scores: ArrayLike, k: int, eps: float) -> NDArray[np.bool_]:
    """Mark the inflated top-k of each row of scores: see :func:`inflated_top`.

    Parameters
    ----------
    scores : array of float, shape (..., labels)
        Finite scores, one per label along the last axis.
    k : int, from 1 to the number of labels
        How many labels two neighbouring sets must share.
    eps : float, positive
        The inflation ε.

    Returns
    -------
    ndarray of bool, of the shape of ``scores``

    Examples
    --------
    >>> inflated_mask([[0.52, 0.79], [0.0, 1.0]], 1, 0.5).tolist()
    [[True, True], [False, True]]
    """
    values, inflation = _scores(scores), _inflation(eps)
    n_labels = values.shape[-1]
    wanted = int(arguments.count("k", arguments.scalar("k", k), minimum=1))
    if wanted > n_labels:
        raise ArgumentError(f"k must be at most the number of labels, {n_labels}, got {k}")
    table = values.reshape(-1, n_labels)
    order = np.argsort(-table, axis=1, kind="stable")
    rest = np.take_along_axis(table, order[:, wanted - 1 :], axis=1)
    chosen = np.ones(table.shape, dtype=np.bool_)
    for label in range(rest.shape[1]):
        chosen[:, wanted - 1 + label] = _distance(rest, label, inflation) < inflation
    mask = np.empty_like(chosen)
    np.put_along_axis(mask, order, chosen, axis=1)
    return mask.reshape(values.shape)


def _distance(table: Floats, label: int, inflation: float) -> Floats:
    """Compute the distance of each row to the nearest scores that ``label`` wins clearly.

    The nearest such scores lower the j largest others to a common level ℓ_j and lift
    the label to ℓ_j + ε/√2; j is the first for which the next score is no higher.
    """
    if table.shape[1] == 1:
        return np.zeros(len(table))
    margin = inflation / math.sqrt(2)
    own = table[:, label : label + 1]
    others = -np.sort(-np.delete(table, label, axis=1), axis=1)
    count = np.arange(1, others.shape[1] + 1)
    levels = (own - margin + np.cumsum(others, axis=1)) / (count + 1)
    following = np.pad(others[:, 1:], ((0, 0), (0, 1)), constant_values=-np.inf)
    first = np.argmax(following <= levels, axis=1)[:, None]
    level = np.take_along_axis(levels, first, axis=1)
    lowered = np.where(count <= first + 1, others - level, 0.0)
    distance = np.sqrt((level + margin - own)[:, 0] ** 2 + np.sum(lowered**2, axis=1))
    return np.where(own[:, 0] >= others[:, 0] + margin, 0.0, distance)


def _scores(w: ArrayLike) -> Floats:
    values = np.asarray(w, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ArgumentError(f"w must hold one score per label, got {w!r}")
    if not np.isfinite(values).all():
        raise ArgumentError("w must hold finite scores, got nan or infinity")
    return values


def _inflation(eps: float) -> float:
    return float(arguments.positive("eps", arguments.scalar("eps", eps)))
