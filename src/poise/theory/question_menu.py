"""Which questions a number of rows can answer, at many training sizes.

A larger n leaves fewer trials, and fewer trials certify only a larger δ. Each line of the
menu is the largest n at which a run without a single large change certifies some round δ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.averaged_planning import trials_for_averaging
from poise.theory.averaged_power_estimate import SECOND_POINT, averaged_power, planned_spread
from poise.theory.binomial_test import critical_count
from poise.theory.clean_trials import clean_trials
from poise.theory.estimates import delta_hat
from poise.theory.plan_side_by_side import MOST_POINTS, POINTS_TRIED
from poise.theory.rows_per_trial import RowsPerTrial

__all__ = ["Menu", "MenuRow", "menu"]

# What the lines certify, besides what a single trial does.
_ROUND_DELTAS = (0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005)
_PRECISION = 1e-4  # of the averaged test's δ*, which is an estimate


@dataclass(frozen=True)
class MenuRow:
    """What can be asked at one training size.

    Attributes
    ----------
    n : int
        Training size.
    n_trials : int
        Independent trials that the rows hold.
    n_fits : int
        Fits of a full run.
    smallest_delta : float or None
        The smallest δ that a run certifies in which no change exceeds ε; None without trials.
    delta_star : float or None
        The true probability of a change beyond ε up to which the Binomial test for the
        menu's δ declares stable with the menu's power; None if it never does.
    delta_star_averaged : tuple of two floats, or None
        The same for the averaged test: estimates that assume that another point of a trial
        moves with probability 0.5, or 0.1, if one does. None where averaging does not pay.
    points : int
        Test points of a trial with which the averaged test does best: those that the rows leave
        over, or more of them at the cost of some trials.
    """

    n: int
    n_trials: int
    n_fits: int
    smallest_delta: float | None
    delta_star: float | None
    delta_star_averaged: tuple[float, float] | None
    points: int = 1


@dataclass(frozen=True)
class Menu:
    """What a number of rows can answer: one :class:`MenuRow` per training size.

    Attributes
    ----------
    rows : tuple of MenuRow
        From the largest training size to the smallest.
    n_labeled, n_unlabeled : int
        Labelled rows (or groups) and unlabelled rows.
    delta : float
        The δ for which ``delta_star`` is stated.
    alpha, power : float
        Error level; power that ``delta_star`` keeps.
    algorithms : int
        Algorithms that share the level.
    per_trial : RowsPerTrial
        The rows that one trial takes.
    """

    rows: tuple[MenuRow, ...]
    n_labeled: int
    n_unlabeled: int
    delta: float
    alpha: float
    power: float
    algorithms: int
    per_trial: RowsPerTrial

    @property
    def level(self) -> float:
        """The level at which each algorithm is tested."""
        return self.alpha / self.algorithms

    @property
    def largest(self) -> MenuRow | None:
        """The line with the largest n at which a clean run certifies the menu's δ."""
        able = (row for row in self.rows if row.delta_star is not None)
        return max(able, key=lambda row: row.n, default=None)

    def largest_n_without(self, rows: int) -> int | None:
        """Return the largest n at which the menu's δ is certified if some rows are set aside.

        Examples
        --------
        >>> menu(3000).largest_n_without(0), menu(3000).largest_n_without(30)
        (102, 101)
        """
        trials = clean_trials(self.delta, self.level)
        left = max(0, self.n_labeled - rows)
        size = self.per_trial.size_for(trials, left, self.n_unlabeled)
        return size if size >= 2 else None

    def __iter__(self) -> Iterator[MenuRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def menu(
    n_labeled: int,
    n_unlabeled: int = 0,
    *,
    delta: float = 0.1,
    alpha: float = 0.05,
    power: float = 0.8,
    n: int | Iterable[int] = (),
    algorithms: int = 1,
    per_trial: RowsPerTrial | None = None,
) -> Menu:
    """List training sizes and what the Binomial test can say at each of them.

    Each line is the largest n at which a run without a change beyond ε certifies 0.5, 0.3,
    …, 0.005, or whatever a single trial certifies (Theorem 1). It does not say that the
    algorithm at hand has such a run.

    Parameters
    ----------
    n_labeled, n_unlabeled : int, at least 0
        Rows with and without a response.
    delta : float in (0, 1)
        The δ for which the power is stated; it has a line of its own.
    alpha : float in (0, 1)
        Error level.
    power : float in (0, 1)
        Power that ``delta_star`` keeps; with a high one most lines have none.
    n : int or iterable of int, at least 2
        Further training sizes to list.
    algorithms : int, at least 1
        Algorithms that share the level.
    per_trial : RowsPerTrial, optional
        A variant of the paper's trial.

    Returns
    -------
    Menu

    Examples
    --------
    >>> for row in menu(3000):
    ...     print(row.n, row.n_trials, round(row.smallest_delta, 4))
    2999 1 0.95
    599 5 0.4507
    332 9 0.2831
    213 14 0.1926
    156 19 0.1459
    102 29 0.0981
    70 42 0.0688
    49 60 0.0487
    29 100 0.0295
    19 150 0.0198
    9 300 0.0099
    4 600 0.005
    """
    asked = float(arguments.delta(delta))
    if asked == 0:
        raise ArgumentError("delta must be above 0, got 0: no amount of data can certify it")
    each = RowsPerTrial() if per_trial is None else per_trial
    rows = int(arguments.count("n_labeled", n_labeled))
    points = int(arguments.count("n_unlabeled", n_unlabeled))
    level = float(arguments.alpha(alpha)) / int(arguments.count("algorithms", algorithms, 1))
    wanted = [arguments.training_size(size) for size in ([n] if isinstance(n, int) else n)]
    sizes = {*wanted, *_sizes(rows, points, level, {*_ROUND_DELTAS, asked}, each)}
    goal = _Goal(asked, level, _checked_power(power))
    lines = (
        _line(_Rows(each, size, rows, points), goal, int(algorithms))
        for size in sorted(sizes, reverse=True)
    )
    settings = {"delta": asked, "alpha": float(alpha), "power": goal.power}
    return Menu(tuple(lines), rows, points, **settings, algorithms=int(algorithms), per_trial=each)


@dataclass(frozen=True)
class _Goal:
    """The test whose power is stated, and the power it should keep."""

    delta: float
    level: float
    power: float


class _Rows(NamedTuple):
    """The rows of a menu at one training size."""

    each: RowsPerTrial
    n: int
    n_labeled: int
    n_unlabeled: int

    def trials(self, points: int = 1) -> int:
        each = replace(self.each, points=points)
        return each.n_trials(self.n, self.n_labeled, self.n_unlabeled)

    @property
    def spare_points(self) -> int:
        """Most points of a trial that cost no trial, up to 20."""
        most, trials = 1, self.trials()
        while most < MOST_POINTS and self.trials(most + 1) == trials:
            most += 1
        return most


def _checked_power(power: float) -> float:
    value = float(arguments.probability("power", power))
    if not 0 < value < 1:
        raise ArgumentError(f"power must be in (0, 1), got {power}")
    return value


def _sizes(
    rows: int, points: int, level: float, deltas: set[float], each: RowsPerTrial
) -> Iterator[int]:
    """Yield the largest n for which the rows hold one trial, or enough trials for each δ."""
    needed = [clean_trials(delta, level) for delta in deltas]
    for count in {1, *needed}:
        size = each.size_for(count, rows, points)
        if size >= 2:
            yield size


def _line(rows: _Rows, goal: _Goal, algorithms: int) -> MenuRow:
    trials = rows.trials()
    count = -1 if trials == 0 else int(critical_count(trials, goal.delta, goal.level))
    found: dict[str, Any] = {"smallest_delta": None, "delta_star": None}
    if trials:
        found["smallest_delta"] = float(delta_hat(0, trials, goal.level))
    if count >= 0:
        # The δ* at which P(Bin(m, δ*) ≤ count) is the power: a limit at "level" power.
        found["delta_star"] = float(delta_hat(count, trials, goal.power))
    points, averaged = _averaged(rows, goal)
    found |= {"delta_star_averaged": averaged, "points": points}
    return MenuRow(rows.n, trials, 2 * trials * algorithms, **found)


def _averaged(rows: _Rows, goal: _Goal) -> tuple[int, tuple[float, float] | None]:
    """Choose the number of points with which averaging does best, where it pays at all."""
    least = trials_for_averaging(goal.delta, goal.level)
    if rows.trials() < least:
        return 1, None
    tried = {rows.spare_points, *POINTS_TRIED} - {1}
    cautious, hopeful = SECOND_POINT
    best = max(
        (
            (_delta_star(rows.trials(points), goal, planned_spread(points, cautious)), -points)
            for points in tried
            if rows.trials(points) >= least
        ),
        default=None,
    )
    if best is None:
        return 1, None
    truth, points = best[0], -best[1]
    narrow = planned_spread(points, hopeful)
    return points, (truth, _delta_star(rows.trials(points), goal, narrow))


def _delta_star(trials: int, goal: _Goal, spread: float) -> float:
    """Find the largest δ* at which the estimated power is enough."""
    from scipy.optimize import bisect

    def missing(truth: float) -> float:
        share = max(spread, truth)
        return goal.power - averaged_power(trials, goal.delta, truth, goal.level, share)

    # Near δ no number of trials is enough, so the search ends before it.
    highest = goal.delta * (1 - 1e-3)
    if missing(0.0) >= 0 or missing(highest) <= 0:
        return 0.0 if missing(0.0) >= 0 else highest
    return float(bisect(missing, 0.0, highest, xtol=_PRECISION))
