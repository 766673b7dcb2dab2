"""Planning a test: solve for the one quantity that is not given.

The power of the Binomial test follows from the number of trials m, which follows from
the rows and n, and from δ, δ* and α. Each solver inverts that in one of its arguments,
and then the test itself confirms that the requirement is met. The power of the averaged
test is an estimate for an assumed spread of its shares, and is inverted in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_test
from poise.theory.estimates import delta_hat
from poise.theory.plan_request import PlanRequest, points_and_spread
from poise.theory.plan_result import Plan
from poise.theory.rows_per_trial import RowsPerTrial
from poise.theory.trials_for_power import RandomizedPower

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SMALLEST_DELTA", "Plan", "plan", "with_defaults"]

_MOST_ROWS = 2**53
SMALLEST_DELTA = 1e-13  # below, the trials that are needed are too many to be counted exactly
_SMALLEST_LEVEL = float(np.finfo(np.float64).tiny)
_DEFAULTS = {"alpha": 0.05, "power": 0.9}
_PRECISION = 1e-7  # of δ and α of the averaged test, whose power is an estimate


def plan(
    *,
    n_labeled: int | None = None,
    n: int | None = None,
    delta: float | None = None,
    alpha: float | None = None,
    power: float | None = None,
    n_unlabeled: int = 0,
    delta_star: float = 0.0,
    randomized: bool = False,
    algorithms: int = 1,
    remove: int = 1,
    replace: bool = False,
    losses: bool = False,
    groups: bool = False,
    test: str = "binomial",
    spread: float | None = None,
    points: int | None = None,
) -> Plan:
    """Solve for the one of five quantities that is left None, for the Binomial test exactly.

    If more than one is None, ``alpha`` is 0.05, and then ``power`` is 0.9.

    The answer is the smallest ``n_labeled``, the largest ``n``, the smallest ``delta`` or the
    smallest ``alpha`` with which P(the test declares stable) ≥ ``power`` for an algorithm
    that exceeds ε with probability δ*, or that probability itself. It does not say that
    the algorithm at hand is such an algorithm.

    The plain test's power is not monotone in the number of trials, so beyond the answer it
    may fall below ``power`` again: then ``Plan.dips_at`` says where, and ``Plan.holds_from``
    says from where on it always holds. In ``delta`` and ``alpha`` it is monotone.

    For ``test="averaged"`` the answer is a planning value and not a guarantee: the power
    depends on how much the shares of the trials vary, which ``spread`` assumes. The error
    level of the test does not depend on it. :attr:`Plan.needs` compares both tests.

    Parameters
    ----------
    n_labeled : int, at least 0, or None
        Labelled rows.
    n : int, at least 2, or None
        Training size whose stability is asked. A larger n leaves fewer trials.
    delta : float in [0, 1), or None
        Allowed probability of a change beyond ε; above ``delta_star``.
    alpha : float in (0, 1), or None
        Error level.
    power : float in (0, 1], or None
        Probability of declaring stable; 1 is possible only for ``delta_star`` = 0.
    n_unlabeled : int, at least 0
        Unlabelled rows, which serve as test points.
    delta_star : float in [0, 1)
        True probability that a change exceeds ε; 0 for an algorithm that never does.
    randomized : bool
        Plan the paper's randomised test instead of the plain one.
    algorithms : int, at least 1
        Algorithms that share the error level: each is tested at ``alpha`` / ``algorithms``.
    remove : int, at least 1
        How many of the n rows are removed.
    replace : bool
        Whether fresh rows take their place; a trial then needs ``remove`` more rows.
    losses : bool
        Whether losses are compared: test rows then need a response.
    groups : bool
        Whether ``n`` and ``n_labeled`` count groups of rows.
    test : {"binomial", "averaged"}
        The paper's test, or the averaged test, which reads a share off each trial.
    spread : float in (0, 1], optional
        Spread E S² / E S that the shares S of the averaged test are assumed to have, at
        least ``delta_star``. Smaller is better, and 1 gains nothing. By default, another
        point of a trial is assumed to move with probability one half if one does: 0.525 at
        20 points. Trees, ridge and nearest neighbours were seen between 0.13 and 0.31.
    points : int, at least 1, optional
        Test points of each trial, for the averaged test; 20 by default. They cost rows but
        no fits.

    Returns
    -------
    Plan
        The answer with trials, fits, achieved power and the ceiling of Theorem 2, which is
        None for the variants that the paper does not treat.

    Raises
    ------
    ArgumentError
        Also if no value can meet the requirement; the message says why.

    See Also
    --------
    advise, poise.theory.power, poise.theory.power_bound

    Examples
    --------
    >>> plan(n=100, delta=0.1, alpha=0.05, power=1.0).n_labeled
    2929
    >>> plan(n_labeled=1000, delta=0.1, alpha=0.05, power=1.0).n
    33
    >>> plan(n_labeled=1000, n=100, alpha=0.05, power=1.0).delta
    0.283128...
    >>> plan(n=100, delta=0.1).n_labeled, plan(n=100, delta=0.1, algorithms=5).n_labeled
    (2929, 4444)
    >>> for test in ("binomial", "averaged"):
    ...     found = plan(n=100, delta=0.1, delta_star=0.05, power=0.8, test=test, spread=0.3)
    ...     print(test, found.n_trials, found.n_labeled)
    binomial 179 18079
    averaged 99 11880
    >>> print(plan(n_labeled=1000, n=100, delta=0.1, alpha=0.05))
    With which probability is an algorithm declared stable, if its predictions change by more
    than epsilon with probability 0?
    Answer: probability 0. At n = 100, 1,000 labelled and 0 unlabelled rows hold 9 independent
    trials (18 fits); the plain Binomial test for delta = 0.1 at level 0.05 then has power 0.
    Where responses and predictions are numbers, no valid black-box test has power above
    0.142 with these rows.
    If they do so with a probability above 0, the test is less likely to declare stable;
    epsilon enters in no other way.
    Where no change exceeds epsilon, averaging gains nothing: plan for a true probability
    above 0 to see the averaged test beside the Binomial test.
    """
    given = with_defaults(
        {"n_labeled": n_labeled, "n": n, "delta": delta, "alpha": alpha, "power": power}
    )
    unknown = arguments.one_of(dict(given))
    truth = float(arguments.delta(delta_star, "delta_star"))
    count, share = points_and_spread(test, spread, points, truth)
    wish = PlanRequest(
        **_checked(given),
        n_unlabeled=int(arguments.count("n_unlabeled", n_unlabeled)),
        delta_star=truth,
        randomized=bool(randomized),
        algorithms=int(arguments.count("algorithms", algorithms, 1)),
        per_trial=RowsPerTrial(
            int(arguments.count("remove", remove, 1)),
            arguments.flag("replace", replace),
            arguments.flag("losses", losses),
            arguments.flag("groups", groups),
            count,
        ),
        test=test,
        spread=share,
    )
    if unknown != "power":
        _refuse_what_no_data_can_do(wish)
    return _SOLVERS[unknown](wish)


def with_defaults(given: dict[str, Any]) -> dict[str, Any]:
    """Fill in the level, and then the power, as long as more than one quantity is open.

    Examples
    --------
    >>> with_defaults({"n": 100, "n_labeled": None, "alpha": None, "power": None})
    {'n': 100, 'n_labeled': None, 'alpha': 0.05, 'power': 0.9}
    >>> with_defaults({"n": 100, "n_labeled": 3000, "alpha": None, "power": None})
    {'n': 100, 'n_labeled': 3000, 'alpha': 0.05, 'power': None}
    """
    filled = dict(given)
    for name, value in _DEFAULTS.items():
        if filled[name] is None and sum(value is None for value in filled.values()) > 1:
            filled[name] = value
    return filled


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Check each given value by its own rule; None stays None."""
    rules: dict[str, Callable[[Any], Any]] = {
        "n_labeled": lambda x: int(arguments.count("n_labeled", x)),
        "n": arguments.training_size,
        "delta": lambda x: float(arguments.delta(x)),
        "alpha": lambda x: float(arguments.alpha(x)),
        "power": _checked_power,
    }
    return {name: None if x is None else rules[name](x) for name, x in given.items()}


def _checked_power(value: float) -> float:
    power = float(arguments.probability("power", value))
    if power == 0:
        raise ArgumentError("power must be in (0, 1], got 0: every test reaches 0")
    return power


def _refuse_what_no_data_can_do(wish: PlanRequest) -> None:
    if wish.delta is not None and wish.delta < SMALLEST_DELTA and wish.delta > wish.delta_star:
        raise ArgumentError(
            f"delta must be at least {SMALLEST_DELTA:g} to plan for it, got {wish.delta:g}: no "
            "data set has as many rows as it needs"
        )
    if wish.delta is not None and wish.delta_star >= wish.delta:
        level = "alpha" if wish.alpha is None else f"alpha = {wish.alpha:g}"
        raise ArgumentError(
            f"delta must be above delta_star = {wish.delta_star:g}, got {wish.delta:g}: whatever "
            f"the data, no valid test declares such an algorithm stable with probability above "
            f"its level {level}"
        )
    if wish.power == 1 and wish.delta_star > 0:
        raise ArgumentError(
            f"power must be below 1 for delta_star = {wish.delta_star:g}, got 1: with any number "
            "of trials, more may exceed epsilon than the test allows; ask for 0.99, say, or "
            "for delta_star = 0"
        )


def _solve_n_labeled(wish: PlanRequest) -> Plan:
    curve = wish.curve
    rows = wish.rows_for(curve.first)
    if rows > _MOST_ROWS:
        raise ArgumentError(
            f"power = {wish.power:g} needs {rows:.3g} labelled {wish.units}; ask for less"
        )
    missed = curve.next_missed(curve.first)
    dips_at = None if missed is None else wish.rows_for(missed)
    return wish.solved("n_labeled", rows, dips_at=dips_at, holds_from=wish.rows_for(curve.steady))


def _solve_n(wish: PlanRequest) -> Plan:
    curve = wish.curve
    trials = curve.first
    if trials == 0:
        raise ArgumentError(
            f"n has no largest value for power = {wish.power:g} <= alpha = {wish.alpha:g}: the "
            "randomised test's coin alone has that power; ask for more than alpha"
        )
    while (size := wish.size_for(trials)) >= 2:
        # Not every number of trials occurs: n may hold more of them than were asked for.
        held = wish.having("n", size).trials
        trials = curve.next_met(held)
        if trials == held:
            dips_at = _next_missed_size(wish, curve, held)
            holds_from = size if dips_at is None else _steady_size(wish, curve)
            return wish.solved("n", size, dips_at=dips_at, holds_from=holds_from)
    raise ArgumentError(_why_no_size(wish, curve))


def _next_missed_size(wish: PlanRequest, curve: RandomizedPower, held: int) -> int | None:
    """Find the largest n with more than the trials held that misses the requirement."""
    missed = curve.next_missed(held + 1)
    while missed is not None and (size := wish.size_for(missed)) >= 2:
        held = wish.having("n", size).trials
        missed = curve.next_missed(held)
        if missed == held:
            return size
    return None


def _steady_size(wish: PlanRequest, curve: RandomizedPower) -> int | None:
    """Find the largest n up to which every n meets the requirement, given that some do not."""
    size = max(wish.size_for(curve.steady), 1)
    while curve.next_met(held := wish.having("n", size + 1).trials) == held:
        size = wish.size_for(held)
    return size if size >= 2 else None


def _why_no_size(wish: PlanRequest, curve: RandomizedPower) -> str:
    smallest = wish.having("n", 2)
    limit = smallest.ceiling
    ceiling = "" if limit is None else f" and a ceiling of {limit:.3g} for every test of numbers"
    return (
        f"no n reaches power = {wish.power:g} with {wish.n_labeled:,} labelled {wish.units} and "
        f"{wish.n_unlabeled:,} unlabelled rows: even n = 2 leaves {smallest.trials:,} trials, "
        f"power {smallest.reached:.3g}{ceiling}; "
        f"n = 2 needs {smallest.rows_for(curve.first):,} labelled {wish.units}"
    )


def _solve_delta(wish: PlanRequest) -> Plan:
    if wish.test == "averaged":
        return wish.solved("delta", _smallest_met(wish, "delta", wish.delta_star))
    count, tie = _critical_value_for_power(wish)
    bound = float(delta_hat(count, wish.trials, wish.level, zeta=tie))
    # Below delta_star the algorithm would not be stable; the power rises with delta.
    return wish.solved("delta", _nudged(wish, "delta", max(bound, wish.delta_star)))


def _solve_alpha(wish: PlanRequest) -> Plan:
    if wish.test == "averaged":
        return wish.solved("alpha", _smallest_met(wish, "alpha", 0.0))
    count, tie = _critical_value_for_power(wish)
    level = float(binomial_test.pvalue(count, wish.trials, wish.delta, zeta=tie))
    alpha = max(level, _SMALLEST_LEVEL) * wish.algorithms
    return wish.solved("alpha", _nudged(wish, "alpha", alpha))


def _smallest_met(wish: PlanRequest, unknown: str, lowest: float) -> float:
    """Find the smallest δ or α above ``lowest`` at which the estimated power is enough."""
    from scipy.optimize import bisect

    def meets(value: float) -> bool:
        return wish.having(unknown, value).meets

    lowest, highest = lowest + _PRECISION, 1 - _PRECISION
    if not meets(highest):
        raise ArgumentError(_why_no_level(wish, unknown))
    if meets(lowest):
        return lowest
    sign: Callable[[float], float] = lambda value: 1.0 if meets(value) else -1.0  # noqa: E731
    found = float(bisect(sign, lowest, highest, xtol=_PRECISION))
    while not meets(found):
        found += _PRECISION
    return found


def _critical_value_for_power(wish: PlanRequest) -> tuple[int, float]:
    """Find the critical count and tie probability with which the power is what is required.

    The test they define declares stable with probability ``power`` at δ*; its level at δ is
    the smallest α that will do, and the δ at which its level is α is the smallest δ.
    """
    if wish.delta_star == 0:
        count, tie = 0, wish.power
    else:
        count, tie = binomial_test.critical_value(wish.trials, wish.delta_star, wish.power)
    return count, (tie if wish.randomized else 1.0)


def _nudged(wish: PlanRequest, unknown: str, value: float) -> float:
    """Raise a value by as many last digits as the test needs to confirm the power."""
    step = float(np.spacing(value))
    while value < 1 and wish.having(unknown, value).reached < wish.power:
        value, step = value + step, 2 * step
    if value >= 1:
        raise ArgumentError(_why_no_level(wish, unknown))
    return value


def _why_no_level(wish: PlanRequest, unknown: str) -> str:
    trials = wish.trials
    if trials == 0:
        kappa = wish.per_trial.kappa(wish.n, wish.n_labeled, wish.n_unlabeled)
        size = f"kappa = {float(kappa):.3g}"
        return (
            f"no {unknown} below 1 reaches power = {wish.power:g}: {wish.n_labeled:,} labelled "
            f"{wish.units} and {wish.n_unlabeled:,} unlabelled rows hold no trial at "
            f"n = {wish.n:,} ({size}); one trial needs {wish.rows_for(1):,} labelled {wish.units}"
        )
    if wish.test == "averaged":
        return (
            f"no {unknown} below 1 reaches power = {wish.power:g} with {trials:,} trials, by the "
            f"estimate for shares of spread {wish.spread:g}; ask for less, or for a smaller n"
        )
    best = 1 - wish.delta_star**trials
    return (
        f"no {unknown} below 1 reaches power = {wish.power:g} with {trials:,} trials: all of them "
        f"exceed epsilon with probability delta_star^{trials}, so the power is at most {best:.6g}"
    )


def _solve_power(wish: PlanRequest) -> Plan:
    return wish.solved("power", wish.reached)


_SOLVERS: dict[str, Callable[[PlanRequest], Plan]] = {
    "n_labeled": _solve_n_labeled,
    "n": _solve_n,
    "delta": _solve_delta,
    "alpha": _solve_alpha,
    "power": _solve_power,
}
