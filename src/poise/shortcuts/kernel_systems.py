"""Kernel systems (K + λI)a = y, with and without the last row.

With H the inverse of the system and e the last unit vector, removing the last
row and column takes (k'He)(e'Hy)/e'He from every bilinear form k'Hy. One
factorisation with the right-hand sides y, k and e therefore serves both fits.

LAPACK is called once per trial, in place: for matrices of this size that is
faster than NumPy's stacked routines, and a matrix that is not positive definite
affects its own trial only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.shortcuts.factorizations import length
from poise.shortcuts.rounding_bounds import ROUNDING
from poise.shortcuts.shortcut import Floats

__all__ = ["BorderedRemoval", "entry_noise", "remove_last", "solve_in_place", "underflow"]

_SUBNORMAL = 1e-290  # numbers this small may have lost digits


class BorderedRemoval(NamedTuple):
    """Both values of k'Hy for every trial and response, and the terms of their error bound."""

    full: Floats  # (trials, responses)
    reduced: Floats  # (trials, responses)
    error: Floats  # (trials, responses)
    reach: Floats  # |Hk| with and without the row, added; (trials,)
    fitted: Floats  # √(y'Hy) with and without the row, added; (trials, responses)


def solve_in_place(matrices: Floats, sides: Floats) -> Floats:
    """Solve each positive definite system for several right-hand sides.

    Parameters
    ----------
    matrices : array of shape (trials, n, n)
        The part above the diagonal is overwritten by its factors; the rest is not used.
    sides : array of shape (trials, sides, n)
        Overwritten by the solutions.

    Returns
    -------
    array of shape (trials, sides, n)
        ``sides`` itself; NaN where a matrix is not positive definite.
    """
    from scipy.linalg.lapack import dposv

    for matrix, side in zip(matrices, sides, strict=True):
        # Transposed views are contiguous for Fortran: nothing is copied.
        failed = dposv(matrix.T, side.T, lower=1, overwrite_a=1, overwrite_b=1)[2]
        if failed:
            side[:] = np.nan
    return sides


def remove_last(
    system: Floats,
    responses: Floats,
    test: Floats,
    blur: Floats,
    sensitivity: Floats | float = 1.0,
    constant: Floats | None = None,
) -> BorderedRemoval:
    """Evaluate k'Hy with and without the last row of every system.

    Parameters
    ----------
    system : array of shape (trials, n, n)
        Of which the part above the diagonal is used, and overwritten.
    responses : array of shape (trials, responses, n)
    test : array of shape (trials, n)
        k, the kernel between the rows and the test point.
    blur : array of shape (trials,)
        Error of k, as a length, in units of rounding.
    sensitivity : array of shape (trials,), or 1
        Error of an entry of the system over the largest, in units of rounding.
    constant : array of shape (trials,), optional
        Given where an unpenalised constant is fitted beside the kernel, and
        system, responses and test vector are centred: the eigenvalue of
        ``system`` for the vector of ones, which is taken out of H again.
    """
    trials, n, _ = system.shape
    noise = entry_noise(system, sensitivity)
    unit = np.zeros((trials, 1, n))
    unit[:, :, -1] = 1.0
    solved = solve_in_place(system, np.concat([responses, test[:, None, :], unit], axis=1))
    fit, weights, last = solved[:, :-2], solved[:, -2], solved[:, -1]
    weight = weights[:, -1]
    if constant is not None:
        last = last - 1.0 / (n * constant[:, None])
        weight = weight + 1.0 / n
    pivot = np.where(last[:, -1] > 0, last[:, -1], np.nan)
    left_out = fit[..., -1] / pivot[:, None]
    full = np.vecdot(fit, test[:, None, :])
    # To first order an error E in the system moves k'Hy by (Hk)'E(Hy), with and without the row.
    fit_norm = length(fit) + np.abs(left_out) * length(last)[:, None]
    test_norm = length(weights) + np.abs(weight / pivot) * length(last)
    error = noise * test_norm + ROUNDING * blur + underflow(test)
    return BorderedRemoval(
        full=full,
        reduced=full - left_out * weight[:, None],
        error=fit_norm * error[:, None],
        reach=test_norm,
        fitted=np.sqrt(np.abs(np.vecdot(fit, responses)))
        + np.abs(left_out) * np.sqrt(pivot)[:, None],
    )


def entry_noise(system: Floats, sensitivity: Floats | float) -> Floats:
    """Bound the error of every entry of a system.

    Errors of single entries are independent, so in a bilinear form they add up like the
    largest of them times the norms of the two vectors; and no entry exceeds the diagonal.
    """
    largest = np.linalg.diagonal(system).max(axis=-1)
    return np.asarray(ROUNDING * largest * (1.0 + sensitivity))


def underflow(test: Floats) -> Floats:
    """Bound the error of underflow; an exact 0 has no error."""
    vanishing = (test != 0) & (np.abs(test) < _SUBNORMAL)
    return np.asarray(_SUBNORMAL * vanishing.any(axis=-1))
