"""Every example of the gallery runs, quietly, and draws a picture."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from shared.paths import DOCS, EXAMPLES
from shared.r import needs_r

GALLERY = EXAMPLES / "gallery"
FILES = sorted(GALLERY.glob("*/*.py"))
NEEDS_R = {"r_program"}
ORDER = runpy.run_path(str(DOCS / "gallery_order.py"))["FIRST"]


@pytest.fixture(autouse=True)
def _no_window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)  # it warns that there is no screen
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[needs_r()] if p.stem in NEEDS_R else []) for p in FILES],
)
def test_it_runs_and_draws(path) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert plt.get_fignums()


def test_the_gallery_has_an_order_for_every_example() -> None:
    assert sorted(ORDER) == sorted(path.stem for path in FILES)
    assert len(FILES) >= 15


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_short(path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    assert lines[2].strip("=") == "", "the second line of the docstring underlines the title"
