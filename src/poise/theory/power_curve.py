"""The plain test's power as a function of the number of trials.

While the critical count c of the plain test stays the same, each further trial only
adds chances to exceed it; the power jumps up where c jumps. Write

    m_c = min{m : P(Bin(m, δ) ≤ c) ≤ α},    m_0 < m_1 < m_2 < …

for the trials at which c becomes the critical count. Step c of the power is m_c, …, m_{c+1} − 1;
its peak P(Bin(m_c, δ*) ≤ c) comes first and its trough last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.theory import binomial_law, binomial_test
from poise.theory.rounding import CLEARLY_APART, LARGEST_WHOLE

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from poise.theory.binomial_law import Floats

    Counts: TypeAlias = NDArray[np.int64]

__all__ = ["PowerSteps"]

_NEWTON_ROUNDS = 12  # three or four are enough, unless rounding errors go in a circle
# Where counts vary as much as this, one trial changes the power as much as the next one.
_LARGE_VARIANCE = 1e5
_SECANT_STEPS = 3


@dataclass(frozen=True)
class PowerSteps:
    """The steps of the power for one test (δ, α) and one true probability δ*; counts are arrays.

    Parameters
    ----------
    delta, delta_star, alpha : float
        Allowed and true probability of a change beyond ε; level.

    Examples
    --------
    >>> steps = PowerSteps(delta=0.1, delta_star=0.01, alpha=0.05)
    >>> steps.starts(np.arange(3))
    array([29, 46, 61])
    >>> steps.peaks(np.arange(3)).round(3)
    array([0.747, 0.922, 0.977])
    """

    delta: float
    delta_star: float
    alpha: float

    def peaks(self, counts: Counts) -> Floats:
        """Compute the power at the first trial of each step."""
        return binomial_law.cdf(counts, self.starts(counts), self.delta_star)

    def troughs(self, counts: Counts) -> Floats:
        """Compute the power at the last trial of each step."""
        return binomial_law.cdf(counts, self.starts(counts + 1) - 1, self.delta_star)

    def smooth_troughs(self, counts: Counts) -> Floats:
        """Compute troughs as if m_{c+1} were not rounded up to a whole number.

        They lie below the true troughs and, unlike these, rise from step to step.
        """
        return binomial_law.cdf(counts, self._unrounded_starts(counts + 1), self.delta_star)

    def peak_bounds(self, counts: Counts) -> Floats:
        """Bound many consecutive peaks from above for the cost of a few."""
        return (
            self._bounds(counts, -1)
            if self._variance(counts) > _LARGE_VARIANCE
            else np.ones(counts.size)
        )

    def trough_bounds(self, counts: Counts) -> Floats:
        """Bound many consecutive troughs from below for the cost of a few."""
        return (
            self._bounds(counts, +1)
            if self._variance(counts) > _LARGE_VARIANCE
            else np.zeros(counts.size)
        )

    def _variance(self, counts: Counts) -> float:
        return float(counts.min()) * (1 - self.delta)

    def _spacing(self, counts: Counts) -> int:
        """Distance of nodes between which m_c and the power at it are straight lines.

        The second derivative of m_c is of order c^(-3/2) / δ. That of the power is the
        square of the slope of its z-value, (1 − δ*/δ) / (2 sd), times z, here at most 8.
        """
        bend = 0.1 * self.delta**0.5 * float(counts.min()) ** 0.75
        room = (0.002 * self.delta_star) ** 0.5 * self._variance(counts) ** 0.25
        return max(int(min(bend, room / (1 - self.delta_star / self.delta))), 1)

    def _bounds(self, counts: Counts, side: int) -> Floats:
        """Interpolate the power before rounding, then add what rounding can do to it."""
        first, last = int(counts.min()), int(counts.max())
        nodes = np.append(np.arange(first, last, self._spacing(counts)), last)
        trough = int(side > 0)
        real = self._unrounded_starts(nodes + trough)
        power = binomial_law.cdf(nodes, real, self.delta_star)
        per_trial = self.delta_star * binomial_law.pmf(nodes, np.round(real), self.delta_star)
        real, power, per_trial = (np.interp(counts, nodes, y) for y in (real, power, per_trial))
        # In trials: z/sd of what one trial changes, for z up to 16, and the interpolation.
        doubt = side * (8 / self._variance(counts) ** 0.5 + 0.001)
        rounding = np.ceil(real + doubt) - real + doubt
        return np.asarray(power + (trough - rounding) * per_trial)

    def _unrounded_starts(self, counts: Counts) -> Floats:
        """Solve P(Bin(m, δ) ≤ c) = α for a real m: secant steps between whole numbers."""

        def excess(m: Floats) -> Floats:
            return np.asarray(np.log(binomial_law.cdf(counts, m, self.delta)) - np.log(self.alpha))

        high = self.starts(counts).astype(np.float64)
        low = high - 1
        before, after = excess(low), excess(high)
        for _ in range(_SECANT_STEPS):
            flat = before == after  # both at the solution, to the last digit
            slope = np.where(flat, -1.0, (after - before) / np.where(flat, 1.0, high - low))
            low, before, high = high, after, np.asarray(high - after / slope)
            after = excess(high)
        return high

    def starts(self, counts: Counts) -> Counts:
        """Compute m_c for each c by Newton's method; where it is close, the test decides.

        log P(Bin(m, δ) ≤ c) is concave in m and falls, and its differences are known:
        P(Bin(m+1, δ) ≤ c) = P(Bin(m, δ) ≤ c) − δ P(Bin(m, δ) = c). So after one step
        Newton's method approaches the solution from the right.
        """
        m = self._cornish_fisher(counts)
        settled = np.zeros(counts.shape, dtype=bool)
        moving = np.arange(counts.size)
        for _ in range(_NEWTON_ROUNDS):
            here = m[moving]
            m[moving], settled[moving] = self._newton_step(counts[moving], here)
            moving = moving[m[moving] != here]
            if not moving.size:
                break
        starts = m.astype(np.int64)
        starts[~settled] = self._decided_by_the_test(counts[~settled], starts[~settled])
        return starts

    def _cornish_fisher(self, counts: Counts) -> Floats:
        """Approximate m_c, a quantile of the trials up to the (c + 1)-th exceedance."""
        from scipy.special import ndtri

        z, p = -float(ndtri(self.alpha)), self.delta
        spread = np.sqrt((counts + 1) * (1 - p)) / p
        m = (counts + 1) / p + z * spread + (z * z - 1) * (2 - p) / (6 * p)
        return np.asarray(np.clip(np.ceil(m), counts + 1, LARGEST_WHOLE))

    def _newton_step(self, counts: Counts, m: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Improve guesses of m_c; say which of them were right beyond doubt, and keep those."""
        tail, atom = (
            binomial_law.cdf(counts, m, self.delta),
            binomial_law.pmf(counts, m, self.delta),
        )
        atom_before = atom * ((m - counts) / (m * (1 - self.delta)))
        tail_before = tail + self.delta * atom_before
        settled = (tail < self.alpha * (1 - CLEARLY_APART)) & (
            tail_before > self.alpha * (1 + CLEARLY_APART)
        )
        slope = np.log1p(-self.delta * atom / tail)
        proposal = np.ceil(m - (np.log(tail) - np.log(self.alpha)) / slope)
        return np.where(settled, m, np.clip(proposal, counts + 1, LARGEST_WHOLE)), settled

    def _decided_by_the_test(self, counts: Counts, m: Counts) -> Counts:
        """Walk from guesses next to m_c to m_c itself."""
        while (late := binomial_test.critical_count(m, self.delta, self.alpha) < counts).any():
            m = m + late
        while (
            early := binomial_test.critical_count(m - 1, self.delta, self.alpha) >= counts
        ).any():
            m = m - early
        return m
