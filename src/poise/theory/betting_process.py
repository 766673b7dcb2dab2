"""The averaged test's two betting processes: hedge and mirror.

Trial k reports S_k, the share of its removals and test points at which the prediction
moved by more than ε.  The shares are i.i.d. in [0, 1] with mean δ* (Lemma 1), and the
test bets against "δ* ≥ δ":

    u_0 = α,    u_k = u_{k−1} (1 + c_k (δ − S_k) / (1 − δ)),

with a fraction c_k in [0, 1] chosen before S_k is seen.  If δ* ≥ δ, u is a non-negative
supermartingale that starts at α, so P(u_k ≥ 1 for some k) ≤ α and E min(1, u_τ) ≤ α for
every stopping time τ (Theorem A).  The plain test declares stability when u reaches 1; the
test with a coin stops at any τ that does not look at the coin ζ and then, once, declares
stability iff ζ ≤ u_τ.  The *mirror* bets the other way, against "δ* ≤ δ".

There is only one loop: the processes here take one share at a time, and the functions feed
shares to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.betting_fraction import fraction_of_one
from poise.theory.rounding import reaches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats

__all__ = [
    "BettingPath",
    "Hedge",
    "Mirror",
    "all_in",
    "hedge",
    "mirror",
]


@overload
def growth(fractions: float, shares: float, delta: float) -> float: ...
@overload
def growth(fractions: Floats, shares: Floats, delta: float | Floats) -> Floats: ...
def growth(
    fractions: float | Floats, shares: float | Floats, delta: float | Floats
) -> float | Floats:
    """Compute the hedge's factors 1 + c (δ − S) / (1 − δ), for floats or arrays alike.

    The running test and the limits δ̂ and ε̂ use this one expression, so that they agree
    to the last bit.
    """
    return 1 + fractions * (delta - shares) / (1 - delta)


@overload
def mirror_growth(fractions: float, shares: float, delta: float) -> float: ...
@overload
def mirror_growth(fractions: Floats, shares: Floats, delta: float | Floats) -> Floats: ...
def mirror_growth(
    fractions: float | Floats, shares: float | Floats, delta: float | Floats
) -> float | Floats:
    """Compute the mirror's factors 1 + c (S − δ) / δ for δ > 0, for floats or arrays alike."""
    return 1 + fractions * (shares - delta) / delta


class Hedge:
    """Bet against "δ* ≥ δ", one trial at a time: the averaged test's evidence for "stable".

    Whatever the algorithm and the distribution, P(u_k ≥ 1 for some k) ≤ α if δ* ≥ δ
    (Theorem A), also for shares that are only *at least* δ on average given the past, such
    as the upper proxies of Theorem G.  If all shares are 0 or 1, u is the acceptance
    martingale of the randomised Binomial test (Theorem C(b)).  A small u does not mean
    that the algorithm is unstable.

    Parameters
    ----------
    n_trials : int, at least 0
        Number of trials m that are planned; the fractions are chosen for this horizon.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level: the value u_0 at the start.

    Attributes
    ----------
    n_trials, delta, alpha
        As given.
    value : float
        u now.
    largest : float
        The largest u so far, u_0 included.
    shares, fractions, values : list of float
        S_k, c_k and u_k of the trials seen so far.

    Examples
    --------
    >>> process = Hedge(30, delta=0.2, alpha=0.05)
    >>> while not process.update(0.04):
    ...     pass
    >>> process.trials, round(process.value, 3)
    (26, 1.025)
    """

    _is_mirror = False

    def __init__(self, n_trials: int, delta: float, alpha: float) -> None:
        self.n_trials = int(arguments.count("n_trials", n_trials))
        self.delta, self.alpha = float(arguments.delta(delta)), float(arguments.alpha(alpha))
        self.value = self.largest = self.alpha
        self.shares: list[float] = []
        self.fractions: list[float] = []
        self.values: list[float] = []
        self._sum = self._sum_of_squares = 0.0

    @property
    def trials(self) -> int:
        """Number of trials seen so far."""
        return len(self.values)

    @property
    def accepted(self) -> bool:
        """Whether u has reached 1: the plain test declares its verdict here and stops."""
        return reaches(self.value)

    @property
    def hopeless(self) -> bool:
        """Whether no shares of the trials still to come can bring u to 1.

        This settles the plain test only.  With the coin the process goes on, because ζ will
        be compared with the last u.
        """
        gain = self.delta if self._is_mirror else 1 - self.delta
        reachable = gain ** (self.n_trials - self.trials)
        return self.value == 0 or not reaches(self.value, reachable)

    @property
    def dead(self) -> bool:
        """Whether u is 0, where it stays."""
        return self.value == 0

    @property
    def acceptance_probability(self) -> float:
        """The chance, given the shares, that the coin ζ ≤ u accepts if the test stops now."""
        return 1.0 if self.accepted else self.value

    @property
    def e_value(self) -> float:
        """Evidence u / α, valid at any stopping time."""
        return self.value / self.alpha

    @property
    def pvalue(self) -> float:
        """p-value min(1, α / max u), valid at any time; values below α say little."""
        return min(1.0, self.alpha / self.largest)

    def update(self, share: float) -> bool:
        """Take in the share of the next trial, in plan order; return whether u reached 1."""
        if self.accepted:
            raise ArgumentError(
                f"the process reached 1 after {self.trials} trials and has stopped; drop the rest"
            )
        if self.trials == self.n_trials:
            raise ArgumentError(
                f"all {self.n_trials} trials were given already; plan more of them with extend()"
            )
        share = float(share)
        if not 0 <= share <= 1:
            raise ArgumentError(f"share must be in [0, 1] (a failed pair counts as 1), got {share}")
        self._bet_on(share)
        return self.accepted

    def _bet_on(self, share: float) -> None:
        left = float(self.n_trials - self.trials)
        sums = self._sum, self._sum_of_squares
        c = fraction_of_one(self._is_mirror, self.value, left, *sums, self.delta)
        self.value *= max(self._growth(c, share), 0.0)
        self.largest = max(self.largest, self.value)
        self.shares.append(share)
        self.fractions.append(c)
        self.values.append(self.value)
        self._sum += share
        self._sum_of_squares += share * share

    def _growth(self, c: float, share: float) -> float:
        return float(growth(c, share, self.delta))

    def extend(self, n_trials: int) -> None:
        """Plan this many more trials: the process goes on from its value u and stays valid."""
        self.n_trials += int(arguments.count("n_trials", n_trials))

    def path(self) -> BettingPath:
        """Return what happened so far as arrays."""
        return BettingPath(
            fractions=np.array(self.fractions, dtype=np.float64),
            values=np.array(self.values, dtype=np.float64),
            accepted=self.accepted,
            trials_used=self.trials,
            alpha=self.alpha,
        )


class Mirror(Hedge):
    """Bet against "δ* ≤ δ", one trial at a time: the averaged test's evidence for "unstable".

    u_k = u_{k−1} (1 + c_k (S_k − δ) / δ); P(u_k ≥ 1 for some k) ≤ α if δ* ≤ δ.  Failed fits
    must count 0 here, and upper proxies of the shares (Theorem G) must not be used at all:
    either would count as evidence that was not observed.  If δ = 0, u jumps to infinity at
    the first positive share and stays at α until then.

    Parameters
    ----------
    n_trials, delta, alpha
        As for :class:`Hedge`.

    Examples
    --------
    >>> process = Mirror(30, delta=0.1, alpha=0.05)
    >>> while not process.update(0.4):
    ...     pass
    >>> process.trials
    12
    """

    _is_mirror = True

    def _growth(self, c: float, share: float) -> float:
        if self.delta == 0:
            return math.inf if share > 0 else 1.0
        return float(mirror_growth(c, share, self.delta))


@dataclass(frozen=True, eq=False)
class BettingPath:
    """The course of one betting process: the fractions that were bet, and the values u.

    Attributes
    ----------
    fractions, values : ndarray of float
        c_k and u_k for the trials used.
    accepted : bool
        Whether u reached 1.
    trials_used : int
        Number of trials until the process stopped: at 1, at 0, or at the end.
    alpha : float
        Level, the value u_0 before the first trial.

    Examples
    --------
    >>> path = hedge([0.0] * 29, delta=0.1, alpha=0.05)
    >>> path.accepted, path.trials_used, len(path.values)
    (True, 29, 29)
    """

    fractions: Floats
    values: Floats
    accepted: bool
    trials_used: int
    alpha: float

    @property
    def value(self) -> float:
        """The last u."""
        return float(self.values[-1]) if self.values.size else self.alpha

    @property
    def largest(self) -> float:
        """The largest u, u_0 included."""
        return float(self.values.max(initial=self.alpha))


def hedge(S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None) -> BettingPath:
    """Run the hedge over the shares until u reaches 1 or 0, or the shares end.

    P(accepted) ≤ α if δ* ≥ δ (Theorem A).  On 0/1 shares it is the Binomial test
    (Theorem C(b)); on fractions it needs far fewer trials.  Not accepted does not mean
    unstable: see :func:`verdict`.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.
    n_trials : int, optional
        Number of trials planned, if ``S`` holds only the first of them.

    Returns
    -------
    BettingPath
        ``fractions``, ``values``, ``accepted``, ``trials_used``.

    Examples
    --------
    >>> path = hedge([0.0, 0.1] * 20, delta=0.2, alpha=0.05)
    >>> path.accepted, path.trials_used
    (True, 31)
    """
    shares = checked_shares(S)
    return _fold(Hedge(planned(shares, n_trials), delta, alpha), shares).path()


def mirror(S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None) -> BettingPath:
    """Run the mirror over the shares until u reaches 1 or 0, or the shares end.

    P(accepted) ≤ α if δ* ≤ δ, by the proof of Theorem A; on 0/1 shares it is the
    randomised mirror test.  Shares must be exact or too small, never upper proxies.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; failed fits counted as 0.
    delta, alpha, n_trials
        As for :func:`hedge`.

    Returns
    -------
    BettingPath
        ``accepted`` means "unstable".

    Examples
    --------
    >>> mirror([0.2, 0.6] * 20, delta=0.2, alpha=0.05).trials_used
    24
    """
    shares = checked_shares(S)
    return _fold(Mirror(planned(shares, n_trials), delta, alpha), shares).path()


def _fold(process: Hedge, shares: Iterable[float]) -> Hedge:
    """Feed shares to a process until it stops."""
    for share in shares:
        if process.update(share) or process.dead:
            break
    return process


def checked_shares(S: ArrayLike) -> list[float]:
    """Check that S is a list of numbers in [0, 1]."""
    shares = arguments.probability("S", S) if np.size(S) else np.empty(0)
    if shares.ndim != 1:
        raise ArgumentError(f"S must be a list of shares, one per trial, got shape {shares.shape}")
    return cast("list[float]", shares.tolist())


def planned(shares: list[float], n_trials: int | None) -> int:
    """Return the number of trials planned, which is not below the number seen."""
    if n_trials is None:
        return len(shares)
    m = int(arguments.count("n_trials", n_trials))
    if m < len(shares):
        raise ArgumentError(f"n_trials must be at least the {len(shares)} shares in S, got {m}")
    return m


@np.errstate(under="ignore")
def all_in(S: ArrayLike, delta: float, alpha: float) -> float:
    """Compute u_m for the strategy that always bets everything, α Π (1 − S_k) / (1 − δ).

    With the coin it attains the ceiling α ((1 − δ*) / (1 − δ))^m on the power of every
    valid test of the shares wherever u_m ≤ 1 surely, in particular if α ≤ (1 − δ)^m
    (Theorem B).  After one share of 1 its u is 0 for good: with more trials the hedge is
    far better.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.

    Returns
    -------
    float
        u_m, at least 0; may exceed 1.

    Examples
    --------
    >>> all_in([0.05, 0.0, 0.1], delta=0.2, alpha=0.5)
    0.834960...
    """
    shares = np.array(checked_shares(S))
    start, p = float(arguments.alpha(alpha)), float(arguments.delta(delta))
    return float(start * np.prod((1 - shares) / (1 - p)))
