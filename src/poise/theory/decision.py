"""The decision rule: which verdict follows from which count.

Out of m trials some moved by more than ε, some failed, and some may be unseen. A
failure counts against "stable", where it stands for a change of any size, and never
for "unstable", where it shows no change at all. The test declares

    stable      if moved + failed + unseen <= the first cut-off,
    unstable    if moved >= the second cut-off,

and everything else is inconclusive. All code that stops early, judges, compares or draws
uses this rule, so that the verdict of a stopped run is the verdict of the full run.

Tests that bet instead of counting end here too: :func:`three_way` and :func:`unless_both`
say what two declarations come to, and :func:`of_stopped_run` what a stopped run may say.

Whoever has a p-value and no count asks :func:`declares`, which says where rounding is granted
and where it is not. :func:`of_search` is the rule of a search through all cases, and
:func:`never_unstable` that of procedures whose measured change may exceed the true one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_test
from poise.theory.rounding import less_rounding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.integer[Any]]

__all__ = [
    "DecisionRule",
    "FullVerdict",
    "Scope",
    "Verdict",
    "cut_offs",
    "declares",
    "never_unstable",
    "of_search",
    "of_stopped_run",
    "three_way",
    "unless_both",
]

Scope: TypeAlias = Literal["verdict", "stable"]
FullVerdict: TypeAlias = Literal["stable", "unstable", "inconclusive"]
Verdict: TypeAlias = FullVerdict | Literal["not certified stable"]


def declares(pvalue: float, level: float, *, bet: bool = False) -> bool:
    """Say whether a p-value is small enough at a level.

    A p-value of the Binomial test is compared exactly, p ≤ level, and so is every p-value that
    may be one: adjusted by Holm's method, or read from a ledger. The test errs with probability
    at most α for the counts with p ≤ α, and for one count more its error is larger than α. Where
    the exact p-value equals the level, the double may lie on either side of it: the cut-offs of
    :func:`cut_offs` settle such ties in decimals, and a p-value alone cannot.

    The p-value of a bet is α divided by the largest u. A bet aims at u = 1, so p = α is
    frequent, and rounding may make it α(1 + 1e-16). Such a p-value is granted a relative 1e-9,
    as :func:`~poise.theory.rounding.reaches` grants it to u: the level is multiplied by at most
    1 + 1e-9.

    Parameters
    ----------
    pvalue : float
        The p-value.
    level : float
        The level.
    bet : bool
        Whether the p-value is that of a bet, computed by the process itself.

    Examples
    --------
    >>> p = 0.05 * (1 + 5e-10)
    >>> declares(0.05, 0.05), declares(p, 0.05), declares(p, 0.05, bet=True)
    (True, False, True)
    """
    return bool((less_rounding(pvalue) if bet else pvalue) <= level)


def three_way(says_stable: bool, says_unstable: bool) -> FullVerdict:
    """Return the verdict of a test and its mirror image; "stable" if both declare.

    Tests of one count both declare only at levels above 1/2; two bets both declare if the
    coin is small. If each errs with probability at most α and the two null hypotheses exclude
    each other, the verdict errs with probability at most α.

    Parameters
    ----------
    says_stable, says_unstable : bool
        Whether the test declares stability, and whether its mirror image declares instability.

    Examples
    --------
    >>> three_way(False, True), three_way(False, False)
    ('unstable', 'inconclusive')
    """
    if says_stable:
        return "stable"
    return "unstable" if says_unstable else "inconclusive"


def unless_both(says_stable: bool, says_unstable: bool) -> FullVerdict:
    """Return the verdict of two declarations that came in no order; none if both declare.

    Evidence of several records is multiplied afterwards, so neither side was first. If all
    rows come from one distribution, both reach 1/α with probability at most α, and then one
    of them is wrong, nobody knows which: the rows are suspect. The verdict errs at most as
    often as that of :func:`three_way`.

    Parameters
    ----------
    says_stable, says_unstable : bool
        Whether the evidence for stability, and that for instability, is large enough.

    Examples
    --------
    >>> unless_both(True, True), unless_both(True, False)
    ('inconclusive', 'stable')
    """
    both = says_stable and says_unstable
    return three_way(says_stable and not both, says_unstable and not both)


def of_search(worst_change: float, epsilon: float) -> Literal["stable"] | None:
    """Return the verdict of a search through all cases; None if the search does not decide.

    A case that moves a prediction beyond ε says nothing about how often that happens. The
    comparison is exact: both numbers are changes, and neither is the end of a bet.

    Examples
    --------
    >>> of_search(0.1, 0.1), of_search(0.11, 0.1)
    ('stable', None)
    """
    return "stable" if worst_change <= epsilon else None


def never_unstable(says_stable: bool) -> FullVerdict:
    """Return the verdict where a measured change may exceed the true one.

    Then "stable" keeps its level, and "unstable" has none.

    Examples
    --------
    >>> never_unstable(says_stable=False), never_unstable(says_stable=True)
    ('inconclusive', 'stable')
    """
    return three_way(says_stable, False)


def of_stopped_run(said: FullVerdict, settled: bool, not_stable: bool) -> Verdict:
    """Return the verdict of a run, complete or stopped, from what its trials say.

    Parameters
    ----------
    said : {"stable", "unstable", "inconclusive"}
        The verdict if no further trial is run.
    settled : bool
        Whether no further trial could change it.
    not_stable : bool
        Whether no further trial could make it "stable".

    Examples
    --------
    >>> of_stopped_run("inconclusive", settled=False, not_stable=True)
    'not certified stable'
    """
    if said == "inconclusive" and not settled and not_stable:
        return "not certified stable"
    return said


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
        the verdict is then "stable" in the overlap.

    Examples
    --------
    >>> cut_offs(100, delta=0.1, alpha=0.05)
    (4, 16)
    """
    count, tie = binomial_test.critical_value(n_trials, delta, alpha)
    stable = int(count) if float(arguments.probability("zeta", zeta)) <= tie else int(count) - 1
    unstable = int(binomial_test.critical_count_unstable(n_trials, delta, alpha))
    return stable, max(unstable, stable + 1)


@dataclass(frozen=True)
class DecisionRule:
    """Which verdict follows from how many trials moved, failed, or were not run.

    P("stable") ≤ α if a change beyond ε, or a failure, has probability above δ
    (Theorem 1); P("unstable") ≤ α if a change beyond ε that is no failure has
    probability at most δ. Both hold also if the run was stopped once
    :meth:`is_settled` said so, because the verdict is then that of the full run.

    A stopped run is "not certified stable" if only this is known: the full run may say
    "unstable" or "inconclusive", but not "stable".

    Parameters
    ----------
    n_trials : int, at least 0
        Number of trials m of the full test.
    stable_at_most, unstable_at_least : int
        The cut-offs, -1 ≤ first < second ≤ m + 1; see :func:`cut_offs`.

    Examples
    --------
    >>> rule = DecisionRule.of_test(100, delta=0.1, alpha=0.05)
    >>> rule.verdict(4, 100), rule.verdict(16, 100), rule.verdict(4, 100, failed=12)
    ('stable', 'unstable', 'inconclusive')
    >>> rule.verdict(8, 30)  # 70 more trials could not make it stable, but unstable
    'not certified stable'
    """

    n_trials: int
    stable_at_most: int
    unstable_at_least: int

    def __post_init__(self) -> None:
        if not -1 <= self.stable_at_most < self.unstable_at_least <= self.n_trials + 1:
            raise ArgumentError(
                "cut-offs must satisfy -1 <= stable_at_most < unstable_at_least <= n_trials + 1, "
                f"got {self.stable_at_most} and {self.unstable_at_least} for "
                f"{self.n_trials} trials"
            )

    @classmethod
    def of_test(cls, n_trials: int, delta: float, alpha: float, zeta: float = 1.0) -> DecisionRule:
        """Return the rule of the Binomial test with these parameters (ζ = 1: the plain test)."""
        return cls(n_trials, *cut_offs(n_trials, delta, alpha, zeta))

    @overload
    def is_settled(
        self, moved: float, trials: int, failed: float = 0, scope: Scope = "verdict"
    ) -> bool: ...
    @overload
    def is_settled(
        self, moved: Counts, trials: Counts, failed: Counts | int = 0, scope: Scope = "verdict"
    ) -> NDArray[np.bool_]: ...
    def is_settled(
        self,
        moved: float | Counts,
        trials: int | Counts,
        failed: float | Counts = 0,
        scope: Scope = "verdict",
    ) -> bool | NDArray[np.bool_]:
        """Say whether the trials still to come can no longer change the outcome.

        A settled outcome stays settled. The counts are integers or arrays of integers.

        Parameters
        ----------
        moved, trials, failed : int or array of int
            Changes beyond ε, trials seen so far, and how many of these failed.
        scope : {"verdict", "stable"}
            What must be settled: the three-way verdict, or only whether it is "stable".
        """
        arguments.choice("scope", scope, ("verdict", "stable"))
        unseen = self.n_trials - trials
        stable = moved + failed + unseen <= self.stable_at_most
        not_stable = moved + failed > self.stable_at_most
        if scope == "stable":
            return stable | not_stable
        unstable = moved >= self.unstable_at_least
        not_unstable = moved + unseen < self.unstable_at_least
        return stable | unstable | (not_stable & not_unstable)

    def verdict(self, moved: int, trials: int, failed: int = 0) -> Verdict:
        """Return the verdict of a run, complete or stopped: no unseen trial can change it.

        A run that was cut short while its outcome was open is "inconclusive".
        """
        worst = moved + failed + self.n_trials - trials
        said = three_way(worst <= self.stable_at_most, moved >= self.unstable_at_least)
        settled = self.is_settled(moved, trials, failed)
        return of_stopped_run(said, settled, moved + failed > self.stable_at_most)
