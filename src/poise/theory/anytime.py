"""Evidence with no number of trials fixed beforehand, and several questions at once.

The open-ended process averages the bets of all constant fractions c,

    E_t(δ) = ∫_0^1 Π_{k<=t} (1 - c S_k - (1 - c) δ) / (1 - δ) dc,

so P(E_t >= 1/α for some t) <= α if δ* >= δ: look as often as you like. Its mirror image is the
same process on 1 - S at 1 - δ. E_t never falls in δ, so the δ that are not rejected form an
interval, a confidence sequence. The integral is computed by one fixed rule, whose weights are
positive and add up to 1: exact for 1,023 trials, and valid evidence itself for any number.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import logsumexp, roots_legendre

from poise import checks
from poise.errors import ArgumentError
from poise.theory.binomial import critical_value
from poise.theory.binomial_law import ONE, Floats, pmf
from poise.theory.changes import Changes, Judgement, listed, union_profile

_NODES = 512
_TRIALS_AT_ONCE = 4096
_LARGEST, _SMALLEST = 1 - 1e-15, 1e-15


def mixture(S: ArrayLike, delta: float) -> float:
    """Compute the open-ended evidence E_t(δ) for "stable".

    P(E_t >= 1/α for some t) <= α if δ* >= δ, however often one looks. A small value does not mean
    unstable. 1 without shares; infinite beyond the largest float.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial so far; a failed change counts as one beyond ε.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.

    Examples
    --------
    >>> round(mixture([0.02] * 60, delta=0.1), 1)
    33.1
    """
    log_e = _log_mixture(listed("S", S), checks.delta(delta))
    return math.exp(log_e) if log_e < 709 else math.inf


def mixture_delta_hat(S: ArrayLike, alpha: float) -> float:
    """Compute the limit U_t = sup{δ : E_t(δ) < 1/α} of the confidence sequence for δ*.

    P(δ* <= U_t for all t) >= 1 - α, so the smallest limit so far holds as well. 1 without shares.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial so far.
    alpha : float in (0, 1)
        Probability that some limit fails.

    Examples
    --------
    >>> round(mixture_delta_hat([0.02] * 60, alpha=0.05), 4)
    0.0906
    """
    shares = listed("S", S)
    return _reached(lambda delta: _log_mixture(shares, delta), checks.alpha(alpha))


def _reached(log_e: Callable[[float], float], alpha: float) -> float:
    """Find the δ at which the evidence reaches 1/α; 1 if it never does."""

    def excess(delta: float) -> float:
        return log_e(delta) + math.log(alpha)

    return float(brentq(excess, 0, _LARGEST, xtol=1e-15)) if excess(_LARGEST) > 0 else 1.0


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    """Nodes and log weights of Gauss-Legendre on [0, 1]."""
    x, weights = roots_legendre(_NODES)
    return (np.asarray(x) + 1) / 2, np.log(np.asarray(weights) / 2)


@np.errstate(under="ignore")
def _log_mixture(shares: Floats, delta: float) -> float:
    values, counts = np.unique(shares, return_counts=True)  # shares are multiples of 1/RT
    c, log_weights = _rule()
    # c (1 - S) + (1 - c) (1 - δ): both terms are at least 0, so nothing cancels
    logs = np.log(np.outer(c, 1 - values) + ((1 - c) * (1 - delta))[:, None]) @ counts
    return float(logsumexp(logs + log_weights) - shares.size * math.log1p(-delta))


class OpenEnded(NamedTuple):
    """What the open-ended test says after each trial.

    Attributes
    ----------
    verdict, decided_at : str, int or None
        "stable" or "unstable" by the process that first reached 1/α, and after how many trials.
    contradicted : bool
        Whether the other one has reached 1/α, too: P <= α for trials from one distribution.
    log_e, log_e_unstable : ndarray of shape (t,)
        Logarithms of both processes after each trial.
    """

    verdict: str
    decided_at: int | None
    contradicted: bool
    log_e: Floats
    log_e_unstable: Floats


def open_ended(
    S: ArrayLike, delta: float, alpha: float, S_unstable: ArrayLike | None = None
) -> OpenEnded:
    """Decide between "stable" and "unstable" with no number of trials fixed beforehand.

    P(wrong verdict at any time) <= α, however often one looks, and whether or not one goes on
    because of what was seen.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; a failed change counts as one beyond ε.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.
    S_unstable : array of shares, optional
        The shares with failed changes as none, if there were any.

    Returns
    -------
    OpenEnded

    Examples
    --------
    >>> result = open_ended([0.02] * 60, delta=0.1, alpha=0.05)
    >>> result.verdict, result.decided_at
    ('stable', 53)
    """
    shares = listed("S", S)
    low = shares if S_unstable is None else listed("S_unstable", S_unstable)
    if low.shape != shares.shape or (low > shares).any():
        rule = "must hold one share for each in S, not above it"
        raise ArgumentError(rule, argument="S_unstable", got=S_unstable)
    p, bar = checks.delta(delta), math.log(ONE) - math.log(checks.alpha(alpha))
    log_e = log_path(shares, p)
    if 1 - p == 1:
        log_e_unstable = np.where((np.cumsum(low) > 0) & (p == 0), np.inf, 0.0)
    else:
        log_e_unstable = log_path(1 - low, 1 - p)
    paths = (log_e, log_e_unstable)
    first = [int((e >= bar).argmax()) + 1 if (e >= bar).any() else math.inf for e in paths]
    verdict = "inconclusive"
    if min(first) < math.inf:
        verdict = "stable" if first[0] <= first[1] else "unstable"
    decided_at = None if verdict == "inconclusive" else int(min(first))
    return OpenEnded(verdict, decided_at, max(first) < math.inf, log_e, log_e_unstable)


@np.errstate(under="ignore")
def log_path(shares: Floats, delta: float) -> Floats:
    """Compute log E_t after each trial."""
    c, log_weights = _rule()
    parts, total = [np.empty(0)], np.zeros(c.size)
    for start in range(0, shares.size, _TRIALS_AT_ONCE):
        block = shares[start : start + _TRIALS_AT_ONCE]
        logs = total + np.cumsum(np.log(np.outer(1 - block, c) + (1 - c) * (1 - delta)), axis=0)
        parts.append(logsumexp(logs + log_weights, axis=1))
        total = logs[-1]
    return np.concatenate(parts) - np.arange(1, shares.size + 1) * math.log1p(-delta)


# The same for a table of changes, as for the other tests.


def judge(
    changes: Changes, epsilon: float | None, delta: float, alpha: float, zeta: float = 1.0
) -> Judgement:
    """Answer one question; P(wrong verdict at any time) <= α. There is no coin."""
    S, S_low = changes.shares(epsilon), changes.shares(epsilon, failures_exceed=False)
    found = open_ended(S, delta, alpha, S_low)
    p, q = (_pvalue(log_e, alpha) for log_e in (found.log_e, found.log_e_unstable))
    now = float(found.log_e[-1]) if changes.seen else 0.0
    return Judgement(
        verdict=found.verdict,
        acceptance_probability=float(found.verdict == "stable"),
        e_value=math.exp(now) if now < 709 else math.inf,
        used=found.decided_at or changes.seen,
        compute_pvalues=lambda: (p, q),
    )


def _pvalue(log_e: Floats, alpha: float) -> float:
    """Return one divided by the largest evidence so far; at most α exactly if it reached 1/α."""
    p = math.exp(-log_e.max(initial=0.0))
    return min(p, alpha) if p * ONE <= alpha else p


def upper_delta(changes: Changes, epsilon: float | None, alpha: float, zeta: float = 1.0) -> float:
    """Compute the smallest of the upper limits for δ* so far."""
    return _limit(changes.shares(epsilon), alpha)


def lower_delta(changes: Changes, epsilon: float | None, alpha: float) -> float:
    """Compute the largest of the lower limits for δ* so far."""
    return 1 - _limit(1 - changes.shares(epsilon, failures_exceed=False), alpha)


def _limit(shares: Floats, alpha: float) -> float:
    return _reached(lambda delta: float(log_path(shares, delta).max(initial=0.0)), alpha)


def upper_epsilon(changes: Changes, delta: float, alpha: float, zeta: float = 1.0) -> float:
    """Compute the upper limit for ε*: from it on, "stable" has been shown."""
    steps = _steps(changes.failures_largest)
    place = bisect_left(steps, True, key=lambda e: judge(changes, e, delta, alpha).pvalue <= alpha)
    return float(steps[place]) if place < len(steps) else math.inf


def lower_epsilon(changes: Changes, delta: float, alpha: float) -> float:
    """Compute the lower limit for ε*: below it, "unstable" has been shown."""
    steps = _steps(changes.failures_zero)
    place = bisect_left(
        steps, True, key=lambda e: judge(changes, e, delta, alpha).pvalue_unstable > alpha
    )
    return float(steps[place]) if place < len(steps) else math.inf


def _steps(table: Floats) -> Floats:
    """Return the distinct changes and 0, where alone shares jump."""
    return np.unique(np.append(table[np.isfinite(table)], 0.0))


profile = partial(union_profile, upper_epsilon)


def clean_trials(delta: float, alpha: float) -> float:
    """Return the fewest trials that show δ if nothing changes; infinite if none do."""
    if delta < _SMALLEST:
        return math.inf

    def shown(t: int) -> bool:  # the evidence is [(1 - δ)^-t - (1 - δ)] / [δ (t + 1)]
        kept = t * math.log1p(-delta)
        log_e = math.log(-math.expm1(kept + math.log1p(-delta))) - math.log(delta * (t + 1)) - kept
        return log_e >= math.log(ONE) - math.log(alpha)

    most = 1
    while not shown(most):
        most *= 2
    return bisect_left(range(most), True, key=shown)


# Several questions at once, and one question asked several times.


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
        Places, from 0, of the rejected hypotheses.

    Examples
    --------
    >>> e_bh([4.0, 175.0, 5.0, 60.0], alpha=0.05)
    [1, 3]
    """
    e, level = listed("values", values, np.inf), checks.alpha(alpha)
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

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = listed("pvalues", pvalues)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    factors = np.arange(p.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * p[order]))
    return adjusted


def rejected_by_holm(pvalues: ArrayLike, alpha: float) -> list[int]:
    """Return the places of the hypotheses whose p-value by :func:`holm` is at most ``alpha``.

    Examples
    --------
    >>> rejected_by_holm([0.01, 0.04, 0.03], alpha=0.05)
    [0]
    """
    return [int(i) for i in np.flatnonzero(holm(pvalues) * ONE <= checks.alpha(alpha))]


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
