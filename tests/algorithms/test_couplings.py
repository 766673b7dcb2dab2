"""User couplings: uniform marginals, and the joint law each one promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from poise.errors import ArgumentError
from poise.notions import Antithetic, Mixed, Rotated
from poise.protocol.randomness import Coupling, Randomness, as_coupling, as_uniform

COUPLINGS = [Antithetic(), Mixed(0.0), Mixed(0.3), Mixed(1.0), Rotated(0.37), Rotated(1.0)]


def uniforms(coupling: Coupling, size: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = coupling.pairs(Randomness(5).block("xi", 0, size))
    first, second = ([as_uniform(int(w)) for w in words] for words in pairs)
    return np.array(first), np.array(second)


@pytest.mark.parametrize("coupling", COUPLINGS, ids=lambda c: c.name)
def test_both_marginals_are_uniform(coupling: Coupling) -> None:
    # Two Kolmogorov tests at 1e-7 for each of six couplings: false alarm below 1.2e-6 in all,
    # and the seed is fixed.
    for values in uniforms(coupling, 20_000):
        assert stats.kstest(values, "uniform").pvalue > 1e-7
    assert as_coupling(coupling) is coupling


def test_antithetic_terms_add_up_to_one() -> None:
    first, second = uniforms(Antithetic(), 1000)
    assert np.allclose(first + second, 1.0, atol=1e-15)


@pytest.mark.parametrize("by", [0.0, 0.25, 0.5, 1.0])
def test_rotation_moves_every_term_by_the_same_amount(by: float) -> None:
    first, second = uniforms(Rotated(by), 1000)
    assert np.allclose(np.exp(2j * np.pi * (second - first - by)), 1.0, atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_mixed_shares_as_often_as_it_says(share: float) -> None:
    first, second = uniforms(Mixed(share), 20_000)
    same = int((first == second).sum())
    # Exact two-sided binomial test at 1e-7.
    assert stats.binomtest(same, 20_000, share).pvalue > 1e-7
    apart = first != second
    if share == 0.3:
        # Where they differ they are unrelated: correlation of 14,000 pairs, z beyond 6 is 2e-9.
        r = np.corrcoef(first[apart], second[apart])[0, 1]
        assert abs(r) * np.sqrt(apart.sum()) < 6


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_parameters_are_checked(bad: float) -> None:
    with pytest.raises(ArgumentError, match="share"):
        Mixed(bad)
    with pytest.raises(ArgumentError, match="by"):
        Rotated(bad)


def test_a_coupling_of_the_wrong_shape_is_refused_before_the_first_fit() -> None:
    class Transposed:
        name = "transposed"

        def pairs(self, words):
            return words[0], words[1]

    class One:
        name = "one"

        def pairs(self, words):
            return words[:, 0]

    for wrong, said in ((Transposed(), r"\(4,\)"), (One(), "ndarray")):
        with pytest.raises(ArgumentError, match=f"coupling '{wrong.name}' must return.*{said}"):
            as_coupling(wrong)
