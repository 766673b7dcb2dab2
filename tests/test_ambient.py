"""Generators nobody mentions: set from ξ before a fit, and left as they were found."""

from __future__ import annotations

import random
import sys
from types import ModuleType

import numpy as np
import pytest

import poise
from poise.ambient import AmbientGenerators


class Torch(ModuleType):
    """PyTorch as far as its generator goes: these three functions, with its limits."""

    def __init__(self) -> None:
        super().__init__("torch")
        self._generator = random.Random(1)

    def manual_seed(self, seed: int) -> None:
        if not -(2**63) <= seed < 2**64:
            raise RuntimeError(f"Overflow when unpacking long: {seed}")
        self._generator = random.Random(seed)

    def get_rng_state(self):
        return self._generator.getstate()

    def set_rng_state(self, state) -> None:
        self._generator.setstate(state)

    def rand(self) -> float:
        return self._generator.random()


@pytest.fixture
def torch(monkeypatch) -> Torch:
    module = Torch()
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def draws(torch: Torch) -> list[float]:
    return [random.random(), np.random.random(), torch.rand()]  # noqa: NPY002


@pytest.mark.parametrize("xi", [0, 7, 2**63, 2**64 - 1])
def test_the_same_term_sets_every_generator_the_same(torch, xi) -> None:
    with AmbientGenerators() as ambient:
        ambient.pin(xi)
        first = draws(torch)
        assert draws(torch) != first
        ambient.pin(xi)
        assert draws(torch) == first
        ambient.pin(xi ^ 2**40)
        others = draws(torch)
    assert others[0] != first[0]
    assert others[2] != first[2]


def test_generators_are_left_as_they_were_found(torch) -> None:
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    torch.manual_seed(3)
    expected = draws(torch)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    torch.manual_seed(3)
    with AmbientGenerators() as ambient:
        ambient.pin(99)
        draws(torch)
    assert draws(torch) == expected


def test_a_network_that_ignores_its_seed_is_still_a_function_of_xi(torch) -> None:
    def network(X, y, seed):
        weight = torch.rand()
        return lambda rows: [weight * row[0] for row in rows]

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(220, 1)), rng.normal(size=220)
    asked = {"n": 10, "random_state": 0}
    before = torch.get_rng_state()
    assert not poise.measure(network, X, y, **asked).changes.any()
    other = poise.measure(network, X, y, **asked, coupling="independent")
    assert other.changes.all()
    again = poise.measure(network, X, y, **asked, coupling="independent")
    assert again.changes.tolist() == other.changes.tolist()
    assert torch.get_rng_state() == before
    report = poise.check_algorithm(network, X, y, n=10, random_state=0)
    assert report["deterministic given its seed"].severity == "ok"
