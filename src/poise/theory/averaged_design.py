"""The averaged test's design: which rows and fits each trial gets.

The numbers of removals R and of test points T per trial are fixed before anybody looks at
the data.  Trial k trains on labelled rows (k−1)n+1 … kn and is evaluated at T rows of its
own: the leftover labelled rows first, then the unlabelled ones.  No row serves two trials,
which makes the trials independent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.number_of_trials import n_trials
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.scalars import IntOrArray

__all__ = ["fits_per_trial", "spare_points", "test_row", "trials"]

_COUPLINGS = ("shared", "independent", "coupled")


def trials(
    n: ArrayLike, n_labeled: ArrayLike, n_unlabeled: ArrayLike = 0, points: ArrayLike = 1
) -> IntOrArray:
    """Count the independent trials with T test points each that the rows at hand allow.

    m = min{ N_ℓ // n, (N_ℓ + N_u) // (n + T) }; T = 1 is the paper's split.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int or array of int, at least 0
        Rows with and without a response.
    points : int or array of int, at least 1
        Test points T of a trial.

    Returns
    -------
    int or ndarray of int
        The number of trials m; 0 if the rows do not suffice for one.

    Examples
    --------
    >>> trials(n=100, n_labeled=1000, n_unlabeled=200, points=20)
    10
    """
    size = arguments.count("n", n, minimum=2)
    rows = arguments.count("n_labeled", n_labeled) + arguments.count("n_unlabeled", n_unlabeled)
    by_points = rows // (size + arguments.count("points", points, 1))
    return plain(np.minimum(n_trials(n, n_labeled, n_unlabeled), by_points))


def spare_points(n: int, n_labeled: int, n_unlabeled: int = 0) -> int:
    """Compute the most test points a trial can have without losing a trial.

    T = ⌊(N_ℓ + N_u − mn) / m⌋ with the m of T = 1: test points cost no fits, so there is no
    reason to take fewer.

    Parameters
    ----------
    n : int, at least 2
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int, at least 0
        Rows with and without a response.

    Returns
    -------
    int
        T, at least 1; 1 if there is no trial at all.

    Examples
    --------
    >>> spare_points(n=100, n_labeled=1000, n_unlabeled=200)
    20
    """
    m, size = int(n_trials(n, n_labeled, n_unlabeled)), arguments.training_size(n)
    rows = int(n_labeled) + int(n_unlabeled)  # checked by n_trials
    return (rows - m * size) // m if m else 1


def test_row(n: int, m: int, k: int, t: int) -> int:
    """Say which row's X is the t-th test point of trial k, all counted from 1.

    Row mn + (t − 1)m + k, labelled rows before unlabelled ones; no row serves two trials.

    Parameters
    ----------
    n : int, at least 2
        Training size.
    m : int, at least 1
        Number of trials.
    k : int from 1 to m
        The trial.
    t : int, at least 1
        The test point.

    Returns
    -------
    int

    Examples
    --------
    >>> [test_row(n=100, m=10, k=3, t=t) for t in (1, 2)]
    [1003, 1013]
    """
    size, m = arguments.training_size(n), int(arguments.count("m", m, 1))
    k, t = int(arguments.count("k", k, 1)), int(arguments.count("t", t, 1))
    if k > m:
        raise ArgumentError(f"k must be at most m = {m}, got {k}")
    return m * size + (t - 1) * m + k


def fits_per_trial(
    removals: int,
    pointwise_symmetric: bool = False,
    coupling: str = "shared",
    *,
    exchangeable_bags: bool = False,
) -> int:
    """Count the fits of one trial: R + 1 where one full fit may serve all removals, else 2R.

    One full fit is right only if the pair (full fit, fit without row i) has the same law
    for every i.  With shared randomness pointwise symmetry ensures this, A[D; ξ] = A[D_σ;
    ξ] for the *same* ξ.  With independent randomness the paper's symmetry in distribution
    ensures it.  With coupled randomness pointwise symmetry ensures it, or bags that are
    reused and exchangeable.  Symmetry in distribution is not enough for shared randomness:
    a forest with one seed would be certified falsely.

    Parameters
    ----------
    removals : int, at least 1
        Removals R of a trial.
    pointwise_symmetric : bool
        Whether A[D; ξ] is known not to depend on the order of the rows. Leave it False if
        unknown.
    coupling : {"shared", "independent", "coupled"}
        How the two fits' random terms belong together.
    exchangeable_bags : bool
        For "coupled": whether the algorithm reuses exchangeable bags of the full fit.

    Returns
    -------
    int

    Examples
    --------
    >>> fits_per_trial(7, pointwise_symmetric=True), fits_per_trial(7)
    (8, 14)
    """
    r = int(arguments.count("removals", removals, 1))
    arguments.choice("coupling", coupling, _COUPLINGS)
    symmetric = arguments.flag("pointwise_symmetric", pointwise_symmetric)
    bags = coupling == "coupled" and arguments.flag("exchangeable_bags", exchangeable_bags)
    one_full_fit = symmetric or bags or coupling == "independent"
    return r + 1 if one_full_fit else 2 * r
