"""The page on programs does what it says."""

import doctest
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_examples_on_the_page_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    page = str(ROOT / "docs" / "programs.rst")
    results = doctest.testfile(page, module_relative=False, optionflags=flags)
    assert results.attempted > 10
    assert results.failed == 0


def test_the_page_shows_every_example(examples):
    text = (ROOT / "docs" / "programs.rst").read_text()
    for path in examples.iterdir():
        assert f"literalinclude:: ../examples/programs/{path.name}\n" in text
