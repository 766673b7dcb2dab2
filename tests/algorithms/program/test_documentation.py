"""The page on programs does what it says."""

import doctest

from shared.paths import DOCS, ROOT
from shared.r import needs_r

PAGE = DOCS / "programs.rst"


@needs_r("jsonlite")
def test_examples_on_the_page_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    results = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert results.attempted > 10
    assert results.failed == 0


def test_the_page_shows_every_example(examples):
    text = PAGE.read_text()
    for path in examples.iterdir():
        assert f"literalinclude:: ../examples/programs/{path.name}\n" in text
