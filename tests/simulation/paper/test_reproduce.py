"""Every claim of the paper comes out; a table of true claims fails with probability < 1e-6."""

from __future__ import annotations

from functools import partial

import pytest

from poise.errors import ArgumentError
from poise.simulation.paper import Claim, Reproduction, reproduce
from poise.simulation.paper.claim import (
    beyond,
    claim_at_least,
    claim_at_most,
    computed,
    equal,
    holds,
    simulated,
)
from poise.simulation.paper.effort import Effort
from poise.simulation.paper.reproduce import SECTIONS
from poise.simulation.worlds import Proportion


@pytest.mark.parametrize("section", SECTIONS)
def test_claims(section) -> None:
    found = reproduce(only=[section], share=0.02)
    assert len(found.claims) > 3
    assert found.failures == ()
    assert found.figures == ()
    # On 80 columns a claim takes two lines at most.
    assert all(len(f"{claim.section}: {claim.text}") < 150 for claim in found.claims)


def test_a_wrong_claim_fails() -> None:
    half = Proportion(500, 1000, 0.99)
    wrong = [
        equal("x", "x", 0.8225, 0.8226, 1e-9),
        holds("x", "x", 10, 1),
        holds("x", "x", 0, 0),  # no case at all shows nothing
        simulated("x", "x", 0.6, half),
        claim_at_most("x", "x", 0.4, half),
        claim_at_least("x", "x", 0.6, half),
        beyond("x", "x", 0.5, half),
    ]
    right = [
        simulated("x", "x", 0.5, half),
        claim_at_most("x", "x", 0.5, half),
        claim_at_least("x", "x", 0.5, half),
        beyond("x", "x", 0.4, half),
        holds("x", "x", 3, 0),
    ]
    assert not any(claim.passed for claim in wrong)
    assert Reproduction(tuple(right)).passed
    assert Reproduction((*right, wrong[0])).failures == (wrong[0],)
    assert beyond("x", "x", 0.4, half).expected == "> 0.4"
    assert claim_at_least("x", "x", 0.4, half).measured == str(half)


def test_a_row_that_cannot_be_computed_fails_and_the_others_are_shown() -> None:
    def broken(effort: Effort) -> Claim:
        raise KeyError("no such thing")

    one = equal("x", "x", 1.0, 1.0)
    rows = computed("7", partial(broken, Effort()), lambda: [one, one])
    assert rows[0] == Claim(
        "7", "broken could be computed", "a result", "KeyError: 'no such thing'", False
    )
    assert rows[1:] == [one, one]


def test_effort_scales_replications_and_keeps_enough_of_them() -> None:
    assert [Effort(share=share).count(2000) for share in (1.0, 0.5, 0.01)] == [2000, 1000, 60]
    assert Effort(share=0.01).count(2000, least=150) == 150
    with pytest.raises(ArgumentError, match=r"share must be a number > 0, got 0\.0"):
        Effort(share=0.0)
    with pytest.raises(ArgumentError, match=r"only must be .*'2', '2\.3', .* got '7'"):
        reproduce(only=["7"])


def test_figures(tmp_path) -> None:
    from poise.simulation.paper.figures import draw

    paths = draw(tmp_path)
    assert len(paths) == 3
    assert all(path.stat().st_size > 10_000 for path in paths)
