"""The question about one training set: ε, δ, α and γ, checked when it is made."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from poise import arguments
from poise.arguments import counted
from poise.data.tables import Table
from poise.errors import DataError, PowerWarning
from poise.questions.conditional.conditional_setup import ConditionalSetup
from poise.questions.spread import refuse_other_units, spread_of
from poise.results.conditional_design import ConditionalDesign
from poise.results.relative_epsilon import Relative, read_epsilon

__all__ = ["ConditionalQuestion", "epsilon_in_units"]

_CALLER = 5  # this method, two functions that call it, the public function, and its caller


@dataclass(frozen=True)
class ConditionalQuestion:
    """Is this training set stable? Asked at level α.

    Parameters
    ----------
    epsilon : float
        Allowed change, >= 0.
    delta : float
        Allowed mean share of larger changes or, with γ, probability of a share beyond it.
    alpha : float
        Error level, in (0, 1).
    gamma : float or None
        Tolerated share, in [0, 1).
    stop_early : bool
        Whether to stop as soon as no later trial can change the verdict.

    Examples
    --------
    >>> ConditionalQuestion(0.5, delta=0.1, gamma=1.0)
    Traceback (most recent call last):
    poise.errors.ArgumentError: gamma must be in [0, 1), got 1.0
    """

    epsilon: float
    delta: float
    alpha: float = 0.05
    gamma: float | None = None
    stop_early: bool = True

    def __post_init__(self) -> None:
        arguments.epsilon(arguments.scalar("epsilon", self.epsilon))
        arguments.delta(arguments.scalar("delta", self.delta))
        arguments.alpha(arguments.scalar("alpha", self.alpha))
        if self.gamma is not None:
            arguments.delta(arguments.scalar("gamma", self.gamma), "gamma")
        arguments.flag("stop_early", self.stop_early)

    @property
    def for_trials(self) -> dict[str, Any]:
        """The keywords of ``ConditionalTrials.test`` that ask this question."""
        names = ("epsilon", "delta", "alpha", "gamma")
        return {name: getattr(self, name) for name in names}

    def require_fresh_rows(self, design: ConditionalDesign) -> None:
        """Refuse a question to which no verdict is possible; warn if "stable" is not."""
        from poise.theory.binomial_test import critical_count_unstable
        from poise.theory.tolerated_share import least_trials

        m, least = design.n_trials, least_trials(self.delta, self.alpha)
        if least is not None and m >= least:
            return
        if least is None:
            said = "no amount of data can certify delta = 0; ask about a larger delta"
        else:
            rows = least * (1 + design.points) if design.notion == "add-one" else least
            said = (
                f"{counted(m, 'trial')} cannot certify delta = {self.delta} at level "
                f"{self.alpha}, whatever is seen: give at least {rows:,} fresh rows (now "
                f"{design.n_fresh:,}), or ask about a larger delta or alpha"
            )
        if critical_count_unstable(m, self.delta, self.alpha) > m:
            raise DataError(f"X_fresh has too few rows for any verdict: {said}")
        warnings.warn(f'the verdict "stable" is not possible: {said}', PowerWarning, _CALLER)


def epsilon_in_units(epsilon: float | str | Relative, setup: ConditionalSetup, y: Table) -> float:
    """Return ε in the units of the predictions; a share is one of the spread of y.

    The training set is given, so the spread of its responses is a fixed number: no rows have to
    be set aside for it. A share is rounded to four digits.

    Examples
    --------
    >>> from poise.data.tables import as_table
    >>> epsilon_in_units("50% of spread", ConditionalSetup(), as_table([1.0, 3.0, 5.0], "y"))
    1.0
    """
    asked = read_epsilon(epsilon) if isinstance(epsilon, str) else epsilon
    if not isinstance(asked, Relative):
        return float(arguments.epsilon(arguments.scalar("epsilon", asked)))
    refuse_other_units(setup.response, losses=setup.compares_losses)
    # Four digits, so that every text can print the number that was tested.
    return float(f"{asked.share * spread_of(y.native, 'training rows'):.4g}")
