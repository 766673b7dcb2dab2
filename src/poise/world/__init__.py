"""Worlds: triples (A, P, n) whose stability is known, or can be simulated to any precision."""

from __future__ import annotations

from poise.world import zoo
from poise.world.change_laws import ChangeLaw
from poise.world.distributions import Distribution, EmpiricalRows, GaussianRows, UniformRows
from poise.world.proportion import Proportion
from poise.world.triple import World

__all__ = [
    "ChangeLaw",
    "Distribution",
    "EmpiricalRows",
    "GaussianRows",
    "Proportion",
    "UniformRows",
    "World",
    "zoo",
]
