"""The averaged test, for those who have the shares of their trials and no table of changes."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from poise import checks
from poise.theory import averaged
from poise.theory.betting import checked_shares
from poise.theory.changes import Changes, Judgement, planned


def verdict(
    S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None
) -> tuple[int, str]:
    """Run hedge and mirror; the first to reach 1 decides, and both at one trial are stable.

    One of the two null hypotheses is true, and only its bet can mislead: P(wrong) <= α.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.
    n_trials : int, optional
        Planned number of trials, if ``S`` holds the first of them.

    Returns
    -------
    trials_used : int
    verdict : {"stable", "unstable", "inconclusive"}

    Examples
    --------
    >>> verdict([0.0, 0.1] * 20, delta=0.2, alpha=0.05)
    (31, 'stable')
    """
    judged = _judged(S, delta, alpha, 1.0, n_trials)
    return judged.used, judged.verdict


def _of_shares(S: ArrayLike, n_trials: int | None) -> Changes:
    shares = checked_shares(S)
    return Changes(shares[:, None], planned("S", shares.size, n_trials))


def averaged_pvalue(
    S: ArrayLike, delta: float, alpha: float, zeta: float = 1.0, *, n_trials: int | None = None
) -> float:
    """Compute the p-value of the averaged test against H0: δ* > δ, "the algorithm is not stable".

    P(p <= t) <= t under H0 at every t, and p <= α exactly if the test at α says "stable".

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; a failed change counts as one beyond ε.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level at which p is sharpest; bets are made at α, α/2, α/4, …
    zeta : float in [0, 1], default 1
        The test's own uniform random number; 1 is the test without a coin.
    n_trials : int, optional
        Planned number of trials, if ``S`` holds the first of them.

    Returns
    -------
    float

    Examples
    --------
    >>> round(averaged_pvalue([0.02] * 60, delta=0.1, alpha=0.05), 4)
    0.0061
    """
    return _judged(S, delta, alpha, zeta, n_trials).pvalue


def averaged_pvalue_unstable(
    S: ArrayLike, delta: float, alpha: float, zeta: float = 1.0, *, n_trials: int | None = None
) -> float:
    """Compute the p-value of the averaged test against H0: δ* <= δ, "the algorithm is stable".

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; a failed change counts as none.
    delta, alpha, zeta, n_trials
        As for :func:`averaged_pvalue`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(averaged_pvalue_unstable([0.4] * 20, delta=0.1, alpha=0.05), 12)
    4.7e-11
    """
    return _judged(S, delta, alpha, zeta, n_trials).pvalue_unstable


def _judged(
    S: ArrayLike, delta: float, alpha: float, zeta: float, n_trials: int | None
) -> Judgement:
    coin = checks.number("zeta", zeta, "a number in [0, 1]", low=0, high=1)
    changes = _of_shares(S, n_trials)
    return averaged.judge(changes, None, checks.delta(delta), checks.alpha(alpha), coin)


def averaged_delta_hat(S: ArrayLike, alpha: float, *, n_trials: int | None = None) -> float:
    """Compute the upper limit for δ* of the averaged test.

    P(δ* <= limit) >= 1 - α. It is the smallest value of a grid, fixed beforehand, down to which the
    test accepts at every one; above 1/2 it is the limit of the open-ended process. It comes from
    tests of its own: a limit above δ may stand beside "stable".

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; a failed change counts as one beyond ε.
    alpha : float in (0, 1)
        One minus the confidence.
    n_trials : int, optional
        Planned number of trials, if ``S`` holds the first of them.

    Returns
    -------
    float

    Examples
    --------
    >>> round(averaged_delta_hat([0.02] * 60, alpha=0.05), 4)
    0.0683
    """
    return averaged.upper_delta(_of_shares(S, n_trials), None, checks.alpha(alpha))


def averaged_delta_lower(S: ArrayLike, alpha: float, *, n_trials: int | None = None) -> float:
    """Compute the lower limit for δ* of the averaged test; P(δ* >= limit) >= 1 - α.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order; a failed change counts as none.
    alpha, n_trials
        As for :func:`averaged_delta_hat`.

    Returns
    -------
    float
        0 if nothing is shown.

    Examples
    --------
    >>> round(averaged_delta_lower([0.4] * 20, alpha=0.05), 4)
    0.2776
    """
    return averaged.lower_delta(_of_shares(S, n_trials), None, checks.alpha(alpha))


def averaged_epsilon_hat(
    changes: ArrayLike | Sequence[ArrayLike],
    delta: float,
    alpha: float,
    *,
    n_trials: int | None = None,
) -> float:
    """Compute the upper limit for ε*, above which a change lies with probability at most δ.

    P(ε* <= limit) >= 1 - α. Of more than 2,000 changes each is rounded up to three significant
    digits first.

    Parameters
    ----------
    changes : array of shape (m, …), or a list of m lists; at least 0
        The changes of each trial; nan is a failed fit.
    delta : float in [0, 1)
        Allowed probability of a larger change.
    alpha : float in (0, 1)
        One minus the confidence.
    n_trials : int, optional
        Planned number of trials, if ``changes`` holds the first of them.

    Returns
    -------
    float
        In [0, ∞].

    Examples
    --------
    >>> averaged_epsilon_hat([[0.1, 0.3], [0.2, 0.2]] * 15, delta=0.2, alpha=0.05)
    0.3
    """
    return averaged.upper_epsilon(
        Changes.of(changes, n_trials), checks.delta(delta), checks.alpha(alpha)
    )


def averaged_epsilon_lower(
    changes: ArrayLike | Sequence[ArrayLike],
    delta: float,
    alpha: float,
    *,
    n_trials: int | None = None,
) -> float:
    """Compute the lower limit for ε*, above which a change lies with probability at most δ.

    P(ε* >= limit) >= 1 - α.

    Parameters
    ----------
    changes, delta, alpha, n_trials
        As for :func:`averaged_epsilon_hat`.

    Returns
    -------
    float
        In [0, ∞]; 0 if nothing is shown.

    Examples
    --------
    >>> averaged_epsilon_lower([[0.1, 0.3], [0.2, 0.2]] * 15, delta=0.2, alpha=0.05)
    0.2
    """
    return averaged.lower_epsilon(
        Changes.of(changes, n_trials), checks.delta(delta), checks.alpha(alpha)
    )
