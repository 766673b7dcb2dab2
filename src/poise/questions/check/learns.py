"""Whether predictions depend on the training rows at all.

A fitted model given as an algorithm (scikit-learn's FrozenEstimator, a network that is
only loaded) ignores the training rows. Its predictions never change, so it looks stable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Algorithm
from poise.algorithms.distance import CLASS_DISTANCES
from poise.algorithms.response_method import detects_outliers
from poise.questions.check.check_report import Finding, Severity
from poise.questions.check.probe import OutOfTime, Probe, equal

__all__ = ["LEARNS", "found_to_learn"]

LEARNS = "learns from its rows"
_REMEDY = (
    "a verdict would be about nothing: give an algorithm that is fitted anew, not a fitted model"
)


def found_to_learn(
    probe: Probe,
    rows: NDArray[np.int64],
    points: NDArray[np.int64],
    xi: int,
    first: NDArray[Any],
    other: NDArray[Any],
) -> Finding:
    """Check whether other rows, or other responses, give other predictions.

    Parameters
    ----------
    probe : Probe
        The algorithm.
    rows, points : ndarray of int
        Training rows, and rows to predict at.
    xi : int
        The random term.
    first, other : ndarray
        Predictions after training on these rows, and on others.
    """
    if not equal(first, other):
        return Finding(LEARNS, Severity.OK, "other training rows gave other predictions")
    try:
        turned = probe.with_responses(_others_like(probe.algorithm)).predictions(rows, points, xi)
    except (KeyboardInterrupt, OutOfTime):
        raise
    except BaseException:  # it may not take such responses: then nothing is known
        found = "other training rows gave the same predictions; with other responses it fails"
        return Finding(LEARNS, Severity.WARN, found, _REMEDY)
    if not equal(first, turned):
        return Finding(LEARNS, Severity.OK, "other responses gave other predictions")
    found = "neither other rows nor other responses changed a prediction"
    severity = Severity.WARN if _ignores_responses(probe.algorithm) else Severity.FAIL
    return Finding(LEARNS, severity, found, _REMEDY)


def _ignores_responses(algorithm: Algorithm) -> bool:
    """Tell whether it detects outliers: then it uses features alone and flags few rows."""
    return detects_outliers(getattr(algorithm, "estimator", None))


def _others_like(algorithm: Algorithm) -> Callable[[Any], Any]:
    classes = algorithm.natural_distance in CLASS_DISTANCES
    return lambda y: _next_classes(y) if classes else _shifted(y)


def _shifted(y: Any) -> Any:
    """Shift numbers by more than their range; replace each class by the next one."""
    values = np.asarray(y)
    if values.dtype.kind not in "iuf":
        return _next_classes(y)
    return values + (values.max() - values.min() + 1)


def _next_classes(y: Any) -> Any:
    """Replace each class by the next one among the classes of ``y``.

    Examples
    --------
    >>> _next_classes(["a", "b", "a"]).tolist()
    ['b', 'a', 'b']
    """
    values = np.asarray(y)
    classes, codes = np.unique(values, return_inverse=True)
    return classes[(codes + 1) % len(classes)].reshape(values.shape)
