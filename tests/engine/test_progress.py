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


def written(stream, patch, shown=None, done=3):
    """What a stream holds as soon as there is a time in it, or a second later."""
    patch.setattr("sys.stderr", stream)
    with Progress(10, shown, "trials") as bar:
        bar.advance_to(done)
        until = time.monotonic() + (5 if shown is None and done else 0.1)
        while "left" not in stream.getvalue() and time.monotonic() < until:
            time.sleep(0.02)
    return stream.getvalue()


@pytest.fixture
def impatient(monkeypatch):
    for name in ("_PATIENCE", "_REDRAWN", "_LINES"):
        monkeypatch.setattr(progress, name, 0.02)
    monkeypatch.setenv("TERM", "xterm")
    return monkeypatch


def test_a_log_gets_lines_and_a_terminal_a_bar(impatient):
    first = written(io.StringIO(), impatient).splitlines()[0]
    assert re.fullmatch(r"poise: 3 of 10 trials, \d:\d\d:\d\d left", first)
    assert "left" not in written(io.StringIO(), impatient, done=0)
    drawn = written(Terminal(), impatient)
    assert "3 of 10 trials" in drawn
    assert "poise:" not in drawn


def test_nothing_is_written_where_nothing_is_wanted_or_nobody_listens(impatient):
    for stream in (io.StringIO(), Terminal()):
        assert written(stream, impatient, shown=False) == ""
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        impatient.setattr("sys.stderr", stream)
        with Progress(10, None):
            time.sleep(0.1)


def test_short_work_shows_nothing_and_does_not_wait_for_the_bar(monkeypatch):
    began = time.monotonic()
    assert written(Terminal(), monkeypatch, done=0) == ""
    assert time.monotonic() - began < 30
