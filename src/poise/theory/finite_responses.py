"""Finite responses: training rows may lack their response (Theorem G).

If the response takes finitely many known values, a trial can use n − j labelled rows and j
unlabelled ones.  It takes the largest share over all |Y|^j labellings.  The true labelling
is among them, so the largest share is an *upper proxy*: its mean is at least δ*.  Hedge,
Binomial test, δ̂, ε̂ and profile keep their level for "stable"; the mirror, "unstable" and
the three-way verdict must not be run on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["labelling_fits", "largest_change_over_labels", "trials_missing"]


def trials_missing(
    n: int, n_labeled: int, n_unlabeled: int, missing: int, *, points: int = 1
) -> int:
    """Count the trials if j of the n training rows of each may be unlabelled.

    m_j = min{ N_ℓ // (n − j), (N_ℓ + N_u) // (n + T) }, and (N_ℓ + N_u) // (n + T) for j = n.

    Parameters
    ----------
    n : int, at least 2
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int, at least 0
        Rows with and without a response.
    missing : int from 0 to n
        Unlabelled training rows j of a trial.
    points : int, at least 1
        Test points T of a trial.

    Returns
    -------
    int

    Examples
    --------
    >>> [trials_missing(10, 200, 600, missing=j) for j in (0, 2, 10)]
    [20, 25, 72]
    """
    size, j = arguments.training_size(n), int(arguments.count("missing", missing))
    if j > size:
        raise ArgumentError(f"missing must be at most n = {size}, got {j}")
    labeled = int(arguments.count("n_labeled", n_labeled))
    rows = labeled + int(arguments.count("n_unlabeled", n_unlabeled))
    by_rows = rows // (size + int(arguments.count("points", points, 1)))
    return by_rows if j == size else min(labeled // (size - j), by_rows)


def labelling_fits(n_responses: int, missing: int) -> int:
    """Count the fits of one trial that tries every labelling, for one removal.

    ``|Y|^j`` full fits and ``|Y|^(j−1)`` reduced ones, because one unlabelled row goes last and the
    reduced fit does not see it; 2 if no response is missing.  It is an upper bound: a trial
    stops at the first labelling with an exceedance.

    Parameters
    ----------
    n_responses : int, at least 2
        Number of values of the response.
    missing : int, at least 0
        Unlabelled training rows j of a trial.

    Returns
    -------
    int

    Examples
    --------
    >>> [labelling_fits(2, missing=j) for j in (0, 1, 4, 8)]
    [2, 3, 24, 384]
    """
    values = int(arguments.count("n_responses", n_responses, 2))
    j = int(arguments.count("missing", missing))
    return int(values**j + values ** max(j - 1, 0))


def largest_change_over_labels(
    weights: ArrayLike, low: float, high: float, *, offset: float = 0.0
) -> float:
    """Compute the largest change over all responses in [low, high], for a linear smoother.

    Ridge, least squares, kernel ridge and nearest-neighbour averages have ``Δ = |Σ g_j y_j|``
    with weights g that depend on the features only.  The supremum is
    max{Σ(g⁺ high − g⁻ low), Σ(g⁻ high − g⁺ low)}: no responses are needed.  It is an upper
    proxy, valid for "stable" only, and not a black-box test.  With an offset a the change is
    ``|a + Σ g_j y_j|``, where a is the contribution of the known responses.

    Parameters
    ----------
    weights : array of float
        g, the difference of the two fits' weights on the responses.
    low, high : float
        Range of the responses.
    offset : float
        What does not depend on these responses.

    Returns
    -------
    float

    Examples
    --------
    >>> largest_change_over_labels([0.5, -0.25], low=0.0, high=2.0)
    1.0
    """
    if not low <= high:
        raise ArgumentError(f"low must be at most high, got {low} and {high}")
    g = np.asarray(weights, dtype=np.float64)
    up, down = float(np.maximum(g, 0.0).sum()), float(np.maximum(-g, 0.0).sum())
    return max(up * high - down * low + offset, down * high - up * low - offset)
