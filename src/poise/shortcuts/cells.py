"""What a family of shortcuts computes for many trials at once, and the algebra they share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ROUNDING = 16 * float(np.finfo(np.float64).eps)  # with room for constants of a first-order bound
_CORNER = 1e300  # large enough to make a bordered matrix positive definite
_MILD = 1e3  # a crude bound up to here need not be refined


class Cells(NamedTuple):
    """Predictions with all rows, (m, T), and without each of the last rows, (m, R, T).

    Removal j goes without the j-th row from the end. ``slack`` broadcasts to the changes: how far
    two correct computations of a change may differ. 0 says that there is nothing to round, inf or
    nan that only a fit can tell. ``exact``, (m, T): where the full prediction is that of a fit to
    the last bit.
    """

    full: Array
    reduced: Array
    slack: Array
    exact: Array | None = None


def last(values: Array, removals: int) -> Array:
    """Return the last entries along the last axis, the last one first."""
    return values[..., : -removals - 1 : -1]


def members(codes: Array, classes: int) -> Array:
    """Return which rows belong to which class, (m, c, n)."""
    found: Array = codes[:, None] == np.arange(classes)[:, None]
    return found


def elected(full: Array, reduced: Array, error: Array, member: Array) -> Cells:
    """Let the highest score win: scores (m, c, T) and (m, c, R, T), error (m, T) of each.

    A class whose only row is removed is no class of that fit, and one class alone is no fit.
    """
    sizes = np.count_nonzero(member, axis=2)[..., None]
    left = sizes - last(member, reduced.shape[2])
    best, sure = _leader(np.where(sizes > 0, full, -np.inf), error)
    others, still = _leader(np.where(left[..., None] > 0, reduced, -np.inf), error[:, None])
    sure = sure[:, None] & still & (np.count_nonzero(left > 0, axis=1) > 1)[..., None]
    return Cells(best, others, np.where(sure, 0.0, np.inf))


def _leader(scores: Array, error: Array) -> tuple[Array, Array]:
    """Return the class that leads, and whether by more than two errors."""
    top = np.partition(scores, -2, axis=1)[:, -2:]
    return scores.argmax(axis=1), top[:, 1] - top[:, 0] > 2.0 * error


# Systems of many trials at once -----------------------------------------------------------------


def whitened(matrices: Array, vectors: Array) -> tuple[Array, Array]:
    """Return L⁻¹v for A = LLᵀ and every v, and a bound on what A makes of rounding errors.

    The bound is on 1/(smallest eigenvalue of A scaled to a unit diagonal); nan where A is not
    positive definite. Few vectors become the border of A: one LAPACK call factors and solves.
    """
    trials, count, d = vectors.shape
    diagonal = diagonal_of(matrices)
    if count > d:
        inverse = np.linalg.inv(_cholesky(matrices))
        return vectors @ inverse.mT, _traces(inverse, diagonal)
    bordered = np.zeros((trials, d + count, d + count))
    bordered[:, :d, :d] = matrices
    bordered[:, d:, :d] = vectors
    diagonal_of(bordered)[:, d:] = _CORNER
    lower = _cholesky(bordered)
    # Eigenvalues of the scaled matrix add up to d: all but the smallest multiply to at most e.
    inflation = math.e / np.prod(diagonal_of(lower)[:, :d] ** 2 / diagonal, axis=1)
    crude = ~(inflation < _MILD)
    if crude.any():
        inflation[crude] = _traces(np.linalg.inv(lower[crude, :d, :d]), diagonal[crude])
    return lower[:, d:, :d], inflation


def _traces(inverse: Array, diagonal: Array) -> Array:
    """Return the trace of the inverse of every matrix LLᵀ scaled to a unit diagonal."""
    found: Array = np.vecdot(np.square(inverse).sum(axis=1), diagonal)
    return found


def _cholesky(matrices: Array) -> Array:
    """Factor every matrix; nan where one is not positive definite (NumPy refuses all for one)."""
    try:
        return np.asarray(np.linalg.cholesky(matrices))
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.full_like(matrices, np.nan)
    half = len(matrices) // 2
    return np.concatenate([_cholesky(matrices[:half]), _cholesky(matrices[half:])])


def diagonal_of(matrices: Array) -> Array:
    """Return the diagonal of every matrix, as a view."""
    found: Array = np.einsum("mii->mi", matrices)
    return found


def norm(vectors: Array) -> Array:
    """Return Euclidean norms along the last axis."""
    found: Array = np.sqrt(np.vecdot(vectors, vectors))
    return found


def centred(X: Array, point: Array) -> Array:
    """Subtract one point per trial; to repeat it is faster than to broadcast the middle axis."""
    rows: Array = np.repeat(-point, X.shape[1], axis=1)
    rows += X
    return rows
