"""The averaged test: verdict, p-values and limits from the share of changes beyond ε in each trial.

Verdicts come from one process in each direction at level α. It says little about other levels, so
p-values and limits have processes of their own: at levels α, α/2, α/4, …, and at every δ (or ε) of
a grid fixed beforehand, until the first that does not succeed. Each is valid by itself, whenever
the run was stopped. The first half is for those who have shares, or changes, and nothing else; the
second takes a table of changes, as :mod:`poise.theory.binomial` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import checks
from poise.theory.anytime import mixture, mixture_delta_hat
from poise.theory.binomial_law import NOISE, ONE, Floats
from poise.theory.changes import Changes, Judgement, listed, planned, union_profile
from poise.theory.martingales import Processes, Shares

_HALVINGS = 2.0 ** -np.arange(40)
_STEP = 1.01  # ratio of the grid of δ: limits are at most 1% too wide
_MANY = 2000  # changes; beyond, limits of ε are rounded to three digits
_ROWS = 64  # processes side by side while a grid is walked


def verdict(
    S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None
) -> tuple[int, str]:
    """Run hedge and mirror; the first to reach 1 decides, and both at one trial say "stable".

    One of the two null hypotheses is true, and only its process can mislead: P(wrong) <= α. The
    parameters are those of :func:`poise.theory.hedge`; returns the trials used and the verdict.

    Examples
    --------
    >>> verdict([0.0, 0.1] * 20, delta=0.2, alpha=0.05)
    (31, 'stable')
    """
    judged = _judged(S, delta, alpha, n_trials)
    return judged.used, judged.verdict


def averaged_pvalue(
    S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None
) -> float:
    """Compute the p-value of the averaged test against H0: δ* > δ, "the algorithm is not stable".

    P(p <= t) <= t under H0 at every t, and p <= α exactly if the test at α says "stable".

    Examples
    --------
    >>> round(averaged_pvalue([0.02] * 60, delta=0.1, alpha=0.05), 4)
    0.0061
    """
    return _judged(S, delta, alpha, n_trials).pvalue


def averaged_pvalue_unstable(
    S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None
) -> float:
    """Compute the p-value of the averaged test against H0: δ* <= δ; a failed change counts as none.

    Examples
    --------
    >>> round(averaged_pvalue_unstable([0.4] * 20, delta=0.1, alpha=0.05), 12)
    4.7e-11
    """
    return _judged(S, delta, alpha, n_trials).pvalue_unstable


def averaged_delta_hat(S: ArrayLike, alpha: float, *, n_trials: int | None = None) -> float:
    """Compute the upper limit for δ* of the averaged test; P(δ* <= limit) >= 1 - α.

    It is the smallest value of a grid, fixed beforehand, down to which the test accepts at every
    one; above 1/2 it is the limit of the open-ended process. It comes from tests of its own: a
    limit above δ may come with "stable".

    Examples
    --------
    >>> round(averaged_delta_hat([0.02] * 60, alpha=0.05), 4)
    0.0683
    """
    return upper_delta(_of_shares(S, n_trials), None, checks.alpha(alpha))


def averaged_delta_lower(S: ArrayLike, alpha: float, *, n_trials: int | None = None) -> float:
    """Compute the lower limit for δ* of the averaged test; P(δ* >= limit) >= 1 - α.

    Examples
    --------
    >>> round(averaged_delta_lower([0.4] * 20, alpha=0.05), 4)
    0.2776
    """
    return lower_delta(_of_shares(S, n_trials), None, checks.alpha(alpha))


def averaged_epsilon_hat(
    changes: ArrayLike | Sequence[ArrayLike],
    delta: float,
    alpha: float,
    *,
    n_trials: int | None = None,
) -> float:
    """Compute the upper limit for ε*, above which a change lies with probability at most δ.

    P(ε* <= limit) >= 1 - α. ``changes`` holds a list for each trial, in which nan is a failed fit;
    of more than 2,000 changes each is rounded up to three significant digits first.

    Examples
    --------
    >>> averaged_epsilon_hat([[0.1, 0.3], [0.2, 0.2]] * 15, delta=0.2, alpha=0.05)
    0.3
    """
    table = Changes.of(changes, n_trials)
    return upper_epsilon(table, checks.delta(delta), checks.alpha(alpha))


def _judged(S: ArrayLike, delta: float, alpha: float, n_trials: int | None) -> Judgement:
    return judge(_of_shares(S, n_trials), None, checks.delta(delta), checks.alpha(alpha))


def _of_shares(S: ArrayLike, n_trials: int | None) -> Changes:
    shares = listed("S", S)
    return Changes(shares[:, None], planned("S", shares.size, n_trials))


# The same for a table of changes.


def judge(
    changes: Changes, epsilon: float | None, delta: float, alpha: float, zeta: float = 1.0
) -> Judgement:
    """Answer one question; P(wrong verdict) <= α. Without ε the changes are shares themselves."""
    S, S_low = changes.shares(epsilon), changes.shares(epsilon, failures_exceed=False)
    processes = both_ways(changes.n_trials, delta, alpha)
    processes.run(_shares_of(processes, S, S_low), until=changes.seen)
    zeta = zeta if _may_toss(processes, changes) else 1.0
    stable, unstable = _succeeded(processes, zeta)
    hedge_at, mirror_at = processes.reached_at
    if zeta == 1 and stable and unstable:  # without a coin the first to reach 1 decides
        stable = hedge_at <= mirror_at
    reached = processes.reached_at[processes.reached_at > 0]
    return Judgement(
        verdict="stable" if stable else "unstable" if unstable else "inconclusive",
        acceptance_probability=1.0 if hedge_at else float(processes.u[0]),
        e_value=float(processes.u[0]) / alpha,
        used=int(reached.min()) if reached.size and zeta == 1 else changes.seen,
        compute_pvalues=lambda: _pvalues(changes.n_trials, S, S_low, delta, alpha, zeta),
    )


def both_ways(n_trials: int, delta: float, alpha: float) -> Processes:
    """Return the hedge and the mirror, which decide a question together."""
    return Processes(n_trials, delta, alpha, mirror=[False, True])


def decided(processes: Processes, coin: bool = False) -> bool:
    """Say whether hedge and mirror may stop: the verdict stands, whatever trials follow.

    With a coin the hedge must have reached 1, or both have ended: what is left of it decides.
    """
    reached = processes.reached_at > 0
    return bool(reached[0] or ((reached | (processes.u == 0)).all() if coin else reached.any()))


def _may_toss(processes: Processes, changes: Changes) -> bool:
    """ζ is compared once: never in a run that was cut short, and not where nothing was seen."""
    return changes.seen > 0 and (changes.seen == changes.n_trials or decided(processes, coin=True))


def _shares_of(processes: Processes, S: Floats, S_low: Floats) -> Shares:
    """Give the hedges one share and the mirrors the other."""
    two, side = np.stack([S, S_low]), processes.mirror.astype(np.intp)
    return lambda rows, a, b: two[side[rows], a:b]


def _succeeded(processes: Processes, zeta: float) -> NDArray[np.bool_]:
    """Say which processes reach 1, or the coin."""
    return (processes.reached_at > 0) | ((zeta < 1) & (processes.u >= zeta * ONE))


@np.errstate(divide="ignore", under="ignore")
def _pvalues(
    n_trials: int, S: Floats, S_low: Floats, delta: float, alpha: float, zeta: float
) -> tuple[float, float]:
    """Run processes at α, α/2, α/4, … in both directions; the first that fails bounds p from below.

    P(p <= t) <= t at every t by Ville's inequality, and p <= α exactly if that at α succeeds.
    """
    n = _HALVINGS.size
    levels = np.tile(alpha * _HALVINGS, 2)
    processes = Processes(n_trials, delta, levels, mirror=np.repeat([False, True], n))
    processes.run(_shares_of(processes, S, S_low), until=S.size)
    alone = zeta * levels / processes.u if zeta < 1 else levels / processes.top
    succeeded = _succeeded(processes, zeta)
    p, q = (_smallest(levels[at], alone[at], succeeded[at]) for at in (slice(n), slice(n, None)))
    return p, q


def _smallest(levels: Floats, alone: Floats, succeeded: NDArray[np.bool_]) -> float:
    failed = np.append(~succeeded, True)
    j = int(failed.argmax())  # the first level that fails
    last = float(levels[j - 1]) if j else 1.0
    return min(last, float(alone[j])) if j < levels.size else last


def upper_delta(changes: Changes, epsilon: float | None, alpha: float) -> float:
    """Compute the upper limit for δ*; it is that of the test without a coin.

    Goes down from 1/2 while the hedge at each δ accepts; above 1/2 the open-ended limit holds. If
    δ* is above the limit, the hedge accepted at the first value below δ*, where it is unstable.
    """
    S, m = changes.shares(epsilon), changes.n_trials
    if mixture(S, 0.5) * alpha < ONE:
        return mixture_delta_hat(S, alpha)
    # below this δ no hedge accepts, not even without a change
    least = -math.expm1(math.log(alpha) / m)
    size = 1 + max(0, math.ceil(math.log(0.5 / least, _STEP)))
    grid = np.asarray(0.5 / _STEP ** np.arange(1, size + 1), dtype=np.float64)
    accepted = _walk(changes, grid, alpha, lambda rows, a, b: S[a:b])
    return float(grid[accepted - 1]) if accepted else 0.5


def lower_delta(changes: Changes, epsilon: float | None, alpha: float) -> float:
    """Compute the lower limit for δ*: go up while the mirror at each δ accepts."""
    if not changes.n_trials:
        return 0.0
    S, least = changes.shares(epsilon, failures_exceed=False), alpha / (2 * changes.n_trials)
    grid = least * _STEP ** np.arange(-math.log(least, _STEP))
    accepted = _walk(changes, grid, alpha, lambda rows, a, b: S[a:b], mirror=True)
    return float(grid[accepted - 1]) if accepted else 0.0


def upper_epsilon(changes: Changes, delta: float, alpha: float) -> float:
    """Compute the upper limit for ε*; it is that of the test without a coin."""
    steps, accepted = _walk_epsilon(changes, delta, alpha, mirror=False)
    return float(steps[accepted - 1]) if accepted else math.inf


def lower_epsilon(changes: Changes, delta: float, alpha: float) -> float:
    """Compute the lower limit for ε*: failures exceed nothing."""
    steps, accepted = _walk_epsilon(changes, delta, alpha, mirror=True)
    return float(steps[accepted]) if accepted < steps.size else math.inf


def _walk_epsilon(changes: Changes, delta: float, alpha: float, mirror: bool) -> tuple[Floats, int]:
    """Go through the distinct changes and 0, where alone shares jump: down, or up for the mirror.

    It must not be bisected: the process may fail at one value and accept at a smaller one.
    """
    table = changes.failures_zero if mirror else changes.failures_largest
    if changes.n_trials * table.shape[1] > _MANY:
        table = _three_digits(table, down=mirror)
    steps = np.unique(np.append(table[np.isfinite(table)], 0.0))
    steps = steps if mirror else steps[::-1]
    columns = np.ascontiguousarray(table.T)

    def shares(rows: NDArray[np.intp], a: int, b: int) -> Floats:
        beyond = np.sum(columns[:, None, a:b] > steps[rows, None], axis=0)
        return np.asarray(beyond / len(columns))

    return steps, _walk(changes, np.full(steps.size, float(delta)), alpha, shares, mirror)


@np.errstate(all="ignore")
def _three_digits(table: Floats, down: bool) -> Floats:
    """Round to three significant digits, a grid fixed beforehand, never to the other side."""
    unit = 10.0 ** (np.floor(np.log10(table)) - 2)
    if down:
        return np.fmin(np.floor(table / unit * (1 + NOISE)) * unit, table)
    return np.fmax(np.ceil(table / unit * (1 - NOISE)) * unit, table)


def _walk(
    changes: Changes, delta: Floats, alpha: float, shares: Shares, mirror: bool = False
) -> int:
    """Count the values that succeed, from the first on, up to the first that does not."""
    for start in range(0, delta.size, _ROWS):
        processes = Processes(changes.n_trials, delta[start : start + _ROWS], alpha, mirror)

        def from_start(rows: NDArray[np.intp], a: int, b: int, start: int = start) -> Floats:
            return shares(rows + start, a, b)

        processes.run(from_start, until=changes.seen)
        failed = processes.reached_at == 0
        if failed.any():
            return start + int(failed.argmax())
    return delta.size


profile = partial(union_profile, upper_epsilon)
