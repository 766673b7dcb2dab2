"""The site: its checker finds what it should, and its reference leaves nothing public out."""

from __future__ import annotations

import inspect
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import poise
from shared.paths import DOCS

CHECK = runpy.run_path(str(DOCS / "check_site.py"))
SEE_ALSO = runpy.run_path(str(DOCS / "see_also.py"))
DOCUMENTED = SEE_ALSO["neighbours"]()

GOOD = """<html><body><div id="here">text</div><img src="picture.png" alt="a picture">
<a href="#here">here</a> <a href="other.html#there">there</a> <a href="https://example.org/">out</a>
</body></html>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text(GOOD, encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"")
    return tmp_path


def problems(site: Path) -> list[str]:
    CHECK["read"].cache_clear()
    return list(CHECK["problems"](site))


def test_a_good_site_has_no_problems(site, monkeypatch, capsys) -> None:
    assert problems(site) == []
    monkeypatch.chdir(site.parent)  # as `make docs` names the folder: from where it stands
    CHECK["read"].cache_clear()
    assert CHECK["main"](site.name) == 0, capsys.readouterr().out


SIDEBAR = (
    '<div id="pst-primary-sidebar"><nav class="bd-docs-nav"></nav></div><main id="main-content">'
)


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ('<a href="gone.html">x</a>', "gone.html does not exist"),
        ('<a href="../outside.html">x</a>', "../outside.html does not exist"),
        ('<a href="other.html#nowhere">x</a>', "there is no such place on that page"),
        ('<a href="#nowhere">x</a>', "there is no such place on that page"),
        ('<img src="gone.png" alt="">', "gone.png does not exist"),
        ('<img src="picture.png">', "has no alt text"),
        ('<img src="picture.png" srcset="gone2.png 2x" alt="">', "gone2.png does not exist"),
        ('<script src="https://cdn.example.org/x.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.example.org/x.css">', "from elsewhere"),
        (SIDEBAR, "the sidebar is empty"),
    ],
)
def test_a_planted_problem_is_found(site, planted, found) -> None:
    (site / "index.html").write_text(GOOD + planted, encoding="utf-8")
    assert [found in problem for problem in problems(site)] == [True]


def test_a_style_sheet_may_load_nothing_from_elsewhere(site) -> None:
    (site / "a.css").write_text("@font-face {src: url('https://x.org/f.woff')}", encoding="utf-8")
    assert problems(site) == ["a.css: loads https://x.org/f.woff"]


def test_a_gallery_page_needs_a_picture_and_a_notebook(site) -> None:
    (site / "gallery").mkdir()
    (site / "gallery" / "example.html").write_text("<p>", encoding="utf-8")
    assert [text.split(": ")[1] for text in problems(site)] == ["has no picture", "has no notebook"]


def test_a_reference_page_needs_an_example_and_see_also(site) -> None:
    (site / "generated").mkdir()
    (site / "generated" / "poise.x.html").write_text("<p>", encoding="utf-8")
    assert len(problems(site)) == 2


def test_every_public_name_has_a_page() -> None:
    names = {f"poise.{name}" for name in poise.__all__ if not name.startswith("__")}
    modules = {name for name in names if isinstance(value_of(name), ModuleType)}
    for name in modules:
        members = getattr(value_of(name), "__all__", ())
        names |= {f"{name}.{member}" for member in members if member not in NOT_FOR_READERS}
    assert names - modules - set(DOCUMENTED) == set()


# World is documented as poise.World; the others are for poise itself.
NOT_FOR_READERS = {
    "TRAPS", "World", "zoo",
    "collected_validity_warnings", "in_one_line", "printable", "warn_of_validity",
}  # fmt: skip


def value_of(name: str) -> Any:
    value: Any = sys.modules["poise"]
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def test_what_is_in_the_reference_exists_and_is_not_alone() -> None:
    assert len(DOCUMENTED) > 150
    for name, others in DOCUMENTED.items():
        if not name.startswith("poise.data."):
            assert inspect.getdoc(value_of(name)), name
        assert others or "See Also" in (inspect.getdoc(value_of(name)) or ""), f"{name}: alone"


def test_see_also_is_appended_unless_it_is_there() -> None:
    lines = ["Do it.", ""]
    SEE_ALSO["add"](None, "function", "poise.compare", None, None, lines)
    assert lines[-4:-1] == ["See Also", "--------", "stability_curve"]
    before = list(lines)
    SEE_ALSO["add"](None, "function", "poise.compare", None, None, lines)
    assert lines == before


def test_every_page_is_in_a_table_of_contents() -> None:
    pages = {page.stem for page in DOCS.glob("*.rst")} - {"index", "sg_execution_times"}
    text = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.rst"))
    assert {page for page in pages if f"\n   {page}\n" not in text + "\n"} == set()
