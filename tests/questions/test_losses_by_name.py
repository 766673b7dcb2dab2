"""Losses by name, as the command line has them: the same changes as with LossChange."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import poise
from poise.errors import ArgumentError

X, y = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("name", ["squared", "absolute"])
def test_a_loss_by_name(name: str) -> None:
    asked = {"n": 20, "random_state": 0}
    by_name = poise.measure(Ridge(), X, y, distance=f"loss:{name}", **asked)
    given = poise.measure(Ridge(), X, y, distance=poise.LossChange(name), **asked)
    np.testing.assert_array_equal(by_name.changes, given.changes)
    assert by_name.design.distance == given.design.distance == f"change of {name} loss"
    assert poise.check_algorithm(Ridge(), X, y, n=20, distance=f"loss:{name}").ok


def test_an_unknown_loss_and_an_unknown_distance() -> None:
    with pytest.raises(ArgumentError, match=r"loss must be 'squared', .* got 'hinge'"):
        poise.measure(Ridge(), X, y, n=20, distance="loss:hinge")
    with pytest.raises(ArgumentError, match="a loss such as 'loss:squared' or a function, got 'x'"):
        poise.measure(Ridge(), X, y, n=20, distance="x")
