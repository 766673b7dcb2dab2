"""The question of a test of stability: n, ε, δ, α, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise import arguments
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.protocol.randomness import Randomness
from poise.results import ProcedureResult, Trials

__all__ = ["Question", "StabilityQuestion", "refuse_other_than_differences"]


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
        arguments.epsilon(arguments.scalar("epsilon", self.epsilon))
        arguments.delta(arguments.scalar("delta", self.delta))
        arguments.alpha(arguments.scalar("alpha", self.alpha))

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
        coin: Randomness | None = None,
        **details: Any,
    ) -> ProcedureResult:
        """Compare the number of larger changes with the Binomial law, as Example 1 does.

        ``n_failures`` of the changes are infinite because the comparison failed: they
        count against "stable" and not for "unstable". A tie is decided by the ``coin``,
        if there is one.
        """
        failures = ("a comparison failed",) * n_failures
        trials = Trials.from_changes(
            np.asarray(changes),
            n=self.n,
            failures=failures,
            random_state=None if coin is None else coin.root,
        )
        test = trials.test(self.epsilon, self.delta, self.alpha, randomized=coin is not None)
        return ProcedureResult.from_test(self, test, certifies=certifies, reason=reason, **details)


@dataclass(frozen=True)
class StabilityQuestion(Question):
    """The question of :func:`poise.stability_test`, and how it is decided.

    Parameters
    ----------
    n, epsilon, delta, alpha
        As in :class:`Question`.
    randomized : bool
        Toss the coin in a tie.
    stop_early : bool or "stable"
        Stop once the verdict, or whether it is "stable", is forced.
    test : {"auto", "binomial", "averaged"}
        The paper's test, the averaged test, or whichever is better here.

    Examples
    --------
    >>> StabilityQuestion(10, epsilon=0.5, delta=0.1).for_trials
    {'epsilon': 0.5, 'delta': 0.1, 'alpha': 0.05, 'randomized': False, 'test': 'auto'}
    """

    randomized: bool = False
    stop_early: bool | str = True
    test: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.flag("randomized", self.randomized)
        arguments.choice("test", self.test, ("auto", "binomial", "averaged"))
        if self.stop_early not in (True, False, "stable"):
            raise ArgumentError(
                f"stop_early must be True, False or 'stable', got {self.stop_early!r}"
            )

    @property
    def for_trials(self) -> dict[str, Any]:
        """What is asked of trials that were measured: arguments of :meth:`poise.Trials.test`."""
        before = ("n", "stop_early")  # of the measurement, which is over
        names = [field.name for field in fields(StabilityQuestion) if field.name not in before]
        return {name: getattr(self, name) for name in names}


def refuse_other_than_differences(distance: object, what: str) -> None:
    """Refuse a distance that is no difference of two numbers; ``what`` needs one.

    Examples
    --------
    >>> refuse_other_than_differences("label", "a test of linear models")
    Traceback (most recent call last):
    poise.errors.ArgumentError: distance must be 'auto', 'absolute' or 'euclidean' for a test ...
    """
    if distance not in ("auto", "absolute", "euclidean"):
        raise ArgumentError(
            f"distance must be 'auto', 'absolute' or 'euclidean' for {what}, got {distance!r}"
        )
