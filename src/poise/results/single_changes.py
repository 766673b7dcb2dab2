"""Limits from one change a trial: those of the Binomial test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.arguments.printed_numbers import exactly
from poise.errors import ArgumentError
from poise.results.change_arrays import Steps

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SingleChanges"]


@dataclass(frozen=True, eq=False)
class SingleChanges:
    """Limits from a list of changes, one per trial; ``inf`` stands for a failure too.

    :class:`~poise.results.several_changes.SeveralChanges` has the same methods,
    so that :class:`poise.Trials` asks either of them the same questions.

    Attributes
    ----------
    changes : ndarray of shape (n_observed,)
        The changes of the trials that were run.
    n_trials : int
        Number of trials planned.
    n_failures : int
        How many of the infinite changes are failures.
    """

    changes: NDArray[np.float64]
    n_trials: int
    n_failures: int
    failures_are: ClassVar[str] = "infinite changes"

    @property
    def n_unseen(self) -> int:
        """Number of trials planned and not run."""
        return self.n_trials - len(self.changes)

    @property
    def most_failures(self) -> int:
        """How many trials can have failed: the infinite changes."""
        return int(np.count_nonzero(np.isinf(self.changes)))

    @property
    def n_failed_changes(self) -> int:
        """How many of all changes are failures."""
        return self.n_failures

    @property
    def or_nan(self) -> NDArray[np.float64]:
        """The changes, with nan for each infinite one if any trial failed."""
        if not self.n_failures:
            return self.changes
        return np.where(np.isinf(self.changes), np.nan, self.changes)

    @property
    def in_one_list(self) -> NDArray[np.float64]:
        """All changes; a failed one is infinite."""
        return self.changes

    def exceedances(self, epsilon: float) -> float:
        """Count the changes larger than ``epsilon``, failures included."""
        from poise.theory.order_statistics import how_many_exceed

        return how_many_exceed(self.changes, float(arguments.epsilon(epsilon)))

    def delta_hat(self, epsilon: float, alpha: float, zeta: float = 1.0) -> float:
        """Upper limit for δ*_ε; trials that were not run count as exceedances."""
        from poise.theory.estimates import delta_hat

        worst = self.exceedances(epsilon) + self.n_unseen
        return float(delta_hat(worst, self.n_trials, alpha, zeta))

    def epsilon_hat(self, delta: float, alpha: float, zeta: float = 1.0) -> float:
        """Upper limit for ε*_δ; trials that were not run count as infinite changes."""
        from poise.theory.estimates import epsilon_hat

        return float(epsilon_hat(self.changes, delta, alpha, zeta, unseen=self.n_unseen))

    def delta_lower(self, epsilon: float, alpha: float) -> float:
        """Lower limit for δ*_ε; trials that failed or were not run count as small changes."""
        from poise.theory.lower_limits import delta_lower

        moved = self.exceedances(epsilon) - self.n_failures
        return float(delta_lower(moved, self.n_trials, alpha))

    def delta_interval(self, epsilon: float, alpha: float) -> tuple[float, float]:
        """Two limits for δ*_ε that hold together."""
        from poise.theory.lower_limits import delta_interval

        moved, unknown = self.exceedances(epsilon) - self.n_failures, self.n_failures
        low, high = delta_interval(moved, self.n_trials, alpha, unknown + self.n_unseen)
        return float(low), float(high)

    def epsilon_lower(self, delta: float, alpha: float) -> float:
        """Lower limit for ε*_δ; trials that failed or were not run count as small changes."""
        from poise.theory.lower_limits import epsilon_lower

        unknown = {"failed": self.n_failures, "unseen": self.n_unseen}
        return float(epsilon_lower(self.changes, delta, alpha, **unknown))

    def profile_steps(self, alpha: float, band: str, delta_max: float | None = None) -> Steps:
        """Where the band for ε ↦ δ*_ε steps, its limits, and how many changes lie above."""
        limits, band = _limits(self.n_trials, alpha, band, delta_max)
        steps = np.unique(np.append(self.changes[np.isfinite(self.changes)], 0.0))
        above = len(self.changes) - np.searchsorted(np.sort(self.changes), steps, side="right")
        return Steps(steps, limits[above + self.n_unseen], above, band, self.n_failures)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per trial."""
        import pandas as pd

        return pd.DataFrame({"trial": np.arange(len(self.changes)), "change": self.changes})


def _limits(
    n_trials: int, alpha: float, band: str, delta_max: float | None
) -> tuple[NDArray[np.float64], str]:
    """Return the limits of a band for each number of larger changes, and its name."""
    from poise.theory.bands import profile_band
    from poise.theory.restricted_profile import restricted_limits

    if delta_max is None:
        return profile_band(n_trials, alpha, band), band
    if band != "equal-local-levels":
        raise ArgumentError(f"delta_max needs band='equal-local-levels', got band={band!r}")
    top = float(arguments.probability("delta_max", arguments.positive("delta_max", delta_max)))
    return restricted_limits(n_trials, alpha, top), f"{band} up to {exactly(top)}"
