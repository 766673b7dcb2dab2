"""Alpha-investing: levels of successive tests on fresh rows; each "stable" pays for later ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.theory.decision import declares
from poise.theory.online_levels import checked_sequence

__all__ = ["AlphaWealth", "Invested", "alpha_investing", "invested"]


@dataclass(frozen=True)
class AlphaWealth:
    """What is left to be put at stake, after some tests.

    Parameters
    ----------
    alpha : float
        The marginal false discovery rate that is promised, in (0, 1).
    wealth : float
        At the beginning α(1 − α).
    waiting : int
        How many tests were made since the last declaration.

    Examples
    --------
    >>> wealth = AlphaWealth.begin(0.05)
    >>> round(wealth.wealth, 5), round(wealth.level, 5)
    (0.0475, 0.0232)
    >>> round(wealth.after(wealth.level, declared=True).wealth, 5)
    0.0975
    >>> round(wealth.after(wealth.level, declared=False).wealth, 5)
    0.02375
    """

    alpha: float
    wealth: float
    waiting: int = 0

    @classmethod
    def begin(cls, alpha: float) -> AlphaWealth:
        """Return the wealth before the first test."""
        return cls(alpha, alpha * (1 - alpha))

    @property
    def level(self) -> float:
        """The level of the next test."""
        stake = self.wealth / (2 + self.waiting)
        return min(self.alpha, stake / (1 + stake))

    @property
    def largest_level(self) -> float:
        """The level that would put all of the wealth at stake."""
        return self.wealth / (1 + self.wealth)

    def after(self, level: float, declared: bool) -> AlphaWealth:
        """Return what is left after a test at this level."""
        if declared:
            return replace(self, wealth=self.wealth + self.alpha, waiting=0)
        left = max(0.0, self.wealth - level / (1 - level))
        return replace(self, wealth=left, waiting=self.waiting + 1)


@dataclass(frozen=True)
class Invested:
    """A sequence of tests: which levels they had, what was declared, and what is left.

    Attributes
    ----------
    levels : tuple of float
        The level of each test.
    declared : tuple of bool
        Whether its hypothesis was declared false.
    left : AlphaWealth
        What is left for further tests.
    """

    levels: tuple[float, ...]
    declared: tuple[bool, ...]
    left: AlphaWealth


def invested(alpha: float, given: Sequence[float], pvalues: Sequence[float]) -> Invested:
    """Follow tests whose levels were given to them before they were made.

    A test whose result is not known has the p-value 1 until it is: its stake is lost for the
    time being. A level is lowered where the wealth does not reach for it, which happens only if
    two who did not know of each other put the same wealth at stake.

    Parameters
    ----------
    alpha : float
        The marginal false discovery rate that is promised, in (0, 1).
    given : sequence of float
        The levels, in the order in which they were given.
    pvalues : sequence of float
        The p-values.

    Examples
    --------
    >>> both = invested(0.05, [0.0232, 0.0158], [0.01, 0.9])
    >>> both.declared, round(both.left.wealth, 4)
    ((True, False), 0.0814)
    >>> twice = invested(0.05, [0.04, 0.04], [0.9, 0.9])
    >>> [round(level, 4) for level in twice.levels], twice.left.wealth
    ([0.04, 0.0058], 0.0)
    """
    left, levels, declared = AlphaWealth.begin(alpha), [], []
    for level, pvalue in zip(given, pvalues, strict=True):
        levels.append(min(level, left.largest_level))
        declared.append(declares(pvalue, levels[-1]))
        left = left.after(levels[-1], declared[-1])
    return Invested(tuple(levels), tuple(declared), left)


def alpha_investing(pvalues: ArrayLike, alpha: float = 0.05) -> NDArray[np.float64]:
    r"""Give each test of a sequence its level before it is made, if all tests have fresh data.

    The wealth is :math:`W = \alpha\eta` at the beginning, with η = 1 − α. A test at level
    :math:`\alpha_j` puts :math:`\alpha_j/(1-\alpha_j)` at stake, which must not be more than W. It
    is lost unless the hypothesis is declared false (:math:`p_j \le \alpha_j`); a declaration
    pays α. After V false ones among R declarations

    .. math:: \mathrm{mFDR}_\eta = \frac{E[V]}{E[R] + \eta} \le \alpha

    (Foster and Stine 2008, Theorem 1), also if each hypothesis is chosen, and the end of the
    sequence decided, after looking at all earlier results. Proof: let
    :math:`A = \alpha R - V + \alpha\eta - W`, which is 0 at the beginning. If hypothesis j is
    false, A does not fall at test j. If it is true and is declared false with probability
    :math:`q \le \alpha_j` given the past, A grows by :math:`(\alpha_j - q)/(1 - \alpha_j) \ge 0` on
    average. So :math:`E[A] \ge 0`, and :math:`W \ge 0`.

    How much is put at stake is free. Here it is Foster and Stine's scheme: a half of the wealth
    after a declaration, a third if one more test has failed since, then a quarter, and so on. A
    level is never larger than α, so that each declaration keeps the level α by itself.

    It is *not* the chance that any declaration is false, which can be larger. And the p-values
    must be valid given the past, :math:`P(p_j \le \alpha_j \mid \text{past}) \le \alpha_j`:
    tests of fresh, independent rows are, tests of the same rows are not. For those take
    :func:`online_fallback`.

    Parameters
    ----------
    pvalues : array-like
        P-values in the order in which the tests are made, each in [0, 1] and valid given all
        earlier ones.
    alpha : float
        The marginal false discovery rate that is promised, in (0, 1).

    Returns
    -------
    ndarray
        One level per test, and one more: that of the next test.

    Examples
    --------
    >>> alpha_investing([0.2, 0.001, 0.3], alpha=0.05).round(4).tolist()
    [0.0232, 0.0079, 0.0356, 0.0121]
    """
    values, rate = checked_sequence(pvalues, alpha)
    left, levels = AlphaWealth.begin(rate), []
    for value in values:
        levels.append(left.level)
        left = left.after(left.level, declares(value, left.level))
    return np.array([*levels, left.level])
