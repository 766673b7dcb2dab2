"""The largest possible change: every algorithm would pass with a larger ε."""

from __future__ import annotations

import math

from poise.arguments.printed_numbers import at_least
from poise.errors import ArgumentError

__all__ = ["largest_change", "require_reachable"]

_LABELS = ("label", "change of zero_one loss")


def largest_change(distance: str, outputs: float = 1) -> float:
    """Return the largest value of this distance; inf if there is no limit.

    Parameters
    ----------
    distance : str
        Name of the distance, as in a design; probabilities are bounded.
    outputs : int or math.inf
        Number of responses, whose total variations add up; infinite if it is not known.

    Examples
    --------
    >>> largest_change("label"), largest_change("total_variation", outputs=3)
    (1.0, 3.0)
    >>> largest_change("euclidean"), round(largest_change("euclidean of probabilities"), 3)
    (inf, 1.414)
    """
    if distance in _LABELS:
        return 1.0
    if distance == "total_variation":
        return float(outputs)
    if distance in ("euclidean of probabilities", "absolute of probabilities"):
        return math.sqrt(2 * outputs)
    return math.inf


def require_reachable(epsilon: float, distance: str, outputs: float) -> None:
    """Refuse an ε that no change can exceed: every algorithm would pass.

    Parameters
    ----------
    epsilon : float
        The allowed change.
    distance, outputs
        As in :func:`largest_change`.

    Examples
    --------
    >>> require_reachable(1.0, "label", outputs=1)
    Traceback (most recent call last):
    poise.errors.ArgumentError: epsilon must be below 1 where predictions are labels, got 1.0: ...
    """
    largest = largest_change(distance, outputs)
    if math.isinf(largest) or not epsilon >= largest:
        return
    labels = distance in _LABELS
    what = "predictions are labels" if labels else "predictions are probabilities"
    remedy = "labels: use epsilon=0" if labels else "such as epsilon=0.05"
    raise ArgumentError(
        f"epsilon must be below {at_least(largest)} where {what}, got {epsilon}: no change by "
        f"{distance} is larger, so every algorithm would pass; {remedy}"
    )
