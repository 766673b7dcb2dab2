"""Evidence without a horizon: the open-ended process on shares.

The hedge needs a number of trials planned beforehand.  The open-ended process does not: it
averages the betting processes of all constant fractions c,

    E_t(δ) = ∫_0^1 Π_{k≤t} (1 − c S_k − (1 − c) δ) / (1 − δ) dc.

As an average of non-negative supermartingales that start at 1 (Theorem A) it is an
e-process: P(E_t ≥ 1/α for some t) ≤ α if δ* ≥ δ, however often one looks and however the
number of trials was chosen.  On 0/1 shares it is :func:`poise.theory.e_value`.  E_t never
falls in δ, so the δ that are not rejected form an interval: a confidence sequence.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.theory.betting_process import checked_shares
from poise.theory.rounding import reaches

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats

__all__ = ["OpenEnded", "mixture", "mixture_delta_hat"]

# Up to this many trials Gauss-Legendre is exact; beyond it only the peak is integrated.
_EXACT = 2000
_FEWEST_NODES = 16
_NODES_A_SIDE = 64
# The integrand is cut off where it falls below exp(-60) of its peak.
_LOG_DROP_AT_ENDS = 60.0
_HALVINGS = 64


class OpenEnded:
    """Collect evidence for "stable" with no number of trials fixed beforehand.

    P(E_t(δ) ≥ 1/α for some t) ≤ α if δ* ≥ δ; and P(δ* ≤ U_t for all t) ≥ 1 − α, also for the
    smallest limit so far.  Both are valid at every moment, however often one looks.

    Attributes
    ----------
    trials : int
        Number of shares taken in.

    Examples
    --------
    >>> evidence = OpenEnded()
    >>> for _ in range(60):
    ...     evidence.update(0.02)
    >>> round(evidence.e_value(delta=0.1), 1), round(evidence.delta_hat(alpha=0.05), 4)
    (33.1, 0.0906)
    """

    def __init__(self) -> None:
        # Shares are multiples of 1/RT, so few of them differ.
        self._counts: Counter[float] = Counter()

    @property
    def trials(self) -> int:
        """Number of shares taken in."""
        return self._counts.total()

    def update(self, share: float) -> None:
        """Take in the share of the next trial; their order does not matter."""
        self._counts[float(arguments.probability("share", share))] += 1

    def update_all(self, S: ArrayLike) -> None:
        """Take in the shares of several trials."""
        self._counts.update(checked_shares(S))

    def log_e_value(self, delta: float) -> float:
        """Compute log E_t(δ), which does not overflow."""
        return self._log_e_value(float(arguments.delta(delta)))

    @np.errstate(divide="ignore", under="ignore")
    def _log_e_value(self, p: float) -> float:
        if not self._counts:
            return 0.0
        values, counts = np.array([*self._counts.items()]).T
        moved = 1 - values

        def log_integrand(c: Floats) -> Floats:
            # both terms are at least 0, so nothing cancels
            parts = np.multiply.outer(c, moved) + ((1 - c) * (1 - p))[:, None]
            return np.asarray(np.log(parts) @ counts)

        return _log_integral(log_integrand, self.trials) - self.trials * math.log1p(-p)

    def e_value(self, delta: float) -> float:
        """Compute E_t(δ); declare stable once it is at least 1/α."""
        log_e = self.log_e_value(delta)
        return math.exp(log_e) if log_e < 709 else math.inf

    def delta_hat(self, alpha: float) -> float:
        """Compute U_t = sup{δ : E_t(δ) < 1/α}, by bisection; 1 if no δ is rejected."""
        log_level = math.log(float(arguments.alpha(alpha)))
        kept, rejected = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (kept + rejected) / 2
            if middle in (kept, rejected):
                break
            if reaches(math.exp(min(log_level + self._log_e_value(middle), 1.0))):
                rejected = middle
            else:
                kept = middle
        return rejected

    def delta_hat_below(self, limit: float, alpha: float) -> float:
        """Compute min(limit, U_t): the smallest limit so far from the one before it.

        It costs one evaluation where the limit stays, and about ten where it falls.
        """
        from scipy.optimize import brentq

        log_level = math.log(float(arguments.alpha(alpha)))
        if limit >= 1:
            return self.delta_hat(alpha)

        def excess(delta: float) -> float:
            return log_level + self._log_e_value(delta)

        if excess(limit) <= 0:
            return limit
        return float(brentq(excess, 0.0, limit, xtol=1e-14, rtol=1e-13))


def _log_integral(log_integrand: Callable[[Floats], Floats], trials: int) -> float:
    """Integrate exp of a concave function over [0, 1]; a polynomial of degree ``trials``."""
    if trials <= _EXACT:
        return _log_gauss_legendre(log_integrand, 0.0, 1.0, _enough_nodes(trials))
    peak = _peak(log_integrand)
    top = float(log_integrand(np.array([peak]))[0])
    left = _where_it_falls(log_integrand, peak, 0.0, top - _LOG_DROP_AT_ENDS)
    right = _where_it_falls(log_integrand, peak, 1.0, top - _LOG_DROP_AT_ENDS)
    sides = ((left, peak), (peak, right))
    logs = [_log_gauss_legendre(log_integrand, a, b, _NODES_A_SIDE) for a, b in sides if a < b]
    return float(np.logaddexp.reduce(logs))


def _enough_nodes(trials: int) -> int:
    """Return a power of two: more nodes than needed are exact too, and few rules are kept."""
    return max(_FEWEST_NODES, 1 << (trials // 2).bit_length())


def _log_gauss_legendre(
    log_integrand: Callable[[Floats], Floats], low: float, high: float, nodes: int
) -> float:
    x, weights = _rule(nodes)
    logs = log_integrand(low + (high - low) * x)
    top = logs.max()
    return float(top + np.log(np.exp(logs - top) @ weights) + math.log(high - low))


@lru_cache(maxsize=16)
def _rule(nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre on [0, 1]."""
    from scipy.special import roots_legendre

    x, weights = roots_legendre(nodes)
    return (np.asarray(x) + 1) / 2, np.asarray(weights) / 2


def _peak(log_integrand: Callable[[Floats], Floats]) -> float:
    """Find where a concave function on [0, 1] is largest, nearly: zoom in on a grid."""
    low, high = 0.0, 1.0
    for _ in range(10):
        grid = np.linspace(low, high, 17)
        best = int(np.argmax(log_integrand(grid)))
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 16)])
    return float(grid[best])


def _where_it_falls(
    log_integrand: Callable[[Floats], Floats], peak: float, end: float, floor: float
) -> float:
    """Find, between the peak and an end, where a concave function falls to the floor."""
    inside, outside = peak, end
    for _ in range(14):
        grid = inside + (outside - inside) * np.linspace(0.0, 1.0, 17)
        above = np.flatnonzero(log_integrand(grid) >= floor)
        last = int(above[-1]) if above.size else 0
        if last == 16:
            return outside
        inside, outside = float(grid[last]), float(grid[last + 1])
    return outside


def mixture(S: ArrayLike, delta: float) -> float:
    """Compute the open-ended evidence E_t(δ) of all shares seen so far.

    P(E_t ≥ 1/α for some t) ≤ α if δ* ≥ δ: look as often as you like.  On 0/1 shares it is
    :func:`poise.theory.e_value`.  A small value does not mean unstable.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial so far.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.

    Returns
    -------
    float
        E_t(δ), 1 without shares; infinite where it exceeds the largest float.

    Examples
    --------
    >>> round(mixture([0.02] * 60, delta=0.1), 1)
    33.1
    """
    return _collect(S).e_value(delta)


def mixture_delta_hat(S: ArrayLike, alpha: float) -> float:
    """Compute the limit U_t of the open-ended confidence sequence for δ*.

    U_t = sup{δ : E_t(δ) < 1/α}; P(δ* ≤ U_t for all t) ≥ 1 − α, so the smallest limit so far
    holds as well.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial so far.
    alpha : float in (0, 1)
        Probability that some limit fails.

    Returns
    -------
    float
        In (0, 1]; 1 without shares, and if all shares are 1.

    Examples
    --------
    >>> round(mixture_delta_hat([0.02] * 60, alpha=0.05), 4)
    0.0906
    """
    return _collect(S).delta_hat(alpha)


def _collect(S: ArrayLike) -> OpenEnded:
    evidence = OpenEnded()
    evidence.update_all(S)
    return evidence
