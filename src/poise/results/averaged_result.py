"""What the averaged test found: a share per trial, and the course of a bet."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from poise.arguments.field_rules import Epsilon, Probability, Size
from poise.results.stability_result import StabilityResult, fields_of_any_test
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.text.summary import Summary
    from poise.results.trials import Trials
    from poise.theory.averaged_test import AveragedTest
    from poise.theory.betting_process import Hedge, Mirror

__all__ = ["AveragedResult", "averaged_result", "followed", "pvalue_of_bet"]


@dataclass(frozen=True)
class AveragedResult(StabilityResult):
    """What the averaged test found (Theorems A and F), and what may be said about it.

    Each trial gives a share: the fraction of its removals and points at which the prediction
    moved by more than ε. The shares are independent with mean δ*_ε, and the test bets that they
    are small, starting with α: u reaches 1 with probability at most α if δ*_ε ≥ δ, whatever the
    algorithm and the distribution. A second bet, that they are large, says "unstable" in the same
    way.

    ``stable`` ⇔ ``delta_hat`` ≤ δ ⇔ ``epsilon_hat`` ≤ ε. A small u does not mean that the
    algorithm is unstable.

    Attributes
    ----------
    statistic : float
        The sum of the shares of the trials that were run; a failure counts as a larger change.
    pvalue, pvalue_unstable : float
        α divided by the largest u. The bets aim at level α, so values below α say little. With
        the coin ζ: αζ divided by the last u.
    e_value : float
        The last u divided by α: evidence against "not stable".
    acceptance_probability : float
        The last u, at most 1: the chance that the test with a coin declares stable.
    critical_count, tie_probability
        Those of a Binomial test with as many trials, for comparison.
    delta_hat, epsilon_hat : float
        Upper limits that go with the verdict; beside "stable" print the larger of
        ``delta_hat`` and δ (:attr:`printed_delta_hat`).
    trajectory, trajectory_unstable : tuple of float
        u after each trial, for "stable" and for "unstable", up to the end of the test.
    delta_lower, epsilon_lower : float
        Lower limits that go with the bet on "unstable".
    delta_interval : tuple of float
        Both ends hold together at level 1 − α, whatever the verdict. They come from two bets that
        start with α/2 each and use every trial that was run.
    n_exceeding : float
        The sum of the shares without what failed.
    forced : bool
        Whether the verdict is final: no further trial could change it.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([[[0.1, 0.1, 0.1, 0.9]], [[0.1] * 4]] * 30, n=5)
    >>> result = trials.test(epsilon=0.2, delta=0.3)
    >>> result.verdict.value, result.test, result.statistic
    ('stable', 'averaged', 7.5)
    >>> len(result.trajectory), result.trajectory[-1] >= 1
    (34, True)
    >>> StabilityResult.from_json(result.to_json()) == result
    True
    """

    test_name: ClassVar[str] = "averaged"
    bets: ClassVar[bool] = True

    _: KW_ONLY
    e_value: Size
    trajectory: tuple[Size, ...]
    trajectory_unstable: tuple[Size, ...]
    n_exceeding: Epsilon
    lower_limit: Probability
    two_sided_limits: tuple[Probability, Probability]
    forced: bool

    @property
    def removals(self) -> int:
        """R, the rows of a trial that were removed, each by itself."""
        return self.design.removals

    @property
    def points(self) -> int:
        """T, the points at which each trial compared predictions."""
        return self.design.points

    @property
    def settled(self) -> bool:
        """Whether the verdict is final: no further trial could change it."""
        return self.forced

    @property
    def n_used(self) -> int:
        """Number of trials that the test used before it stopped."""
        return len(self.trajectory)

    @property
    def n_moved(self) -> float:
        """The sum of shares without what failed."""
        return self.n_exceeding

    @property
    def delta_lower(self) -> float:
        """Lower limit for δ*_ε: P(δ*_ε ≥ it) ≥ 1 − α; "unstable" ⇔ it is at least δ."""
        return self.lower_limit

    @property
    def delta_interval(self) -> tuple[float, float]:
        """Two-sided limits for δ*_ε: P(low ≤ δ*_ε ≤ high) ≥ 1 − α, α/2 for each side."""
        return self.two_sided_limits

    @property
    def printed_delta_hat(self) -> float:
        """The limit to print beside a three-way verdict: never below δ after "stable"."""
        from poise.theory.averaged_limits import delta_hat_to_print

        if self.verdict == Outcome.STABLE:
            return delta_hat_to_print(self.delta_hat, self.delta, "stable")
        return self.delta_hat

    @property
    def printed_delta_lower(self) -> float:
        """The lower limit to print beside a three-way verdict: never above δ after "unstable"."""
        if self.verdict == Outcome.UNSTABLE:
            return min(self.delta_lower, self.delta)
        return self.delta_lower

    @property
    def reason(self) -> str:
        """Why the error level holds, in one sentence."""
        return (
            "Disjoint rows make the shares independent; if their mean is δ or more, the bet that "
            "they are small reaches 1 with probability at most α, whatever the algorithm and "
            "distribution."
        )

    def describe(self) -> Summary:
        """Return headline and paragraphs: what was tested, found, and not shown; what is next."""
        from poise.results.text.describe_averaged import describe_averaged

        return describe_averaged(self)

    def facts(self) -> dict[str, str]:
        """Return the numbers behind the verdict, worded, under the names that readers see."""
        from poise.results.text.describe_averaged import facts_of_averaged

        return facts_of_averaged(self)

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value, for JSON or an experiment tracker."""
        averaged = {"removals": self.removals, "points": self.points, "n_used": self.n_used}
        return super().to_dict() | averaged

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the two bets, trial by trial, and the threshold; return the figure, or ``ax``."""
        from poise.results.plots.trajectory import plot_trajectory

        return plot_trajectory(self, ax, title=title, figsize=figsize)


def followed(
    trials: Trials, epsilon: float, delta: float, alpha: float, randomized: bool
) -> AveragedTest:
    """Run the averaged test over trials until its outcome is forced, or they end."""
    from poise.theory.averaged_test import AveragedTest

    test = AveragedTest(trials.n_trials, delta, alpha, randomized=randomized)
    stable = trials.shares(epsilon).tolist()
    unstable = trials.shares(epsilon, failures_exceed=False).tolist()
    for share, share_unstable in zip(stable, unstable, strict=True):
        if test.update(share, share_unstable):
            break
    return test


def averaged_result(
    trials: Trials, epsilon: float, delta: float, alpha: float, randomized: bool
) -> AveragedResult:
    """Judge a measurement by the averaged test; see :meth:`poise.Trials.test`."""
    fields = fields_of_any_test(trials, epsilon, delta, alpha, randomized)
    epsilon, delta, alpha = (fields[name] for name in ("epsilon", "delta", "alpha"))
    test = followed(trials, epsilon, delta, alpha, randomized)
    # The coin may be compared only once, so it is compared only when the outcome is forced.
    tossed = randomized and test.forced
    zeta = trials.design.zeta if tossed else 1.0
    hedge, mirror = test.hedge, _mirror(test)
    return AveragedResult(
        verdict=Outcome(test.verdict_of_run(zeta)),
        statistic=float(trials.shares(epsilon).sum()),
        pvalue=pvalue_of_bet(hedge, zeta, tossed),
        pvalue_unstable=pvalue_of_bet(mirror, zeta, tossed),
        acceptance_probability=hedge.acceptance_probability,
        e_value=hedge.e_value,
        trajectory=tuple(hedge.values),
        trajectory_unstable=tuple(mirror.values),
        n_exceeding=float(trials.shares(epsilon, failures_exceed=False).sum()),
        forced=test.forced,
        **_limits(trials, test, epsilon, zeta),
        **fields,
    )


def _limits(trials: Trials, test: AveragedTest, epsilon: float, zeta: float) -> dict[str, Any]:
    """Compute what the same bets say at other ε and δ (Theorem F)."""
    from poise.theory import averaged_limits, averaged_lower_limits

    hedge, mirror = test.hedge, _mirror(test)
    asked = hedge.delta, hedge.alpha
    planned: dict[str, Any] = {"n_trials": trials.n_trials}
    # The limits for ε use only the trials that the bets have seen.
    changes = trials.changes_or_nan[: test.trials]
    both = trials.shares(epsilon), trials.shares(epsilon, failures_exceed=False)
    upper = {**planned, "zeta": zeta}
    return {
        "delta_hat": averaged_limits.delta_hat_common(hedge.shares, *asked, **upper),
        "epsilon_hat": averaged_limits.epsilon_hat_common(changes, epsilon, *asked, **upper),
        "lower_limit": averaged_lower_limits.delta_lower_common(mirror.shares, *asked, **planned),
        "epsilon_lower": averaged_lower_limits.epsilon_lower_common(
            changes, epsilon, *asked, **planned
        ),
        "two_sided_limits": averaged_lower_limits.delta_interval_common(*both, *asked, **planned),
    }


def _mirror(test: AveragedTest) -> Mirror:
    assert test.mirror is not None
    return test.mirror


def pvalue_of_bet(process: Hedge, zeta: float, tossed: bool) -> float:
    """Return α / max u; with the coin αζ / u, which has P(p ≤ t) ≤ t because E u ≤ α."""
    if not tossed:
        return process.pvalue
    return min(1.0, process.alpha * zeta / process.value) if process.value else 1.0
