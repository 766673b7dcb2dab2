"""The demo, end to end."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from poise.cli import open_browser
from shared.browsers import Browser


def test_the_tour_shows_all_three_verdicts_and_leaves_a_plot_and_a_report(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(open_browser, "has_screen", lambda *_: True)
    monkeypatch.setattr(open_browser.webbrowser, "get", lambda: Browser(opened))
    result = run("demo --output", str(tmp_path / "new" / "demo"))
    address = (tmp_path / "new" / "demo" / "report.html").as_uri()
    assert opened == [address]
    assert result.stdout.endswith(f"The report is open in your browser: {address}\n")
    assert result.exit_code == 0
    assert result.stderr == ""
    for line in ("STABLE: Ridge()", "UNSTABLE: LinearRegression()", "INCONCLUSIVE: whether KN"):
        assert line in result.stdout
    plot = tmp_path / "new" / "demo" / "changes.png"
    assert plot.read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "new" / "demo" / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 3
    for verdict in ("stable", "unstable", "inconclusive"):
        assert f'<section class="{verdict}">' in page
    # The page needs nothing but itself, and fits a phone.
    assert not re.search(r"https?://|<script|<link|@import|url\(", page)
    assert 'name="viewport"' in page


def test_the_tour_goes_on_without_matplotlib(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(open_browser, "has_screen", lambda *_: True)
    monkeypatch.setattr(open_browser.webbrowser, "get", lambda: pytest.fail("--no-open"))
    result = run("demo --no-open --output", str(tmp_path))
    assert result.exit_code == 0
    assert result.stdout.endswith(f"The report: {(tmp_path / 'report.html').as_uri()}\n")
    assert result.stderr == "poise: plots need matplotlib: pip install 'poise[plot]'\n"
    assert not (tmp_path / "changes.png").exists()
    assert "<img" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_table_counts_a_failed_trial_as_failed(capsys) -> None:
    from poise import Trials
    from poise.cli.demo import _tabulate
    from poise.results.report.html_report import Section

    trials = Trials.from_changes([0.1] * 29 + [float("inf")], n=5, failures=["no fit"])
    _tabulate([Section(trials.test(epsilon=0.2, delta=0.1))])
    assert "0 of 30, 1 failed" in capsys.readouterr().out
