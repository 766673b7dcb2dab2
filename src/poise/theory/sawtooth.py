"""How many trials the Binomial test needs for a power.

With the coin the power never falls as trials are added. Without it, it is a sawtooth: while the
critical count c stays the same each further trial only adds a chance to exceed it, and the power
jumps up where c does. Step c begins at the fewest trials with critical count c. The search is over
steps, so that a billion trials cost little more than a thousand. A test is a triple (δ, δ*, α).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import checks
from poise.errors import ArgumentError
from poise.numbers import exactly
from poise.theory import binomial, binomial_law

Test = tuple[float, float, float]

_SMALLEST_DELTA = 1e-13  # below, the trials that are needed cannot be counted
_LARGEST_WHOLE = 2**53  # beyond, floats skip whole numbers
_STEPS_AT_ONCE = 8


def trials_needed(
    delta: float, delta_star: float, alpha: float, power: float, randomized: bool = False
) -> int:
    """Compute the fewest trials with which the Binomial test has a power.

    Without the coin the power is a sawtooth: it may fall short again with a few more trials, which
    ``max_trials`` avoids.

    Parameters
    ----------
    delta : float in (0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, delta)
        True probability.
    alpha : float in (0, 1)
        Error level.
    power : float in (0, 1]
        Probability of declaring stable; 1 only for ``delta_star`` 0.
    randomized : bool
        Whether the test tosses its coin.

    Returns
    -------
    int

    Examples
    --------
    >>> trials_needed(0.1, 0.0, 0.05, 0.9), trials_needed(0.1, 0.05, 0.05, 0.8)
    (29, 179)
    """
    test = checks.delta(delta), checks.delta(delta_star, "delta_star"), checks.alpha(alpha)
    wanted = checked_power(power)
    refuse_what_no_data_can_do(test[0], test[1], wanted)
    return next_met(test, wanted, checks.flag("randomized", randomized), 0)


def checked_power(value: object) -> float:
    """Return a power that a test can be asked for."""
    return checks.number("power", value, "a number in (0, 1]", low=0, high=1, open="(")


def refuse_what_no_data_can_do(delta: float | None, truth: float, power: float) -> None:
    """Raise where no number of trials is enough; None is what is to be found."""
    if delta is not None and truth >= delta:
        raise ArgumentError(
            f"must be above delta_star = {exactly(truth)}: no valid test declares such an "
            "algorithm stable with a probability above its level, whatever the rows",
            argument="delta",
            got=delta,
        )
    if delta is not None and delta < _SMALLEST_DELTA:
        rule = f"must be at least {exactly(_SMALLEST_DELTA)}: nobody has the rows for less"
        raise ArgumentError(rule, argument="delta", got=delta)
    if power == 1 and truth > 0:
        raise ArgumentError(
            f"must be below 1 for delta_star = {exactly(truth)}: more changes may be larger than "
            "the test allows, with any number of trials",
            argument="power",
            got=power,
            remedy="ask for 0.99, say",
        )


def next_met(test: Test, power: float, randomized: bool, m: int) -> int:
    """Find the fewest trials, at least ``m``, with which the power is enough."""
    delta, truth, alpha = test

    def enough(trials: int) -> bool:
        return bool(binomial.power(trials, *test, randomized=True) >= power)

    first = m if enough(m) else first_beyond(m, enough)
    if randomized or binomial.power(first, *test) >= power:
        return first
    # The rest of this step is lower still, and no peak before was high enough for the coin either.
    low, many = int(binomial.critical_count(first, delta, alpha)) + 1, _STEPS_AT_ONCE
    while True:
        steps = np.arange(low, low + many)
        starts = _starts(steps, test, first)
        met = np.flatnonzero(binomial_law.cdf(steps, starts, truth) >= power)
        if met.size:
            return int(starts[met[0]])
        low, first, many = low + many, int(starts[-1]), 2 * many


def next_missed(test: Test, power: float, m: int) -> int | None:
    """Find the fewest trials, at least ``m``, with which the plain test's power is too small.

    The level that is not used at the end of a step shrinks from step to step, and power at a fixed
    level grows with the trials: once the coin's power at what a step uses is enough, it stays so.
    """
    delta, truth, alpha = test
    if truth == 0:
        return None
    low, many = int(binomial.critical_count(m, delta, alpha)), _STEPS_AT_ONCE
    while True:
        steps = np.arange(low, low + many)
        ends = _starts(steps + 1, test, m) - 1
        missed = np.flatnonzero(binomial_law.cdf(steps, ends, truth) < power)
        if missed.size:
            place = int(missed[0])
            before = int(ends[place - 1]) if place else m - 1
            return _missed_within(int(steps[place]), truth, power, before, int(ends[place]))
        below, above = (binomial_law.cdf(steps[-1] + i, ends[-1], delta) for i in (0, 1))
        used = alpha * float(below / above)
        if binomial.power(int(ends[-1]), delta, truth, used, randomized=True) >= power:
            return None
        low, m, many = low + many, int(ends[-1]), 2 * many


def _missed_within(count: int, truth: float, power: float, before: int, end: int) -> int:
    return first_beyond(before, lambda m: binomial_law.cdf(count, m, truth) < power, end)


def _starts(steps: NDArray[np.int64], test: Test, m: int) -> NDArray[np.int64]:
    """Find where steps begin that begin beyond m trials."""
    delta, _, alpha = test
    width = 1
    while binomial.critical_count(m + width, delta, alpha) < steps[-1]:
        width *= 2
    low, high = np.full(steps.shape, m), np.full(steps.shape, m + width)
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        begun = binomial.critical_count(middle, delta, alpha) >= steps
        low, high = np.where(begun, low, middle), np.where(begun, middle, high)
    return high


def first_beyond(low: int, holds: Callable[[int], Any], high: int | None = None) -> int:
    """Find the smallest whole number beyond ``low`` for which ``holds``; then it stays true."""
    width = 1
    while high is None:
        high = low + width if holds(low + width) else None
        width *= 2
        if low + width > 2 * _LARGEST_WHOLE:
            rule = "needs more trials than can be counted"
            raise ArgumentError(rule, argument="power", remedy="ask for less, or a larger delta")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
