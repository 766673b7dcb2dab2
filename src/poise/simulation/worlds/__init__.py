"""Worlds: triples (A, P, n) whose stability is known or can be simulated.

::

    all_bags           all bags of b of n rows, for n so small that every base fit can be tried
    change_laws        laws of the change Δ in closed form
    distributions      distributions P of one row (X, Y), from which simulations draw
    interval_coverage  how often jackknife intervals miss in a world, by simulation
    proportion         a probability that was simulated, with an exact interval
    replication        run a procedure on many data sets drawn from a world
    simple_algorithms  small algorithms whose stability can be worked out on paper
    world              a world: an algorithm, a distribution and a training size
    zoo                ready-made worlds whose stability has a closed form
"""

from __future__ import annotations

from poise.simulation.worlds import zoo
from poise.simulation.worlds.change_laws import ChangeLaw
from poise.simulation.worlds.distributions import (
    Distribution,
    EmpiricalRows,
    GaussianRows,
    UniformCoins,
    UniformRows,
)
from poise.simulation.worlds.proportion import Proportion
from poise.simulation.worlds.world import World

__all__ = [
    "ChangeLaw",
    "Distribution",
    "EmpiricalRows",
    "GaussianRows",
    "Proportion",
    "UniformCoins",
    "UniformRows",
    "World",
    "zoo",
]
