"""Alpha-investing: its levels by hand, and its rate of false declarations exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from poise.errors import ArgumentError
from poise.theory import alpha_investing
from poise.theory.alpha_investing_levels import AlphaWealth, invested

ALPHA = 0.05
BOUND = ALPHA * (1 - ALPHA)  # of E[V] - alpha E[R]: mFDR = E[V] / (E[R] + 1 - alpha) <= alpha


def _by_hand(pvalues: list[Fraction], alpha: Fraction) -> list[Fraction]:
    """Foster and Stine (2008), equation 8; the stake is wealth / (1 + j - k*) (equation 11)."""
    wealth, last, levels = alpha * (1 - alpha), 0, []
    for j, pvalue in enumerate([*pvalues, Fraction(1)], 1):
        stake = wealth / (1 + j - last)
        levels.append(min(alpha, stake / (1 + stake)))
        if pvalue <= levels[-1]:
            wealth, last = wealth + alpha, j
        else:
            wealth -= levels[-1] / (1 - levels[-1])
    return levels


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5])
@pytest.mark.parametrize(
    "pvalues", [[], [0.5], [0.01], [0.9] * 5, [0.02, 0.9, 0.9, 0.004, 0.04, 1.0], [0.0] * 30]
)
def test_levels_are_those_of_the_definition(pvalues, alpha) -> None:
    exact = _by_hand([Fraction(p) for p in pvalues], Fraction(alpha))
    found = alpha_investing(pvalues, alpha).tolist()
    assert found == pytest.approx([float(level) for level in exact], rel=1e-12)


def test_the_first_levels_in_numbers() -> None:
    """Calculated by hand, alpha = 0.05: 0.0475 / 2 = 0.02375, and 0.02375 / 1.02375 = 0.0231990.

    After a declaration 0.0975 / 2 = 0.04875; after a failure 0.02375 / 3 = 0.00791667.
    """
    first, after_success = alpha_investing([0.01], ALPHA)
    assert first == pytest.approx(0.0231990, abs=1e-7)
    assert after_success == pytest.approx(0.04875 / 1.04875)
    assert alpha_investing([0.9], ALPHA)[1] == pytest.approx(0.00791667 / 1.00791667, rel=1e-6)


def test_failures_alone_share_out_the_wealth() -> None:
    """The factors 1/2, 2/3, 3/4, ... multiply: after k failures 1/(k + 1) of the wealth is left."""
    left = invested(ALPHA, alpha_investing(np.ones(99))[:-1].tolist(), [1.0] * 99).left
    assert left.wealth == pytest.approx(BOUND / 100)
    assert left.waiting == 99


def test_no_level_is_above_alpha() -> None:
    levels = alpha_investing(np.zeros(200), ALPHA)
    assert levels.max() == ALPHA
    assert np.all(levels[3:] == ALPHA)


def test_arguments_are_checked() -> None:
    with pytest.raises(ArgumentError, match="list of numbers"):
        alpha_investing([[0.1]])
    with pytest.raises(ArgumentError, match="alpha must be"):
        alpha_investing([0.1], alpha=1.0)
    with pytest.raises(ArgumentError, match="pvalues must be"):
        alpha_investing([1.1])


# The rate -----------------------------------------------------------------------------------


def test_the_rate_of_true_hypotheses_is_exact() -> None:
    """All hypotheses true, p-values uniform: E[A] = 0, that is E[V](1 - alpha) = bound - E[W].

    All outcomes of eight tests are enumerated. A payment of 2 alpha, a stake that is not lost, or a
    level that is not in proportion to its stake breaks the identity.
    """

    def mean(state: AlphaWealth, tests: int) -> tuple[float, float]:
        """Return E[V] and E[W] after some more tests."""
        if tests == 0:
            return 0.0, state.wealth
        level = state.level
        yes, no = (mean(state.after(level, d), tests - 1) for d in (True, False))
        return (
            level * (1 + yes[0]) + (1 - level) * no[0],
            level * yes[1] + (1 - level) * no[1],
        )

    false, left = mean(AlphaWealth.begin(ALPHA), 8)
    assert false * (1 - ALPHA) == pytest.approx(BOUND - left, rel=1e-12)
    assert false > 0.03


@pytest.mark.parametrize("tests", [1, 5, 12])
def test_no_choice_of_questions_exceeds_the_rate(tests) -> None:
    """Whoever sees all answers chooses true or false hypotheses to make E[V] - alpha E[R] large.

    A true one is declared with the probability of its level, a false one always or never. The best
    choice is found by going backwards; it must not exceed alpha (1 - alpha), and comes close.
    """

    @cache
    def best(state: AlphaWealth, left: int) -> float:
        if left == 0:
            return 0.0
        level = state.level
        yes, no = (best(state.after(level, d), left - 1) for d in (True, False))
        true = level * (1 - ALPHA + yes) + (1 - level) * no
        return max(true, yes - ALPHA, no, 0.0)  # the last: to stop

    most = best(AlphaWealth.begin(ALPHA), tests)
    assert most <= BOUND * (1 + 1e-12)
    assert most > BOUND * (1 - 1 / (tests + 1)) * 0.9


def _strategies(rng: np.random.Generator, runs: int, tests: int) -> np.ndarray:
    """Return V - alpha R of someone who goes on with true hypotheses while the wealth is large."""
    found = np.empty(runs)
    for run in range(runs):
        pvalues, is_true = [], []
        state = AlphaWealth.begin(ALPHA)
        for _ in range(tests):
            is_true.append(state.wealth > 1.0 or bool(is_true and is_true[-1]))
            pvalues.append(rng.uniform() if is_true[-1] else 0.0)
            state = state.after(state.level, pvalues[-1] <= state.level)
        declared = np.array(pvalues) <= alpha_investing(pvalues, ALPHA)[:-1]
        found[run] = (declared & is_true).sum() - ALPHA * declared.sum()
    return found


def test_the_rate_is_kept_by_simulation() -> None:
    """False hypotheses until the wealth is 1, then true ones: 80 tests, 600 times.

    V - alpha R has mean at most alpha (1 - alpha); a mean further above it than its error allows
    has probability 1e-6. With a payment of 2 alpha the mean is 0.6, and with stakes that are not
    lost 1.6.
    """
    found = _strategies(np.random.default_rng(0), 600, 80)
    error = found.std() / np.sqrt(len(found))
    assert found.mean() <= BOUND + norm.isf(1e-6) * error
    assert norm.isf(1e-6) * error < 0.25
    assert found.mean() > -0.4  # nearly all of the wealth is spent


def test_what_it_would_do_on_the_same_rows() -> None:
    """The figures of the page on ledgers: all hypotheses are true, all p-values equal.

    They are all declared if the first is, and none otherwise.
    """
    level = alpha_investing([], ALPHA)[0]
    for copies, rate in ((3, 0.0682), (100, 0.7095)):
        equal = np.full(copies, level)
        assert np.all(equal <= alpha_investing(equal, ALPHA)[:-1])
        assert not np.any(equal * 1.001 <= alpha_investing(equal * 1.001, ALPHA)[:-1])
        wrong = copies * level
        assert wrong / (wrong + 1 - ALPHA) == pytest.approx(rate, abs=1e-3)


# Levels that were given --------------------------------------------------------------------


def test_a_level_is_lowered_to_what_is_left() -> None:
    """Two copies give their first question the same level, and a third one: the wealth is gone."""
    level = AlphaWealth.begin(ALPHA).level
    found = invested(ALPHA, [level] * 3, [0.9, 0.9, 0.001])
    assert found.levels == pytest.approx([level, level, 0.0], abs=1e-15)
    assert found.declared == (False, False, False)
    assert found.left.wealth == 0.0
    paid = invested(ALPHA, [level] * 3, [0.9, 0.001, 0.9])
    assert paid.declared == (False, True, False)
    assert paid.left.wealth == pytest.approx(BOUND / 2 + ALPHA - BOUND / 2)
