"""How many independent trials the data hold.

One trial trains on ``n`` labelled rows and is evaluated at one more row, which
may be unlabelled, and no two trials share a row.  So

    κ = min{ N_ℓ / n, (N_ℓ + N_u) / (n + 1) },    m = ⌊κ⌋,

and everything a black-box test can say about stability is limited by κ.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.scalars import IntOrArray

__all__ = ["kappa", "n_trials"]


def n_trials(n: ArrayLike, n_labeled: ArrayLike, n_unlabeled: ArrayLike = 0) -> IntOrArray:
    """Count the independent trials that the rows at hand allow.

    m = min{ N_ℓ // n, (N_ℓ + N_u) // (n + 1) }, in integer arithmetic: a float quotient may
    round up to a trial that the data do not hold.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int or array of int, at least 0
        Rows with and without a response.

    Returns
    -------
    int or ndarray of int
        The number of trials m; 0 if the rows do not suffice for one.

    Examples
    --------
    >>> n_trials(n=100, n_labeled=1000)
    9
    >>> n_trials(n=100, n_labeled=1000, n_unlabeled=10)
    10
    """
    size = arguments.count("n", n, minimum=2)
    labeled = arguments.count("n_labeled", n_labeled)
    rows = labeled + arguments.count("n_unlabeled", n_unlabeled)
    return plain(np.asarray(np.minimum(labeled // size, rows // (size + 1))))


def kappa(n: int, n_labeled: int, n_unlabeled: int = 0) -> Fraction:
    """Compute κ, the number of trials before it is rounded down.

    κ = min{ N_ℓ / n, (N_ℓ + N_u) / (n + 1) } is the exponent in the ceiling on
    the power of every black-box test (Theorem 2).  It is not itself a number of
    trials that can be run: that is ``n_trials``, its integer part.

    Parameters
    ----------
    n : int, at least 2
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int, at least 0
        Rows with and without a response.

    Returns
    -------
    fractions.Fraction
        κ, exactly.

    Examples
    --------
    >>> kappa(n=100, n_labeled=1000, n_unlabeled=5)
    Fraction(1005, 101)
    """
    size = arguments.training_size(n)
    labeled = int(arguments.count("n_labeled", n_labeled))
    rows = labeled + int(arguments.count("n_unlabeled", n_unlabeled))
    return min(Fraction(labeled, size), Fraction(rows, size + 1))
