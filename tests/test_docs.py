"""Every documentation page that holds Python examples, run as it stands."""

from __future__ import annotations

import doctest
import re

import pytest

from shared.paths import DOCS

ELSEWHERE = {"programs.rst"}  # needs R: tests/algorithms/program/test_documentation.py
PAGES = sorted(
    page
    for page in DOCS.glob("*.rst")
    if ">>>" in page.read_text(encoding="utf-8") and page.name not in ELSEWHERE
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples(page, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(DOCS.parent)  # examples name files from the root of the checkout
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    results = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert results.attempted > 0
    assert results.failed == 0


def test_a_test_of_your_own_takes_at_most_twenty_lines() -> None:
    text = (DOCS / "write_your_own_test.rst").read_text(encoding="utf-8")
    example = re.search(r">>> @dataclass.*?(?=\n\n)", text, re.DOTALL)
    assert example is not None
    lines = [line for line in example.group().splitlines() if line.strip(" .>")]
    assert "class AllQuiet" in example.group()
    assert len(lines) <= 20
