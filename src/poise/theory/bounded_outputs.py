"""Ceilings on power where the outputs are bounded (Theorem H).

The traps behind the ceilings of :mod:`poise.theory.power_bounds` raise predictions as far as they
like.  With outputs in a bounded metric space (Z, d) a trap can move them only so far:

(i)   if ε is so small that some o and finitely many v lie more than ε apart, and every z is
      more than ε away from some v, the ceilings hold unchanged;
(ii)  if only diam Z > ε, a weaker ceiling holds: :func:`ceiling_large_epsilon`;
(iii) if diam Z ≤ ε, no change ever exceeds ε, and "stable" is always right.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from poise import arguments
from poise.errors import ArgumentError

__all__ = ["ceiling_large_epsilon", "which_ceiling"]

Ceiling: TypeAlias = Literal["unchanged", "large-epsilon", "always-stable"]


def which_ceiling(
    epsilon: float, outputs: str, *, width: float = 1.0, n_classes: int = 2
) -> Ceiling:
    """Say which part of Theorem H applies to outputs of a kind.

    Parameters
    ----------
    epsilon : float, at least 0
        Allowed change.
    outputs : {"interval", "probabilities", "labels"}
        Numbers in an interval of length ``width``; probability vectors in total variation;
        labels, which are 0 or 1 apart.
    width : float, above 0
        Length of the interval.
    n_classes : int, at least 2
        Number of classes.

    Returns
    -------
    {"unchanged", "large-epsilon", "always-stable"}
        The ceiling is :func:`poise.theory.power_bound`, :func:`ceiling_large_epsilon`, or
        none.

    Examples
    --------
    >>> which_ceiling(0.2, "interval"), which_ceiling(0.5, "interval")
    ('unchanged', 'large-epsilon')
    >>> which_ceiling(0.0, "labels", n_classes=3), which_ceiling(0.0, "labels")
    ('unchanged', 'large-epsilon')
    """
    arguments.choice("outputs", outputs, ("interval", "probabilities", "labels"))
    limit, classes = (
        float(arguments.epsilon(epsilon)),
        int(arguments.count("n_classes", n_classes, 2)),
    )
    if not 0 < width < math.inf:
        raise ArgumentError(f"width must be a finite number above 0, got {width}")
    diameter = width if outputs == "interval" else 1.0
    halfway = {
        "interval": width / 2,
        "probabilities": 1 - 1 / classes,
        "labels": 1.0 if classes >= 3 else 0.0,
    }[outputs]
    if limit >= diameter:
        return "always-stable"
    return "unchanged" if limit < halfway else "large-epsilon"


def ceiling_large_epsilon(
    n: int, n_labeled: int, delta: float, delta_star: float, alpha: float
) -> float:
    """Compute the ceiling on power if ε is at least half of what the outputs can move.

    Power ≤ min{1, α x^(−N_ℓ)}, x = sup{y in (0, 1) : y^(n−1) (1 − y δ*) < 1 − δ}
    (Theorem H(ii)), for numbers in [0, 1] with 1/2 ≤ ε < 1 and for two labels; the response
    must be uncountable.  If instead X is uncountable, give n + 1 for n and N_ℓ + N_u for N_ℓ.

    Parameters
    ----------
    n : int, at least 2
        Training size whose stability is asked.
    n_labeled : int, at least 0
        Rows with a response.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, 1]
        True probability; if it exceeds δ, the ceiling is α, because the test is valid.
    alpha : float in (0, 1)
        Level.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> round(ceiling_large_epsilon(26, 52, delta=0.442, delta_star=0.2961, alpha=0.1), 4)
    0.1635
    """
    size, rows = arguments.training_size(n), int(arguments.count("n_labeled", n_labeled))
    p, truth = float(arguments.delta(delta)), float(arguments.probability("delta_star", delta_star))
    level = float(arguments.alpha(alpha))
    if truth > p:
        return level
    log_power = math.log(level) - rows * _log_root(size, p, truth)
    return math.exp(min(log_power, 0.0))


def _log_root(n: int, delta: float, delta_star: float) -> float:
    """Log of x: the function rises to its turning point, and the root lies before it."""
    from scipy.optimize import brentq

    log_turn = min(0.0, math.log((n - 1) / n) - math.log(delta_star)) if delta_star > 0 else 0.0

    def excess(log_y: float) -> float:
        slope = math.log1p(-math.exp(log_y) * delta_star) - math.log1p(-delta)
        return (n - 1) * log_y + slope

    lowest = math.log1p(-delta) / (n - 1)  # δ* = 0 has the smallest root
    if delta_star == 0 or delta == 0:
        return lowest
    if excess(log_turn) <= 0:  # δ* = δ ≤ (n − 1)/n: the root is 1
        return log_turn
    return float(brentq(excess, lowest, log_turn, xtol=1e-300, rtol=1e-14))
