"""Checks of arguments that other tests do not reach."""

from __future__ import annotations

import pytest

from poise import arguments
from poise.errors import ArgumentError


@pytest.mark.parametrize("value", [2**63, 10**19, 1e19, [3, 2**63]])
def test_a_count_that_64_bits_cannot_hold_is_refused(value: object) -> None:
    """It would become another number: 10**19 was taken for a negative one."""
    with pytest.raises(ArgumentError, match=r"^removals must be below 2\*\*63, got "):
        arguments.count("removals", value, minimum=1)


def test_the_largest_count_is_kept() -> None:
    assert int(arguments.count("rows", 2**63 - 1)) == 2**63 - 1
    assert arguments.count("rows", [3, 2**63 - 1]).tolist() == [3, 2**63 - 1]
