"""Evidence with no number of trials fixed beforehand, and several questions at once.

The open-ended process averages those of all constant fractions c,

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
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import logsumexp, roots_legendre

from poise import checks
from poise.errors import ArgumentError
from poise.theory.binomial import critical_value
from poise.theory.binomial_law import ONE, Floats, pmf
from poise.theory.changes import Changes, Judgement, listed, union_profile
from poise.theory.counts import first_beyond

_NODES = 512
_TRIALS_AT_ONCE = 4096
_LARGEST, _SMALLEST = 1 - 1e-15, 1e-15


def mixture(S: ArrayLike, delta: float) -> float:
    """Compute the open-ended evidence E_t(δ) for "stable" from the shares of the trials so far.

    P(E_t >= 1/α for some t) <= α if δ* >= δ, however often one looks. A small value does not mean
    unstable.

    Examples
    --------
    >>> round(mixture([0.02] * 60, delta=0.1), 1)
    33.1
    """
    log_e = _log_mixture(*_tallied(S), checks.delta(delta))
    return math.exp(log_e) if log_e < 709 else math.inf


def mixture_delta_hat(S: ArrayLike, alpha: float) -> float:
    """Compute the limit U_t = sup{δ : E_t(δ) < 1/α} of the confidence sequence for δ*.

    P(δ* <= U_t for all t) >= 1 - α, so the smallest limit so far holds as well. 1 without shares.

    Examples
    --------
    >>> round(mixture_delta_hat([0.02] * 60, alpha=0.05), 4)
    0.0906
    """
    seen = _tallied(S)
    return _reached(lambda delta: _log_mixture(*seen, delta), checks.alpha(alpha))


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


def _tallied(S: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
    """Return distinct shares, which are multiples of 1/RT, and how often each was seen."""
    return np.unique(listed("S", S), return_counts=True)


@np.errstate(under="ignore")
def _log_mixture(values: Floats, counts: NDArray[np.int64], delta: float) -> float:
    c, log_weights = _rule()
    # c (1 - S) + (1 - c) (1 - δ): both terms are at least 0, so nothing cancels
    logs = np.log(np.outer(c, 1 - values) + ((1 - c) * (1 - delta))[:, None]) @ counts
    return float(logsumexp(logs + log_weights) - counts.sum() * math.log1p(-delta))


class OpenEnded(NamedTuple):
    """What the open-ended test says after each trial.

    "stable" or "unstable" is the verdict of the process that first reached 1/α, after
    ``decided_at`` trials. It is ``contradicted`` if the other one has reached 1/α, too: P <= α for
    trials from one distribution. ``log_e`` and ``log_e_unstable`` are their logarithms after each
    trial.
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
    because of what was seen. The parameters are those of :func:`poise.theory.hedge`; ``S_unstable``
    are the shares with failed changes as none, if there were any.

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


def upper_delta(changes: Changes, epsilon: float | None, alpha: float) -> float:
    """Compute the smallest of the upper limits for δ* so far."""
    return _limit(changes.shares(epsilon), alpha)


def lower_delta(changes: Changes, epsilon: float | None, alpha: float) -> float:
    """Compute the largest of the lower limits for δ* so far."""
    return 1 - _limit(1 - changes.shares(epsilon, failures_exceed=False), alpha)


def _limit(shares: Floats, alpha: float) -> float:
    return _reached(lambda delta: float(log_path(shares, delta).max(initial=0.0)), alpha)


def upper_epsilon(changes: Changes, delta: float, alpha: float) -> float:
    """Compute the upper limit for ε*: from it on, "stable" has been shown."""
    table = changes.failures_largest
    return _first(table, lambda e: judge(changes, e, delta, alpha).pvalue <= alpha)


def lower_epsilon(changes: Changes, delta: float, alpha: float) -> float:
    """Compute the lower limit for ε*: below it, "unstable" has been shown."""
    table = changes.failures_zero
    return _first(table, lambda e: judge(changes, e, delta, alpha).pvalue_unstable > alpha)


def _first(table: Floats, holds: Callable[[float], bool]) -> float:
    """Return the first of the distinct changes and 0, where alone shares jump."""
    steps = np.unique(np.append(table[np.isfinite(table)], 0.0))
    place = bisect_left(steps, True, key=holds)
    return float(steps[place]) if place < len(steps) else math.inf


profile = partial(union_profile, upper_epsilon)


def clean_trials(delta: float, alpha: float) -> float:
    """Return the fewest trials that show δ if nothing changes; infinite if none do."""

    def shown(t: int) -> bool:
        log_e = _log_mixture(np.zeros(1), np.array([t]), delta)
        return log_e >= math.log(ONE) - math.log(alpha)

    return math.inf if delta < _SMALLEST else first_beyond(0, shown)


# Several questions at once, and one question asked several times.


@np.errstate(under="ignore", over="ignore")
def e_bh(values: ArrayLike, alpha: float) -> list[int]:
    """Return the places of e-values to reject so that the false discovery rate is at most α.

    Rejects the k* largest, k* = max{k : e_(k) >= K / (k α)}, however they depend on each other
    (Wang and Ramdas 2022). This bounds the expected *share* of false rejections; to avoid every
    one see :func:`rejected_by_holm`. A process at level α has e of about 1/α at most: of K tests
    run each at α/K.

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
    it says "stable", with a fresh coin at each look if ``randomized``. The answer, the probability
    of a false "stable" up to each look, is far above α: take :func:`open_ended` instead.

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
