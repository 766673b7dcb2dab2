from __future__ import annotations

import io
import time

import pytest

from poise import progress
from poise.progress import Progress, duration


class Terminal(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.fixture
def shown(monkeypatch):
    """What is written within some tenths of a second, if patience is shorter still."""
    for name in ("_PATIENCE", "_REDRAWN", "_LINES"):
        monkeypatch.setattr(progress, name, 0.02)
    monkeypatch.setenv("TERM", "xterm")

    def written(is_terminal, shown=None, done=3):
        stream = Terminal(is_terminal)
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
    first = shown(False).splitlines()[0]
    assert first.startswith("poise: 3 of 10 trials, ")
    assert first.endswith(" s left")
    assert "left" not in shown(False, done=0)
    drawn = shown(True)
    assert "3 of 10 trials" in drawn
    assert "poise:" not in drawn


def test_nothing_is_written_where_nothing_is_wanted_or_nobody_listens(shown, monkeypatch):
    assert shown(False, shown=False) == shown(True, shown=False) == ""
    closed = Terminal(False)
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        with Progress(10, None):
            time.sleep(0.1)


def test_short_work_shows_nothing_and_does_not_wait_for_the_bar(monkeypatch):
    stream = Terminal(True)
    monkeypatch.setattr("sys.stderr", stream)
    began = time.monotonic()
    with Progress(10, None) as bar:
        bar.advance_to(10)
    assert stream.getvalue() == ""
    assert time.monotonic() - began < 30
    assert (duration(0), duration(59.6), duration(7260)) == ("0 s", "1 min", "2 h 1 min")
