"""Lower and two-sided limits for δ and ε.

The upper limits of :mod:`poise.theory.estimates` invert the test for "stable"; these
invert its mirror image. A trial that failed, or was not run, shows no change: here it
counts as a small one, as there it counts as a large one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.theory.binomial_test import check_within, critical_count_unstable
from poise.theory.estimates import checked_changes, delta_hat
from poise.theory.order_statistics import largest
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.scalars import FloatOrArray

__all__ = ["delta_interval", "delta_lower", "epsilon_lower"]


def delta_lower(exceedances: ArrayLike, n_trials: ArrayLike, alpha: ArrayLike) -> FloatOrArray:
    """Compute the lower confidence bound on δ*, the probability of a change beyond ε.

    The one-sided Clopper-Pearson bound: P(δ* >= bound) >= 1 - α for every algorithm and
    distribution.  It holds for one ε fixed beforehand, and by itself: together with δ̂ at
    the same level the confidence is 1 - 2α; see :func:`delta_interval`.

    Parameters
    ----------
    exceedances : int or array of int, from 0 to n_trials
        Trials whose change exceeds ε; those that failed or were not run left out.
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    alpha : float or array in (0, 1)
        One minus the confidence.

    Returns
    -------
    float or ndarray of float
        In [0, 1]; 0 if no δ can be excluded.

    Examples
    --------
    >>> delta_lower(30, 60, alpha=0.05)
    0.387410...
    """
    from scipy.special import betaincinv

    count, m = arguments.count("exceedances", exceedances), arguments.count("n_trials", n_trials)
    check_within(count, m)
    count, m, level = np.broadcast_arrays(count, m, arguments.alpha(alpha))
    # At B = 0 the law is a point mass at 0, which scipy calls nan.
    bound = betaincinv(np.maximum(count, 1), m - np.maximum(count, 1) + 1, level)
    return plain(np.asarray(np.where(count > 0, bound, 0.0)))


def delta_interval(
    exceedances: ArrayLike, n_trials: ArrayLike, alpha: ArrayLike, unknown: ArrayLike = 0
) -> tuple[FloatOrArray, FloatOrArray]:
    """Compute a two-sided confidence interval for δ*: both ends hold together.

    P(low <= δ* <= high) >= 1 - α: α/2 for each side (Clopper-Pearson), whatever verdict is
    read off the same trials.  It holds for one ε fixed beforehand.  The verdict "stable"
    spends all of α on one side, so ``high`` may exceed δ where it is declared.

    Parameters
    ----------
    exceedances : int or array of int, from 0 to n_trials
        Trials whose change is known to exceed ε.
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    alpha : float or array in (0, 1)
        One minus the confidence of the interval.
    unknown : int or array of int, at least 0
        Trials that failed or were not run: they may exceed ε or not.

    Returns
    -------
    low, high : float or ndarray of float
        In [0, 1].

    Examples
    --------
    >>> low, high = delta_interval(3, 60, alpha=0.05)
    >>> round(low, 6), round(high, 6)
    (0.010432, 0.139243)
    """
    level = arguments.alpha(alpha) / 2
    most = arguments.count("exceedances", exceedances) + arguments.count("unknown", unknown)
    return delta_lower(exceedances, n_trials, level), delta_hat(most, n_trials, level)


def epsilon_lower(
    changes: ArrayLike, delta: ArrayLike, alpha: ArrayLike, *, failed: int = 0, unseen: int = 0
) -> FloatOrArray:
    """Compute the lower confidence bound on ε*, the (1 - δ)-quantile of the change.

    The smallest ε at which the mirror test does not declare instability: the c-th largest
    change, where c is its critical count.  P(ε* >= bound) >= 1 - α for every algorithm and
    distribution: a larger bound needs c changes beyond ε*, and P(Δ > ε*) <= δ.  It holds
    for one δ fixed beforehand.

    Parameters
    ----------
    changes : array_like, one-dimensional, nonnegative
        One change per trial; trials that failed are infinite.
    delta : float or array in [0, 1)
        Allowed probability of a larger change.
    alpha : float or array in (0, 1)
        One minus the confidence.
    failed : int, at least 0
        How many of the infinite changes are failures: they count as no change.
    unseen : int, at least 0
        Further trials that were planned and not run; they count as no change.

    Returns
    -------
    float or ndarray of float
        In [0, ∞]; 0 if nothing is shown.

    Examples
    --------
    >>> import numpy as np
    >>> epsilon_lower(np.linspace(0.01, 0.6, 60), delta=0.1, alpha=0.05)
    0.5
    >>> epsilon_lower([0.3, 0.2], delta=0.1, alpha=0.05, unseen=58)
    0.0
    """
    values = checked_changes(changes)
    unseen, failed = int(arguments.count("unseen", unseen)), int(arguments.count("failed", failed))
    count = np.asarray(critical_count_unstable(values.size + unseen, delta, alpha))
    return plain(largest(values, count + failed))
