"""The suite does not depend on where it is started: from a terminal, by nohup, or by CI."""

from __future__ import annotations

import os
import signal
import sys

from shared.paths import ROOT
from shared.processes import printed, python


def test_an_interrupt_is_heard_here_and_by_children() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    heard = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    assert printed(heard) == "True\n"


def test_nobody_asks_for_colours() -> None:
    assert not {"FORCE_COLOR", "NO_COLOR"} & os.environ.keys()


def test_signals_and_colours_of_the_shell_are_put_aside() -> None:
    """`nohup make test &` ignores SIGINT in everything it starts."""
    tests = [test_an_interrupt_is_heard_here_and_by_children, test_nobody_asks_for_colours]
    names = [f"tests/test_surroundings.py::{test.__name__}" for test in tests]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names]
    # Set by the process itself: to do it in between, this one would have to fork.
    start = f"""
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
command = {command!r}
os.execve(command[0], command, os.environ | {{"FORCE_COLOR": "1", "NO_COLOR": ""}})
"""
    done = python("-c", start, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
