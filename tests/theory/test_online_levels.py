"""Online fallback: its levels by hand, its error level by simulation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from poise.errors import ArgumentError
from poise.theory import online_fallback


def _by_hand(pvalues: list[Fraction], alpha: Fraction) -> list[Fraction]:
    """Tian and Ramdas (2021): alpha_k = alpha * gamma_k + R_{k-1} * alpha_{k-1}."""
    levels = [alpha / 2]
    for k, pvalue in enumerate(pvalues, 2):
        carried = levels[-1] if pvalue <= levels[-1] else Fraction(0)
        levels.append(alpha / (k * (k + 1)) + carried)
    return levels


@pytest.mark.parametrize(
    "pvalues",
    [[], [0.5], [0.01], [0.02, 0.02, 0.02], [0.025, 0.1, 0.001, 0.9], [0.9, 0.0, 0.0, 0.0, 1.0]],
)
def test_levels_are_those_of_the_definition(pvalues) -> None:
    exact = _by_hand([Fraction(p) for p in pvalues], Fraction(0.05))
    assert online_fallback(pvalues, 0.05).tolist() == pytest.approx([float(e) for e in exact])


def test_without_a_declaration_all_levels_together_are_the_level() -> None:
    levels = online_fallback(np.ones(10_000), 0.05)
    assert levels.sum() < 0.05
    assert levels.sum() == pytest.approx(0.05, rel=1e-3)


def test_arguments_are_checked() -> None:
    with pytest.raises(ArgumentError, match="list of numbers"):
        online_fallback([[0.1]])
    with pytest.raises(ArgumentError, match="alpha must be"):
        online_fallback([0.1], alpha=1.0)


@pytest.mark.parametrize("dependence", ["independent", "opposite", "false ones between"])
def test_any_false_declaration_is_as_rare_as_promised(dependence) -> None:
    """2,000 sequences of 12 tests: more false ones than this have probability 1e-6.

    Levels of alpha / k, or a level that is carried on without a declaration, err in 0.11 and
    more of the sequences.
    """
    rng, runs, alpha = np.random.default_rng(0), 2_000, 0.05
    wrong = 0
    for _ in range(runs):
        pvalues = rng.uniform(size=12)
        if dependence == "opposite":
            pvalues[1::2] = 1 - pvalues[::2]
        is_true = np.ones(12, dtype=bool)
        if dependence == "false ones between":
            is_true[::3] = False
            pvalues[::3] = 0.0
        declared = pvalues <= online_fallback(pvalues, alpha)[:-1]
        wrong += bool((declared & is_true).any())
    assert wrong <= binom.isf(1e-6, runs, alpha)
    assert wrong >= binom.ppf(1e-6, runs, 0.6 * alpha)  # and it is not far below it


def test_a_declaration_hands_its_level_on() -> None:
    """The figures of the page on ledgers."""
    alpha = 0.05
    assert online_fallback(np.zeros(20), alpha)[-1] == pytest.approx(alpha * 21 / 22)
    assert online_fallback(np.ones(20), alpha)[-1] == pytest.approx(alpha / 462)


def test_equal_p_values_do_no_harm() -> None:
    """A hundred near copies of one algorithm: any false declaration at most alpha."""
    alpha, rows = 0.05, (np.arange(4_000) + 0.5) / 4_000  # the p-value, at equal steps
    kept = [(p <= online_fallback(np.full(100, p), alpha)[:-1]).any() for p in rows]
    assert np.mean(kept) <= alpha
