"""A three-way verdict without a horizon, valid however often one looks.

Two open-ended processes run side by side on the shares of the trials.  One bets that they
are small; its evidence E_t(δ) is that of :mod:`poise.theory.open_ended_process`.  The other bets
that they are large,

    E'_t(δ) = ∫_0^1 Π_{k≤t} (c S_k + (1 − c) δ) / δ dc,

which is the first process on 1 − S_k at 1 − δ, so P(E'_t ≥ 1/α for some t) ≤ α if δ* ≤ δ.
The first to reach 1/α decides.  One of the two null hypotheses is true, and only its
process can mislead: a wrong verdict has probability at most α.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.betting_process import checked_shares
from poise.theory.decision import FullVerdict, three_way
from poise.theory.open_ended_process import OpenEnded
from poise.theory.rounding import less_rounding, reaches

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["OpenEndedTest", "mirror_mixture", "open_ended_verdict"]


class _EvidenceForStable:
    """E_t(δ), and the first trial after which it was at least 1/α."""

    def __init__(self, delta: float, alpha: float) -> None:
        self._shares = OpenEnded()
        self._delta, self._log_level = delta, math.log(alpha)
        self._most_growth = -math.log1p(-delta)  # of log E in one trial
        self._look_at = 1
        self.reached_at: int | None = None

    def update(self, share: float) -> None:
        self._shares.update(share)
        if self.reached_at is None and self._shares.trials >= self._look_at:
            self._look()

    def _look(self) -> None:
        """See whether 1/α is reached; if not, skip the trials in which it cannot be."""
        missing = -(self._log_level + self.log_e_value)
        if reaches(math.exp(-max(missing, -1.0))):
            self.reached_at = self._shares.trials
            return
        steps = missing / self._most_growth if self._most_growth else math.inf
        self._look_at = self._shares.trials + max(1, math.floor(min(less_rounding(steps), 1e9)))

    @property
    def log_e_value(self) -> float:
        return self._shares.log_e_value(self._delta)


class _EvidenceForUnstable(_EvidenceForStable):
    """E'_t(δ): the same process on 1 − S at 1 − δ."""

    def __init__(self, delta: float, alpha: float) -> None:
        self._zero, self._proved = delta == 0, False
        self._too_small = 1 - delta == 1  # in floats
        super().__init__(0.0 if self._too_small else 1 - delta, alpha)
        self._most_growth = -math.log(delta) if delta else math.inf

    def update(self, share: float) -> None:
        # If δ = 0, one share above 0 is a proof.
        self._proved |= self._zero and share > 0
        super().update(1 - share)

    def update_all(self, shares: list[float]) -> None:
        """Take in several shares without a look after each."""
        self._proved |= self._zero and max(shares, default=0.0) > 0
        self._shares.update_all([1 - share for share in shares])

    @property
    def log_e_value(self) -> float:
        if self._too_small:
            return math.inf if self._proved else 0.0
        return super().log_e_value


class OpenEndedTest:
    """Decide between "stable" and "unstable" with no number of trials fixed beforehand.

    P(wrong verdict at any time) ≤ α, whatever the algorithm and the distribution, however
    often one looks, and whether or not one goes on because of what was seen.  "inconclusive"
    does not mean unstable: more trials may decide.

    Parameters
    ----------
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.

    Attributes
    ----------
    verdict : {"stable", "unstable", "inconclusive"}
        That of the first process to reach 1/α; it is not taken back.
    decided_at : int or None
        Number of trials after which the verdict was reached.
    contradicted : bool
        Whether the other process has reached 1/α too.  If all rows come from one
        distribution this has probability at most α.

    Examples
    --------
    >>> test = OpenEndedTest(delta=0.1, alpha=0.05)
    >>> while test.verdict == "inconclusive":
    ...     test.update(0.02)
    >>> test.verdict, test.decided_at, round(test.e_value, 1)
    ('stable', 53, 20.5)
    """

    def __init__(self, delta: float, alpha: float) -> None:
        self.delta, self.alpha = float(arguments.delta(delta)), float(arguments.alpha(alpha))
        self._stable = _EvidenceForStable(self.delta, self.alpha)
        self._unstable = _EvidenceForUnstable(self.delta, self.alpha)
        self.trials = 0

    def update(self, share: float, share_unstable: float | None = None) -> None:
        """Take in the shares of the next trial, in plan order.

        Parameters
        ----------
        share : float in [0, 1]
            The share with failures counted as exceedances, for "stable".
        share_unstable : float in [0, 1], optional
            The share with failures counted as no change, for "unstable"; at most ``share``.
        """
        other = share if share_unstable is None else share_unstable
        if not other <= share:
            raise ArgumentError(f"share_unstable must be at most share = {share}, got {other}")
        self._stable.update(share)
        self._unstable.update(float(arguments.probability("share_unstable", other)))
        self.trials += 1

    @property
    def e_value(self) -> float:
        """Evidence for "stable" now, valid at any stopping time."""
        return _exp(self._stable.log_e_value)

    @property
    def e_value_unstable(self) -> float:
        """Evidence for "unstable" now, valid at any stopping time."""
        return _exp(self._unstable.log_e_value)

    @property
    def verdict(self) -> FullVerdict:
        """The verdict of the first process to reach 1/α; both at one trial: stable."""
        stable, unstable = self._stable.reached_at, self._unstable.reached_at
        stable_first = stable is not None and (unstable is None or stable <= unstable)
        return three_way(stable_first, unstable is not None)

    @property
    def decided_at(self) -> int | None:
        """Number of trials after which the verdict was reached."""
        reached = [self._stable.reached_at, self._unstable.reached_at]
        return min((trial for trial in reached if trial is not None), default=None)

    @property
    def contradicted(self) -> bool:
        """Whether both processes have reached 1/α."""
        return None not in (self._stable.reached_at, self._unstable.reached_at)


def _exp(log_value: float) -> float:
    return math.exp(log_value) if log_value < 709 else math.inf


def mirror_mixture(S: ArrayLike, delta: float) -> float:
    """Compute the open-ended evidence E'_t(δ) for "unstable" of all shares seen so far.

    P(E'_t ≥ 1/α for some t) ≤ α if δ* ≤ δ: look as often as you like.  Failed fits must
    count 0 here.  A small value does not mean stable.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial so far.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float
        1 without shares; infinite if δ = 0 and some share is above 0.

    Examples
    --------
    >>> round(mirror_mixture([0.4, 0.6, 0.2, 0.4], delta=0.1), 1)
    53.7
    """
    evidence = _EvidenceForUnstable(float(arguments.delta(delta)), 0.5)
    evidence.update_all(checked_shares(S))
    return _exp(evidence.log_e_value)


def open_ended_verdict(
    S: ArrayLike, delta: float, alpha: float, *, S_unstable: ArrayLike | None = None
) -> OpenEndedTest:
    """Run the open-ended test over the shares of all trials so far.

    P(wrong verdict at any time) ≤ α, however often one looks.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; failures counted as exceedances.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.
    S_unstable : array of shares, optional
        The shares with failures counted as no change, if there were any.

    Returns
    -------
    OpenEndedTest
        ``verdict``, ``decided_at``, ``e_value``, ``e_value_unstable``.

    Examples
    --------
    >>> open_ended_verdict([0.4, 0.6, 0.2, 0.4], delta=0.1, alpha=0.05).verdict
    'unstable'
    """
    test, shares = OpenEndedTest(delta, alpha), checked_shares(S)
    others = shares if S_unstable is None else checked_shares(S_unstable)
    if len(others) != len(shares):
        raise ArgumentError(
            f"S_unstable must hold as many shares as S ({len(shares)}), got {len(others)}"
        )
    for share, other in zip(shares, others, strict=True):
        test.update(share, other)
    return test
