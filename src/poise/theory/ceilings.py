"""Ceilings on the power of all valid tests (Theorems 2 to 5, B and H, section 4.2 of the paper).

The proofs set traps: a value y* (or x*) that the data never showed makes the algorithm unstable.
A test that never tries the value cannot tell the trapped algorithm from the real one, so its power
on the real one is limited by its level on the trapped one:

    power ≤ α ((1 − δ*) / (1 − δ))^e  (+ the chance that the test does try the value).

Each trap brings its own exponent e, and the ceiling is the lowest that applies. How much of it the
averaged test reaches is estimated at the end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise import checks
from poise.theory import binomial
from poise.theory.binomial_law import plain
from poise.theory.counts import clean_trials

_SPACES = ("uncountable", "continuous", "countable", "unknown-support")
_MODELS = ("black-box", "transparent", "constrained", "linear")
_NIL = 1e-300  # below, every ceiling is the level


class _Trap(NamedTuple):
    """One trap: e = rows / size, and the chance that a test finds it."""

    rows: int  # of the data, each of which could spring the trap
    size: int  # rows of one trial, each of which springs it
    leak: float
    spared: bool = False  # whether the test point may be x* as well and spring nothing


def power_bound(
    n: ArrayLike,
    n_labeled: ArrayLike,
    n_unlabeled: ArrayLike = 0,
    *,
    delta: ArrayLike,
    delta_star: ArrayLike = 0.0,
    alpha: ArrayLike,
    features: str = "uncountable",
    response: str = "uncountable",
    models: str = "black-box",
    n_feature_values: float | None = None,
    n_response_values: float | None = None,
    train_budget: float | None = None,
    eval_budget: float | None = None,
) -> Any:
    """Compute the ceiling on the power of every valid black-box test of stability.

    P(declares stable) ≤ min{1, α ((1 − δ*) / (1 − δ))^e} for every (ε, δ)-stable triple, with

    - e = κ in general (Theorem 2; Theorem 5 for independent and coupled randomness, with their
      own δ*);
    - e = N_ℓ/n if only Y is uncountable, or the models are transparent or confined to a class
      (Theorems 3 and 4);
    - e = (N_ℓ + N_u)/(n + 1) if only X is uncountable, and (N_ℓ + N_u)/n if moreover the models
      are transparent: a test that reads the model would find an x* at the test point. That is
      proved for δ* = 0, or if no value of X has positive probability (``features="continuous"``);
      otherwise the ceiling is α x^−(N_ℓ + N_u), x^n (1 − x δ*) = 1 − δ.

    If δ* > δ the triple is not stable and the ceiling is α. The ceiling is not a promise: the
    randomised Binomial test reaches it if κ is an integer and δ ≤ 1 − α^(1/κ) or δ* = 0, and may
    fall short of it elsewhere.

    It is about predictions that can be raised without bound, and about others that can be moved by
    more than 2ε (Theorem H(i)): numbers in an interval of length w > 2ε, vectors of K
    probabilities for ε < 1 − 1/K in total variation, labels of three or more classes for ε < 1.
    For larger ε see :func:`ceiling_large_epsilon`; where no change can exceed ε there is none.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training size whose stability is asked; with ``g`` replaced rows, n + g.
    n_labeled, n_unlabeled : int or array of int, at least 0
        Rows with and without a response.
    delta, delta_star, alpha : float or array, in [0, 1), [0, 1] and (0, 1)
        Allowed and true probability of a change beyond ε; error level of the test.
    features, response : {"uncountable", "continuous", "countable", "unknown-support"}
        The spaces of X and Y. "continuous": uncountable, and no value has positive probability.
        "countable": the support is *known*, so a test could try every value; a discrete variable
        of unknown support is no easier than an uncountable one.
    models : {"black-box", "transparent", "constrained", "linear"}
        What a test sees of a fitted model: its predictions at chosen points, or the model itself,
        possibly known to lie in a class that holds arbitrarily raised functions, as linear models
        do.
    n_feature_values, n_response_values : int or inf, optional
        Sizes ``|X|`` and ``|Y|`` of known countable spaces, for a test under a budget.
    train_budget, eval_budget : int, optional
        Most rows that the test submits for training and for evaluation, over all calls. They add
        train_budget / ``|Y|``, or (train_budget + eval_budget) / ``|X|``, to ceilings that
        countable spaces do not have at all without a budget.

    Returns
    -------
    float or ndarray of float
        In [0, 1]; 1 if nothing limits the power.

    Examples
    --------
    >>> power_bound(100, 1000, 10, delta=0.1, alpha=0.05)
    0.143398...
    >>> power_bound(100, 1000, delta=0.1, alpha=0.05, features="countable", response="countable")
    1.0
    """
    black_box = checks.choice("models", models, _MODELS) == "black-box"
    evaluated = eval_budget if black_box else 0  # a model that can be read needs no evaluation
    x_leak = _leak("features", features, n_feature_values, train_budget, evaluated)
    y_leak = _leak("response", response, n_response_values, train_budget, 0)

    def bound(n: int, labeled: int, unlabeled: int, p: float, truth: float, level: float) -> float:
        traps = [] if y_leak is None else [_Trap(labeled, n, y_leak)]
        if x_leak is not None:
            # Sprung by evaluation too, unless the models can be read: then x* would show.
            size, spared = (n + 1, False) if black_box else (n, features != "continuous")
            traps.append(_Trap(labeled + unlabeled, size, x_leak, spared))
        if truth > p:
            return level
        return min((_ceiling(trap, p, truth, level) for trap in traps), default=1.0)

    found = np.vectorize(bound, otypes=[np.float64])(
        checks.counts("n", n, 2),
        checks.counts("n_labeled", n_labeled),
        checks.counts("n_unlabeled", n_unlabeled),
        checks.deltas(delta),
        checks.probabilities("delta_star", delta_star),
        checks.alphas(alpha),
    )
    return plain(found)


def _leak(
    name: str, space: str, size: float | None, trained: float | None, evaluated: float | None
) -> float | None:
    """Bound the chance that a test tries the best hidden value; None if it can try them all."""
    known = checks.choice(name, space, _SPACES) == "countable"
    if size is None:
        return None if known else 0.0
    argument = f"n_{name.rstrip('s')}_values"
    values = checks.number(argument, size, "a number >= 1")
    if trained is None or evaluated is None:
        return None
    return (checks.count("train_budget", trained) + checks.count("eval_budget", evaluated)) / values


def ceiling_large_epsilon(
    n: int, n_labeled: int, delta: float, delta_star: float, alpha: float
) -> float:
    """Compute the ceiling on power where ε is at least half of what the outputs can move.

    Power ≤ min{1, α x^(−N_ℓ)}, x = sup{y in (0, 1) : y^(n−1) (1 − y δ*) < 1 − δ} (Theorem H(ii)),
    for numbers in [0, 1] with 1/2 ≤ ε < 1 and for two labels; the response must be uncountable.
    If instead X is uncountable, give n + 1 for n and N_ℓ + N_u for N_ℓ. The parameters are those
    of :func:`power_bound`, one number each.

    Examples
    --------
    >>> ceiling_large_epsilon(26, 52, delta=0.442, delta_star=0.2961, alpha=0.1)
    0.16345...
    """
    size, rows = checks.count("n", n, 2), checks.count("n_labeled", n_labeled)
    p, level = checks.delta(delta), checks.alpha(alpha)
    truth = float(checks.probabilities("delta_star", delta_star))
    return level if truth > p else _with_root(size, rows, p, truth, level)


def critical_share(m: int, delta: float, alpha: float) -> float:
    """Compute the largest constant share that a test without a coin can accept.

    s_c = 1 − (1 − δ) α^(−1/m), negative if nothing can be accepted: if S ≡ s in each of m trials,
    no valid test without a coin accepts for s > s_c, and the process with fractions 1 surely
    accepts for s < s_c (Theorem B).

    Examples
    --------
    >>> critical_share(100, delta=0.1, alpha=0.05)
    0.072630...
    """
    trials, level = checks.count("m", m, 1), checks.alpha(alpha)
    log_share = math.log1p(-checks.delta(delta)) - math.log(level) / trials
    return -math.expm1(min(log_share, 700.0))


def share_ceiling(m: int, delta: float, delta_star: float, alpha: float) -> float:
    """Compute the ceiling on the power of every valid test of m i.i.d. shares (Theorem B).

    min{1, α ((1 − δ*) / (1 − δ))^m}, whatever the law of the shares: :func:`power_bound` at κ = m.
    :func:`all_in`, with the coin, attains it if α ≤ (1 − δ)^m.

    Examples
    --------
    >>> share_ceiling(30, delta=0.1, delta_star=0.05, alpha=0.05)
    0.253164...
    """
    return float(power_bound(2, 2 * m, m, delta=delta, delta_star=delta_star, alpha=alpha))


def _ceiling(trap: _Trap, delta: float, delta_star: float, alpha: float) -> float:
    if trap.spared:
        bound = _with_root(trap.size + 1, trap.rows, delta, delta_star, alpha)
    else:
        gain = math.log1p(-delta_star) - math.log1p(-delta)
        growth = gain * (trap.rows / trap.size)
        # Beyond the cap the bound is 1 exactly, and exp could overflow.
        bound = alpha * math.exp(growth) if growth < -math.log(alpha) else 1.0
    return min(1.0, bound + trap.leak)


def _with_root(n: int, rows: int, delta: float, delta_star: float, alpha: float) -> float:
    """Compute min{1, α x^−rows} with the root x of y^(n−1) (1 − y δ*) = 1 − δ."""
    return math.exp(min(math.log(alpha) - rows * _log_root(n, delta, delta_star), 0.0))


def _log_root(n: int, delta: float, delta_star: float) -> float:
    """Find log x: the function rises up to its turning point, and the root lies before it."""
    from scipy.optimize import brentq

    lowest = math.log1p(-delta) / (n - 1)  # of δ* = 0, which has the smallest root
    if delta_star == 0 or delta < _NIL:
        return lowest
    turn = min(0.0, math.log((n - 1) / n) - math.log(delta_star))

    def excess(part: float) -> float:  # of ``lowest``: products of tiny numbers would be 0
        log_y = part * lowest
        slope = math.log1p(-math.exp(log_y) * delta_star) - math.log1p(-delta)
        return ((n - 1) * log_y + slope) / lowest

    if excess(turn / lowest) >= 0:  # δ* = δ ≤ (n − 1)/n: the root is 1
        return turn
    if excess(1.0) <= 0:  # δ* is lost in rounding
        return lowest
    return lowest * float(brentq(excess, turn / lowest, 1.0, xtol=1e-300, rtol=1e-14))


# The power of the averaged test: estimates, on which no error level depends. It depends on how much
# shares vary, on their spread v = E S² / E S: 1 for 0/1 data, and small for shares that hardly
# vary. Nobody knows it beforehand.

# With this many times the trials of the rule, a power of 0.8 was measured to be 0.77 to 0.99, and
# shares whose spread is near δ are not constant, although the rule treats them so.
_MARGIN, _LEAST_WEIGHT = 1.2, 0.05


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
