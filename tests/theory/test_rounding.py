"""What comparisons grant to rounding is written in one file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.theory.rounding import less_rounding, reaches

ROOT = Path(poise.__file__).parent
# Ends of searches for a root, and the size of a last step: nothing is compared with these.
NO_COMPARISON = ["theory/bands.py", "theory/estimates.py", "theory/restricted_profile.py"]


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


def spells_it(source: str) -> bool:
    """Say whether code, apart from comments and docstrings, holds the number itself."""
    nodes = ast.walk(ast.parse(source))
    return any(isinstance(node, ast.Constant) and node.value == 1e-9 for node in nodes)


def test_no_other_file_grants_so_much_by_a_number_of_its_own() -> None:
    spelled = [
        path.relative_to(ROOT).as_posix()
        for folder in ("theory", "results", "storage")
        for path in (ROOT / folder).rglob("*.py")
        if spells_it(path.read_text(encoding="utf-8"))
    ]
    assert sorted(spelled) == sorted([*NO_COMPARISON, "theory/rounding.py"])


@pytest.mark.parametrize("code", ["u >= (1 - 1e-9) * z", "p <= alpha * (1 + 1e-9)", "m + 1e-9"])
def test_the_search_finds_a_number_of_its_own(code) -> None:
    assert spells_it(code)
