"""The open-ended test of a table of changes: every answer holds at all times at once.

It is that of :func:`poise.theory.open_ended`, as :mod:`poise.theory.averaged` has those of the
averaged test. What was shown once stays shown: the evidence that counts is the largest so far. It
falls where a share or 1 - δ grows, so limits can be found by bisection.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial

import numpy as np
from scipy.optimize import brentq

from poise.theory import averaged
from poise.theory.binomial_law import ONE, Floats
from poise.theory.changes import Changes, Judgement
from poise.theory.e_values import log_path, open_ended

_LARGEST, _SMALLEST = 1 - 1e-15, 1e-15


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
    def excess(delta: float) -> float:
        return float(log_path(shares, delta).max(initial=0.0)) + math.log(alpha)

    return float(brentq(excess, 0, _LARGEST, xtol=1e-12)) if excess(_LARGEST) > 0 else 1.0


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


profile = partial(averaged.profile, limit=upper_epsilon)


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
