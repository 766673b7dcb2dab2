"""Several questions at once, by p-values or e-values, and one question asked several times.

An e-value is evidence with mean at most 1 under its null hypothesis; min(1, 1/e) is a p-value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from poise import checks
from poise.errors import ArgumentError
from poise.theory.binomial import critical_value
from poise.theory.binomial_law import ONE, Floats, pmf


def _e_values(values: ArrayLike) -> Floats:
    rule = "must be a list of e-values, each at least 0"
    e = checks.reals("values", values, rule, 0, np.inf) if np.size(values) else np.empty(0)
    if e.ndim != 1:
        raise ArgumentError(rule, argument="values", got=values)
    return e


@np.errstate(under="ignore", over="ignore")
def e_bh(values: ArrayLike, alpha: float) -> list[int]:
    """Choose hypotheses to reject so that the false discovery rate is at most α.

    Rejects the k* largest e-values, k* = max{k : e_(k) >= K / (k α)}, however they depend on each
    other (Wang and Ramdas 2022). This bounds the expected *share* of false rejections; to avoid
    every one see :func:`rejected_by_holm`. A bet aimed at level α has e of about 1/α at most: of
    K tests aim each at α/K.

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
    e, level = _e_values(values), checks.alpha(alpha)
    order = np.argsort(-e, kind="stable")
    enough = np.flatnonzero(e[order] * np.arange(1, e.size + 1) * level >= ONE * e.size)
    return sorted(order[: int(enough[-1]) + 1].tolist()) if enough.size else []


@np.errstate(under="ignore")
def holm(pvalues: ArrayLike) -> Floats:
    r"""Adjust p-values by Holm's method.

    Rejecting all hypotheses with an adjusted p-value of at most α rejects a true one with
    probability at most α, however the p-values depend on each other (Holm 1979). With p-values in
    increasing order, :math:`\tilde p_{(i)} = \max_{j \le i} \min\{1, (K - j + 1)\, p_{(j)}\}`.

    Parameters
    ----------
    pvalues : list of float in [0, 1]
        One for each hypothesis.

    Returns
    -------
    ndarray of float

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = checks.probabilities("pvalues", pvalues) if np.size(pvalues) else np.empty(0)
    if p.ndim != 1:
        raise ArgumentError("must be a list of numbers in [0, 1]", argument="pvalues", got=pvalues)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    factors = np.arange(p.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * p[order]))
    return adjusted


def rejected_by_holm(pvalues: ArrayLike, alpha: float) -> list[int]:
    """Choose hypotheses to reject so that all rejections are right with probability 1 - α.

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
    found: list[int] = np.flatnonzero(holm(pvalues) * ONE <= checks.alpha(alpha)).tolist()
    return found


@np.errstate(over="ignore", under="ignore")
def multiply_e_values(values: ArrayLike) -> float:
    """Combine e-values of one hypothesis from trials that share neither rows nor random terms.

    Their product is an e-value. For different distributions a product of at least 1/α says
    "stable on at least one of them"; "on all" needs each at 1/α.

    Parameters
    ----------
    values : list of e-values, each at least 0

    Returns
    -------
    float
        1 for an empty list.

    Examples
    --------
    >>> multiply_e_values([4.0, 6.0])
    24.0
    """
    e = _e_values(values)
    return 0.0 if (e == 0).any() else float(np.prod(e))


@np.errstate(over="ignore", under="ignore")
def average_e_values(values: ArrayLike) -> float:
    """Combine e-values of one hypothesis from rows that overlap: their average is an e-value.

    Parameters
    ----------
    values : list of e-values, each at least 0
        At least one, however they depend on each other.

    Returns
    -------
    float

    Examples
    --------
    >>> average_e_values([4.0, 6.0])
    5.0
    """
    e = _e_values(values)
    if not e.size:
        raise ArgumentError("must hold at least one e-value", argument="values", got=values)
    return float(np.mean(e))


@np.errstate(under="ignore")
def repeated_looks(
    sizes: ArrayLike, delta: float, alpha: float, randomized: bool = False
) -> list[float]:
    """Compute how often the Binomial test is wrong if it is repeated on growing rows.

    At δ* = δ it is made after sizes[0], sizes[1], … trials, each time on all trials so far, until
    it says "stable". The answer is far above α: take :func:`poise.theory.open_ended` instead.

    Parameters
    ----------
    sizes : increasing list of int, each at least 1
        Numbers of trials at which one looks.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε, here also the true one.
    alpha : float in (0, 1)
        Level of each single test.
    randomized : bool, default False
        Whether a fresh coin is tossed at every look.

    Returns
    -------
    list of float
        The probability of a false "stable" up to each look.

    Examples
    --------
    >>> [round(level, 3) for level in repeated_looks([46, 92, 184], delta=0.1, alpha=0.05)]
    [0.048, 0.072, 0.093]
    """
    m = checks.counts("sizes", sizes, 1) if np.size(sizes) else np.empty(0, dtype=np.int64)
    if (np.diff(m) <= 0).any():
        raise ArgumentError("must increase", argument="sizes", got=sizes)
    p = checks.delta(delta)
    waiting, accepted, levels = np.ones(1), 0.0, []  # P(B = j, and nothing said so far)
    for size, step in zip(m.tolist(), np.diff(m, prepend=0).tolist(), strict=True):
        waiting = np.convolve(waiting, pmf(np.arange(step + 1), step, p))
        k, a = critical_value(size, p, alpha)
        chance = np.zeros(size + 1)
        chance[:k], chance[k] = 1.0, (a if randomized else float(a >= 1))
        accepted += float(waiting @ chance)
        waiting = waiting * (1 - chance)
        levels.append(accepted)
    return levels
