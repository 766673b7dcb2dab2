"""Several tests at once: Holm's adjusted p-values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import arguments
from poise.errors import ArgumentError

__all__ = ["holm"]


@np.errstate(under="ignore")
def holm(pvalues: ArrayLike) -> NDArray[np.float64]:
    r"""Adjust p-values by Holm's method.

    Reject the hypotheses whose adjusted p-value is at most α: then
    P(any true hypothesis is rejected) ≤ α, however the p-values depend on each
    other (Holm 1979). With p-values in increasing order,
    :math:`\tilde p_{(i)} = \max_{j \le i} \min\{1, (k - j + 1)\, p_{(j)}\}`.

    It is never weaker than Bonferroni's, and says nothing about hypotheses that
    are not rejected.

    Parameters
    ----------
    pvalues : array-like
        Valid p-values, each in [0, 1].

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = arguments.probability("pvalues", pvalues)
    if values.ndim != 1:
        raise ArgumentError(f"pvalues must be a list of numbers, got shape {values.shape}")
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * values[order]))
    return adjusted
