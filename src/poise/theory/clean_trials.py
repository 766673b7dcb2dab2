"""The trials that certify δ if none of them shows a large change."""

from __future__ import annotations

from functools import lru_cache

from poise.theory.plan_request import PlanRequest
from poise.theory.planning import checked, solve

__all__ = ["clean_trials"]


@lru_cache(maxsize=256)  # every sentence about a run that was too short asks again
def clean_trials(delta: float, alpha: float) -> int:
    """Return how many trials without a large change certify δ at level α.

    Examples
    --------
    >>> clean_trials(0.1, 0.05)
    29
    """
    given = {"n_labeled": None, "n": 2, "delta": delta, "alpha": alpha, "power": 1.0}
    return solve(PlanRequest(**checked(given))).n_trials
