"""How many trials a power takes: of the Binomial test exactly, of the averaged test by estimate.

With its coin the Binomial test never loses power as trials are added. Without it, the power is a
sawtooth: it falls while the critical count stays the same, and jumps where that grows. The search
goes from step to step. A test is a triple (δ, δ*, α).

The power of the averaged test depends on how much shares vary: on their spread v = E S² / E S, 1
for 0/1 data and small for shares that hardly vary. Nobody knows it beforehand.
"""

from __future__ import annotations

import math

from poise import checks
from poise.errors import ArgumentError
from poise.numbers import exactly
from poise.theory import binomial
from poise.theory.counts import clean_trials, first_beyond

Test = tuple[float, float, float]

# With this many times the trials of the rule, a power of 0.8 was measured to be 0.77 to 0.99, and
# shares whose spread is near δ are not constant, although the rule treats them so.
_MARGIN, _LEAST_WEIGHT = 1.2, 0.05


def refuse_what_no_data_can_do(delta: float | None, truth: float, power: float) -> None:
    """Raise where no number of trials is enough; None is what is to be found."""
    if delta is not None and truth >= delta:
        raise ArgumentError(
            f"must be above delta_star = {exactly(truth)}: no valid test declares such an "
            "algorithm stable with a probability above its level, whatever the rows",
            argument="delta",
            got=delta,
        )
    if power == 1 and truth > 0:
        rule = f"must be below 1 for delta_star = {exactly(truth)}: no trials are that many"
        raise ArgumentError(rule, argument="power", got=power, remedy="ask for 0.99, say")


def next_met(test: Test, power: float, randomized: bool, m: int) -> int:
    """Find the fewest trials, at least ``m``, with which the power is enough.

    Without the coin it may fall short again with a few more trials.
    """

    def enough(trials: int) -> bool:
        return bool(binomial.power(trials, *test, randomized=True) >= power)

    m = m if enough(m) else first_beyond(m, enough)
    while not randomized and binomial.power(m, *test) < power:
        m = _next_step(test, m)  # the rest of this step is lower still
    return m


def _next_step(test: Test, m: int) -> int:
    """Find the fewest trials with a larger critical count than m trials have."""
    delta, _, alpha = test
    count = binomial.critical_count(m, delta, alpha)
    return first_beyond(m, lambda more: binomial.critical_count(more, delta, alpha) > count)


# The averaged test: estimates, on which no error level depends.


def spread(removals: int, points: int, q_removal: float, q_point: float, q_both: float) -> float:
    """Compute the spread v = E S² / E S of the shares of R removals and T test points.

    v = [1 + (R−1) q_R + (T−1) q_T + (R−1)(T−1) q_RT] / (RT), where q is the chance of a second
    exceedance given a first one: for another removal at the same point, for the same removal at
    another point, and for another removal at another point.

    Examples
    --------
    >>> spread(removals=1, points=20, q_removal=1.0, q_point=0.2, q_both=0.2)
    0.24...
    """
    r, t = checks.count("removals", removals, 1), checks.count("points", points, 1)
    asked = {"q_removal": q_removal, "q_point": q_point, "q_both": q_both}
    one, other, both = (_probability(name, value) for name, value in asked.items())
    return (1 + (r - 1) * one + (t - 1) * other + (r - 1) * (t - 1) * both) / (r * t)


def trials_with_spread(
    delta: float, delta_star: float, alpha: float, v: float, trials_binomial: float
) -> float:
    """Estimate the number of trials of the averaged test from that of the Binomial test.

    m ≈ m_c + (m_B − m_c)(v − δ)₊ / (1 − δ), where the Binomial test needs m_B trials for the same
    power, constant shares need m_c = log(1/α) / log((1 − δ*)/(1 − δ)), and v is the :func:`spread`
    of the shares; not rounded, and infinite if δ* is not below δ. A rule of thumb, measured to be
    5 to 20% too large.

    Examples
    --------
    >>> trials_with_spread(0.1, 0.05, alpha=0.05, v=0.34, trials_binomial=171)
    86.23...
    """
    p, share = checks.delta(delta), _probability("v", v)
    constant = _constant_trials(p, delta_star, alpha)
    if constant == math.inf:
        return constant
    return constant + (float(trials_binomial) - constant) * max(share - p, 0.0) / (1 - p)


def _probability(name: str, value: float) -> float:
    return checks.number(name, value, "a number in [0, 1]")


def _constant_trials(delta: float, delta_star: float, alpha: float) -> float:
    """Compute how many trials constant shares need; a gain may be 0 to the last digit."""
    truth, level = _probability("delta_star", delta_star), checks.alpha(alpha)
    gain = math.log1p(-truth) - math.log1p(-delta) if truth < delta else 0.0
    return -math.log(level) / gain if gain > 0 else math.inf


def averaged_power(
    m: int, delta: float, delta_star: float, alpha: float, v: float, *, randomized: bool = False
) -> float:
    """Estimate the power of the averaged test with m trials whose shares have :func:`spread` v.

    That of the Binomial test with as many trials as :func:`trials_with_spread` makes of m / 1.2,
    and α from δ* = δ on. The true power depends on the whole law of the shares. It was measured to
    be larger rather than smaller where averaging pays (:func:`poise.theory.trials_for_averaging`).

    Examples
    --------
    >>> [round(averaged_power(105, 0.1, 0.05, alpha=0.05, v=v), 2) for v in (1.0, 0.5, 0.34)]
    [0.53, 0.68, 0.81]
    """
    p, share, trials = checks.delta(delta), _probability("v", v), checks.count("m", m)
    constant, least = _constant_trials(p, delta_star, alpha), clean_trials(p, alpha)
    if constant == math.inf:
        return float(alpha)
    coin, turn = checks.flag("randomized", randomized), _MARGIN * constant
    if not coin and trials < least:
        return 0.0
    weight = max((share - p) / (1 - p), _LEAST_WEIGHT)
    worth = min(trials, turn) / _MARGIN + max(trials - turn, 0.0) / _MARGIN / weight
    power = float(binomial.power(round(worth), p, delta_star, alpha, randomized=True))
    # Without the coin it was seen to fall off to 0 at m0, where constant shares have no power.
    return power if coin or trials >= turn else power * (trials - least) / (turn - least)
