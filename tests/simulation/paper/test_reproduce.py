"""Every claim of the paper comes out; a table of true claims fails with probability < 1e-6."""

from __future__ import annotations

import importlib

import pytest

from poise.simulation.paper import Reproduction
from poise.simulation.paper.claim import at_most, equal, holds, simulated
from poise.world import Proportion

PARTS = [
    "section_2_counting",
    "section_3_binomial_test",
    "section_4_ceilings",
    "section_4_estimation",
    "section_5_finite",
    "appendix_b_traps",
    "appendix_e_notions",
    "beyond_subbagging",
]


@pytest.mark.parametrize("part", PARTS)
def test_claims(part) -> None:
    claims = importlib.import_module(f"poise.simulation.paper.{part}").claims()
    assert claims
    assert [claim for claim in claims if not claim.passed] == []


def test_a_wrong_claim_fails() -> None:
    half = Proportion(500, 1000, 0.99)
    wrong = [
        equal("x", "x", 0.8225, 0.8226, 1e-9),
        holds("x", "x", 10, 1),
        simulated("x", "x", 0.6, half),
        at_most("x", "x", 0.4, half),
    ]
    right = [simulated("x", "x", 0.5, half), at_most("x", "x", 0.5, half), holds("x", "x", 3, 0)]
    assert not any(claim.passed for claim in wrong)
    assert Reproduction(tuple(right)).passed
    assert Reproduction((*right, wrong[0])).failures == (wrong[0],)


def test_figures(tmp_path) -> None:
    from poise.simulation.paper.figures import draw

    paths = draw(tmp_path)
    assert len(paths) == 3
    assert all(path.stat().st_size > 10_000 for path in paths)
