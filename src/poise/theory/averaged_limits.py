"""Upper limits δ̂ and ε̂ that go with the averaged test's verdict.

They keep the fractions c_k that the hedge staked at the user's (ε, δ).  With those,

    u_t(ε, δ) = α Π_{k≤t} (1 − c_k S_k(ε) − (1 − c_k) δ) / (1 − δ)

never falls in ε or in δ, so that at any stopping time (Theorem F)

    stable    ⇔    δ̂ ≤ δ    ⇔    ε̂ ≤ ε.

With the coin, the last u is compared with ζ instead of the largest with 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.theory.betting_process import Hedge, checked_shares, growth, planned
from poise.theory.exceedance_shares import TrialChanges
from poise.theory.rounding import less_rounding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from poise.theory.binomial_law import Floats

__all__ = [
    "all_in_delta_hat",
    "delta_hat_common",
    "delta_hat_to_print",
    "epsilon_hat_common",
]

# 128 to the power 10 is 2 to the power 70: nothing is left between the ends.
_PARTS_OF_A_ROUND = 128
_ROUNDS = 10
_BELOW_ONE = float(np.nextafter(1.0, 0.0))


def delta_hat_common(
    S: ArrayLike,
    reference_delta: float,
    alpha: float,
    *,
    n_trials: int | None = None,
    zeta: float = 1.0,
) -> float:
    """Compute the upper limit δ̂ that goes with the averaged test's verdict at δ.

    δ̂ ≤ δ iff the test declares stability, at whatever trial it stopped, and
    P(false "stable" or δ̂ < δ*) ≤ α (Theorem F).  After an early stop δ̂ is only a little
    below δ.  With the three-way verdict print :func:`delta_hat_to_print` instead.

    Parameters
    ----------
    S : array of shares in [0, 1]
        The shares of the trials up to the stop, in plan order. What follows the trial at
        which the hedge reaches 1 is not used.
    reference_delta : float in [0, 1)
        The δ of the test.
    alpha : float in (0, 1)
        Level.
    n_trials : int, optional
        Number of trials planned, if ``S`` holds only the first of them.
    zeta : float in [0, 1], default 1
        The coin, if one was tossed at the last of these trials; 1 is the plain test.

    Returns
    -------
    float
        δ̂ in [0, 1]; 1 if no δ can be excluded.

    Examples
    --------
    >>> round(delta_hat_common([0.0, 0.1] * 15, reference_delta=0.2, alpha=0.05), 4)
    0.1996
    """
    shares = checked_shares(S)
    process = _run(Hedge(planned(shares, n_trials), reference_delta, alpha), shares)
    staked = np.array(process.fractions), np.array(process.shares)
    coin = float(arguments.probability("zeta", zeta))

    def accepts(delta: Floats) -> NDArray[np.bool_]:
        return _accepts(growth(*staked, delta[:, None]), process.alpha, coin)

    reference = process.delta
    at_zero, at_reference = accepts(np.array([0.0, reference]))
    if not at_reference:
        return _narrow(accepts, reference, 1.0)
    return 0.0 if at_zero else _narrow(accepts, 0.0, reference)


def _run(process: Hedge, shares: Sequence[float]) -> Hedge:
    """Feed the shares until u reaches 1; below that the run goes on, even from 0."""
    for share in shares:
        if process.update(share):
            break
    return process


def _accepts(factors: Floats, alpha: float, coin: float) -> NDArray[np.bool_]:
    """Multiply each row as the running test does; the largest u must reach 1, or the last ζ."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        start = np.full((len(factors), 1), alpha)
        u = np.multiply.accumulate(np.hstack([start, np.maximum(factors, 0.0)]), axis=1)
    # inf · 0 is nan where floats overflow: u is 0 from there on
    reached = np.fmax.reduce(u, axis=1) if coin == 1 else u[:, -1]
    return np.asarray(reached >= less_rounding(coin))


def _narrow(
    accepts: Callable[[Floats], NDArray[np.bool_]], refused: float, accepted: float
) -> float:
    """Find where acceptance begins by division into many parts; return the accepted end."""
    parts = np.arange(1, _PARTS_OF_A_ROUND) / _PARTS_OF_A_ROUND
    for _ in range(_ROUNDS):
        grid = np.minimum(refused + (accepted - refused) * parts, _BELOW_ONE)
        first = int(np.argmax(np.append(accepts(grid), True)))
        before = refused, accepted
        ends = np.concatenate([[refused], grid, [accepted]])
        refused, accepted = float(ends[first]), float(ends[first + 1])
        if (refused, accepted) == before:
            break
    return accepted


def delta_hat_to_print(delta_hat: float, delta: float, verdict: str) -> float:
    """Return the limit that may be printed beside a three-way verdict.

    max(δ̂, δ) after "stable", δ̂ otherwise: then P(false verdict or printed limit < δ*) ≤ α.
    The raw δ̂ beside a three-way verdict would be wrong with probability up to 2α.

    Parameters
    ----------
    delta_hat : float
        From :func:`delta_hat_common`.
    delta : float
        The δ of the test.
    verdict : {"stable", "unstable", "inconclusive"}
        The verdict of the test.

    Examples
    --------
    >>> delta_hat_to_print(0.093, 0.1, "stable")
    0.1
    """
    arguments.choice("verdict", verdict, ("stable", "unstable", "inconclusive"))
    return max(delta_hat, delta) if verdict == "stable" else delta_hat


def epsilon_hat_common(
    changes: ArrayLike | Sequence[ArrayLike],
    epsilon: float,
    delta: float,
    alpha: float,
    *,
    n_trials: int | None = None,
    zeta: float = 1.0,
) -> float:
    """Compute the upper limit ε̂ that goes with the averaged test's verdict at (ε, δ).

    ε̂ ≤ ε iff the test declares stability, at whatever trial it stopped, and P(ε̂ < ε*_δ) ≤ α
    (Theorem F).  Stating ε̂ beside δ̂ costs another α.

    Parameters
    ----------
    changes : array of shape (trials,), (trials, R, T) or the like, or a list of lists
        The changes of the trials up to the stop; nan stands for a failed fit.
    epsilon, delta, alpha
        As in the test.
    n_trials : int, optional
        Number of trials planned, if ``changes`` holds only the first of them.
    zeta : float in [0, 1], default 1
        The coin, if one was tossed at the last of these trials; 1 is the plain test.

    Returns
    -------
    float
        ε̂ in [0, ∞], one of the changes or 0 or infinite.

    Examples
    --------
    >>> changes = [[0.1, 0.2], [0.15, 0.9]] * 10
    >>> epsilon_hat_common(changes, epsilon=0.5, delta=0.5, alpha=0.05)
    0.2
    """
    table = TrialChanges.of(changes)
    shares = table.shares(float(arguments.epsilon(epsilon))).tolist()
    process = _run(Hedge(planned(shares, n_trials), delta, alpha), shares)
    used, staked = table.first(process.trials), np.array(process.fractions)
    coin = float(arguments.probability("zeta", zeta))
    candidates = used.candidates()
    refused, accepted = -1, candidates.size
    while accepted - refused > 1:
        middle = (refused + accepted) // 2
        factors = growth(staked, used.shares(float(candidates[middle])), process.delta)
        if _accepts(factors[None], process.alpha, coin)[0]:
            accepted = middle
        else:
            refused = middle
    return float(candidates[accepted]) if accepted < candidates.size else math.inf


def all_in_delta_hat(S: ArrayLike, alpha: float, zeta: float = 1.0) -> float:
    """Compute δ̂ for the strategy that always bets everything, in closed form.

    δ̂ = max{0, 1 − (α Π (1 − S_k) / ζ)^(1/m)}; P(δ̂ < δ*) ≤ α (Theorem F with c = 1).

    Parameters
    ----------
    S : array of shares in [0, 1]
        The shares of all trials.
    alpha : float in (0, 1)
        One minus the confidence.
    zeta : float in [0, 1], default 1
        The coin; 1 is the plain test.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> round(all_in_delta_hat([0.05] * 60, alpha=0.05), 4)
    0.0963
    """
    shares = np.array(checked_shares(S))
    level, coin = float(arguments.alpha(alpha)), float(arguments.probability("zeta", zeta))
    if coin == 0:
        return 0.0
    with np.errstate(divide="ignore"):
        log_u = math.log(level) - math.log(coin) + float(np.log1p(-shares).sum())
    if not shares.size:
        return 0.0 if log_u >= 0 else 1.0
    return max(0.0, -math.expm1(log_u / shares.size))
