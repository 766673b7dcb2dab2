"""The page: what it shows, judged again by its sliders, and served to a real browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import poise
from helpers import ROOT, needs

pytestmark = needs("streamlit")
PAGE = ROOT / "src" / "poise" / "ui" / "page.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trials = poise.Trials.from_changes([0.1] * 39 + [3.0], n=10, algorithm="mine")
    trials.test(epsilon=0.2, delta=0.1).save(tmp_path / "first.json")
    trials.save(tmp_path / "measured.json")
    (tmp_path / "broken.json").write_text('{"poise')
    (tmp_path / ".hidden.json").write_text("{}")
    (tmp_path / "away.json").symlink_to("/etc/hostname")
    (tmp_path / "rows.csv").write_bytes((ROOT / "examples" / "diabetes.csv").read_bytes())
    return tmp_path


@pytest.fixture
def page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from streamlit.testing.v1 import AppTest

    monkeypatch.setenv("POISE_UI_FOLDER", str(folder))
    return AppTest.from_file(str(PAGE), default_timeout=60).run()


@pytest.mark.filterwarnings("default")
def test_results_are_listed_and_judged_again(page: Any) -> None:
    table = page.dataframe[0].value.set_index("file")
    assert table["verdict"].to_dict() == {
        "first.json": "inconclusive",
        "measured.json": "measured",
        "broken.json": "unreadable",
    }
    assert not page.exception


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    words = [sys.executable, "-m", "poise", "ui", str(folder), "--no-open"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()
        assert server.wait(20) == 143


def test_in_a_browser(address: str, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.get_by_text("Choose a row").wait_for(timeout=60_000)
        assert "token" not in page.url
        page.locator("canvas").first.wait_for(timeout=60_000)  # drawn after the text
        table = page.locator("canvas").first.bounding_box()
        assert table is not None
        page.mouse.click(table["x"] + 15, table["y"] + 35 * 3.5)  # first.json, in the third line
        page.get_by_text("Not decided: whether removing").wait_for()
        page.get_by_role("slider").first.press("End")
        page.get_by_text("epsilon moved").wait_for()
        page.get_by_text("changes the prediction for a new row by more than 4.5 with").wait_for()
        page.get_by_text("New run").first.click()
        page.get_by_label("Response").click()
        page.get_by_role("option", name="progression").click()
        page.get_by_label("ε (empty for labels)").fill("25")
        page.get_by_label("Name").fill("mine")
        page.get_by_label("Name").press("Enter")
        page.get_by_text("--save=mine.json").wait_for()
        page.get_by_role("button", name="Start").click()
        page.get_by_text("ended with status").wait_for(timeout=60_000)
        browser.close()
    own = re.match(r"http://127.0.0.1:\d+/", address)
    assert own is not None
    assert {re.sub(r"^ws", "http", url)[: own.end()] for url in asked} == {own[0]}
    assert json.loads((folder / "mine.json").read_text())["design"]["algorithm"] == "Lasso()"


def test_without_the_token_nothing_is_shown(address: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.partition("?")[0])
