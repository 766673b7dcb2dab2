"""Sizes, means and centred rows of each class, for classifiers with Gaussian classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.shortcut import Floats

__all__ = ["ClassMoments", "RemovedRows", "class_moments", "directions_are_clear"]

_LEAST_STRENGTH = 1e-12  # of the largest; below, a direction is only rounding and does not exist


class ClassMoments(NamedTuple):
    """Sizes, means and centred rows of each class."""

    sizes: Floats  # number of rows, (trials, classes)
    prior: Floats  # sizes/n, (trials, classes)
    mean: Floats  # 0 for a class without rows, (trials, classes, d)
    apart: Floats  # rows minus the mean of their class, (trials, n, d)

    @property
    def centre(self) -> Floats:
        """The mean of all rows, (trials, 1, d)."""
        return np.asarray(np.vecmat(self.prior, self.mean)[:, None, :])


class RemovedRows(NamedTuple):
    """The rows that are removed one at a time, the last row first."""

    own: Floats  # 1 at the class of the row, (trials, classes, removals)
    factor: Floats  # g = m/(m − 1), 0 for a class of one row, (trials, removals)
    shift: Floats  # 1/(m − 1) at the class of the row, (trials, classes, removals)
    left: Floats  # rows that each class has left, (trials, classes, removals)

    @classmethod
    def of(cls, sizes: Floats, member: Floats, removals: int) -> RemovedRows:
        """Take the last rows of every trial."""
        own = member[:, :, : -removals - 1 : -1]
        size = np.einsum("tc,tcr->tr", sizes, own)
        alone = size == 1.0
        share = np.where(alone, 0.0, 1.0 / np.where(alone, 1.0, size - 1.0))
        return cls(own, size * share, own * share[:, None], sizes[..., None] - own)


def class_moments(X: Floats, member: Floats) -> ClassMoments:
    """Compute the mean of every class, and centre each row at the mean of its class."""
    sizes = member.sum(axis=2)
    mean = (member @ X) / np.maximum(sizes, 1.0)[..., None]
    return ClassMoments(sizes, sizes / X.shape[1], mean, X - member.mT @ mean)


def directions_are_clear(products: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Tell whether scikit-learn is sure to keep every direction between the class means.

    Parameters
    ----------
    products : array of shape (…, classes, classes)
        Products of the weighted class means in units of the covariance, about their centre.
    tolerance : float
        Of the largest singular value; weaker directions are dropped.
    """
    finite = np.asarray(np.isfinite(products).all(axis=(-2, -1)))
    strength = np.linalg.eigvalsh(np.where(finite[..., None, None], products, 0.0))
    relative = strength / strength[..., -1:]
    faint = (relative > _LEAST_STRENGTH) & (relative < (10 * tolerance) ** 2)
    return np.asarray(finite & ~faint.any(axis=-1))
