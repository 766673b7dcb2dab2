"""A mixture of the hedge with a fixed horizon and an open-ended process.

The hedge is the more powerful of the two, but it ends once u = 0, or when the planned
trials are used up.  The open-ended process never ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise import arguments
from poise.theory.betting_process import Hedge, checked_shares
from poise.theory.open_ended_process import OpenEnded
from poise.theory.rounding import reaches

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Portfolio", "portfolio"]

# This share of α is bet on the hedge, the rest on the open-ended process.
_ON_THE_HEDGE = 0.8


class Portfolio:
    """Stake four fifths of α on the hedge and one fifth on the open-ended process.

    Their sum u + (α/5) E_t is a supermartingale that starts at α if δ* ≥ δ, so
    P(it ever reaches 1) ≤ α.  The hedge alone ends once its u is 0, or when its horizon is
    over; the portfolio goes on.

    Parameters
    ----------
    n_trials : int, at least 0
        The hedge's horizon.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.

    Attributes
    ----------
    hedge : Hedge
        Started at 4α/5.
    open_ended : OpenEnded
        Its evidence counts α/5.
    values : list of float
        The sum after each trial.
    accepted : bool
        Whether the sum has ever reached 1: the verdict is then "stable".

    Examples
    --------
    >>> both = Portfolio(60, delta=0.1, alpha=0.05)
    >>> while not both.update(0.02):
    ...     pass
    >>> both.trials
    45
    """

    def __init__(self, n_trials: int, delta: float, alpha: float) -> None:
        self.delta, self.alpha = float(arguments.delta(delta)), float(arguments.alpha(alpha))
        self.hedge = Hedge(n_trials, delta, _ON_THE_HEDGE * self.alpha)
        self.open_ended = OpenEnded()
        self.values: list[float] = []
        self.accepted = False

    @property
    def trials(self) -> int:
        """Number of trials seen so far."""
        return len(self.values)

    @property
    def value(self) -> float:
        """The sum now, α at the start."""
        return self.values[-1] if self.values else self.alpha

    @property
    def e_value(self) -> float:
        """Evidence for "stable", valid at any stopping time."""
        return self.value / self.alpha

    def update(self, share: float) -> bool:
        """Take in the share of the next trial; return whether the sum has reached 1."""
        if not self.hedge.accepted and self.hedge.trials < self.hedge.n_trials:
            self.hedge.update(share)
        self.open_ended.update(share)
        rest = (1 - _ON_THE_HEDGE) * self.alpha
        self.values.append(self.hedge.value + rest * self.open_ended.e_value(self.delta))
        self.accepted |= reaches(self.value)
        return self.accepted


def portfolio(
    S: ArrayLike, delta: float, alpha: float, *, n_trials: int | None = None
) -> Portfolio:
    """Run the portfolio over the shares until it reaches 1 or the shares end.

    Parameters
    ----------
    S : array of shares in [0, 1]
        One for each trial, in plan order.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.
    n_trials : int, optional
        The hedge's horizon, the number of shares if not given; it may be smaller.

    Returns
    -------
    Portfolio
        ``accepted``, ``trials``, ``values``, ``e_value``.

    Examples
    --------
    >>> portfolio([0.02] * 60, delta=0.1, alpha=0.05).trials
    45
    """
    shares = checked_shares(S)
    both = Portfolio(len(shares) if n_trials is None else n_trials, delta, alpha)
    for share in shares:
        if both.update(share):
            break
    return both
