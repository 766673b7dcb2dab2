"""Evidence with no number of trials fixed beforehand.

The open-ended process averages the bets of all constant fractions c,

    E_t(δ) = ∫_0^1 Π_{k<=t} (1 - c S_k - (1 - c) δ) / (1 - δ) dc,

so P(E_t >= 1/α for some t) <= α if δ* >= δ: look as often as you like. Its mirror image is the
same process on 1 - S at 1 - δ. E_t never falls in δ, so the δ that are not rejected form an
interval, a confidence sequence. The integral is computed by one fixed rule, whose weights are
positive and add up to 1: exact for 1,023 trials, and valid evidence itself for any number.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import logsumexp, roots_legendre

from poise import checks
from poise.errors import ArgumentError
from poise.theory.betting import checked_shares
from poise.theory.binomial_law import ONE, Floats

_NODES = 512
_TRIALS_AT_ONCE = 4096
_MOST_MOMENTS = 200


def mixture(S: ArrayLike, delta: float) -> float:
    """Compute the open-ended evidence E_t(δ) for "stable".

    P(E_t >= 1/α for some t) <= α if δ* >= δ, however often one looks. A small value does not mean
    unstable.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial so far; a failed change counts as one beyond ε.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float
        1 without shares; infinite beyond the largest float.

    Examples
    --------
    >>> round(mixture([0.02] * 60, delta=0.1), 1)
    33.1
    """
    return _exp(_log_mixture(*_counted(checked_shares(S)), checks.delta(delta)))


def mirror_mixture(S: ArrayLike, delta: float) -> float:
    """Compute the open-ended evidence for "unstable".

    P(it is >= 1/α for some t) <= α if δ* <= δ, however often one looks.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial so far; a failed change counts as none.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float
        1 without shares; infinite if δ = 0 and a share is above 0.

    Examples
    --------
    >>> round(mirror_mixture([0.4, 0.6, 0.2, 0.4], delta=0.1), 1)
    53.7
    """
    shares, p = checked_shares(S), checks.delta(delta)
    if 1 - p == 1:  # one change is a proof, or so little that doubles do not see it
        return math.inf if p == 0 and shares.any() else 1.0
    return _exp(_log_mixture(*_counted(1 - shares), 1 - p))


def mixture_delta_hat(S: ArrayLike, alpha: float) -> float:
    """Compute the limit U_t = sup{δ : E_t(δ) < 1/α} of the confidence sequence for δ*.

    P(δ* <= U_t for all t) >= 1 - α, so the smallest limit so far holds as well.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial so far.
    alpha : float in (0, 1)
        Probability that some limit fails.

    Returns
    -------
    float
        In (0, 1]; 1 without shares, and if all shares are 1.

    Examples
    --------
    >>> round(mixture_delta_hat([0.02] * 60, alpha=0.05), 4)
    0.0906
    """
    values, counts = _counted(checked_shares(S))
    log_level = math.log(checks.alpha(alpha))

    def excess(delta: float) -> float:
        return log_level + _log_mixture(values, counts, delta)

    largest = 1 - 1e-15
    return float(brentq(excess, 0, largest, xtol=1e-15, rtol=1e-14)) if excess(largest) > 0 else 1.0


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    """Nodes and log weights of Gauss-Legendre on [0, 1]."""
    x, weights = roots_legendre(_NODES)
    return (np.asarray(x) + 1) / 2, np.log(np.asarray(weights) / 2)


def _counted(shares: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Count equal shares once: they are multiples of 1/RT."""
    values, counts = np.unique(shares, return_counts=True)
    return values, counts


def _log_mixture(values: Floats, counts: NDArray[np.int64], delta: float) -> float:
    c, log_weights = _rule()
    # c (1 - S) + (1 - c) (1 - δ): both terms are at least 0, so nothing cancels
    logs = np.log(np.outer(c, 1 - values) + ((1 - c) * (1 - delta))[:, None]) @ counts
    return float(logsumexp(logs + log_weights) - counts.sum() * math.log1p(-delta))


def _exp(log_value: float) -> float:
    return math.exp(log_value) if log_value < 709 else math.inf


class OpenEnded(NamedTuple):
    """What the open-ended test says after each trial.

    Attributes
    ----------
    verdict : str
        "stable" or "unstable" by the process that first reached 1/α, else "inconclusive".
    decided_at : int or None
        Trials after which it did.
    contradicted : bool
        Whether the other one has reached 1/α, too: with trials from one distribution this has
        probability at most α.
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
    shares, low = _both_shares(S, S_unstable)
    p, bar = checks.delta(delta), math.log(ONE) - math.log(checks.alpha(alpha))
    log_e = _log_path(shares, p)
    if 1 - p == 1:
        log_e_unstable = np.where((np.cumsum(low) > 0) & (p == 0), np.inf, 0.0)
    else:
        log_e_unstable = _log_path(1 - low, 1 - p)
    reached = [np.flatnonzero(each >= bar)[:1] + 1 for each in (log_e, log_e_unstable)]
    first = [int(each[0]) if each.size else math.inf for each in reached]
    verdict = "inconclusive"
    if min(first) < math.inf:
        verdict = "stable" if first[0] <= first[1] else "unstable"
    decided_at = None if verdict == "inconclusive" else int(min(first))
    return OpenEnded(verdict, decided_at, max(first) < math.inf, log_e, log_e_unstable)


def _both_shares(S: ArrayLike, S_unstable: ArrayLike | None) -> tuple[Floats, Floats]:
    shares = checked_shares(S)
    low = shares if S_unstable is None else checked_shares(S_unstable, "S_unstable")
    if low.shape != shares.shape or (low > shares).any():
        rule = "must hold one share for each in S, not above it"
        raise ArgumentError(rule, argument="S_unstable", got=S_unstable)
    return shares, low


@np.errstate(under="ignore")
def _log_path(shares: Floats, delta: float) -> Floats:
    """Compute log E_t after each trial."""
    c, log_weights = _rule()
    parts, total = [np.empty(0)], np.zeros(c.size)
    for start in range(0, shares.size, _TRIALS_AT_ONCE):
        block = shares[start : start + _TRIALS_AT_ONCE]
        logs = total + np.cumsum(np.log(np.outer(1 - block, c) + (1 - c) * (1 - delta)), axis=0)
        parts.append(logsumexp(logs + log_weights, axis=1))
        total = logs[-1]
    return np.concatenate(parts) - np.arange(1, shares.size + 1) * math.log1p(-delta)


def confidence_sequence(
    S: ArrayLike, alpha: float, S_unstable: ArrayLike | None = None
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Compute limits for δ* that hold at all times at once, each side with probability 1 - α.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; a failed change counts as one beyond ε.
    alpha : float in (0, 1)
        Probability that a limit of one side ever fails.
    S_unstable : array of shares, optional
        The shares with failed changes as none, for the lower limits.

    Returns
    -------
    trials : ndarray of int
        Numbers of trials at which limits are given: all, or about 200 of many.
    lower, upper : ndarray of float
        The best limits so far.

    Examples
    --------
    >>> trials, lower, upper = confidence_sequence([0.02] * 60, alpha=0.05)
    >>> int(trials[-1]), float(lower[-1].round(4)), float(upper[-1].round(4))
    (60, 0.0186, 0.0906)
    """
    shares, low = _both_shares(S, S_unstable)
    at = np.unique(np.linspace(1, shares.size, _MOST_MOMENTS).astype(int))[: shares.size]
    upper = [mixture_delta_hat(shares[:t], alpha) for t in at]
    lower = [1 - mixture_delta_hat(1 - low[:t], alpha) for t in at]
    return at, np.maximum.accumulate(lower), np.minimum.accumulate(upper)
