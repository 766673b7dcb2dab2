"""The pages in a real Chromium: one server and one browser for all checks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from poise.arguments.printed_numbers import at_most
from poise.cli.ui.results_folder import Folder
from poise.storage.journal import read_journal
from shared.processes import POISE, running, until
from shared.ui import HOSTILE, write_results

CHROMIUM = shutil.which("chromium")
WINDOW: Any = {"width": 1280, "height": 900}
LOOKS: Any = [
    (360, "light"),
    (360, "dark"),
    (800, "dark"),
    (800, "light"),
    (1280, "light"),
    (1280, "dark"),
]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-smooth-scrolling",
    "--mute-audio",
    "--renderer-process-limit=1",
]
# plotly.js brings the style of maps, which the policy of the pages keeps out; questions that are
# refused and servers that are killed are part of the tests.
EXPECTED = re.compile("Applying inline style violates|400 .Bad Request|net::ERR_")
UNLABELLED = """
[...document.querySelectorAll('input:not([type=hidden]), select, button')]
.filter(e => !(e.labels?.length || e.ariaLabel || e.textContent.trim())).map(e => e.outerHTML)
"""
SLOW = """
import os
import time

def mean(X, y, seed):
    if not os.path.exists("fast"):
        time.sleep(0.4)
    level = float(y.mean())
    return lambda rows: [level] * len(rows)
"""

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("CI"),
    reason="not installed: chromium (Debian: see .ci/apt-packages)",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    write_results(folder)
    rows = np.random.default_rng(1).normal(size=(120, 2))
    lines = "".join(f"{x},{y}\n" for x, y in rows)
    (folder / "rows.csv").write_text("x,y\n" + lines, encoding="utf-8")
    (folder / "slow_models.py").write_text(SLOW, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()


class Server:
    """A server of its own process, its address, and what pages complained about."""

    def __init__(self, place: Path) -> None:
        words = [*POISE, "ui", str(place), "--no-open"]
        alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=alone)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.base = self.address.partition("/?")[0]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def servers(place: Path) -> Iterator[list[Server]]:
    made = [Server(place)]
    yield made
    for each in made:
        each.end()


@pytest.fixture
def server(servers: list[Server], place: Path) -> Server:
    """The server of all tests; a new one only after a test that has killed it."""
    if servers[-1].process.poll() is not None:
        servers.append(Server(place))
    return servers[-1]


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    return []


def _tab(context: BrowserContext, complaints: list[str]) -> Page:
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)  # of a machine with other work to do
    return page


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One for all tests: what a browser keeps, such as plotly.js, is read and compiled once."""
    made = browser.new_context(viewport=WINDOW)
    yield made
    made.close()


@pytest.fixture
def no_complaints(complaints: list[str]) -> Iterator[None]:
    complaints.clear()
    yield
    assert [text for text in complaints if not EXPECTED.search(text)] == []


@pytest.fixture(scope="module")
def tab(context: BrowserContext, complaints: list[str]) -> Page:
    return _tab(context, complaints)


@pytest.fixture
def page(tab: Page, server: Server, no_complaints: None) -> Page:
    """The list of runs."""
    tab.set_viewport_size(WINDOW)
    tab.goto(server.address)
    assert "token" not in tab.url
    return tab


@pytest.fixture(scope="module")
def tab_of_run(
    context: BrowserContext, servers: list[Server], complaints: list[str], keys: dict[str, str]
) -> Page:
    """A second tab, which stays at one run."""
    made = _tab(context, complaints)
    made.goto(servers[-1].address)
    made.goto(f"{servers[-1].base}/run/{keys['mean10.jsonl']}")
    return made


@pytest.fixture
def run(tab_of_run: Page, no_complaints: None) -> Page:
    """The page of one run, with the question that was fixed."""
    tab_of_run.bring_to_front()
    tab_of_run.get_by_role("button", name="Back to what was fixed").click()
    expect(tab_of_run.locator(".looking")).to_contain_text("fixed before the first trial")
    return tab_of_run


@pytest.fixture(scope="module")
def keys(place: Path) -> dict[str, str]:
    return {file.name: file.key for file in Folder(place).files()}


def _fact(page: Page, name: str) -> str:
    row = page.locator(".facts tr", has=page.get_by_role("rowheader", name=name, exact=True))
    return row.locator("td").first.inner_text()


def _drag(page: Page, name: str, share: float) -> None:
    """Move a slider with the mouse to a share of its length."""
    box = page.locator(f"input[data-for={name}]").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2)


def test_the_list_is_searched_sorted_and_unmoved_by_hostile_names(page: Page) -> None:
    expect(page.locator("tbody tr")).to_have_count(17)
    assert page.locator("td.file", has_text=HOSTILE).count() == 1
    assert page.locator("main img").count() == 0
    page.get_by_label("Search").fill("dummy")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_label("Search").fill("")
    expect(page.locator("tbody tr")).to_have_count(17)
    page.get_by_role("link", name="n", exact=True).press("Enter")
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("n↓")
    expect(page.locator("tbody tr").first).to_contain_text("20")
    assert page.locator("tr.bad").count() == 4
    page.locator("tr", has_text="damaged.jsonl").get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("This file cannot be read")


def test_sliders_are_answered_with_the_librarys_numbers(run: Page, place: Path) -> None:
    page, trials = run, read_journal(place / "mean10.jsonl").trials
    expect(page.locator(".headline .verdict")).to_have_text("stable")
    expect(page.locator("[data-figure=changes] .bars path").first).to_be_visible()
    expect(page.locator("[data-piece=band]")).to_contain_text("for every ε at once")
    expect(page.locator(".looking")).to_contain_text("fixed before the first trial")
    _drag(page, "epsilon", 0.3)
    expect(page.locator(".looking")).to_contain_text("does not hold any more")
    epsilon = float(page.locator("#epsilon").input_value())
    assert epsilon != 0.5
    result = trials.test(epsilon, 0.1)
    expect(page.locator(".headline .verdict")).to_have_text(result.verdict.value)
    for name, value in result.facts().items():
        assert _fact(page, name) == value
    limit = at_most(trials.profile(0.05).at(epsilon))
    expect(page.locator("[data-piece=band]")).to_contain_text(f"at most {limit}")
    _drag(page, "delta", 0.8)
    _drag(page, "alpha", 0.6)
    delta, alpha = (float(page.locator(f"#{name}").input_value()) for name in ("delta", "alpha"))
    moved = trials.test(epsilon, delta, alpha)
    expect(page.locator(".facts").first).to_contain_text(moved.facts()["delta between"])
    assert f"delta={delta}" in page.url
    page.get_by_role("button", name="Back to what was fixed").click()
    expect(page.locator(".looking")).to_contain_text("fixed before the first trial")
    assert page.locator("#epsilon").input_value() == "0.5"
    slider = page.locator("input[data-for=delta]")
    slider.focus()
    slider.press("ArrowRight")
    expect(page.locator(".looking")).to_contain_text("Only δ was moved")
    page.locator("#alpha").fill("7")  # refused by the field itself: nothing is asked
    page.locator("#alpha").fill("0.9999999999999999999")
    expect(page.get_by_role("alert")).to_contain_text("alpha must be in (0, 1)")


def test_the_line_in_the_picture_can_be_dragged(run: Page) -> None:
    page = run
    line = page.locator("[data-figure=changes] .shapelayer path").first
    expect(line).to_be_attached()
    box = line.evaluate("e => e.getBoundingClientRect().toJSON()")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    page.mouse.up()
    expect(page.locator(".looking")).to_contain_text("ε moved")
    assert float(page.locator("#epsilon").input_value()) < 0.5


def test_a_run_can_be_taken_along(run: Page) -> None:
    page = run
    beginnings = {"Report": b"<!doctype html>", "JSON": b"{", "PNG": b"\x89PNG"}
    for name, beginning in beginnings.items():
        with page.expect_download() as kept:
            page.get_by_role("link", name=name, exact=True).click()
        assert Path(kept.value.path()).read_bytes().startswith(beginning)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("[data-copy=as-python]").click()
    expect(page.locator("[data-copy=as-python]")).to_have_text("Copied")
    assert "poise.stability_test(" in page.evaluate("navigator.clipboard.readText()")


def test_compare_and_plan(page: Page, keys: dict[str, str]) -> None:
    for name in ("mean5.jsonl", "mean20.jsonl"):
        page.get_by_label(f"Choose {name} to compare").check()
    page.get_by_role("button", name="Compare the chosen runs").click()
    expect(page.locator(".side thead th")).to_have_count(3)
    expect(page.locator("[data-figure=curve] .scatterlayer .trace").first).to_be_attached()
    expect(page.locator("[data-figure=profiles] .scatterlayer .trace")).to_have_count(2)
    _drag(page, "epsilon", 0.2)
    expect(page.locator(".side")).to_contain_text("unstable")
    page.get_by_role("link", name="Plan").click()
    expect(page.locator("[data-piece=planned]")).to_contain_text("3,000 rows hold 29 trials")
    expect(page.locator("[data-figure=power] .scatterlayer .trace").first).to_be_attached()
    expect(page.locator(".menu tr.chosen td").first).to_have_text("102")
    page.locator("#n").fill("49")
    expect(page.locator("[data-piece=planned]")).to_contain_text("60 trials")
    for name, share in {"rows": 0.4, "delta": 0.6, "alpha": 0.6, "delta_star": 0.1}.items():
        before = page.locator("[data-piece=planned]").inner_text()
        _drag(page, name, share)
        expect(page.locator("[data-piece=planned]")).not_to_have_text(before)


def test_pages_fit_every_width_and_follow_the_scheme(
    page: Page, server: Server, keys: dict[str, str]
) -> None:
    run = f"/run/{keys['mean10.jsonl']}"
    written = [f"/run/{keys[name]}" for name in ("mine.ledger", "grows.record", "deployed.jsonl")]
    compared = "&".join(f"run={keys[f'mean{n}.jsonl']}" for n in (5, 10, 20))
    addresses = ("/", run, f"/compare?{compared}", "/plan", "/new", *written)
    for address in addresses:
        page.goto(server.base + address)
        for width, scheme in LOOKS:  # each step changes one of the two
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark")
        assert page.evaluate(UNLABELLED) == []
    page.emulate_media(media="print", color_scheme="light")
    assert not page.locator("nav").first.is_visible()
    page.emulate_media(media="screen")


def test_a_run_is_started_watched_stopped_and_resumed(
    page: Page, server: Server, place: Path
) -> None:
    for other in page.context.pages[1:]:
        other.close()  # it would follow the run too
    page.get_by_role("link", name="New run").click()
    page.get_by_label("File", exact=True).select_option("rows.csv")
    expect(page.locator("#rows")).to_have_text("120 rows, 2 columns")
    expect(page.locator("[data-piece=parameters]")).to_contain_text("alpha")
    page.get_by_label("From").select_option("slow_models.py")
    expect(page.locator("#name-in-file option")).to_have_count(1)
    for name, value in {"n": "2", "epsilon": "0.9", "delta": "0.3", "name": "live"}.items():
        page.locator(f"#{name}").fill(value)
    page.get_by_role("button", name="Start the run").click()
    page.get_by_role("link", name="Watch it").click()
    journal = place / "live.jsonl"
    expect(page.locator("[data-piece=band]")).to_contain_text("at once")  # the page has begun
    stop = page.get_by_role("button", name="Stop")
    held = stop.element_handle()
    before = page.locator(".trials").inner_text()
    expect(page.locator(".trials")).not_to_have_text(before)  # the page has followed the run
    assert held is not None
    assert held.evaluate("button => button.isConnected")  # and the button is the same one
    stop.click()
    expect(page.locator(".state")).to_contain_text("stopped")
    done = read_journal(journal).trials.n_observed
    assert 0 < done < 40
    server.process.kill()  # the page says so, and goes on when a server is there again
    expect(page.locator("#lost")).to_be_visible()
    again = Server(place)
    try:
        page.goto(again.address)
        expect(page.locator("tr", has_text="live.jsonl")).to_contain_text(f"{done} of 40 stopped")
        page.locator("tr", has_text="live.jsonl").get_by_role("link").click()
        expect(page.locator("[data-piece=band]")).to_contain_text("at once")
        page.locator("summary", has_text="Resume").click()
        expect(page.locator(".resume pre")).to_contain_text("poise test --epsilon=0.9")
        page.get_by_role("button", name="Resume this run").click()
        expect(page.locator(".state")).to_contain_text("Stop")
        note = (place / ".poise-ui" / "live.jsonl.process").read_text()
        again.end()
        assert running(int(re.findall(r"\d+", note)[0]))  # the run outlives its server
        (place / "fast").touch()
        assert until(lambda: read_journal(journal).trials.n_observed == 40)
    finally:
        again.end()
