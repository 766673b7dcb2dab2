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
from poise.arguments.printed_numbers import at_least, at_most, exactly
from poise.errors import ArgumentError
from poise.theory import binomial_test
from poise.theory.estimates import delta_hat
from poise.theory.plan_request import PlanRequest
from poise.theory.planned_test import PlannedTest
from poise.theory.rounding import LARGEST_WHOLE
from poise.theory.trials_for_power import RandomizedPower

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SMALLEST_DELTA", "checked", "solve", "with_defaults"]

SMALLEST_DELTA = 1e-13  # below, the trials that are needed are too many to be counted exactly
_SMALLEST_LEVEL = float(np.finfo(np.float64).tiny)
_DEFAULTS = {"alpha": 0.05, "power": 0.9}
_PRECISION = 1e-7  # of δ and α of the averaged test, whose power is an estimate


def solve(goal: PlanRequest) -> PlannedTest:
    """Solve for the one of five quantities that is None.

    Examples
    --------
    >>> given = {"n_labeled": None, "n": 100, "delta": 0.1, "alpha": 0.05, "power": 1.0}
    >>> solve(PlanRequest(**checked(given))).n_labeled
    2929
    """
    unknown = arguments.one_of({name: getattr(goal, name) for name in _RULES})
    if unknown != "power":
        _refuse_what_no_data_can_do(goal)
    return _SOLVERS[unknown](goal)


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


def checked(given: dict[str, Any]) -> dict[str, Any]:
    """Check each given value by its own rule; None stays None."""
    return {name: None if x is None else _RULES[name](x) for name, x in given.items()}


def _checked_power(value: float) -> float:
    power = float(arguments.probability("power", value))
    if power == 0:
        raise ArgumentError("power must be in (0, 1], got 0: every test reaches 0")
    return power


_RULES: dict[str, Callable[[Any], Any]] = {
    "n_labeled": lambda x: int(arguments.count("n_labeled", x)),
    "n": arguments.training_size,
    "delta": lambda x: float(arguments.delta(x)),
    "alpha": lambda x: float(arguments.alpha(x)),
    "power": _checked_power,
}


def _refuse_what_no_data_can_do(goal: PlanRequest) -> None:
    if goal.delta is not None and goal.delta < SMALLEST_DELTA and goal.delta > goal.delta_star:
        raise ArgumentError(
            f"delta must be at least {exactly(SMALLEST_DELTA)} to plan for it, got "
            f"{exactly(goal.delta)}: no data set has as many rows as it needs"
        )
    if goal.delta is not None and goal.delta_star >= goal.delta:
        level = "alpha" if goal.alpha is None else f"alpha = {exactly(goal.alpha)}"
        raise ArgumentError(
            f"delta must be above delta_star = {exactly(goal.delta_star)}, got "
            f"{exactly(goal.delta)}: whatever the data, no valid test declares such an algorithm "
            f"stable with probability above its level {level}"
        )
    if goal.power == 1 and goal.delta_star > 0:
        raise ArgumentError(
            f"power must be below 1 for delta_star = {exactly(goal.delta_star)}, got 1: with any "
            "number of trials, more may exceed epsilon than the test allows; ask for 0.99, say, "
            "or for delta_star = 0"
        )


def _solve_n_labeled(goal: PlanRequest) -> PlannedTest:
    curve = goal.curve
    rows = goal.rows_for(curve.first)
    if rows > LARGEST_WHOLE:
        raise ArgumentError(
            f"power = {exactly(goal.power)} needs {rows:,} labelled {goal.units}; ask for less"
        )
    missed = curve.next_missed(curve.first)
    dips_at = None if missed is None else goal.rows_for(missed)
    return goal.solved("n_labeled", rows, dips_at=dips_at, holds_from=goal.rows_for(curve.steady))


def _solve_n(goal: PlanRequest) -> PlannedTest:
    curve = goal.curve
    trials = curve.first
    if trials == 0:
        raise ArgumentError(
            f"n has no largest value for power = {exactly(goal.power)} <= alpha = "
            f"{exactly(goal.alpha)}: the randomised test's coin alone has that power; ask for more "
            "than alpha"
        )
    while (size := goal.size_for(trials)) >= 2:
        # Not every number of trials occurs: n may hold more of them than were asked for.
        held = goal.having("n", size).trials
        trials = curve.next_met(held)
        if trials == held:
            dips_at = _next_missed_size(goal, curve, held)
            holds_from = size if dips_at is None else _steady_size(goal, curve)
            return goal.solved("n", size, dips_at=dips_at, holds_from=holds_from)
    raise ArgumentError(_why_no_size(goal, curve))


def _next_missed_size(goal: PlanRequest, curve: RandomizedPower, held: int) -> int | None:
    """Find the largest n with more than the trials held that misses the requirement."""
    missed = curve.next_missed(held + 1)
    while missed is not None and (size := goal.size_for(missed)) >= 2:
        held = goal.having("n", size).trials
        missed = curve.next_missed(held)
        if missed == held:
            return size
    return None


def _steady_size(goal: PlanRequest, curve: RandomizedPower) -> int | None:
    """Find the largest n up to which every n meets the requirement, given that some do not."""
    size = max(goal.size_for(curve.steady), 1)
    while curve.next_met(held := goal.having("n", size + 1).trials) == held:
        size = goal.size_for(held)
    return size if size >= 2 else None


def _why_no_size(goal: PlanRequest, curve: RandomizedPower) -> str:
    smallest = goal.having("n", 2)
    limit = smallest.ceiling
    ceiling = (
        "" if limit is None else f" and a ceiling of {at_most(limit)} for every test of numbers"
    )
    return (
        f"no n reaches power = {exactly(goal.power)} with {goal.n_labeled:,} labelled {goal.units} "
        f"and {goal.n_unlabeled:,} unlabelled rows: even n = 2 leaves {smallest.trials:,} trials, "
        f"power {at_least(smallest.reached)}{ceiling}; n = 2 needs "
        f"{smallest.rows_for(curve.first):,} labelled {goal.units}"
    )


def _solve_delta(goal: PlanRequest) -> PlannedTest:
    if goal.test == "averaged":
        return goal.solved("delta", _smallest_met(goal, "delta", goal.delta_star))
    count, tie = _critical_value_for_power(goal)
    bound = float(delta_hat(count, goal.trials, goal.level, zeta=tie))
    # Below delta_star the algorithm would not be stable; the power rises with delta.
    return goal.solved("delta", _nudged(goal, "delta", max(bound, goal.delta_star)))


def _solve_alpha(goal: PlanRequest) -> PlannedTest:
    if goal.test == "averaged":
        return goal.solved("alpha", _smallest_met(goal, "alpha", 0.0))
    count, tie = _critical_value_for_power(goal)
    level = float(binomial_test.pvalue(count, goal.trials, goal.delta, zeta=tie))
    alpha = max(level, _SMALLEST_LEVEL) * goal.algorithms
    return goal.solved("alpha", _nudged(goal, "alpha", alpha))


def _smallest_met(goal: PlanRequest, unknown: str, lowest: float) -> float:
    """Find the smallest δ or α above ``lowest`` at which the estimated power is enough."""
    from scipy.optimize import bisect

    def meets(value: float) -> bool:
        return goal.having(unknown, value).meets

    lowest, highest = lowest + _PRECISION, 1 - _PRECISION
    if not meets(highest):
        raise ArgumentError(_why_no_level(goal, unknown))
    if meets(lowest):
        return lowest
    sign: Callable[[float], float] = lambda value: 1.0 if meets(value) else -1.0  # noqa: E731
    found = float(bisect(sign, lowest, highest, xtol=_PRECISION))
    while not meets(found):
        found += _PRECISION
    return found


def _critical_value_for_power(goal: PlanRequest) -> tuple[int, float]:
    """Find the critical count and tie probability with which the power is what is required.

    The test they define declares stable with probability ``power`` at δ*; its level at δ is
    the smallest α that will do, and the δ at which its level is α is the smallest δ.
    """
    if goal.delta_star == 0:
        count, tie = 0, goal.power
    else:
        count, tie = binomial_test.critical_value(goal.trials, goal.delta_star, goal.power)
    return count, (tie if goal.randomized else 1.0)


def _nudged(goal: PlanRequest, unknown: str, value: float) -> float:
    """Raise a value by as many last digits as the test needs to confirm the power."""
    step = float(np.spacing(value))
    while value < 1 and goal.having(unknown, value).reached < goal.power:
        value, step = value + step, 2 * step
    if value >= 1:
        raise ArgumentError(_why_no_level(goal, unknown))
    return value


def _why_no_level(goal: PlanRequest, unknown: str) -> str:
    trials = goal.trials
    if trials == 0:
        kappa = goal.per_trial.kappa(goal.n, goal.n_labeled, goal.n_unlabeled)
        size = f"kappa = {at_least(float(kappa))}"
        return (
            f"no {unknown} below 1 reaches power = {exactly(goal.power)}: {goal.n_labeled:,} "
            f"labelled {goal.units} and {goal.n_unlabeled:,} unlabelled rows hold no trial at n = "
            f"{goal.n:,} ({size}); one trial needs {goal.rows_for(1):,} labelled {goal.units}"
        )
    if goal.test == "averaged":
        return (
            f"no {unknown} below 1 reaches power = {exactly(goal.power)} with {trials:,} trials, "
            f"by the estimate for shares of spread {exactly(goal.spread or 1.0)}; ask for less, or "
            "for a smaller n"
        )
    missed = at_least(goal.delta_star**trials)
    return (
        f"no {unknown} below 1 reaches power = {exactly(goal.power)} with {trials:,} trials: all "
        f"of them exceed epsilon with probability delta_star^{trials}, so the power is at most 1 - "
        f"{missed}"
    )


def _solve_power(goal: PlanRequest) -> PlannedTest:
    return goal.solved("power", goal.reached)


_SOLVERS: dict[str, Callable[[PlanRequest], PlannedTest]] = {
    "n_labeled": _solve_n_labeled,
    "n": _solve_n,
    "delta": _solve_delta,
    "alpha": _solve_alpha,
    "power": _solve_power,
}
