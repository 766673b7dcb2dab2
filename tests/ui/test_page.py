"""The page: what it shows, judged again by its sliders, and served to a real browser."""

from __future__ import annotations

import http.server
import json
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import poise
from helpers import ROOT, needs
from poise.cli import main

pytestmark = needs("streamlit")
PAGE = ROOT / "src" / "poise" / "ui" / "page.py"
SLOW = """
import time
def fit(X, y, seed):
    time.sleep(0.1)
    return lambda rows: [0.0] * len(rows)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trials = poise.Trials.from_changes([0.1] * 39 + [3.0], n=10, algorithm="mine")
    trials.test(epsilon=0.2, delta=0.1).save(tmp_path / "first.json")
    trials.save(tmp_path / "measured.json")
    (tmp_path / "broken.json").write_text('{"poise')
    (tmp_path / ".hidden.json").write_text("{}")
    (tmp_path / "away.json").symlink_to("/etc/hostname")
    (tmp_path / "rows.csv").write_bytes((ROOT / "examples" / "diabetes.csv").read_bytes())
    (tmp_path / "slow.py").write_text(SLOW)
    return tmp_path


def listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return what the page lists of a folder, and its verdicts."""
    from streamlit.testing.v1 import AppTest

    monkeypatch.setenv("POISE_UI_FOLDER", str(folder))
    page = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert not page.exception
    verdicts: dict[str, str] = page.dataframe[0].value.set_index("file")["verdict"].to_dict()
    return verdicts


@pytest.mark.filterwarnings("default")
def test_results_are_listed_also_very_many(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = {
        "first.json": "inconclusive",
        "measured.json": "measured",
        "broken.json": "unreadable",
    }
    assert listed(folder, monkeypatch) == verdicts
    (folder / "first.jsonl").write_text("its journal")
    (folder / "more").mkdir()
    for k in range(300):
        (folder / "more" / f"{k}.json").write_bytes((folder / "first.json").read_bytes())
    more = {f"more/{k}.json": "inconclusive" for k in range(300)}
    assert listed(folder, monkeypatch) == verdicts | more


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    words = [sys.executable, "-m", "poise", "ui", str(folder), "--no-open"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()
        assert server.wait(20) == 143


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """Serve another page on another port of this machine."""
    handler = http.server.SimpleHTTPRequestHandler
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/README.md"
        server.shutdown()


def test_in_a_browser(address: str, elsewhere: str, folder: Path) -> None:
    from playwright.sync_api import expect, sync_playwright

    asked: list[str] = []
    own = re.match(r"http://127.0.0.1:\d+/", address)
    assert own is not None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        context = browser.new_context()
        page = context.new_page()
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
        for name, algorithm, ends in (("late", "slow.py:fit", "143"), ("mine", "Lasso", "5")):
            page.get_by_role("combobox", name="Algorithm").fill(algorithm)
            page.get_by_role("combobox", name="Algorithm").press("Enter")
            page.get_by_text(f"--algorithm={algorithm}").wait_for()
            # another algorithm has another default name: the field is drawn anew
            expect(page.get_by_label("Name")).to_have_count(1, timeout=60_000)
            page.get_by_label("Name").fill(name)
            page.get_by_label("Name").press("Enter")
            page.get_by_text(f"--save={name}.json").wait_for()
            page.get_by_role("button", name="Start").click()
            if ends == "143":
                page.get_by_text(re.compile(r"late is running: [1-9]\d* trials")).wait_for()
                page.get_by_role("button", name="Stop").click()
            page.get_by_text(f"ended with status {ends}").wait_for(timeout=60_000)
        other = context.new_page()  # which has the cookie: ports of one host are one site
        other.goto(elsewhere)
        opened = "(at) => new Promise((done) => { const s = new WebSocket(at);"
        opened += " s.onopen = () => done('open'); s.onerror = () => done('refused') })"
        stream = own[0].replace("http", "ws") + "_stcore/stream"
        assert other.evaluate(opened, stream) == "refused"
        assert page.evaluate(opened, stream) == "open"
        browser.close()
    assert {re.sub(r"^ws", "http", url)[: own.end()] for url in asked} == {own[0]}
    assert json.loads((folder / "mine.json").read_text())["design"]["algorithm"] == "Lasso()"
    assert 0 < poise.load(folder / "late.jsonl").n_observed < 40


def test_without_the_token_nothing_is_shown(address: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.partition("?")[0])


def test_what_cannot_be_served_is_told_before_a_page_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        busy = CliRunner().invoke(main, ["ui", str(tmp_path), "--port", port, "--no-open"])
    assert (busy.exit_code, busy.stdout) == (2, "")
    assert busy.stderr.startswith("poise: --port cannot be used: Address already in use")
    assert busy.stderr.endswith(f"got {port}\n")
    missing = CliRunner().invoke(main, ["ui", "nowhere", "--no-open"])
    assert (missing.exit_code, missing.stderr) == (2, "poise: nowhere is not a folder\n")
