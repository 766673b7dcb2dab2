"""When to believe a shortcut: its own bound on the rounding error decides.

A shortcut and the estimator it replaces compute the same number along two
routes, and each route rounds. To first order their difference is at most a
multiple of the unit roundoff times an amplification that the data determine.
Every shortcut estimates that amplification per trial, on the pessimistic side;
a trial whose bound exceeds the agreement promised is left to the estimator.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.protocol import Floats, Pairs

__all__ = ["AGREEMENT", "ROUNDING", "believed", "finite_rows"]

AGREEMENT = 1e-9
"""Largest difference between shortcut and estimator, relative to the size of the predictions."""

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Unit roundoff with room for the constants that a first-order bound leaves out."""


def believed(full: Floats, reduced: Floats, error: Floats) -> Pairs:
    """Trust the predictions whose error bound keeps the agreement promised.

    Infinities and NaN anywhere in ``error`` or the predictions mean no trust.
    """
    pairs = Pairs(full, reduced, np.zeros(len(full), dtype=np.bool_))
    small = error <= AGREEMENT * pairs.scale
    return pairs._replace(trusted=small & np.isfinite(pairs.scale))


def finite_rows(*arrays: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Tell which trials hold finite numbers only: estimators refuse all others."""
    sums = [a.reshape(len(a), -1).sum(axis=1) for a in arrays if a.dtype.kind == "f"]
    # One infinity or NaN makes a sum infinite or NaN, and summing is faster than testing.
    return np.asarray(np.isfinite(sums).all(axis=0))
