"""Several tests at once by their e-values.

An e-value is evidence with mean at most 1 under its null hypothesis; min(1, 1/e) is a
p-value.  A hedge aimed at level α has e ≈ 1/α at most, so among K tests Holm's method can
never reject with it, and e-BH only if all K succeed.  Aim each of the K tests at α/K, and
choose the aim before you look at the data.

Every comparison here is one of bets and grants them a relative rounding of 1e-9, so a level α
is one of at most α(1 + 1e-9): see :func:`poise.theory.decision.declares`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import holm_correction
from poise.theory.decision import declares
from poise.theory.rounding import less_rounding, reaches

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats

__all__ = [
    "average_e_values",
    "e_bh",
    "holm_e_values",
    "in_fixed_order",
    "multiply_e_values",
    "rejected_by_holm",
    "stable_on_all",
]


def _checked_e_values(values: ArrayLike, name: str = "values") -> Floats:
    e = np.asarray(values, dtype=np.float64)
    if e.ndim != 1 or not (e >= 0).all():  # also false if one is nan
        raise ArgumentError(f"{name} must be a list of e-values, each at least 0, got {values!r}")
    return e


@np.errstate(under="ignore")
def e_bh(values: ArrayLike, alpha: float) -> list[int]:
    """Choose hypotheses to reject so that the false discovery rate is at most α.

    Rejects the k* largest e-values, k* = max{k : e_(k) ≥ K / (kα)}: FDR ≤ α however they
    depend on each other (Wang and Ramdas 2022).  That controls the expected *share* of
    false rejections; to avoid every false rejection, see :func:`holm_e_values`.

    Parameters
    ----------
    values : list of e-values, each at least 0
        One for each hypothesis.
    alpha : float in (0, 1)
        False discovery rate.

    Returns
    -------
    list of int
        Indices, from 0, of the rejected hypotheses, in increasing order.

    Examples
    --------
    >>> e_bh([4.0, 175.0, 5.0, 60.0], alpha=0.05)
    [1, 3]
    """
    e, level = _checked_e_values(values), float(arguments.alpha(alpha))
    order = np.argsort(-e, kind="stable")
    rank = np.arange(1, e.size + 1)
    enough = np.flatnonzero(e[order] * rank * level >= less_rounding(e.size))
    rejected = order[: int(enough[-1]) + 1] if enough.size else order[:0]
    return sorted(rejected.tolist())


@np.errstate(under="ignore")
def rejected_by_holm(pvalues: ArrayLike, alpha: float) -> list[int]:
    """Choose hypotheses to reject so that all rejections are right with probability 1 − α.

    Holm's method: P(any true hypothesis is rejected) ≤ α however the p-values depend on each
    other.  :func:`poise.theory.holm` gives the adjusted p-values instead.

    Parameters
    ----------
    pvalues : list of float in [0, 1]
        One for each hypothesis.
    alpha : float in (0, 1)
        Family-wise error level.

    Returns
    -------
    list of int
        Indices, from 0, of the rejected hypotheses, in increasing order.

    Examples
    --------
    >>> rejected_by_holm([0.01, 0.04, 0.03], alpha=0.05)
    [0]
    """
    level = float(arguments.alpha(alpha))
    adjusted = enumerate(holm_correction.holm(pvalues))
    return [place for place, pvalue in adjusted if declares(pvalue, level, bet=True)]


@np.errstate(under="ignore")
def holm_e_values(values: ArrayLike, alpha: float) -> list[int]:
    """Apply Holm's method to the p-values min(1, 1/e).

    P(any true hypothesis is rejected) ≤ α, whatever the dependence.  With K tests each
    e-value must come from a process aimed at α/K, or it cannot be large enough.

    Parameters
    ----------
    values : list of e-values, each at least 0
        One for each hypothesis.
    alpha : float in (0, 1)
        Family-wise error level.

    Returns
    -------
    list of int
        Indices, from 0, of the rejected hypotheses, in increasing order.

    Examples
    --------
    >>> holm_e_values([4.0, 175.0, 5.0, 60.0], alpha=0.05)
    [1, 3]
    """
    return rejected_by_holm(1 / np.maximum(_checked_e_values(values), 1.0), alpha)


@np.errstate(under="ignore")
def in_fixed_order(pvalues: ArrayLike, alpha: float) -> list[int]:
    """Reject in the order given, each at full α, until the first failure.

    P(any true hypothesis is rejected) ≤ α if the order was fixed before looking: the first
    true hypothesis in the order would have to be rejected.

    Parameters
    ----------
    pvalues : list of float in [0, 1]
        In the order fixed beforehand.
    alpha : float in (0, 1)
        Family-wise error level.

    Returns
    -------
    list of int
        0, 1, … up to the last one before a failure.

    Examples
    --------
    >>> in_fixed_order([0.01, 0.04, 0.2, 0.001], alpha=0.05)
    [0, 1]
    """
    p = arguments.probability("pvalues", pvalues) if np.size(pvalues) else np.empty(0)
    level = float(arguments.alpha(alpha))
    failed = (place for place, pvalue in enumerate(p) if not declares(pvalue, level, bet=True))
    return list(range(next(failed, len(p))))


@np.errstate(over="ignore", under="ignore")
def multiply_e_values(values: ArrayLike) -> float:
    """Combine e-values of one hypothesis from *disjoint* rows: their product is an e-value.

    For different distributions a product of at least 1/α certifies only "stable on at
    least one of them"; for all of them see :func:`stable_on_all`.

    Parameters
    ----------
    values : list of e-values, each at least 0
        From data sets that share no row.

    Returns
    -------
    float
        1 for an empty list.

    Examples
    --------
    >>> multiply_e_values([4.0, 6.0])
    24.0
    """
    e = _checked_e_values(values)
    return 0.0 if (e == 0).any() else float(np.prod(e))


@np.errstate(over="ignore", under="ignore")
def average_e_values(values: ArrayLike) -> float:
    """Combine e-values of one hypothesis from rows that *overlap*: their average is an e-value.

    Parameters
    ----------
    values : list of e-values, each at least 0
        However they depend on each other; at least one.

    Returns
    -------
    float

    Examples
    --------
    >>> average_e_values([4.0, 6.0])
    5.0
    """
    e = _checked_e_values(values)
    if not e.size:
        raise ArgumentError("values must hold at least one e-value, got none")
    return float(np.mean(e))


def stable_on_all(values: ArrayLike, alpha: float) -> bool:
    """Say whether "stable on every one of these distributions" is certified at level α.

    Each certificate must hold at α, with no correction (intersection-union): if the
    algorithm is unstable on one of them, that one e-value reaches 1/α with probability at
    most α.

    Parameters
    ----------
    values : list of e-values, each at least 0
        One for each distribution; at least one.
    alpha : float in (0, 1)
        Level.

    Returns
    -------
    bool

    Examples
    --------
    >>> stable_on_all([20.0, 31.0], alpha=0.05), stable_on_all([19.0, 400.0], alpha=0.05)
    (True, False)
    """
    e = _checked_e_values(values)
    return bool(e.size) and reaches((e * float(arguments.alpha(alpha))).min())
