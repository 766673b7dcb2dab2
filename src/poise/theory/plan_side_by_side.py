"""The Binomial and the averaged test side by side: what each needs for the same power.

The averaged test's numbers are planning values: they rest on a spread of the shares that
nobody knows before the trials are run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from poise.errors import ArgumentError
from poise.theory.averaged_power_estimate import SECOND_POINT, AveragedPower, planned_spread
from poise.theory.rows_per_trial import RowsPerTrial
from poise.theory.trials_for_power import PlainPower, RandomizedPower

__all__ = ["MOST_POINTS", "POINTS_TRIED", "Needs", "PowerWanted", "needs_of_both"]

MOST_POINTS = 20
"""More points a trial than this add little: they share its removed row."""

POINTS_TRIED = (2, 3, 5, 7, 10, 14, MOST_POINTS)
"""Numbers of points among which the best is looked for."""

_MANY_TRIALS = 1_000_000  # no run has as many, and the search for them takes long


@dataclass(frozen=True)
class Needs:
    """What one test needs.

    Attributes
    ----------
    test : str
        "binomial" or "averaged".
    n_trials, n_labeled : int
        Trials, and labelled rows (or groups) that hold them.
    points : int
        Test points of a trial.
    spread : float
        Spread of the shares that is assumed; 1 for the Binomial test, whose shares are 0 or 1.
    """

    test: str
    n_trials: int
    n_labeled: int
    points: int = 1
    spread: float = 1.0


@dataclass(frozen=True)
class PowerWanted:
    """A power at δ*, and the test that should have it.

    Attributes
    ----------
    delta, delta_star, level, power : float
        Allowed and true probability of a change beyond ε; level; power.
    randomized : bool
        Whether a coin decides ties.
    """

    delta: float
    delta_star: float
    level: float
    power: float
    randomized: bool = False

    @property
    def _goal(self) -> tuple[float, float, float, float]:
        return self.delta, self.delta_star, self.level, self.power

    def binomial(self) -> int:
        """Compute the fewest trials with which the Binomial test has this power."""
        least = RandomizedPower(*self._goal).first
        if least > _MANY_TRIALS:
            raise ArgumentError(f"more than {_MANY_TRIALS:,} trials are needed")
        return least if self.randomized else PlainPower(*self._goal).first

    def averaged(self, spread: float) -> int:
        """Estimate the fewest trials with which the averaged test has this power."""
        return AveragedPower(*self._goal, spread=spread, coin=self.randomized).first


def needs_of_both(
    wanted: PowerWanted,
    n: int,
    n_unlabeled: int,
    each: RowsPerTrial,
    *,
    spread: float | None = None,
) -> tuple[Needs, ...]:
    """Compute what both tests need, the averaged test for one or two spreads.

    Parameters
    ----------
    wanted : PowerWanted
        The power, for a δ* above 0 and below δ.
    n, n_unlabeled : int
        Training size, and rows without a response.
    each : RowsPerTrial
        The variant of a trial. With several points the averaged test has so many; with one,
        20 if the spread is given, or else as many as make its rows fewest.
    spread : float in (0, 1], optional
        Spread of the shares; by default a cautious and a hopeful one.

    Returns
    -------
    tuple of Needs
        The Binomial test first; empty if averaging cannot help or no run is large enough.

    Examples
    --------
    >>> wanted = PowerWanted(delta=0.1, delta_star=0.05, level=0.05, power=0.8)
    >>> for needs in needs_of_both(wanted, 100, 0, RowsPerTrial()):
    ...     print(needs.test, needs.n_trials, needs.n_labeled, round(needs.spread, 3))
    binomial 179 18079 1.0
    averaged 142 15194 0.571
    averaged 77 8778 0.164
    """
    if not 0 < wanted.delta_star < wanted.delta:
        return ()
    try:
        trials = wanted.binomial()
    except ArgumentError:
        return ()
    alone = replace(each, points=1)
    found = [Needs("binomial", trials, alone.rows_for(trials, n, n_unlabeled))]
    counts = (each.points,) if each.points > 1 else POINTS_TRIED
    if spread is not None:  # it was observed at some number of points
        tried = [[(max(counts), spread)]]
    else:
        tried = [[(count, planned_spread(count, q)) for count in counts] for q in SECOND_POINT]
    return (*found, *(_fewest_rows(wanted, n, n_unlabeled, each, few) for few in tried))


def _fewest_rows(
    wanted: PowerWanted,
    n: int,
    n_unlabeled: int,
    each: RowsPerTrial,
    tried: Iterable[tuple[int, float]],
) -> Needs:
    """Return the needs with the fewest rows, over pairs of points and spread."""
    possible = []
    for points, spread in tried:
        trials = wanted.averaged(spread)
        rows = replace(each, points=points).rows_for(trials, n, n_unlabeled)
        possible.append(Needs("averaged", trials, rows, points, spread))
    return min(possible, key=lambda needs: (needs.n_labeled, needs.n_trials))
