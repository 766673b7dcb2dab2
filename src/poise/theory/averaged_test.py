"""The averaged test: trials that answer with a share instead of yes or no.

Hedge and mirror of :mod:`poise.theory.betting_process` run side by side, and the first to
reach 1 decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.betting_process import Hedge, Mirror, checked_shares, planned
from poise.theory.decision import FullVerdict, Scope, Verdict, of_stopped_run, three_way
from poise.theory.rounding import reaches

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["AveragedTest", "StoppedVerdict", "verdict"]


class AveragedTest:
    """Follow the averaged test trial by trial, and say when its outcome is settled.

    Hedge and mirror run side by side and the first to reach 1 decides (both at once:
    "stable").  One of their null hypotheses is true and only its process can mislead, so
    the three-way verdict errs with probability at most α.

    With the coin, ``randomized=True``, the test is closed by :meth:`decide`, once: stable
    iff ζ ≤ the hedge's u, else unstable iff ζ ≤ the mirror's u.  A coin that is compared
    again after more trials would raise a level of .05 to .187, so a closed test takes none.

    Parameters
    ----------
    n_trials : int, at least 0
        Number of trials m that are planned.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level of the test and of its mirror.
    scope : {"verdict", "stable"}
        "stable" runs the hedge only; required where shares are upper proxies.
    randomized : bool
        Whether a coin will decide at the end.

    Attributes
    ----------
    hedge : Hedge
        Evidence for "stable".
    mirror : Mirror or None
        Evidence for "unstable"; None with ``scope="stable"``.

    Examples
    --------
    >>> test = AveragedTest(40, delta=0.2, alpha=0.05)
    >>> while not test.update(0.05):
    ...     pass
    >>> test.verdict, test.trials
    ('stable', 30)
    """

    def __init__(
        self,
        n_trials: int,
        delta: float,
        alpha: float,
        *,
        scope: Scope = "verdict",
        randomized: bool = False,
    ) -> None:
        self.scope = cast("Scope", arguments.choice("scope", scope, ("verdict", "stable")))
        self.randomized = arguments.flag("randomized", randomized)
        self.hedge = Hedge(n_trials, delta, alpha)
        self.mirror = Mirror(n_trials, delta, alpha) if scope == "verdict" else None
        self._decided: FullVerdict | None = None

    @property
    def trials(self) -> int:
        """Number of trials seen so far."""
        return self.hedge.trials

    @property
    def n_trials(self) -> int:
        """Number of trials planned."""
        return self.hedge.n_trials

    @property
    def _processes(self) -> tuple[Hedge, ...]:
        return (self.hedge,) if self.mirror is None else (self.hedge, self.mirror)

    @property
    def reached(self) -> bool:
        """Whether one of the processes has reached 1."""
        return any(process.accepted for process in self._processes)

    @property
    def forced(self) -> bool:
        """Whether the run may stop here without any loss: no later trial changes the outcome."""
        if self.reached or self._decided or self.trials == self.n_trials:
            return True
        return all(self._cannot_declare(process) for process in self._processes)

    def _cannot_declare(self, process: Hedge) -> bool:
        """Say whether no later trial can bring a process to 1, or to what the coin may be."""
        return process.dead if self.randomized else process.hopeless

    def update(self, share: float, share_unstable: float | None = None) -> bool:
        """Take in the next trial, in plan order; return whether the outcome is forced now.

        ``share`` counts failed fits and nan as exceedances, ``share_unstable`` (the same,
        if not given) counts them as 0.
        """
        if self.reached or self._decided:
            raise ArgumentError(
                f"the test has stopped after {self.trials} trials and takes no more of them"
            )
        if self.mirror is not None:
            self.mirror.update(share if share_unstable is None else share_unstable)
        self.hedge.update(share)
        return self.forced

    @property
    def verdict(self) -> FullVerdict | None:
        """The verdict; None while it is open, or while the coin has not been tossed."""
        if self._decided is not None or not self.forced:
            return self._decided
        if self.randomized and not self.hedge.accepted:
            return None  # the coin may still say "stable", also where the mirror reached 1
        return self._verdict_at(1.0)

    def decide(self, zeta: float = 1.0) -> FullVerdict:
        """Stop here for good and give the verdict, comparing the coin ζ this one time."""
        coin = float(arguments.probability("zeta", zeta))
        if coin < 1 and not self.randomized:
            raise ArgumentError(f"zeta must be 1 for a test without a coin, got {zeta}")
        if self._decided is None:
            self._decided = self._verdict_at(coin)
        return self._decided

    def verdict_of_run(self, zeta: float = 1.0) -> Verdict:
        """Give the verdict of a run that ends here, complete or stopped.

        The coin may be compared only once, so it is compared only if the outcome is forced.
        """
        forced = self.forced
        said: FullVerdict = self.decide(zeta) if forced else "inconclusive"
        return of_stopped_run(said, forced, self._cannot_declare(self.hedge))

    def _verdict_at(self, coin: float) -> FullVerdict:
        mirror = self.mirror
        unstable = mirror is not None and reaches(mirror.value, coin)
        return three_way(reaches(self.hedge.value, coin), unstable)


class StoppedVerdict(NamedTuple):
    """A three-way verdict and the number of trials it took.

    Examples
    --------
    >>> found = verdict([0.0] * 29, delta=0.1, alpha=0.05)
    >>> found.trials_used, found.verdict
    (29, 'stable')
    """

    trials_used: int
    verdict: FullVerdict


def verdict(
    S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None
) -> StoppedVerdict:
    """Give the plain three-way verdict of the averaged test.

    "stable" if the hedge reaches 1 first (or both at one trial), "unstable" if the mirror
    does, "inconclusive" if neither.  Whatever the truth, P(false verdict) ≤ α.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; exact shares, not upper proxies.
    delta, alpha, n_trials
        As for :func:`hedge`.

    Returns
    -------
    StoppedVerdict
        ``trials_used``, all of them if the verdict is "inconclusive", and ``verdict``.

    Examples
    --------
    >>> verdict([0.0, 0.1] * 20, delta=0.2, alpha=0.05)
    StoppedVerdict(trials_used=31, verdict='stable')
    """
    shares = checked_shares(S)
    test = AveragedTest(planned(shares, n_trials), delta, alpha)
    for share in shares:
        test.update(share)
        if test.reached:
            break
    return StoppedVerdict(test.trials, test.decide())
