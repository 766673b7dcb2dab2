"""Planning before anything is fitted: rows, training size, δ, α or power from the other four.

The power of the Binomial test follows from the number of trials, which follows from the rows and
n, and from δ, δ* and α. Each solver inverts that in one of its arguments.

With its coin the test never loses power as trials are added. Without it, the power is a sawtooth:
it falls while the critical count stays the same, and jumps where that grows. The search goes from
step to step. A test is a triple (δ, δ*, α).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from poise import checks
from poise.errors import ArgumentError
from poise.numbers import exactly
from poise.theory import binomial, counts
from poise.theory.ceilings import averaged_power, power_bound, spread
from poise.theory.counts import clean_trials, first_beyond, trials_for_averaging
from poise.theory.limits import delta_hat

# Chances that another point of a trial moves as well, if one does: cautious, and hopeful. At n = 30
# they were about 0.27 for ridge, 0.18 for trees, 0.08 for 5 nearest neighbours.
SECOND_POINT = (0.5, 0.1)
_SMALLEST_LEVEL = float(np.finfo(np.float64).tiny)
_ROUND_DELTAS = (0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A planned Binomial test: four numbers that were given, and the fifth.

    Attributes
    ----------
    n_labeled, n_unlabeled, n : int
        Rows with and without a response; training size.
    delta, alpha, power : float
        Allowed probability of a change beyond ε; level; the power asked for, or the power reached.
    delta_star : float
        True probability of a change beyond ε for which the power is stated.
    randomized : bool
        Whether the test tosses the paper's coin at the critical count.
    fresh : int
        Rows of each trial that replace removed ones.
    each : int
        Fresh rows that a trial takes, where one training set is given; then ``n`` is None and
        ``n_labeled`` counts fresh rows. Otherwise 0.
    solved_for : {"n_labeled", "n", "delta", "alpha", "power"}
        Which number is the answer.
    """

    n_labeled: Any = None
    n: Any = None
    delta: Any = None
    alpha: Any = None
    power: Any = None
    n_unlabeled: int = 0
    delta_star: float = 0.0
    randomized: bool = False
    fresh: int = 0
    each: int = 0
    solved_for: str = ""

    @property
    def n_trials(self) -> int:
        """Independent trials that the rows hold."""
        if self.each:
            return int(self.n_labeled) // self.each
        return counts.trials(self.n, self.n_labeled, self.n_unlabeled, fresh=self.fresh)

    @property
    def n_fits(self) -> int | None:
        """Fits of a full run with one removal a trial; None where one training set is given."""
        return None if self.each else 2 * self.n_trials

    @property
    def reached(self) -> float:
        """Power of the planned test."""
        return self.power_at(self.delta_star)

    @property
    def ceiling(self) -> float:
        """What no valid black-box test of numbers can exceed with these rows (Theorem 2)."""
        return self.ceiling_at(self.delta_star)

    @property
    def points(self) -> int:
        """Test points of a trial that cost nothing, at most 20."""
        if self.each:
            return 1
        rows = self.n, self.n_labeled, self.n_unlabeled, self.fresh
        return min(counts.spare_points(*rows), counts.MOST_POINTS)

    @property
    def averaged(self) -> tuple[float, float] | None:
        """Estimated power of the averaged test, cautious and hopeful; None where it is not used."""
        if self.points == 1 or self.n_trials < trials_for_averaging(self.delta, self.alpha):
            return None
        test, coin = (self.n_trials, *self._test), self.randomized
        spreads = (spread(1, self.points, 1.0, chance, chance) for chance in SECOND_POINT)
        low, high = (averaged_power(*test, max(v, test[2]), randomized=coin) for v in spreads)
        return low, high

    def power_at(self, delta_star: float) -> float:
        """Compute the power of the planned test for another true probability."""
        test = self.n_trials, self.delta, delta_star, self.alpha
        return float(binomial.power(*test, randomized=self.randomized))

    def ceiling_at(self, delta_star: float) -> float:
        """Compute the ceiling for another true probability; 1 where none is proved."""
        if self.each:
            return 1.0
        rows = self.n + self.fresh, self.n_labeled, self.n_unlabeled
        asked = {"delta": self.delta, "delta_star": delta_star, "alpha": self.alpha}
        return float(power_bound(*rows, **asked))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, those that follow from others included."""
        more = ("n_trials", "n_fits", "reached", "ceiling", "points", "averaged")
        return asdict(self) | {name: getattr(self, name) for name in more}

    def rows_for(self, trials: int) -> int:
        """Return the fewest labelled rows that hold so many trials."""
        if self.each:
            return trials * self.each
        return counts.rows_for(trials, self.n, self.n_unlabeled, fresh=self.fresh)

    @property
    def _test(self) -> tuple[float, float, float]:
        return self.delta, self.delta_star, self.alpha


P = TypeVar("P", bound=Plan)


def solve(asked: P) -> P:
    """Solve for the one of the first five numbers that is None; see :func:`poise.plan`.

    The answer is the smallest ``n_labeled``, the largest ``n``, the smallest ``delta`` or
    ``alpha`` with which P(the Binomial test declares stable) ≥ ``power`` for an algorithm that
    exceeds ε with probability ``delta_star``, or that probability itself.

    Examples
    --------
    >>> solve(Plan(n=100, delta=0.1, alpha=0.05, power=0.9)).n_labeled
    2929
    """
    each = checks.count("each", asked.each)
    five = {name: getattr(asked, name) for name in _FIVE}
    left_out = [k for k, value in five.items() if value is None and not (each and k == "n")]
    if len(left_out) != 1:
        names = ", ".join(left_out) or "none"
        raise ArgumentError(f"one of {', '.join(five)} must be left out, and here it is {names}")
    given: dict[str, Any] = {k: x if x is None else _FIVE[k][0](x) for k, x in five.items()}
    goal = replace(
        asked,
        **given,
        solved_for=left_out[0],
        n_unlabeled=checks.count("n_unlabeled", asked.n_unlabeled),
        delta_star=checks.delta(asked.delta_star, "delta_star"),
        randomized=checks.flag("randomized", asked.randomized),
        fresh=checks.count("fresh", asked.fresh),
    )
    if goal.solved_for != "power":
        _refuse_what_no_data_can_do(goal.delta, goal.delta_star, goal.power)
    return _with(goal, _FIVE[goal.solved_for][1](goal))


# What rows can answer.


class MenuRow(NamedTuple):
    """What can be asked at one training size.

    ``smallest_delta`` is certified by a run in which no change exceeds ε (None without trials), and
    ``delta_star`` the true probability up to which the menu's δ is shown with the menu's power
    (None if never).
    """

    n: int
    n_trials: int
    n_fits: int
    smallest_delta: float | None
    delta_star: float | None


def menu(
    n_labeled: int,
    n_unlabeled: int = 0,
    *,
    delta: float = 0.1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> list[MenuRow]:
    """List training sizes and what the Binomial test can say at each of them.

    Each line is the largest n at which a run without a change beyond ε certifies 0.5, 0.3, …,
    0.005, or ``delta``, or whatever one trial certifies (Theorem 1), from the largest to the
    smallest. It does not say that the algorithm at hand has such a run.

    Parameters
    ----------
    n_labeled, n_unlabeled : int, at least 0
        Rows with and without a response.
    delta, alpha, power : float in (0, 1)
        The δ for which ``delta_star`` is stated, with a line of its own; level; the power kept.

    Examples
    --------
    >>> for row in menu(3000)[::4]:
    ...     print(row.n, row.n_trials, round(row.smallest_delta, 4))
    2999 1 0.95
    156 19 0.1459
    29 100 0.0295
    """
    allowed, level = checks.alpha(delta, "delta"), checks.alpha(alpha)
    wanted = checks.alpha(power, "power")
    needed = {int(clean_trials(each, level)) for each in {*_ROUND_DELTAS, allowed}}
    sizes = {counts.size_for(m, n_labeled, n_unlabeled) for m in {1, *needed}}

    def row(size: int) -> MenuRow:
        m = counts.trials(size, n_labeled, n_unlabeled)
        critical = int(binomial.critical_count(m, allowed, level))
        # P(Bin(m, δ*) ≤ critical) is the power at the upper limit for δ* at "level" power.
        truth = float(delta_hat(critical, m, wanted)) if m and critical >= 0 else None
        return MenuRow(size, m, 2 * m, float(delta_hat(0, m, level)) if m else None, truth)

    return [row(size) for size in sorted(sizes, reverse=True) if size >= 2]


# How a plan is solved.


def _refuse_what_no_data_can_do(delta: float | None, truth: float, power: float) -> None:
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


def next_met(test: tuple[float, float, float], power: float, randomized: bool, m: int) -> int:
    """Find the fewest trials, at least ``m``, with which the power is enough.

    Without the coin it may fall short again with a few more trials.
    """

    def enough(trials: int) -> bool:
        return bool(binomial.power(trials, *test, randomized=True) >= power)

    m = m if enough(m) else first_beyond(m, enough)
    while not randomized and binomial.power(m, *test) < power:
        m = _next_step(test, m)  # the rest of this step is lower still
    return m


def _next_step(test: tuple[float, float, float], m: int) -> int:
    """Find the fewest trials with a larger critical count than m trials have."""
    delta, _, alpha = test
    count = binomial.critical_count(m, delta, alpha)
    return first_beyond(m, lambda more: binomial.critical_count(more, delta, alpha) > count)


def _solve_n_labeled(goal: Plan) -> int:
    trials = next_met(goal._test, goal.power, goal.randomized, 0)
    rows = goal.rows_for(trials)
    if rows > counts.COUNTED_EXACTLY:
        raise _unreachable(goal, f"{rows:,} labelled rows are needed")
    return rows


def _solve_n(goal: Plan) -> int:
    fewest = trials = next_met(goal._test, goal.power, goal.randomized, 0)
    if trials == 0:
        rule = f"must be above alpha = {exactly(goal.alpha)}: the coin alone reaches it at every n"
        raise ArgumentError(rule, argument="power", got=goal.power)
    rows = goal.n_labeled, goal.n_unlabeled
    while (size := counts.size_for(trials, *rows, fresh=goal.fresh)) >= 2:
        # Not every number of trials occurs: this n may hold more of them than were asked for.
        held = counts.trials(size, *rows, fresh=goal.fresh)
        trials = next_met(goal._test, goal.power, goal.randomized, held)
        if trials == held:
            return size
    left = checks.counted(replace(goal, n=2).n_trials, "trial")
    raise _unreachable(goal, f"n = 2 leaves {left}, and {fewest:,} trials are needed")


def _solve_level(goal: Plan) -> float:
    """Find the smallest δ or α, up to the last digits that the test needs to confirm the power.

    The test that declares stable with probability ``power`` at δ* has a critical count and a tie
    probability: its level at δ is the smallest α, and the δ at which its level is α the smallest δ.
    """
    m, count, tie = goal.n_trials, 0, goal.power
    if goal.delta_star > 0:
        count, tie = binomial.critical_value(m, goal.delta_star, goal.power)
    tie = tie if goal.randomized else 1.0
    if goal.solved_for == "delta":  # below delta_star the algorithm would not be stable
        value = max(float(delta_hat(count, m, goal.alpha, zeta=tie)), goal.delta_star)
    else:
        value = max(float(binomial.pvalue(count, m, goal.delta, zeta=tie)), _SMALLEST_LEVEL)
    step = float(np.spacing(value))
    while value < 1 and _with(goal, value).reached < goal.power:
        value, step = value + step, 2 * step
    if value < 1:
        return value
    least = f"one trial needs {goal.rows_for(1):,} labelled rows"
    raise _unreachable(goal, f"{checks.counted(m, 'trial')} cannot show so much" if m else least)


def _unreachable(goal: Plan, why: str) -> ArgumentError:
    rule = f"cannot be reached by any {goal.solved_for}: {why}"
    return ArgumentError(rule, argument="power", got=goal.power)


def _with(goal: P, value: float) -> P:
    """Fill in the number that was left out."""
    found: dict[str, Any] = {goal.solved_for: value}
    return replace(goal, **found)


# How each of the five is checked, and found.
_FIVE: dict[str, tuple[Callable[[Any], Any], Callable[[Plan], Any]]] = {
    "n_labeled": (lambda x: checks.count("n_labeled", x), _solve_n_labeled),
    "n": (lambda x: checks.count("n", x, 2), _solve_n),
    "delta": (checks.delta, _solve_level),
    "alpha": (checks.alpha, _solve_level),
    "power": (lambda x: checks.number("power", x, "a number in (0, 1]"), lambda goal: goal.reached),
}
