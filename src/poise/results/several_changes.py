"""Limits from several changes a trial: those of the averaged test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.errors import ArgumentError
from poise.results.change_arrays import Steps

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SeveralChanges"]


@dataclass(frozen=True, eq=False)
class SeveralChanges:
    """Limits from R·T changes a trial; nan stands for a failure.

    The changes of one trial depend on each other. Their share beyond ε, one number per trial,
    is what the averaged test bets on.

    Attributes
    ----------
    changes : ndarray of shape (n_observed, R, T)
        The changes of the trials that were run.
    n_trials : int
        Number of trials planned.
    """

    changes: NDArray[np.float64]
    n_trials: int
    failures_are: ClassVar[str] = "trials with a change that is nan"

    @property
    def n_unseen(self) -> int:
        """Number of trials planned and not run."""
        return self.n_trials - len(self.changes)

    @property
    def most_failures(self) -> int:
        """How many trials can have failed: those with a change that is nan."""
        return int(np.count_nonzero(np.isnan(self.changes).any(axis=(1, 2))))

    @property
    def n_failed_changes(self) -> int:
        """How many of all changes are failures."""
        return int(np.isnan(self.changes).sum())

    @property
    def or_nan(self) -> NDArray[np.float64]:
        """The changes, with nan for those that failed."""
        return self.changes

    @property
    def in_one_list(self) -> NDArray[np.float64]:
        """All changes; a failed one is infinite."""
        return np.where(np.isnan(self.changes), np.inf, self.changes).ravel()

    def shares(self, epsilon: float, *, failures_exceed: bool = True) -> NDArray[np.float64]:
        """Return each trial's share of changes beyond ``epsilon``."""
        from poise.theory.exceedance_shares import shares

        return shares(self.changes, epsilon, failures_exceed=failures_exceed)

    def exceedances(self, epsilon: float) -> float:
        """Sum of the shares: each trial counts with its share of changes beyond ``epsilon``."""
        return float(self.shares(epsilon).sum())

    def delta_hat(self, epsilon: float, alpha: float, zeta: float = 1.0) -> float:
        """Upper limit for δ*_ε; trials that were not run count with a share of 1."""
        from poise.theory.averaged_estimates import delta_hat_grid

        shares = np.append(self.shares(epsilon), np.ones(self.n_unseen))
        return delta_hat_grid(shares, alpha, zeta=zeta)

    def epsilon_hat(self, delta: float, alpha: float, zeta: float = 1.0) -> float:
        """Upper limit for ε*_δ; trials that were not run count as infinite changes."""
        from poise.theory.averaged_estimates import epsilon_hat_scan

        return epsilon_hat_scan(self._with_unseen(np.inf), delta, alpha, zeta=zeta)

    def delta_lower(self, epsilon: float, alpha: float) -> float:
        """Lower limit for δ*_ε; changes that failed or were not measured count as small."""
        from poise.theory.averaged_lower_limits import delta_lower_grid

        shares = self.shares(epsilon, failures_exceed=False)
        return delta_lower_grid(np.append(shares, np.zeros(self.n_unseen)), alpha)

    def delta_interval(self, epsilon: float, alpha: float) -> tuple[float, float]:
        """Two limits for δ*_ε that hold together: each has half of the error level."""
        half = float(arguments.alpha(alpha)) / 2
        return self.delta_lower(epsilon, half), self.delta_hat(epsilon, half)

    def epsilon_lower(self, delta: float, alpha: float) -> float:
        """Lower limit for ε*_δ; changes that failed or were not measured count as small."""
        from poise.theory.averaged_lower_limits import epsilon_lower_scan

        return epsilon_lower_scan(self._with_unseen(np.nan), delta, alpha)

    def profile_steps(self, alpha: float, band: str, delta_max: float | None = None) -> Steps:
        """Limits at a few δ, for all ε at once: the only band there is, whatever is asked."""
        from poise.theory.averaged_estimates import averaged_profile

        if delta_max is not None:
            raise ArgumentError(
                f"delta_max must be None for trials of several changes, got {delta_max}: their "
                "limits are made for a few delta already"
            )
        found = averaged_profile(self._with_unseen(np.inf), alpha)
        reach = [limit for limit in found.epsilon_hat if np.isfinite(limit)]
        ordered = np.sort(self.in_one_list)
        steps = np.unique([0.0, *reach, *ordered[np.isfinite(ordered)]])
        limits = np.array([found.delta_hat(float(step)) for step in steps])
        # The observed share falls at every change, also where the limit does not.
        larger = len(ordered) - np.searchsorted(ordered, steps, side="right")
        above = larger / np.prod(self.changes.shape[1:])
        return Steps(steps, limits, above, "averaged")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per change."""
        import pandas as pd

        trial, removal, point = np.indices(self.changes.shape).reshape(3, -1)
        places = {"trial": trial, "removal": removal, "point": point}
        return pd.DataFrame(places | {"change": self.changes.ravel()})

    def _with_unseen(self, change: float) -> NDArray[np.float64]:
        """Return the changes, with this one for each change that was not measured."""
        unseen = np.full((self.n_unseen, *self.changes.shape[1:]), change)
        return np.concatenate([self.changes, unseen])
