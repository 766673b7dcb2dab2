"""Processes of the averaged test, many side by side: supermartingales from the trials' shares.

Trial k shows S_k, its share of changes beyond ε; the shares are i.i.d. with mean δ*. The *hedge*
grows where δ* < δ, the *mirror* where δ* > δ:

    u_0 = α,    u_k = u_{k-1} (1 + c_k (δ - S_k) / (1 - δ))    or    u_{k-1} (1 + c_k (S_k - δ) / δ)

with a fraction c_k in [0, 1] chosen before S_k is seen. Otherwise u is a non-negative
supermartingale, so it reaches 1 with probability at most α (Theorem A). The fraction is that of a
Binomial test with the trials that are left and the level u: on shares of 0 and 1 the hedge is the
Binomial test (Theorem C), on fractions it needs far fewer trials.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import checks
from poise.theory.binomial_law import NOISE, ONE, QUICK, Floats, plain, search
from poise.theory.changes import listed, planned

Shares = Callable[[NDArray[np.intp], int, int], Floats]

_PRETENDED = 5.0  # trials of mean and spread δ before the first: without them losses up to .26
_SURPLUS = 0.1  # aim above 1 while shares are fractions: without it u ends at .97
_LEAST_LEVEL = 1e-200
_HOLD = 64  # a fraction is held for this part of the trials left: no power is lost, time is saved
_MOST_NUMBERS = 2**20


def fraction(
    u: ArrayLike,
    trials_left: ArrayLike,
    sum: ArrayLike,
    sum_of_squares: ArrayLike,
    delta: ArrayLike,
    *,
    mirror: bool = False,
) -> Any:
    """Compute the fraction c with which the next trial enters the hedge, or the mirror.

    Any c in [0, 1] keeps the level; this one makes the test the Binomial test on 0/1 shares. ``u``
    is the process now, ``trials_left`` counts the next trial too, and the sums are ΣS and ΣS² of
    the trials seen.

    Examples
    --------
    >>> fraction(0.05, 30, 0.0, 0.0, delta=0.1)
    0.949274...
    """
    given = {"u": u, "sum": sum, "sum_of_squares": sum_of_squares}
    rule = "a finite number >= 0"
    now, s1, s2 = (checks.reals(name, each, rule) for name, each in given.items())
    left = checks.counts("trials_left", trials_left, 1).astype(np.float64)
    return plain(_fraction(now, left, s1, s2, checks.deltas(delta), np.asarray(mirror)))


@np.errstate(all="ignore")
def _fraction(
    u: Floats, left: Floats, s1: Floats, s2: Floats, delta: Floats, mirror: NDArray[np.bool_]
) -> Floats:
    won = np.where(mirror, delta, 1 - delta)
    worth = (_PRETENDED * delta + s2) / (_PRETENDED * delta + s1)  # what one exceedance is worth
    narrow = worth <= delta
    worth = np.where(narrow, 1.0, worth)
    p, level = delta / worth, u / (1 + _SURPLUS * (1 - worth))
    x, y = np.where(mirror, 1 - p, p), np.where(mirror, p, 1 - p)
    c = won * _cost_of_one(left, x, y, level) / (worth * level)
    all_in = (u * ONE <= won**left) | (narrow & ~mirror) | ~(c < 1 - NOISE)  # nan: all in, too
    return np.where(u >= 1, 0.0, np.where(all_in, 1.0, np.maximum(c, 0.0)))


def _cost_of_one(m: Floats, x: Floats, y: Floats, level: Floats) -> Floats:
    """Compute what one exceedance costs a Binomial test: (1 - a) b(k-1; m-1) + a b(k; m-1)."""
    usual = (x > 0) & (y > 0) & (level > _LEAST_LEVEL) & (level < 1)
    m = np.broadcast_to(m, usual.shape)
    x_, y_, level_ = (np.where(usual, each, 0.5) for each in (x, y, level))
    k, below, atom = search(m, x_, y_, level_, QUICK)
    a = np.clip((level - below) / atom, 0, 1)
    return np.where(usual, atom * ((1 - a) * k / (m * x) + a * (m - k) / (m * y)), np.nan)


class Processes:
    """Processes side by side, each with its own δ, level and direction.

    ``u`` and ``top`` are each process now and its largest value so far; one that reached 1, after
    ``reached_at`` trials (0: it did not), stays where it did. ``fraction`` is that of the last
    trial.
    """

    def __init__(
        self, n_trials: int, delta: ArrayLike, alpha: ArrayLike, mirror: ArrayLike = False
    ) -> None:
        rows = np.broadcast_arrays(np.atleast_1d(np.asarray(delta, dtype=float)), alpha, mirror)
        self.delta, alphas, self.mirror = (np.array(each) for each in rows)
        self.n_trials, self.trials, self._block_end = n_trials, 0, 0
        self.u = alphas.astype(float)
        self.top, self.fraction = self.u.copy(), np.ones_like(self.u)
        self.reached_at = np.zeros(self.u.shape, dtype=np.int64)
        self._sum, self._sum_of_squares = np.zeros_like(self.u), np.zeros_like(self.u)
        self._gain_of_1 = np.where(self.mirror, self.delta, self.delta - 1)

    @property
    def live(self) -> NDArray[np.intp]:
        """The processes that reached neither 1 nor 0."""
        return np.flatnonzero((self.u > 0) & (self.reached_at == 0))

    def run(self, shares: Shares, until: int | None = None) -> Processes:
        """Go on to trial ``until``; ``shares(rows, a, b)`` are those of the trials a … b - 1.

        They are asked for the live rows only, and may be of any shape that broadcasts to
        (rows, b - a). Where a run stops and goes on makes no difference.
        """
        end = self.n_trials if until is None else until
        while self.trials < end:
            rows = self.live
            if not rows.size:
                self.trials = end
                break
            if self.trials >= self._block_end:
                self._choose(rows)
            stop = min(self._block_end, end, self.trials + max(1, _MOST_NUMBERS // rows.size))
            table = np.broadcast_to(
                shares(rows, self.trials, stop), (rows.size, stop - self.trials)
            )
            self._step(rows, table)
            self.trials = stop
        return self

    def _choose(self, rows: NDArray[np.intp]) -> None:
        left = self.n_trials - self.trials
        self._block_end = self.trials + max(1, left // _HOLD)
        of_rows = (self._sum[rows], self._sum_of_squares[rows], self.delta[rows], self.mirror[rows])
        self.fraction[rows] = _fraction(self.u[rows], np.asarray(float(left)), *of_rows)

    @np.errstate(all="ignore")
    def _step(self, rows: NDArray[np.intp], S: Floats) -> None:
        c, delta = self.fraction[rows, None], self.delta[rows, None]
        # in this order of operations a share of 1 leaves exactly 0 where c = 1
        path = np.maximum(1 + c * ((S - delta) / self._gain_of_1[rows, None]), 0.0)
        sure = (self.mirror & (self.delta == 0))[rows]
        if sure.any():
            path[sure] = np.where(S[sure] > 0, np.inf, 1.0)
        path[:, 0] *= self.u[rows]
        np.cumprod(path, axis=1, out=path)
        reached = path >= ONE
        hit = reached.any(axis=1)
        last = np.where(hit, reached.argmax(axis=1), S.shape[1] - 1)
        self.u[rows] = path[np.arange(rows.size), last]
        self.top[rows] = np.maximum(self.top[rows], np.where(hit, self.u[rows], path.max(axis=1)))
        self.reached_at[rows] = np.where(hit, self.trials + last + 1, 0)
        self._sum[rows] = _added(self._sum[rows], S)
        self._sum_of_squares[rows] = _added(self._sum_of_squares[rows], S * S)


def _added(start: Floats, numbers: Floats) -> Floats:
    """Add along rows one by one, so that stopping between changes no digit."""
    terms = np.column_stack([start, numbers])
    return np.asarray(np.cumsum(terms, axis=1)[:, -1])


class Path(NamedTuple):
    """The course of one process: fractions, values u, whether it reached 1, trials used."""

    fractions: Floats
    values: Floats
    accepted: bool
    trials_used: int


def hedge(S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None) -> Path:
    """Run the hedge over the shares until it reaches 1 or 0, or the shares end.

    P(it reaches 1) <= α if δ* >= δ (Theorem A). That it does not says nothing about "unstable":
    see :func:`mirror`.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; a failed change counts as one beyond ε.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.
    n_trials : int, optional
        Planned number of trials, if ``S`` holds the first of them.

    Examples
    --------
    >>> path = hedge([0.0, 0.1] * 20, delta=0.2, alpha=0.05)
    >>> path.accepted, path.trials_used
    (True, 31)
    """
    return _path(S, delta, alpha, n_trials, mirror=False)


def mirror(S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None) -> Path:
    """Run the mirror over the shares: as :func:`hedge`, but "accepted" means "unstable".

    P(it reaches 1) <= α if δ* <= δ. A failed change counts as none: shares must be exact or too
    small, never upper bounds.

    Examples
    --------
    >>> mirror([0.2, 0.6] * 20, delta=0.2, alpha=0.05).trials_used
    24
    """
    return _path(S, delta, alpha, n_trials, mirror=True)


def _path(S: ArrayLike, delta: float, alpha: float, n_trials: int | None, mirror: bool) -> Path:
    shares = listed("S", S)
    m = planned("S", shares.size, n_trials)
    processes = Processes(m, checks.delta(delta), checks.alpha(alpha), mirror)
    steps = []
    while processes.trials < shares.size and processes.live.size:
        processes.run(lambda rows, a, b: shares[a:b], until=processes.trials + 1)
        steps.append((processes.fraction[0], processes.u[0]))
    fractions, values = np.array(steps).reshape(-1, 2).T
    return Path(fractions, values, bool(processes.reached_at[0]), processes.trials)


@np.errstate(under="ignore")
def all_in(S: ArrayLike, delta: float, alpha: float) -> float:
    """Compute u_m with every fraction 1: α Π (1 - S_k) / (1 - δ).

    With the coin it attains the ceiling α ((1 - δ*) / (1 - δ))^m on the power of every valid test
    of the shares where u_m <= 1 surely (Theorem B). One share of 1 leaves 0 for good.

    Examples
    --------
    >>> all_in([0.05, 0.0, 0.1], delta=0.2, alpha=0.5)
    0.834960...
    """
    factors = (1 - listed("S", S)) / (1 - checks.delta(delta))
    return float(checks.alpha(alpha) * np.prod(factors))
