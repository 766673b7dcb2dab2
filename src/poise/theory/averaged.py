"""The averaged test: verdict, p-values and limits from the share of changes beyond ε in each trial.

Verdicts come from one bet each way at level α. It aims at α and says little beyond it, so p-values
and limits are computed by bets of their own: at levels α, α/2, α/4, …, and at every δ (or ε) of a
grid fixed beforehand, until the first that does not succeed. Each is valid by itself, whenever the
run was stopped. The functions take a table of changes, as those of :mod:`poise.theory.binomial` do;
those of :mod:`poise.theory.from_shares` take shares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.theory.betting import Bets, Shares
from poise.theory.binomial_law import NOISE, ONE, Floats
from poise.theory.changes import Changes, Judgement
from poise.theory.sequential import mixture, mixture_delta_hat

LEVELS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)

_HALVINGS = 2.0 ** -np.arange(40)
_STEP = 1.01  # ratio of the grid of δ: limits are at most 1% too wide
_MANY = 2000  # changes; beyond, limits of ε are rounded to three digits
_ROWS = 64  # bets side by side while a grid is walked


def judge(
    changes: Changes, epsilon: float | None, delta: float, alpha: float, zeta: float = 1.0
) -> Judgement:
    """Answer one question; P(wrong verdict) <= α. Without ε the changes are shares themselves."""
    S, S_low = changes.shares(epsilon), changes.shares(epsilon, failures_exceed=False)
    bets = both_ways(changes.n_trials, delta, alpha)
    bets.run(_shares_of(S, S_low, 1), until=changes.seen)
    zeta = zeta if _may_toss(bets, changes) else 1.0
    stable, unstable = _succeeded(bets, zeta)
    hedge_at, mirror_at = bets.reached_at
    if zeta == 1 and stable and unstable:  # without a coin the first to reach 1 decides
        stable = hedge_at <= mirror_at
    reached = bets.reached_at[bets.reached_at > 0]
    return Judgement(
        verdict="stable" if stable else "unstable" if unstable else "inconclusive",
        acceptance_probability=1.0 if hedge_at else float(bets.u[0]),
        e_value=float(bets.u[0]) / alpha,
        used=int(reached.min()) if reached.size and zeta == 1 else changes.seen,
        compute_pvalues=lambda: _pvalues(changes.n_trials, S, S_low, delta, alpha, zeta),
    )


def both_ways(n_trials: int, delta: float, alpha: float) -> Bets:
    """Return the hedge and the mirror, which decide a question together."""
    return Bets(n_trials, delta, alpha, mirror=[False, True])


def decided(bets: Bets, coin: bool = False) -> bool:
    """Say whether hedge and mirror may stop: the verdict stands, whatever trials follow.

    With a coin the hedge must have reached 1, or both have ended: what is left of it decides.
    """
    ended = (bets.reached_at > 0) | (bets.u == 0)
    if not coin:
        return bool((bets.reached_at > 0).any())
    return bool(bets.reached_at[0] > 0 or ended.all())


def _may_toss(bets: Bets, changes: Changes) -> bool:
    """ζ is compared once: never in a run that was cut short, and not where nothing was seen."""
    return changes.seen > 0 and (changes.seen == changes.n_trials or decided(bets, coin=True))


def _shares_of(S: Floats, S_low: Floats, n_hedges: int) -> Shares:
    """Give the hedges, which are the first rows, one share and the mirrors the other."""
    two = np.stack([S, S_low])
    return lambda rows, a, b: two[(rows >= n_hedges).astype(np.intp), a:b]


def _succeeded(bets: Bets, zeta: float) -> NDArray[np.bool_]:
    """Say which processes reach 1, or the coin."""
    return (bets.reached_at > 0) | ((zeta < 1) & (bets.u >= zeta * ONE))


@np.errstate(divide="ignore", under="ignore")
def _pvalues(
    n_trials: int, S: Floats, S_low: Floats, delta: float, alpha: float, zeta: float
) -> tuple[float, float]:
    """Bet at α, α/2, α/4, …, both ways; the first level that fails bounds p from below.

    P(p <= t) <= t at every t by Ville's inequality, and p <= α exactly if the bet at α succeeds.
    """
    n = _HALVINGS.size
    levels = np.tile(alpha * _HALVINGS, 2)
    bets = Bets(n_trials, delta, levels, mirror=np.repeat([False, True], n))
    bets.run(_shares_of(S, S_low, n), until=S.size)
    alone = zeta * levels / bets.u if zeta < 1 else levels / bets.top
    succeeded = _succeeded(bets, zeta)
    p, q = (_smallest(levels[at], alone[at], succeeded[at]) for at in (slice(n), slice(n, None)))
    return p, q


def _smallest(levels: Floats, alone: Floats, succeeded: NDArray[np.bool_]) -> float:
    failed = np.append(~succeeded, True)
    j = int(failed.argmax())  # the first level that fails
    last = float(levels[j - 1]) if j else 1.0
    return min(last, float(alone[j])) if j < levels.size else last


def upper_delta(changes: Changes, epsilon: float | None, alpha: float, zeta: float = 1.0) -> float:
    """Compute the upper limit for δ*; it is that of the test without a coin."""
    return _upper_delta(changes.shares(epsilon), changes.n_trials, alpha)


def lower_delta(changes: Changes, epsilon: float | None, alpha: float) -> float:
    """Compute the lower limit for δ*."""
    S = changes.shares(epsilon, failures_exceed=False)
    return _lower_delta(S, changes.n_trials, alpha)


def delta_interval(
    changes: Changes, epsilon: float | None, alpha: float, zeta: float = 1.0
) -> tuple[float, float]:
    """Compute limits for δ* that hold together: each at α/2, never inside a one-sided limit."""
    lows = [lower_delta(changes, epsilon, level) for level in (alpha / 2, alpha)]
    highs = [upper_delta(changes, epsilon, level) for level in (alpha / 2, alpha)]
    return min(lows), max(highs)


def _upper_delta(S: Floats, n_trials: int, alpha: float) -> float:
    """Go down from 1/2 while the hedge at each δ accepts; above 1/2 the open-ended limit holds.

    If δ* is above the limit, the hedge accepted at the first value below δ*, where it is unstable.
    """
    if mixture(S, 0.5) * alpha < ONE:
        return mixture_delta_hat(S, alpha)
    # below this δ no hedge accepts, not even without a change
    least = -math.expm1(math.log(alpha) / n_trials)
    size = 1 + max(0, math.ceil(math.log(0.5 / least, _STEP)))
    grid = np.asarray(0.5 / _STEP ** np.arange(1, size + 1), dtype=np.float64)
    accepted = _walk(n_trials, S.size, grid, alpha, lambda at, a, b: S[a:b])
    return float(grid[accepted - 1]) if accepted else 0.5


def _lower_delta(S: Floats, n_trials: int, alpha: float) -> float:
    """Go up while the mirror at each δ accepts."""
    if not n_trials:
        return 0.0
    least = alpha / (2 * n_trials)
    grid = np.asarray(least * _STEP ** np.arange(-math.log(least, _STEP)), dtype=np.float64)
    accepted = _walk(n_trials, S.size, grid, alpha, lambda at, a, b: S[a:b], mirror=True)
    return float(grid[accepted - 1]) if accepted else 0.0


def upper_epsilon(changes: Changes, delta: float, alpha: float, zeta: float = 1.0) -> float:
    """Compute the upper limit for ε*; it is that of the test without a coin.

    Goes down the changes, and then to 0, while the hedge on the shares beyond each accepts. It
    must not be bisected: a bet may fail at one value and accept at a smaller one.
    """
    table = changes.failures_largest
    if changes.n_trials * table.shape[1] > _MANY:
        table = _three_digits(table, np.ceil, np.fmax)
    steps = _steps(table)[::-1]
    accepted = _walk(
        changes.n_trials,
        changes.seen,
        np.full(steps.size, delta, dtype=np.float64),
        alpha,
        _beyond(table, steps, changes),
    )
    return float(steps[accepted - 1]) if accepted else math.inf


def lower_epsilon(changes: Changes, delta: float, alpha: float) -> float:
    """Compute the lower limit for ε*: failures exceed nothing."""
    table = changes.failures_zero
    if changes.n_trials * table.shape[1] > _MANY:
        table = _three_digits(table, np.floor, np.fmin)
    steps = _steps(table)
    shares = _beyond(table, steps, changes)
    accepted = _walk(
        changes.n_trials,
        changes.seen,
        np.full(steps.size, delta, dtype=np.float64),
        alpha,
        shares,
        mirror=True,
    )
    return float(steps[accepted]) if accepted < steps.size else math.inf


@np.errstate(all="ignore")
def _three_digits(table: Floats, whole: Any, outwards: Any) -> Floats:
    """Round to three significant digits, a grid fixed beforehand, never to the other side."""
    unit = 10.0 ** (np.floor(np.log10(table)) - 2)
    noise = 1 - NOISE if whole is np.ceil else 1 + NOISE
    return np.asarray(outwards(whole(table / unit * noise) * unit, table))


def _steps(table: Floats) -> Floats:
    """List the distinct finite changes and 0, upwards: shares jump nowhere else."""
    return np.unique(np.append(table[np.isfinite(table) & (table >= 0)], 0.0))


def _beyond(table: Floats, steps: Floats, changes: Changes) -> Shares:
    """Give each row the shares beyond its step."""
    columns = np.ascontiguousarray(table.T)

    def shares(rows: NDArray[np.intp], a: int, b: int) -> Floats:
        counts = np.sum(columns[:, None, a:b] > steps[rows, None], axis=0)
        return np.asarray(counts / changes.sizes[a:b])

    return shares


def _walk(
    n_trials: int, seen: int, delta: Floats, alpha: float, shares: Shares, mirror: bool = False
) -> int:
    """Count the values that succeed, from the first on, up to the first that does not."""
    for start in range(0, delta.size, _ROWS):
        bets = Bets(n_trials, delta[start : start + _ROWS], alpha, mirror)
        bets.run(partial(_from_row, shares, start), until=seen)
        failed = bets.reached_at == 0
        if failed.any():
            return start + int(failed.argmax())
    return delta.size


def _from_row(shares: Shares, start: int, rows: NDArray[np.intp], a: int, b: int) -> Floats:
    return shares(rows + start, a, b)


def profile(
    changes: Changes, alpha: float, levels: Sequence[float] = LEVELS
) -> tuple[Floats, Floats]:
    """Compute upper limits for δ* that hold at every ε at once: from ε_i on it is δ_i.

    The steps ε_0 = 0 < ε_1 < … and the limits δ_0 >= δ_1 >= …, all of ``levels``, which must be
    fixed beforehand, or 1: each ε̂ holds at α/J (union over J quantiles).
    """
    found = [upper_epsilon(changes, delta, alpha / len(levels)) for delta in levels]
    steps = np.unique([0.0, *(each for each in found if each < math.inf)])
    limits = [
        min((d for d, e in zip(levels, found, strict=True) if e <= s), default=1.0) for s in steps
    ]
    return steps, np.array(limits)
