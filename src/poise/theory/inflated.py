"""Inflated argmax and top-k: sets of labels that change little with the scores (Theorem M).

The label with the largest score can change when scores move by a hair. The inflated argmax (Soloff,
Barber & Willett, 2024) returns every label that wins clearly for some scores within ε, and the
inflated top-k returns k − 1 certain labels and the inflated argmax of the rest.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import checks
from poise.errors import ArgumentError
from poise.theory.binomial_law import Floats


def distance_to_winner(w: ArrayLike, i: int, eps: float) -> float:
    """Compute how far the scores are from scores that label i wins by at least ε/√2.

    The Euclidean distance from w to {v : v_i ≥ v_j + ε/√2 for all j ≠ i}.

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
    """
    scores, label = _scores(w, one=True), checks.count("i", i)
    if label >= scores.size:
        raise ArgumentError(
            f"must be a position in w, at most {scores.size - 1}", argument="i", got=i
        )
    return float(_distance(scores[None, :], label, checks.positive("eps", eps))[0])


def inflated_top(w: ArrayLike, k: int, eps: float) -> list[int]:
    """List the labels of the inflated top-k; k = 1 is the inflated argmax (Theorem M).

    The k − 1 largest scores (ties by position), and every label of the rest whose
    :func:`distance_to_winner` among the rest is below ε. If two score vectors are less than ε
    apart, their lists share at least k labels. A list does not say which label is right, and may
    hold all of them.

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
    """
    return [int(label) for label in np.flatnonzero(inflated_mask(_scores(w, one=True), k, eps))]


def inflated_mask(scores: ArrayLike, k: int, eps: float) -> NDArray[np.bool_]:
    """Mark the inflated top-k of each row of scores; see :func:`inflated_top`.

    Parameters
    ----------
    scores : array of float, shape (..., labels)
        Finite scores, one per label along the last axis.
    k, eps
        As in :func:`inflated_top`.

    Returns
    -------
    ndarray of bool, of the shape of ``scores``

    Examples
    --------
    >>> inflated_mask([[0.52, 0.79], [0.0, 1.0]], 1, 0.5).tolist()
    [[True, True], [False, True]]
    """
    values, inflation = _scores(scores), checks.positive("eps", eps)
    n_labels, certain = values.shape[-1], checks.count("k", k, 1) - 1
    if certain >= n_labels:
        raise ArgumentError(
            f"must be at most the number of labels, {n_labels}", argument="k", got=k
        )
    table = values.reshape(-1, n_labels)
    order = np.argsort(-table, axis=1, kind="stable")
    rest = np.take_along_axis(table, order[:, certain:], axis=1)
    chosen = np.ones(table.shape, dtype=np.bool_)
    for label in range(rest.shape[1]):
        chosen[:, certain + label] = _distance(rest, label, inflation) < inflation
    mask = np.empty_like(chosen)
    np.put_along_axis(mask, order, chosen, axis=1)
    return mask.reshape(values.shape)


@np.errstate(under="ignore")
def _distance(table: Floats, label: int, inflation: float) -> Floats:
    """Compute the distance of each row to the nearest scores that ``label`` wins clearly.

    They lower the j largest others to a common level ℓ_j and lift the label to ℓ_j + ε/√2; j is the
    first for which the next score is no higher.
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
    squares = (level + margin - own)[:, 0] ** 2 + np.sum(lowered**2, axis=1)
    return np.where(own[:, 0] >= others[:, 0] + margin, 0.0, np.sqrt(squares))


def _scores(w: ArrayLike, one: bool = False) -> Floats:
    values = np.asarray(w, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0 or (one and values.ndim > 1):
        raise ArgumentError("must hold one score per label", argument="w", got=w)
    if not np.isfinite(values).all():
        raise ArgumentError("must hold finite scores", argument="w", got=w)
    return values
