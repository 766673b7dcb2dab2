"""What is left to ``make test-long`` says which test of ``make test`` makes the same claim."""

from __future__ import annotations

import pytest

from shared.long_tests import LONG
from shared.paths import ROOT


def _exists(name: str) -> bool:
    """Tell whether a file has a test whose name begins like this (or, a doctest's, its object)."""
    file, _, test = name.partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    return f"def {test.partition('[')[0].rpartition('.')[2]}" in text


@pytest.mark.parametrize("name", LONG)
def test_its_claim_is_made_by_a_test_that_is_not_long(name: str) -> None:
    assert _exists(name)
    assert _exists(LONG[name])
    assert not LONG[name].startswith(tuple(LONG))
