"""The law of a trap answers for the notion it was built for, and for no other."""

from __future__ import annotations

import pytest

from poise.adversary import feature_trap, label_trap
from poise.errors import ArgumentError
from poise.procedures import BinomialTest
from poise.protocol.randomness import Independent
from poise.simulation.audit import audit
from poise.simulation.worlds import GaussianRows, World, zoo

SURE = 1 - 1e-8


@pytest.mark.parametrize("build", [label_trap, feature_trap])
@pytest.mark.parametrize(
    ("notion", "known"),
    [
        ("shared", {"shared"}),
        ("independent", {"independent"}),
        ("coupled", {"shared", "independent", "coupled"}),
    ],
)
def test_a_trap_knows_the_notions_it_was_built_for(build, notion: str, known: set[str]) -> None:
    trap = build(zoo.flipping(4, 0.04), epsilon=0.5, delta=0.3, notion=notion)
    for asked in ("shared", "independent", "coupled"):
        if asked in known:
            assert trap.world.delta_star(0.5, asked) > 0.3 - 1e-12
            continue
        with pytest.raises(ArgumentError, match=f"is built for {notion} randomness, and its del"):
            trap.world.delta_star(0.5, asked)
        with pytest.raises(ArgumentError, match=f"with {asked} randomness; build it with notion"):
            trap.world.epsilon_star(0.9, asked)


def test_what_is_refused_would_have_been_false() -> None:
    """A trap for shared randomness rises above the fit with the same term, not with another."""
    world = zoo.flipping(2, 0.5, height=1.75)
    trap = label_trap(world, epsilon=1.75, delta=0.3, c=0.5)
    found = trap.world.estimate_delta_star(1.75, 3000, 0, Independent(), confidence=SURE)
    assert found.high < 1 - (1 - world.delta_star(1.75, "independent")) * (1 - trap.c) ** 2
    test = BinomialTest(2, 1.75, 0.3, coupling="independent")
    with pytest.raises(ArgumentError, match="build it with notion='independent'"):
        audit(test, trap.world, n_labeled=20, replications=1)


def test_a_bound_for_one_epsilon_is_not_used_beyond_it() -> None:
    """δ* falls as ε grows: what was given for the trap's own ε bounds smaller ones only."""
    world = World(zoo.mean_response(4).algorithm, GaussianRows(), n=4)
    truth = zoo.mean_response(4)
    given = truth.delta_star(0.3)
    trap = label_trap(world, epsilon=0.3, delta=0.4, c=0.2, delta_star=given)
    quiet = (1 - 0.2) ** 4
    assert trap.world.delta_star(0.3) == pytest.approx(1 - quiet + given * quiet)
    assert trap.world.delta_star(0.1) == pytest.approx(1 - quiet + given * quiet)
    assert trap.world.delta_star(1.0) == pytest.approx(1 - quiet)
    assert trap.world.delta_star(1.0) <= 1 - quiet + truth.delta_star(1.0) * quiet
