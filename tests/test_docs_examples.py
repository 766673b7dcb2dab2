"""The examples in the documentation run, and say what they say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.rst") if ">>>" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_examples_run(page: Path) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    outcome = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_a_test_of_your_own_takes_at_most_twenty_lines() -> None:
    text = (DOCS / "write_your_own_test.rst").read_text(encoding="utf-8")
    example = re.search(r">>> @dataclass.*?(?=\n\n)", text, re.DOTALL)
    assert example is not None
    lines = [line for line in example.group().splitlines() if line.strip(" .>")]
    assert "class AllQuiet" in example.group()
    assert len(lines) <= 20
