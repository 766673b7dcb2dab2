"""The question that every test of stability asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise import arguments
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.results import ProcedureResult, Trials

__all__ = ["Question"]


@dataclass(frozen=True)
class Question:
    """Is (A, P, n) (ε, δ)-stable? Asked at level α.

    Parameters
    ----------
    n : int
        Training size, at least 2.
    epsilon : float
        Allowed change, >= 0.
    delta : float
        Allowed probability of a larger change, in [0, 1).
    alpha : float
        Error level, in (0, 1).
    """

    n: int
    epsilon: float
    delta: float
    alpha: float = 0.05

    def __post_init__(self) -> None:
        arguments.training_size(self.n)
        arguments.epsilon(self.epsilon)
        arguments.delta(self.delta)
        arguments.alpha(self.alpha)

    def require_rows(self, sample: Sample) -> None:
        """Refuse a training size that the labelled rows cannot fill."""
        if self.n > sample.n_labeled:
            raise ArgumentError(
                f"n must be at most the number of labelled rows ({sample.n_labeled}), got "
                f"{self.n}; ask about a smaller training size"
            )

    def judge(
        self,
        changes: ArrayLike,
        *,
        certifies: bool,
        reason: str,
        n_failures: int = 0,
        **details: Any,
    ) -> ProcedureResult:
        """Compare the number of larger changes with the Binomial law, as Example 1 does.

        ``n_failures`` of the changes are infinite because the comparison failed: they
        count against "stable" and not for "unstable".
        """
        failures = ("a comparison failed",) * n_failures
        trials = Trials.from_changes(np.asarray(changes), n=self.n, failures=failures)
        test = trials.test(self.epsilon, self.delta, self.alpha)
        return ProcedureResult.from_test(self, test, certifies=certifies, reason=reason, **details)
