"""The change between the predictions of two queries."""

from __future__ import annotations

import math
from typing import Any

from poise.algorithms.distance import Distance, as_distance
from poise.protocol.messages import Failure

__all__ = ["largest_observed_change"]


def largest_observed_change(full: Any, reduced: Any, distance: str | Distance = "auto") -> float:
    """Return the largest change over all points asked about; a failed call is an infinite one.

    Examples
    --------
    >>> largest_observed_change([1.0, 2.0], [1.5, 2.0])
    0.5
    >>> largest_observed_change([1.0], Failure(trial=0, message="singular matrix"))
    inf
    """
    if isinstance(full, Failure) or isinstance(reduced, Failure):
        return math.inf
    between = as_distance(distance)
    return max(between(a, b) for a, b in zip(full, reduced, strict=True))
