"""One tolerance: what comparisons grant to rounding is written in one file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import poise
from poise.theory.rounding import less_rounding, reaches

ROOT = Path(poise.__file__).parent


def test_floats_and_arrays_are_granted_the_same() -> None:
    values = np.random.default_rng(0).uniform(size=1000)
    assert less_rounding(values).tolist() == [less_rounding(value) for value in values.tolist()]
    assert less_rounding(values).tolist() == (values * (1 - 1e-9)).tolist()


def test_a_value_reaches_what_it_falls_short_of_by_rounding_alone() -> None:
    assert reaches(1 - 1e-9)
    assert not reaches(1 - 1.1e-9)
    assert reaches(0.5, 0.5)
    assert reaches(float("inf"))
    assert not reaches(float("nan"))


def test_no_other_file_spells_the_tolerance() -> None:
    """The constant is not even imported: its two functions are."""
    spelled = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if re.search(r"\bTOLERANCE\b", path.read_text(encoding="utf-8"))
    ]
    assert spelled == ["theory/rounding.py"]
