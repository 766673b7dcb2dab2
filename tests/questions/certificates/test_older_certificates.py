"""Certificates that were written before are verified: their words belong to the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import poise

FILES = sorted((Path(__file__).parent / "written_before").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_numbers_in_the_words_are_written_as_before(path: Path) -> None:
    """They have an ε of 1500, one of 16 digits (a share of the spread), and a level of ten."""
    found = poise.verify(path)
    assert found.verified, found


def test_there_are_such_files() -> None:
    assert [path.stem for path in FILES] == ["long_level", "relative", "stable", "unstable"]
