"""Progress: a bar for people, a line a minute for logs, nothing for nobody."""

from __future__ import annotations

import builtins
import math
import sys
import time
import types

import numpy as np
import pytest

import poise
from poise.running.progress import Progress
from shared.algorithms import drift
from shared.terminal import Terminal

X = np.arange(660.0).reshape(-1, 2)


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves by hand."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_nobody_is_looking(clock, capsys) -> None:
    with Progress(10, shown=False) as progress:
        for done in range(10):
            clock[0] += 3600
            progress.advance_to(done)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("shown", [None, True])
def test_a_line_a_minute_in_a_log(shown, clock, capsys) -> None:
    with Progress(600, shown, state=lambda: "3 larger changes, verdict open", done=100) as progress:
        for done in range(101, 351):
            clock[0] += 1
            progress.advance_to(done)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"poise: {100 + k} of 600 trials, 3 larger changes, verdict open, at most {left} left"
        for k, left in [(60, "7 min 20 s"), (120, "6 min 20 s"), (180, "5 min 20 s"),
                        (240, "4 min 20 s")]
    ]  # fmt: skip


def test_a_bar_after_a_second(clock, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress(200, state=lambda: "7 larger changes, verdict open") as progress:
        clock[0] += 0.9
        progress.advance_to(40)
        assert sys.stderr.getvalue() == "", "short work needs none"
        clock[0] += 0.1
        progress.advance_to(50)
    shown = sys.stderr.getvalue()
    assert "50/200" in shown
    assert "3 s left" in shown
    assert "7 larger changes, verdict open" in shown


@pytest.mark.parametrize("patience", [0.0, math.inf])
def test_the_first_sign_of_life_does_not_wait_for_a_trial(patience, monkeypatch, capsys) -> None:
    monkeypatch.setattr("poise.running.progress._Lines.patience", patience)
    with Progress(3) as progress:
        if math.isfinite(patience):
            while progress._next <= progress.began:  # shown once, the next time is set
                time.sleep(0.01)
    assert capsys.readouterr().err.startswith("poise: 0 of 3 trials\n") == math.isfinite(patience)


def test_no_bar_where_it_was_not_wanted(clock, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress(200, shown=False) as progress:
        clock[0] += 100
        progress.advance_to(50)
    assert sys.stderr.getvalue() == ""


def test_a_notebook_gets_a_bar(clock, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    shell = type("ZMQInteractiveShell", (), {})  # what a notebook's kernel is known by
    monkeypatch.setattr(builtins, "get_ipython", shell, raising=False)
    widgets: list[bool] = [True]
    monkeypatch.setattr("poise.running.progress.find_spec", lambda name: widgets[0] or None)
    assert type(Progress(10)._view).__name__ == "_Bar"
    widgets[0] = False
    assert type(Progress(10)._view).__name__ == "_RarerLines"
    monkeypatch.delitem(sys.modules, "ipykernel")
    assert type(Progress(10)._view).__name__ == "_Lines"


def test_lines_in_a_notebook_come_soon_and_then_seldom(clock, monkeypatch, capsys) -> None:
    monkeypatch.setattr("poise.running.progress._in_notebook", lambda: True)
    monkeypatch.setattr("poise.running.progress.find_spec", lambda name: None)
    with Progress(600) as progress:
        for done in range(1, 300):
            clock[0] += 1
            progress.advance_to(done)
    shown = [int(line.split()[1]) for line in capsys.readouterr().err.splitlines()]
    assert shown == [2, 6, 14, 30, 62, 122, 182, 242]


def test_a_run_says_how_its_verdict_stands(monkeypatch, capsys) -> None:
    monkeypatch.setattr("poise.running.progress._SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr("poise.running.progress._Lines.patience", 0.0)
    monkeypatch.setattr("poise.running.progress._Lines.interval", 0.0)
    result = poise.stability_test(
        drift, X, X[:, 0], n=10, epsilon=0.8, delta=0.5, random_state=1, progress=True
    )
    # On a slow machine a line may come twice: once for its trial, once because it is time.
    lines = list(dict.fromkeys(capsys.readouterr().err.splitlines()))
    assert len(lines) == result.n_observed
    last = f"{result.n_observed} of 30 trials, {result.statistic} larger changes, verdict stable"
    assert last in lines[-1]
    assert all("verdict open" in line for line in lines[:-1])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (59.6, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (90_061, "1 d 1 h")],
)
def test_durations_in_words(seconds, words, clock, capsys) -> None:
    with Progress(2, True) as progress:
        clock[0] += max(60.0, seconds)
        progress.began = clock[0] - seconds
        progress.advance_to(1)
    assert f"at most {words} left" in capsys.readouterr().err
