"""Decisions that change: distances that judge all points of a trial together.

What is approved, shortlisted or ranked first may stay the same where predictions move, and change
where they hardly do. A decision compares the predictions of two fits at ``of`` test points and
returns the share of decisions that are different, a number in [0, 1]. There is no epsilon then: a
test asks whether, on average over training sets and points, at most a share ``delta`` changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from poise import checks
from poise.algorithms.distances import Distance, own_name
from poise.algorithms.predictions import Array, Floats, Undefined, as_numbers
from poise.errors import ArgumentError


def flips(threshold: float, *, of: int) -> Distance:
    """Compare which predictions lie above a threshold: the share of the points whose side changes.

    Parameters
    ----------
    threshold : float
        What is decided is ``prediction > threshold``. With ``response="predict_proba"`` and two
        classes the prediction is the probability of the second one.
    of : int
        Number of test points of a trial.

    Examples
    --------
    >>> flips(0.5, of=4)([0.1, 0.4, 0.6, 0.9], [0.2, 0.7, 0.8, 0.9])
    array([0.25])
    """
    at = checks.number("threshold", threshold, "a finite number")
    return _panel(f"flips({at:.12g}, of={of})", partial(_flips, at), of)


def top_k(k: int, *, of: int) -> Distance:
    """Compare which k points have the largest predictions: the share of them that are replaced.

    Parameters
    ----------
    k : int
        Size of the list.
    of : int
        Number of test points of a trial, more than ``k``.

    Examples
    --------
    >>> top_k(2, of=4)([0.9, 0.8, 0.2, 0.1], [0.9, 0.1, 0.2, 0.0])
    array([0.5])
    """
    size = checks.count("k", k, minimum=1)
    if size >= checks.count("of", of, minimum=2):
        raise ArgumentError(f"must be below of={of}", argument="k", got=k)
    return _panel(f"top_k({size}, of={of})", partial(_top_k, size), of)


def ranking(*, of: int) -> Distance:
    """Compare the order of the predictions: the share of pairs that are ranked differently.

    This is the normalised Kendall distance; a tie is a rank of its own.

    Parameters
    ----------
    of : int
        Number of test points of a trial, at least 2.

    Examples
    --------
    >>> ranking(of=3)([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]).round(3)
    array([0.333])
    """
    return _panel(f"ranking(of={of})", _ranking, of, minimum=2)


def decision(function: Callable[[Any, Any], float], *, of: int) -> Distance:
    """Compare by a function of your own.

    Parameters
    ----------
    function : callable
        ``function(full, reduced)`` gets two arrays of ``of`` predictions and returns a share in
        [0, 1].
    of : int
        Number of test points of a trial.

    Examples
    --------
    >>> def other_winner(full, reduced):
    ...     return float(full.argmax() != reduced.argmax())
    >>> decision(other_winner, of=3)([1.0, 2.0, 3.0], [1.0, 3.0, 2.0])
    array([1.])
    """
    panel = _panel(own_name(function), function, of)
    return replace(panel, name=f"{panel.name}(of={panel.points})", user_code=(function,))


def _panel(name: str, compare: Callable[[Any, Any], float], of: int, minimum: int = 1) -> Distance:
    points = checks.count("of", of, minimum)
    return Distance(name, partial(_share, compare, name), 1.0, panel=True, points=points)


def _share(function: Callable[[Any, Any], float], name: str, a: Array, b: Array) -> float:
    share = float(function(a, b))
    if share < 0 or share > 1:
        raise ValueError(f"{name} must return a share in [0, 1], got {share:g}")
    return share


def _scores(predictions: Array) -> Floats:
    """Return one number per point; of two probabilities that of the second class."""
    numbers = as_numbers(predictions).astype(np.float64)
    if numbers.ndim == 2 and numbers.shape[1] == 2 and np.allclose(numbers.sum(axis=1), 1):
        return numbers[:, 1]
    if numbers.size != len(numbers):
        raise Undefined(f"a decision needs one number per point, got shape {numbers.shape}")
    return numbers.reshape(len(numbers))


def _flips(threshold: float, a: Array, b: Array) -> float:
    return float(np.mean((_scores(a) > threshold) != (_scores(b) > threshold)))


def _top_k(k: int, a: Array, b: Array) -> float:
    first, second = (np.argsort(-_scores(each), kind="stable")[:k] for each in (a, b))
    return 1 - len(np.intersect1d(first, second)) / k


def _ranking(a: Array, b: Array) -> float:
    a, b = _scores(a), _scores(b)
    below = (a[:, None] < a) != (b[:, None] < b)  # the same with > is its transpose
    pairs = len(a) * (len(a) - 1)
    return float((below | below.T).sum() / pairs)
