"""Planning a test before anything is fitted: solve for the one quantity left open.

The power of the Binomial test follows from the number of trials m, which follows from
the rows and n, and from δ, δ* and α. Each solver inverts that in one of its arguments,
and then the test itself confirms that the requirement is met.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_test
from poise.theory.estimates import delta_hat
from poise.theory.plan_result import Plan
from poise.theory.power_bounds import power_bound
from poise.theory.trials import kappa, n_trials
from poise.theory.trials_for_power import RandomizedPower, Sawtooth

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Plan", "plan"]

_MOST_ROWS = 2**53
_SMALLEST_LEVEL = float(np.finfo(np.float64).tiny)


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
) -> Plan:
    """Solve for the one of five quantities that is left None, exactly.

    The answer is the smallest ``n_labeled``, the largest ``n``, the smallest ``delta`` or the
    smallest ``alpha`` with which P(the test declares stable) ≥ ``power`` for an algorithm
    that exceeds ε with probability δ*, or that probability itself. It does not say that
    the algorithm at hand is such an algorithm.

    The plain test's power is not monotone in the number of trials, so beyond the answer it
    may fall below ``power`` again: then ``Plan.dips_at`` says where, and ``Plan.holds_from``
    from where on it holds without exception. In ``delta`` and ``alpha`` it is monotone.

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

    Returns
    -------
    Plan
        The answer with trials, fits, achieved power and the ceiling of Theorem 2.

    Raises
    ------
    ArgumentError
        Also if no value can meet the requirement; the message says why.

    Examples
    --------
    >>> plan(n=100, delta=0.1, alpha=0.05, power=1.0).n_labeled
    2929
    >>> plan(n_labeled=1000, delta=0.1, alpha=0.05, power=1.0).n
    33
    >>> plan(n_labeled=1000, n=100, alpha=0.05, power=1.0).delta
    0.283128...
    >>> print(plan(n_labeled=1000, n=100, delta=0.1, alpha=0.05))
    With which probability is an algorithm declared stable, if its predictions change by more
    than epsilon with probability 0?
    Answer: probability 0. At n = 100, 1,000 labelled and 0 unlabelled rows hold 9 independent
    trials (18 fits); the plain Binomial test for delta = 0.1 at level 0.05 then has power 0.
    No valid black-box test has power above 0.142 with these rows.
    If they do so with a probability above 0, the test is less likely to declare stable;
    epsilon enters in no other way.
    """
    given = {"n_labeled": n_labeled, "n": n, "delta": delta, "alpha": alpha, "power": power}
    unknown = arguments.one_of(dict(given))
    wish = _Request(
        **_checked(given),
        n_unlabeled=int(arguments.count("n_unlabeled", n_unlabeled)),
        delta_star=float(arguments.delta(delta_star, "delta_star")),
        randomized=bool(randomized),
    )
    if unknown != "power":
        _refuse_what_no_data_can_do(wish)
    return _SOLVERS[unknown](wish)


@dataclass(frozen=True)
class _Request:
    """The arguments of a plan, checked; the one to be found is None until it is found."""

    n_labeled: Any
    n: Any
    delta: Any
    alpha: Any
    power: Any
    n_unlabeled: int
    delta_star: float
    randomized: bool

    @property
    def trials(self) -> int:
        return int(n_trials(self.n, self.n_labeled, self.n_unlabeled))

    @property
    def ceiling(self) -> float:
        rows = self.n, self.n_labeled, self.n_unlabeled
        truth = {"delta": self.delta, "delta_star": self.delta_star, "alpha": self.alpha}
        return float(power_bound(*rows, **truth))

    @property
    def reached(self) -> float:
        """Power of the test as it is set now."""
        test = self.delta, self.delta_star, self.alpha, self.randomized
        return float(binomial_test.power(self.trials, *test))

    @property
    def curve(self) -> RandomizedPower:
        """Where the power meets the requirement, as trials are added."""
        shape = RandomizedPower if self.randomized else Sawtooth
        return shape(self.delta, self.delta_star, self.alpha, self.power)

    def rows_for(self, trials: int) -> int:
        """Fewest labelled rows that hold so many trials."""
        return int(max(trials * self.n, trials * (self.n + 1) - self.n_unlabeled))

    def size_for(self, trials: int) -> int:
        """Largest n of which the rows hold so many trials; may be too small to be one."""
        rows = self.n_labeled + self.n_unlabeled
        return int(min(self.n_labeled // trials, rows // trials - 1))

    def having(self, name: str, value: float) -> _Request:
        """Fill in one value."""
        change: dict[str, Any] = {name: value}
        return replace(self, **change)

    def solved(self, unknown: str, value: float, **found: Any) -> Plan:
        """Fill in the answer and all that follows from it."""
        done = self.having(unknown, value)
        values: dict[str, Any] = {
            name: getattr(done, name) for name in _Request.__dataclass_fields__
        }
        return Plan(
            solved_for=unknown, achieved_power=done.reached, ceiling=done.ceiling, **values, **found
        )


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Check what was given by its own rule; None stays None."""
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
        raise ArgumentError("power must be in (0, 1], got 0: every test has it")
    return power


def _refuse_what_no_data_can_do(wish: _Request) -> None:
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


def _solve_n_labeled(wish: _Request) -> Plan:
    curve = wish.curve
    rows = wish.rows_for(curve.first)
    if rows > _MOST_ROWS:
        raise ArgumentError(f"power = {wish.power:g} needs {rows:.3g} labelled rows; ask for less")
    missed = curve.next_missed(curve.first)
    dips_at = None if missed is None else wish.rows_for(missed)
    return wish.solved("n_labeled", rows, dips_at=dips_at, holds_from=wish.rows_for(curve.steady))


def _solve_n(wish: _Request) -> Plan:
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


def _next_missed_size(wish: _Request, curve: RandomizedPower, held: int) -> int | None:
    """Find the largest n with more than the trials held that misses the requirement."""
    missed = curve.next_missed(held + 1)
    while missed is not None and (size := wish.size_for(missed)) >= 2:
        held = wish.having("n", size).trials
        missed = curve.next_missed(held)
        if missed == held:
            return size
    return None


def _steady_size(wish: _Request, curve: RandomizedPower) -> int | None:
    """Find the largest n up to which every n meets the requirement, given that some do not."""
    size = max(wish.size_for(curve.steady), 1)
    while curve.next_met(held := wish.having("n", size + 1).trials) == held:
        size = wish.size_for(held)
    return size if size >= 2 else None


def _why_no_size(wish: _Request, curve: RandomizedPower) -> str:
    smallest = wish.having("n", 2)
    return (
        f"no n reaches power = {wish.power:g} with {wish.n_labeled:,} labelled and "
        f"{wish.n_unlabeled:,} unlabelled rows: even n = 2 leaves {smallest.trials:,} trials, "
        f"power {smallest.reached:.3g} and a ceiling of {smallest.ceiling:.3g} for every valid "
        f"test; n = 2 needs {smallest.rows_for(curve.first):,} labelled rows"
    )


def _solve_delta(wish: _Request) -> Plan:
    count, tie = _critical_value_for_power(wish)
    bound = float(delta_hat(count, wish.trials, wish.alpha, zeta=tie))
    # Below delta_star the algorithm would not be stable; the power rises with delta.
    return wish.solved("delta", _nudged(wish, "delta", max(bound, wish.delta_star)))


def _solve_alpha(wish: _Request) -> Plan:
    count, tie = _critical_value_for_power(wish)
    level = float(binomial_test.pvalue(count, wish.trials, wish.delta, zeta=tie))
    return wish.solved("alpha", _nudged(wish, "alpha", max(level, _SMALLEST_LEVEL)))


def _critical_value_for_power(wish: _Request) -> tuple[int, float]:
    """Find the critical count and tie probability with which the power is what is required.

    The test they define declares stable with probability ``power`` at δ*; its level at δ is
    the smallest α that will do, and the δ at which its level is α is the smallest δ.
    """
    if wish.delta_star == 0:
        count, tie = 0, wish.power
    else:
        count, tie = binomial_test.critical_value(wish.trials, wish.delta_star, wish.power)
    return count, (tie if wish.randomized else 1.0)


def _nudged(wish: _Request, unknown: str, value: float) -> float:
    """Raise a value by as many last digits as the test needs to confirm the power."""
    step = float(np.spacing(value))
    while value < 1 and wish.having(unknown, value).reached < wish.power:
        value, step = value + step, 2 * step
    if value >= 1:
        raise ArgumentError(_why_no_level(wish, unknown))
    return value


def _why_no_level(wish: _Request, unknown: str) -> str:
    trials = wish.trials
    if trials == 0:
        size = f"kappa = {float(kappa(wish.n, wish.n_labeled, wish.n_unlabeled)):.3g}"
        return (
            f"no {unknown} below 1 reaches power = {wish.power:g}: {wish.n_labeled:,} labelled and "
            f"{wish.n_unlabeled:,} unlabelled rows hold no trial at n = {wish.n:,} ({size}); "
            f"one trial needs {wish.rows_for(1):,} labelled rows"
        )
    best = 1 - wish.delta_star**trials
    return (
        f"no {unknown} below 1 reaches power = {wish.power:g} with {trials:,} trials: all of them "
        f"exceed epsilon with probability delta_star^{trials}, so the ceiling is {best:.6g}"
    )


def _solve_power(wish: _Request) -> Plan:
    return wish.solved("power", wish.reached)


_SOLVERS: dict[str, Callable[[_Request], Plan]] = {
    "n_labeled": _solve_n_labeled,
    "n": _solve_n,
    "delta": _solve_delta,
    "alpha": _solve_alpha,
    "power": _solve_power,
}
