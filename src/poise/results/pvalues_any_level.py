"""P-values that may be compared with any level, also of a test that was made for one level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.results.averaged_result import followed, pvalue_of_bet
from poise.theory.decision import declares

if TYPE_CHECKING:
    from poise.results.trials import Trials

__all__ = ["pvalues_at_any_level"]

_STEPS = 40  # halvings of the level: the smallest p-value is about 1e-12 of it


def pvalues_at_any_level(
    trials: Trials,
    asked: tuple[float, float],
    alpha: float,
    randomized: bool = False,
    test: str = "auto",
) -> tuple[float, float]:
    """Return p-values for "not stable" and for "stable", not limited by the level of the test.

    The p-values of the Binomial test do not depend on its level. A bet of the averaged test aims
    at its level α, and its p-value is hardly ever smaller. So the bet is made again, from the same
    trials, at α/2, α/4, … as long as it succeeds: the p-value is that of the first bet that fails,
    but at most the level of the last that succeeded.

    P(p ≤ t) ≤ t for every t: p ≤ t < α implies that the bet at the largest level of the sequence
    that is not above t has a p-value of at most t. And p ≤ α exactly if the first bet succeeds:
    the rounding that a bet is granted is used up here, so that p is compared exactly afterwards,
    like a p-value of the Binomial test.

    Parameters
    ----------
    trials : Trials
        The trials.
    asked : pair of float
        ε and δ.
    alpha : float
        The level of the first bet, in (0, 1).
    randomized : bool
        Whether the test tosses its coin.
    test : {"auto", "binomial", "averaged"}
        As in :meth:`poise.Trials.test`.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([[[0.1, 0.1]]] * 60, n=5)
    >>> stable, unstable = pvalues_at_any_level(trials, (0.2, 0.1), 0.05)
    >>> round(trials.test(0.2, 0.1).pvalue, 4), round(stable, 4), unstable
    (0.05, 0.0031, 1.0)
    """
    if test == "binomial" or (test == "auto" and not trials.design.shape):
        result = trials.test(*asked, alpha, randomized, "binomial")
        return result.pvalue, result.pvalue_unstable
    best, going, above, level = [1.0, 1.0], [True, True], 1.0, alpha
    for _ in range(_STEPS):
        for side, pvalue in enumerate(_at(trials, asked, level, randomized)):
            if going[side]:
                going[side] = declares(pvalue, level, bet=True)
                best[side] = min(pvalue, level if going[side] else above)
        if not any(going):
            break
        above, level = level, level / 2
    return best[0], best[1]


def _at(
    trials: Trials, asked: tuple[float, float], level: float, randomized: bool
) -> tuple[float, float]:
    """Make both bets at one level."""
    test = followed(trials, *asked, level, randomized)
    tossed = randomized and test.forced
    zeta = trials.design.zeta if tossed else 1.0
    assert test.mirror is not None
    return pvalue_of_bet(test.hedge, zeta, tossed), pvalue_of_bet(test.mirror, zeta, tossed)
