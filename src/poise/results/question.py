"""What is asked of trials: the allowed change, its allowed probability and the error level."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from poise import checks
from poise.errors import ArgumentError
from poise.numbers import without_noise

if TYPE_CHECKING:
    from poise.results.design import Design

_SHARE = re.compile(r"\s*([0-9.eE+-]+)\s*%\s*of\s+sd\s*")


@dataclass(frozen=True)
class Question:
    """Is P(change > epsilon) at most delta? Answered wrongly with probability at most alpha.

    Attributes
    ----------
    epsilon : float or None
        Allowed change; None for labels, which change or do not, and for decisions, whose changes
        are shares.
    delta : float
        Allowed probability of a larger change; for decisions, allowed mean share.
    alpha : float
        Error level.
    test : {"auto", "binomial", "averaged"}
        The paper's Binomial test, the averaged test, or the one that fits the trials.
    stop_early : bool
        Whether the run may end as soon as the verdict is certain.

    Examples
    --------
    >>> Question(5.0, 0.1)
    Question(epsilon=5.0, delta=0.1, alpha=0.05, test='auto', stop_early=False)
    """

    epsilon: float | None
    delta: float
    alpha: float = 0.05
    test: Literal["auto", "binomial", "averaged"] = "auto"
    stop_early: bool = False

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", checks.epsilon(self.epsilon))
        object.__setattr__(self, "delta", checks.delta(self.delta))
        object.__setattr__(self, "alpha", checks.alpha(self.alpha))
        checks.choice("test", self.test, ("auto", "binomial", "averaged"))
        checks.flag("stop_early", self.stop_early)


@dataclass(frozen=True)
class Relative:
    """An allowed change as a share of the standard deviation of the responses of some rows."""

    share: float
    rows: int = 30  # set aside; no trial uses them


def read_epsilon(asked: object) -> float | Relative | None:
    """Read an allowed change: a number, a share such as "5% of sd", or None where it is left out.

    Examples
    --------
    >>> read_epsilon(2), read_epsilon("5% of sd")
    (2.0, Relative(share=0.05, rows=30))
    """
    if asked is None:
        return None
    if not isinstance(asked, str):
        return checks.epsilon(asked)
    found = _SHARE.fullmatch(asked)
    try:
        value = float(found[1]) / 100 if found else float(asked)
    except ValueError:
        raise ArgumentError(
            "must be a number >= 0 or a share such as '5% of sd'", argument="epsilon", got=asked
        ) from None
    if not found:
        return checks.epsilon(value)
    return Relative(without_noise(checks.positive("epsilon", value)))


def allowed_change(epsilon: object, design: Design) -> float | None:
    """Return ε, left out exactly where a change is yes or no (labels) or a share (decisions)."""
    if design.sized and epsilon is None:
        raise ArgumentError(
            "is missing: it is the allowed change, in units of the prediction",
            argument="epsilon",
            remedy="poise.measure shows how large the changes are",
        )
    if not design.sized and epsilon is not None:
        share = design.compares == "decisions"
        raise ArgumentError(
            f"must be left out: a change is {'a share' if share else 'yes or no'} here",
            argument="epsilon",
            got=epsilon,
            remedy="" if share else "probabilities (response predict_proba) change by an amount",
        )
    if isinstance(epsilon, str):
        raise ArgumentError(
            "must be a number for changes that are there: only a new run can set rows aside for a "
            "share of the sd",
            argument="epsilon",
            got=epsilon,
        )
    return None if epsilon is None else checks.epsilon(epsilon)
