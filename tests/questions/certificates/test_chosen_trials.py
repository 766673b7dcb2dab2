"""Which trials of a certificate are computed again."""

from __future__ import annotations

import pytest
from scipy.stats import binom, hypergeom

from poise.errors import ArgumentError
from poise.questions.certificates.repeat_trials import ChosenTrials


def test_the_choice_of_trials_has_its_law() -> None:
    """A share f is missed with a probability that is hypergeometric, and at most (1 - f)^k."""
    m, bad, k, runs = 60, 6, 10, 1500
    exact = hypergeom.pmf(0, m, bad, k)
    assert exact <= (1 - bad / m) ** k
    missed = sum(min(ChosenTrials.of(m, k, seed).numbers) >= bad for seed in range(runs))
    # Each of the two is passed wrongly with probability 1e-7.
    assert binom.ppf(1e-7, runs, exact) <= missed <= binom.isf(1e-7, runs, exact)
    last = sum(max(ChosenTrials.of(m, k, seed).numbers) < m - bad for seed in range(runs))
    assert binom.ppf(1e-7, runs, exact) <= last <= binom.isf(1e-7, runs, exact)


def test_the_choice_cannot_be_known_beforehand() -> None:
    first, second = (ChosenTrials.of(1000, 20) for _ in range(2))
    assert first.seed != second.seed
    assert len(set(first.numbers)) == 20
    assert ChosenTrials.of(1000, 20, first.seed) == first
    assert ChosenTrials.of(7, 20).numbers == tuple(range(7))
    for wrong in (0, "some", -1, 2.5):
        with pytest.raises(ArgumentError, match="trials must be"):
            ChosenTrials.of(7, wrong)
