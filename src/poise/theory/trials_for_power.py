"""Numbers of trials at which the power of a test meets a requirement.

The randomised test's power never falls as trials are added: one more can be ignored.
The plain test's has steps (see :mod:`poise.theory.power_curve`): the search is over steps,
not over trials, and a billion trials cost little more than a thousand.

Neither peaks nor troughs rise at every step, because steps begin at whole numbers.
Two curves that do rise bound them: the randomised power lies above the peaks, and the
troughs without rounding lie below the true troughs. Between the two bounds every step is
checked; these are few, unless δ* is almost δ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import ArgumentError
from poise.theory import binomial_law, binomial_test
from poise.theory.power_curve import PowerSteps
from poise.theory.rounding import LARGEST_WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from poise.theory.binomial_law import Floats
    from poise.theory.power_curve import Counts

    Predicate: TypeAlias = Callable[[Counts], NDArray[np.bool_]]

__all__ = ["PlainPower", "RandomizedPower"]

_COUNTS_PROBED = 32
_FEW_STEPS = 8
# Rounding still affects the smooth troughs a little, so this many further steps are checked.
_SAFETY = 16


@dataclass(frozen=True)
class RandomizedPower:
    """Power of the randomised test against a requirement: once met, met for good.

    Parameters
    ----------
    delta, delta_star, alpha : float
        Allowed and true probability of a change beyond ε, delta_star < delta; level.
    required : float in (0, 1]
        The power asked for; 1 only if ``delta_star`` is 0.

    Examples
    --------
    >>> RandomizedPower(delta=0.1, delta_star=0.01, alpha=0.05, required=0.8).first
    39
    """

    delta: float
    delta_star: float
    alpha: float
    required: float

    @cached_property
    def first(self) -> int:
        """The smallest number of trials that meets the requirement."""
        return _smallest(lambda m: self._randomised_power(m) >= self.required, 0)

    @property
    def steady(self) -> int:
        """The number of trials from which the requirement is met for good."""
        return self.first

    def next_met(self, m: int) -> int:
        """Find the smallest number of trials ≥ m that meets the requirement."""
        return max(m, self.first)

    def next_missed(self, m: int) -> int | None:
        """Find the smallest number of trials ≥ m that does not; None if there is none."""
        return m if m < self.first else None

    def _randomised_power(self, m: Counts) -> Floats:
        p = binomial_test.power(m, self.delta, self.delta_star, self.alpha, randomized=True)
        return np.asarray(p)


@dataclass(frozen=True)
class PlainPower(RandomizedPower):
    """Power of the plain test against a requirement, which may be met, missed and met again.

    Parameters
    ----------
    delta, delta_star, alpha, required : float
        As for :class:`RandomizedPower`.

    Examples
    --------
    >>> power = PlainPower(delta=0.1, delta_star=0.01, alpha=0.05, required=0.9)
    >>> power.first, power.next_missed(power.first), power.steady
    (46, 54, 61)
    """

    @cached_property
    def first(self) -> int:
        """The smallest number of trials that meets the requirement."""
        return self.next_met(0)

    @cached_property
    def steady(self) -> int:
        """The number of trials from which the requirement is met for good."""
        high, chunk = self._calm + _SAFETY, _FEW_STEPS
        while high > 0:
            low = max(high - chunk, 0)
            count = self._first_low_trough(np.arange(low, high)[::-1])
            if count is not None:
                return self._start(count + 1)
            high, chunk = low, _FEW_STEPS * chunk
        return self._start(0)  # before that, the plain test never accepts

    def next_met(self, m: int) -> int:
        """Find the smallest number of trials ≥ m that meets the requirement."""
        if self._power(m) >= self.required:
            return m
        # The rest of this step is lower still, and no peak beats the randomised test.
        low, chunk = max(self._count(m) + 1, self._count(self._lower_bound)), _FEW_STEPS
        while True:
            count = self._first_high_peak(np.arange(low, low + chunk))
            if count is not None:
                return self._start(count)
            low, chunk = low + chunk, _FEW_STEPS * chunk

    def next_missed(self, m: int) -> int | None:
        """Find the smallest number of trials ≥ m that does not; None if there is none."""
        if self._power(m) < self.required:
            return m
        low, end, chunk = self._count(m), self._calm + _SAFETY, _FEW_STEPS
        while low < end:
            count = self._first_low_trough(np.arange(low, min(low + chunk, end)))
            if count is not None:
                return self._first_missed(count, m)
            low, chunk = low + chunk, _FEW_STEPS * chunk
        return None

    def _first_missed(self, count: int, m: int) -> int:
        """Find where a step with a low trough falls below the requirement, from m on."""

        def missed(trials: Counts) -> NDArray[np.bool_]:
            return binomial_law.cdf(count, trials, self.delta_star) < self.required

        return _between(missed, max(self._start(count), m) - 1, self._start(count + 1) - 1)

    def _first_high_peak(self, counts: Counts) -> int | None:
        likely = counts[self._steps.peak_bounds(counts) >= self.required]
        return _first(lambda c: self._steps.peaks(c) >= self.required, likely)

    def _first_low_trough(self, counts: Counts) -> int | None:
        likely = counts[self._steps.trough_bounds(counts) < self.required]
        return _first(lambda c: self._steps.troughs(c) < self.required, likely)

    @cached_property
    def _steps(self) -> PowerSteps:
        return PowerSteps(self.delta, self.delta_star, self.alpha)

    def _start(self, count: int) -> int:
        return int(self._steps.starts(np.array([count]))[0])

    @cached_property
    def _lower_bound(self) -> int:
        """Fewest trials with which even the randomised test meets the requirement."""
        return RandomizedPower(self.delta, self.delta_star, self.alpha, self.required).first

    @cached_property
    def _calm(self) -> int:
        """The count from which no trough misses the requirement."""
        high_enough: Predicate = lambda c: self._steps.smooth_troughs(c) >= self.required  # noqa: E731
        return _smallest(high_enough, self._count(self.first))

    def _count(self, m: int) -> int:
        return int(binomial_test.critical_count(m, self.delta, self.alpha))

    def _power(self, m: int) -> float:
        p = binomial_test.power(m, self.delta, self.delta_star, self.alpha, randomized=False)
        return float(p)


def _first(holds: Predicate, candidates: Counts) -> int | None:
    """Find the first candidate for which ``holds`` is true, a few at a time."""
    for i in range(0, candidates.size, _FEW_STEPS):
        few = candidates[i : i + _FEW_STEPS]
        true = np.flatnonzero(holds(few))
        if true.size:
            return int(few[true[0]])
    return None


def _smallest(holds: Predicate, start: int) -> int:
    """Find the smallest whole number ≥ start for which ``holds`` is true; then it stays true."""
    low, steps = start - 1, 2 ** np.arange(_FEW_STEPS)
    while low < LARGEST_WHOLE:
        probes = start - 1 + steps
        true = np.flatnonzero(holds(probes))
        if true.size:
            low = int(probes[true[0] - 1]) if true[0] else low
            return _between(holds, low, int(probes[true[0]]))
        low, steps = int(probes[-1]), steps * 2**_FEW_STEPS
    raise ArgumentError(
        "the requirement needs more than 9e15 trials; ask for less power, "
        "or for a delta further above delta_star"
    )


def _between(holds: Predicate, low: int, high: int) -> int:
    """Find the smallest whole number for which ``holds`` is true: not at low, but at high."""
    while high - low > 1:
        probes = np.unique(np.linspace(low, high, _COUNTS_PROBED).astype(np.int64)[1:-1])
        probes = probes[(probes > low) & (probes < high)]
        true = np.flatnonzero(holds(probes))
        at = int(true[0]) if true.size else probes.size
        low = int(probes[at - 1]) if at else low
        high = int(probes[at]) if true.size else high
    return high
