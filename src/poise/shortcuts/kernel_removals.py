"""Kernel systems (K + λI)a = y; each row is removed in turn.

With H the inverse of the system, removing row i takes (k'He_i)(e_i'Hy)/e_i'He_i from every
bilinear form k'Hy (:mod:`poise.shortcuts.kernel_systems`). So one inverse serves every removal
at every test point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.shortcuts.factorizations import length
from poise.shortcuts.kernel_functions import Covariance
from poise.shortcuts.kernel_systems import entry_noise, underflow
from poise.shortcuts.rounding_bounds import ROUNDING
from poise.shortcuts.shortcut import Floats

__all__ = ["EachRemoval", "remove_each"]


class EachRemoval(NamedTuple):
    """All values of k'Hy for every trial and response, and the terms of their error bound."""

    full: Floats  # (trials, responses, points)
    reduced: Floats  # (trials, responses, removals, points)
    error: Floats  # of all removals at a point, (trials, responses, points)
    reach: Floats  # |Hk| with and without the row, added, (trials, points)


def remove_each(kernel: Covariance, responses: Floats, removals: int) -> EachRemoval:
    """Evaluate k'Hy with all rows, and without each of the last ``removals`` of them.

    ``kernel`` is that of the system, penalty included; it is overwritten. ``responses`` have
    the shape (trials, responses, n). The bounds are those of one removal, for the largest
    terms of the trial.
    """
    noise = entry_noise(kernel.rows, kernel.sensitivity)
    solved = np.concat([responses, kernel.test], axis=1)
    _solve_and_invert(kernel.rows, solved)
    fit, weights = np.split(solved, [responses.shape[1]], axis=1)
    pivots, lengths = _columns(kernel.rows, removals)
    last = slice(None, -removals - 1, -1)
    left_out = fit[..., last] / pivots[:, None, :]
    full = fit @ kernel.test.mT
    change = left_out[..., None] * weights[..., last].mT[:, None]
    fit_norm = length(fit) + (np.abs(left_out) * lengths[:, None, :]).max(axis=2)
    shares = np.abs(weights[..., last]) * (lengths / pivots)[:, None, :]
    test_norm = length(weights) + shares.max(axis=2)
    error = noise[:, None] * test_norm + ROUNDING * kernel.blur + underflow(kernel.test)
    return EachRemoval(
        full=full,
        reduced=full[:, :, None, :] - change,
        error=fit_norm[:, :, None] * error[:, None, :],
        reach=test_norm,
    )


def _solve_and_invert(matrices: Floats, sides: Floats) -> None:
    """Overwrite right-hand sides by solutions, and the upper part of matrices by inverses.

    Solutions of systems are more accurate than products with the inverse. NaN where a matrix
    is not positive definite.
    """
    from scipy.linalg.lapack import dposv, dpotri

    for matrix, side in zip(matrices, sides, strict=True):
        # Transposed views are contiguous for Fortran: nothing is copied.
        failed = dposv(matrix.T, side.T, lower=1, overwrite_a=1, overwrite_b=1)[2]
        if failed or dpotri(matrix.T, lower=1, overwrite_c=1)[1]:
            side[:] = matrix[:] = np.nan


def _columns(inverse: Floats, removals: int) -> tuple[Floats, Floats]:
    """Return the diagonal of H and the lengths of its columns, from the upper part of it."""
    diagonal = np.linalg.diagonal(inverse)
    pivots = np.where(diagonal > 0, diagonal, np.nan)
    # No entry exceeds the diagonal, and so no square overflows.
    largest = pivots.max(axis=1)
    upper = np.triu(inverse / largest[:, None, None])
    np.square(upper, out=upper)
    squares = upper.sum(axis=1) + upper.sum(axis=2) - np.linalg.diagonal(upper)
    lengths = largest[:, None] * np.sqrt(squares)
    last = slice(None, -removals - 1, -1)
    return pivots[:, last], lengths[:, last]
