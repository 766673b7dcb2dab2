"""Stopping early without losing the guarantee.

*Curtailment* stops a test of fixed size as soon as no trial still to come can
change its outcome: the verdict is that of the full test, so the error level is
too. The *e-processes* of :mod:`poise.theory.e_process` test without a fixed size:
look after every trial, stop when you like. Both need the trials in plan order; if
fast fits voted first, the exceedances seen so far would not be a fair sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_law, binomial_test
from poise.theory.e_process import (
    acceptance_martingale,
    confidence_sequence,
    e_value,
    log_e_value,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Curtailment",
    "acceptance_martingale",
    "confidence_sequence",
    "cut_offs",
    "e_value",
    "expected_fraction",
    "expected_trials",
    "forced_after",
    "is_forced",
    "log_e_value",
]

Scope: TypeAlias = Literal["verdict", "stable"]
Verdict: TypeAlias = Literal["stable", "unstable", "inconclusive"]


def cut_offs(n_trials: int, delta: float, alpha: float, zeta: float = 1.0) -> tuple[int, int]:
    """Compute the counts at which the three-way verdict changes.

    The test declares "stable" iff B ≤ the first count and, if not, "unstable" iff
    B ≥ the second. Each of the two errs with probability at most α.

    Parameters
    ----------
    n_trials : int, at least 0
        Number of trials m of the full test.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level of the test and of its mirror image.
    zeta : float in [0, 1], default 1
        The test's own uniform random number; 1 is the plain test.

    Returns
    -------
    stable_at_most, unstable_at_least : int
        -1 and m + 1 stand for "never". For α > 1/2 the two regions may overlap;
        "stable" then takes the overlap.

    Examples
    --------
    >>> cut_offs(100, delta=0.1, alpha=0.05)
    (4, 16)
    """
    count, tie = binomial_test.critical_value(n_trials, delta, alpha)
    stable = int(count) if float(arguments.probability("zeta", zeta)) <= tie else int(count) - 1
    return stable, max(
        int(binomial_test.critical_count_unstable(n_trials, delta, alpha)), stable + 1
    )


def is_forced(
    exceedances: ArrayLike,
    trials: ArrayLike,
    *,
    n_trials: int,
    stable_at_most: int,
    unstable_at_least: int,
    scope: Scope = "verdict",
) -> NDArray[np.bool_]:
    """Say whether the trials still to come can no longer change the outcome.

    With b exceedances in t trials the final count lies between b and b + m − t; the
    outcome is forced iff it is the same for all of these. Once forced, it stays so.

    Parameters
    ----------
    exceedances, trials : int or array of int
        b and t, with 0 ≤ b ≤ t ≤ m.
    n_trials : int
        Number of trials m of the full test.
    stable_at_most, unstable_at_least : int
        The cut-offs, see :func:`cut_offs`.
    scope : {"verdict", "stable"}
        What must be settled: the three-way verdict, or only whether it is "stable".

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> kept = {"n_trials": 100, "stable_at_most": 4, "unstable_at_least": 16}
    >>> is_forced([4, 5, 16], [99, 99, 20], **kept).tolist()
    [False, True, True]
    """
    arguments.choice("scope", scope, ("verdict", "stable"))
    lowest = np.asarray(exceedances)
    highest = lowest + (n_trials - np.asarray(trials))
    return np.asarray(_settled(lowest, highest, stable_at_most, unstable_at_least, scope))


def _settled(
    lowest: Any, highest: Any, stable_at_most: int, unstable_at_least: int, scope: str
) -> Any:
    """Say whether all counts from lowest to highest lead to one outcome; integers or arrays."""
    stable, not_stable = highest <= stable_at_most, lowest > stable_at_most
    if scope == "stable":
        return stable | not_stable
    unstable, not_unstable = lowest >= unstable_at_least, highest < unstable_at_least
    return stable | unstable | (not_stable & not_unstable)


def forced_after(
    exceeds: ArrayLike,
    *,
    n_trials: int,
    stable_at_most: int,
    unstable_at_least: int,
    scope: Scope = "verdict",
) -> int | None:
    """Count the trials that had to be seen before the outcome was forced.

    Parameters
    ----------
    exceeds : array_like of bool
        Whether the change exceeded ε, in trial order; at most ``n_trials`` of them.
    n_trials, stable_at_most, unstable_at_least, scope
        As for :func:`is_forced`.

    Returns
    -------
    int or None
        0 if no trial was needed, None if these trials do not settle it.

    Examples
    --------
    >>> forced_after([True] * 9, n_trials=10, stable_at_most=1, unstable_at_least=4)
    4
    """
    seen = np.concatenate([[0], np.cumsum(np.asarray(exceeds, dtype=bool))])
    forced = is_forced(
        seen,
        np.arange(seen.size),
        n_trials=n_trials,
        stable_at_most=stable_at_most,
        unstable_at_least=unstable_at_least,
        scope=scope,
    )
    return int(forced.argmax()) if forced.any() else None


class Curtailment:
    """Follow one test trial by trial and say when its outcome is forced.

    The verdict is always that of the full test (with ``scope="stable"``: it is
    "stable" exactly when that of the full test is), hence valid at the same level.
    Forced early, it does not come with the full test's estimates: δ̂ and ε̂ must then
    count every unseen trial as an exceedance.

    Parameters
    ----------
    n_trials : int, at least 0
        Number of trials m of the full test.
    stable_at_most, unstable_at_least : int
        The cut-offs, -1 ≤ first < second ≤ m + 1; see :func:`cut_offs`.
    scope : {"verdict", "stable"}
        Stop when the three-way verdict is known, or already when it is known whether
        it is "stable": cheaper, but "unstable" is then mostly not reached.

    Attributes
    ----------
    trials, exceedances : int
        What was seen so far.

    Examples
    --------
    >>> watch = Curtailment(3, stable_at_most=0, unstable_at_least=3)
    >>> watch.update(True), watch.update(False), watch.verdict
    (False, True, 'inconclusive')
    """

    def __init__(
        self,
        n_trials: int,
        stable_at_most: int,
        unstable_at_least: int,
        scope: Scope = "verdict",
    ) -> None:
        self.n_trials = int(arguments.count("n_trials", n_trials))
        if not -1 <= stable_at_most < unstable_at_least <= self.n_trials + 1:
            raise ArgumentError(
                "cut-offs must satisfy -1 <= stable_at_most < unstable_at_least <= n_trials + 1, "
                f"got {stable_at_most} and {unstable_at_least} for {self.n_trials} trials"
            )
        self.stable_at_most = int(stable_at_most)
        self.unstable_at_least = int(unstable_at_least)
        self.scope = cast("Scope", arguments.choice("scope", scope, ("verdict", "stable")))
        self.trials = 0
        self.exceedances = 0

    @classmethod
    def of_test(
        cls,
        n_trials: int,
        delta: float,
        alpha: float,
        zeta: float = 1.0,
        scope: Scope = "verdict",
    ) -> Curtailment:
        """Follow the Binomial test with these parameters (ζ = 1: the plain test)."""
        return cls(n_trials, *cut_offs(n_trials, delta, alpha, zeta), scope=scope)

    def update(self, exceeds: bool) -> bool:
        """Take in the next trial, in plan order; return whether the outcome is forced now."""
        if self.trials == self.n_trials:
            raise ArgumentError(f"all {self.n_trials} trials were given already; drop the rest")
        self.trials += 1
        self.exceedances += bool(exceeds)
        return self.forced

    @property
    def forced(self) -> bool:
        """Whether no trial still to come can change the outcome."""
        highest = self.exceedances + self.n_trials - self.trials
        cut_offs = self.stable_at_most, self.unstable_at_least
        return bool(_settled(self.exceedances, highest, *cut_offs, self.scope))

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, or None while it is open."""
        if not self.forced:
            return None
        if self.exceedances <= self.stable_at_most:
            return "stable"
        return "unstable" if self.exceedances >= self.unstable_at_least else "inconclusive"


def expected_trials(
    n_trials: int,
    stable_at_most: int,
    unstable_at_least: int,
    delta_star: float,
    scope: Scope = "verdict",
) -> float:
    """Compute the expected number of trials a curtailed test consumes, exactly.

    E T = Σ_t P(T > t), and T > t iff the outcome is open at (B_t, t), because a forced
    outcome stays forced: a sum of Binomial probabilities.

    Parameters
    ----------
    n_trials, stable_at_most, unstable_at_least, scope
        As for :class:`Curtailment`.
    delta_star : float in [0, 1]
        True probability that a change exceeds ε.

    Returns
    -------
    float
        At most ``n_trials``.

    Examples
    --------
    >>> round(expected_trials(100, 4, 16, delta_star=0.5), 3)
    32.0
    """
    p = float(arguments.probability("delta_star", delta_star))
    arguments.choice("scope", scope, ("verdict", "stable"))
    t = np.arange(n_trials)
    left = n_trials - t
    open_mass = _between(stable_at_most - left + 1, stable_at_most, t, p)
    if scope == "verdict":
        first = np.maximum(stable_at_most + 1, unstable_at_least - left)
        open_mass = open_mass + _between(first, unstable_at_least - 1, t, p)
    return float(open_mass.sum())


def _between(
    low: NDArray[np.int64], high: int, t: NDArray[np.int64], p: float
) -> NDArray[np.float64]:
    """P(low ≤ Bin(t, p) ≤ high), 0 where that is empty."""
    return np.maximum(binomial_law.cdf(high, t, p) - binomial_law.cdf(low - 1, t, p), 0.0)


def expected_fraction(
    n_trials: int, delta: float, delta_star: float, alpha: float, scope: Scope = "verdict"
) -> float:
    """Compute the expected fraction of trials that the curtailed plain test consumes.

    Parameters
    ----------
    n_trials : int, at least 1
        Number of trials m of the full test.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, 1]
        True probability.
    alpha : float in (0, 1)
        Level.
    scope : {"verdict", "stable"}
        As for :class:`Curtailment`.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> round(expected_fraction(100, delta=0.1, delta_star=0.2, alpha=0.05, scope="stable"), 2)
    0.25
    """
    m = int(arguments.count("n_trials", n_trials, 1))
    return expected_trials(m, *cut_offs(m, delta, alpha), delta_star=delta_star, scope=scope) / m
