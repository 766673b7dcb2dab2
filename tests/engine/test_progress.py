from __future__ import annotations

import io
import re
import time

import pytest

from poise import progress
from poise.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """What is written within some tenths of a second, if patience is shorter still."""
    for name in ("_PATIENCE", "_REDRAWN", "_LINES"):
        monkeypatch.setattr(progress, name, 0.02)
    monkeypatch.setenv("TERM", "xterm")

    def written(stream, shown=None, done=3):
        monkeypatch.setattr("sys.stderr", stream)
        with Progress(10, shown, "trials") as bar:
            bar.advance_to(done)
            for _ in range(100 if shown is None else 2):
                if "left" in stream.getvalue() or (stream.getvalue() and not done):
                    break
                time.sleep(0.05)
        return stream.getvalue()

    return written


def test_a_log_gets_lines_and_a_terminal_a_bar(shown):
    first = shown(io.StringIO()).splitlines()[0]
    assert re.fullmatch(r"poise: 3 of 10 trials, \d:\d\d:\d\d left", first)
    assert "left" not in shown(io.StringIO(), done=0)
    drawn = shown(Terminal())
    assert "3 of 10 trials" in drawn
    assert "poise:" not in drawn


def test_nothing_is_written_where_nothing_is_wanted_or_nobody_listens(shown, monkeypatch):
    assert shown(io.StringIO(), shown=False) == shown(Terminal(), shown=False) == ""
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        with Progress(10, None):
            time.sleep(0.1)


def test_short_work_shows_nothing_and_does_not_wait_for_the_bar(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    began = time.monotonic()
    with Progress(10, None) as bar:
        bar.advance_to(10)
    assert stream.getvalue() == ""
    assert time.monotonic() - began < 30
