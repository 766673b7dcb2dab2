"""Early stopping that keeps the guarantee (curtailment).

*Curtailment* stops a test of fixed size as soon as no trial still to come can
change its outcome: the verdict is that of the full test, so it has the same error level.
The *e-processes* of :mod:`poise.theory.e_process` test without a fixed size: they may be
stopped after any trial. Both need the trials in plan order: if fast fits came first, the
exceedances seen so far would not be a fair sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_law
from poise.theory.decision import DecisionRule, Scope, Verdict, cut_offs
from poise.theory.e_process import (
    acceptance_martingale,
    confidence_sequence,
    e_value,
    log_e_value,
)
from poise.theory.rounding import NEAR_WHOLE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "WORTH_SAVING",
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

WORTH_SAVING = 0.1
"""Share of the trials that an early stop must save to be worth the limits of the full run."""


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
    rule = DecisionRule(n_trials, stable_at_most, unstable_at_least)
    return np.asarray(rule.is_settled(np.asarray(exceedances), np.asarray(trials), scope=scope))


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
    "stable" exactly when that of the full test is), so it is valid at the same level.
    If it is forced early, the full test's estimates are not known: δ̂ and ε̂ must then
    count every unseen trial as an exceedance.

    Parameters
    ----------
    n_trials : int, at least 0
        Number of trials m of the full test.
    stable_at_most, unstable_at_least : int
        The cut-offs, -1 ≤ first < second ≤ m + 1; see :func:`cut_offs`.
    scope : {"verdict", "stable"}
        Stop when the three-way verdict is known, or already when it is known whether
        it is "stable": cheaper, but a verdict other than "stable" is then mostly not
        reached, and "not certified stable" is all that is known.

    Attributes
    ----------
    rule : DecisionRule
        The rule that is followed.
    trials, exceedances, failures : int
        What was seen so far; a failure is no exceedance, but not a small change either.

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
        m = int(arguments.count("n_trials", n_trials))
        self.rule = DecisionRule(m, int(stable_at_most), int(unstable_at_least))
        self.scope = cast("Scope", arguments.choice("scope", scope, ("verdict", "stable")))
        self.trials = 0
        self.exceedances = 0
        self.failures = 0

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

    def update(self, exceeds: bool, failed: bool = False) -> bool:
        """Take in the next trial, in plan order; return whether the outcome is forced now.

        It is not known whether a failed trial exceeds ε, so ``exceeds`` is then ignored.
        """
        if self.trials == self.rule.n_trials:
            raise ArgumentError(f"all {self.trials} trials were given already; drop the rest")
        self.trials += 1
        self.failures += bool(failed)
        self.exceedances += bool(exceeds) and not failed
        return self.forced

    @property
    def n_trials(self) -> int:
        """Number of trials of the full test."""
        return self.rule.n_trials

    @property
    def forced(self) -> bool:
        """Whether no trial still to come can change the outcome."""
        seen = self.exceedances, self.trials, self.failures
        return bool(self.rule.is_settled(*seen, scope=self.scope))

    @property
    def worth_stopping(self) -> bool:
        """Whether the outcome is forced and stopping here is worth its price.

        A run that stops loses the limits of the full run. So it does not stop if that saves
        less than a tenth of the trials. It does not stop for the verdict "inconclusive"
        either, because then the limits are the only result.
        """
        left = self.n_trials - self.trials
        if not self.forced or left < WORTH_SAVING * self.n_trials - NEAR_WHOLE:
            return False
        return self.scope == "stable" or self.verdict != "inconclusive"

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, or None while it is open."""
        if not self.forced:
            return None
        return self.rule.verdict(self.exceedances, self.trials, self.failures)


def expected_trials(
    n_trials: int,
    stable_at_most: int,
    unstable_at_least: int,
    delta_star: float,
    scope: Scope = "verdict",
    *,
    worth_saving: float | None = None,
) -> float:
    """Compute the expected number of trials a test that stops early consumes, exactly.

    E T = Σ_t P(T > t), and T > t iff the run goes on at (B_t, t), because a run that may
    stop after one trial may stop after every later one. So E T is a sum of Binomial
    probabilities.

    Parameters
    ----------
    n_trials, stable_at_most, unstable_at_least, scope
        As for :class:`Curtailment`.
    delta_star : float in [0, 1]
        True probability that a change exceeds ε.
    worth_saving : float in [0, 1], optional
        None stops as soon as the outcome is forced. A number stops as
        :attr:`Curtailment.worth_stopping` does: if that saves this share of the trials.

    Returns
    -------
    float
        At most ``n_trials``.

    Examples
    --------
    >>> round(expected_trials(100, 4, 16, delta_star=0.5), 3)
    32.0
    >>> expected_trials(100, 4, 16, delta_star=0.0, worth_saving=0.1)
    100.0
    """
    p = float(arguments.probability("delta_star", delta_star))
    arguments.choice("scope", scope, ("verdict", "stable"))
    t = np.arange(n_trials)
    if worth_saving is not None:
        t = np.minimum(t, int(np.floor((1 - worth_saving) * n_trials + NEAR_WHOLE)))
    left = n_trials - t
    if scope == "verdict" and worth_saving is not None:
        # An inconclusive run goes on, even if that outcome is certain.
        going_on = _between(stable_at_most - left + 1, unstable_at_least - 1, t, p)
        return float(going_on.sum())
    going_on = _between(stable_at_most - left + 1, stable_at_most, t, p)
    if scope == "verdict":
        first = np.maximum(stable_at_most + 1, unstable_at_least - left)
        going_on = going_on + _between(first, unstable_at_least - 1, t, p)
    return float(going_on.sum())


def _between(
    low: NDArray[np.int64], high: int, t: NDArray[np.int64], p: float
) -> NDArray[np.float64]:
    """P(low ≤ Bin(t, p) ≤ high), 0 where that is empty."""
    return np.maximum(binomial_law.cdf(high, t, p) - binomial_law.cdf(low - 1, t, p), 0.0)


def expected_fraction(
    n_trials: int,
    delta: float,
    delta_star: float,
    alpha: float,
    scope: Scope = "verdict",
    *,
    worth_saving: float | None = None,
) -> float:
    """Compute the expected fraction of trials that the plain test consumes if it stops early.

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
    worth_saving : float in [0, 1], optional
        As for :func:`expected_trials`; :func:`poise.stability_test` stops with 0.1.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> round(expected_fraction(100, delta=0.1, delta_star=0.2, alpha=0.05, scope="stable"), 2)
    0.25
    """
    m = int(arguments.count("n_trials", n_trials, 1))
    limits = cut_offs(m, delta, alpha)
    return expected_trials(m, *limits, delta_star, scope, worth_saving=worth_saving) / m
