"""Factorisations of all trials at once, with NumPy or JAX.

The Cholesky factor of a bordered matrix [[A, V'], [V, ·]] holds V L⁻ᵀ in its lower
rows, so that one LAPACK call factors A and solves for every row of V.
"""

from __future__ import annotations

import math

import numpy as np

from poise.shortcuts.shortcut import Array, Floats

__all__ = ["bordered", "cholesky", "inverse_of_triangles", "length", "norm", "smallest_eigenvalue"]

_CORNER = 1e300  # large enough to make the bordered matrix positive definite
_SAFE_EIGENVALUE = 1e-3  # a smallest eigenvalue that is large enough; no better bound is needed


def norm(vectors: Array) -> Array:
    """Return Euclidean lengths along the last axis."""
    xp = vectors.__array_namespace__()
    return xp.sqrt(xp.vecdot(vectors, vectors))


def length(vectors: Floats) -> Floats:
    """Return Euclidean lengths, also of vectors whose squares underflow."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    lengths = norm(vectors / np.where(largest > 0, largest, 1.0))
    return np.asarray(largest[..., 0] * lengths)


def bordered(gram: Array, borders: Array) -> Array:
    """Put the right-hand sides around A, with a corner large enough to be positive definite."""
    if isinstance(gram, np.ndarray):
        return _bordered_below(gram, borders)
    xp = gram.__array_namespace__()
    trials, extra, _ = borders.shape
    corner = xp.broadcast_to(_CORNER * xp.eye(extra, dtype=gram.dtype), (trials, extra, extra))
    left = xp.concat([gram, borders], axis=1)
    right = xp.concat([xp.matrix_transpose(borders), corner], axis=1)
    return xp.concat([left, right], axis=2)


def _bordered_below(gram: Floats, borders: Floats) -> Floats:
    """Do the same for NumPy, which reads no entry above the diagonal."""
    trials, extra, d = borders.shape
    matrix = np.zeros((trials, d + extra, d + extra))
    matrix[:, :d, :d] = gram
    matrix[:, d:, :d] = borders
    matrix[:, np.arange(d, d + extra), np.arange(d, d + extra)] = _CORNER
    return matrix


def cholesky(stack: Array) -> Array:
    """Factor every matrix of a stack; NaN where one is not positive definite.

    NumPy refuses a whole stack for one bad matrix, so the stack is halved until the bad
    matrix is alone.
    """
    xp = stack.__array_namespace__()
    try:
        return xp.linalg.cholesky(stack)
    except np.linalg.LinAlgError:
        if len(stack) == 1:
            return xp.full_like(stack, xp.nan)
    half = len(stack) // 2
    return xp.concat([cholesky(stack[:half]), cholesky(stack[half:])], axis=0)


def inverse_of_triangles(lower: Floats) -> Floats:
    """Invert every triangular factor; NaN where there is none."""
    usable = np.isfinite(lower[:, :1, :1])
    inverse: Floats = np.linalg.inv(np.where(usable, lower, np.eye(lower.shape[1])))
    return np.where(usable, inverse, np.nan)


def smallest_eigenvalue(gram: Floats, pivots: Floats) -> Floats:
    """Bound the smallest eigenvalue of each Gram matrix scaled to a unit diagonal, from below.

    The eigenvalues of the scaled matrix add up to d. By the inequality of arithmetic and
    geometric means the product of all but the smallest is at most e, so the smallest is
    at least the determinant divided by e. This bound costs nothing. The eigenvalues are
    computed only if it is too small to be useful.
    """
    diagonal = np.linalg.diagonal(gram)
    # Transposed, because NumPy reduces along the first axis several times faster.
    ratios = np.ascontiguousarray((pivots**2 / diagonal).T)
    bound = np.asarray(np.prod(ratios, axis=0) / math.e)
    doubtful = bound < _SAFE_EIGENVALUE
    if doubtful.any():
        size = np.sqrt(diagonal[doubtful])
        scaled = gram[doubtful] / (size[:, :, None] * size[:, None, :])
        rounding = gram.shape[-1] * np.finfo(np.float64).eps
        bound[doubtful] = np.maximum(np.linalg.eigvalsh(scaled)[:, 0] - rounding, 0.0)
    return bound
