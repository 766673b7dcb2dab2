"""The suite does not depend on where it is started: from a terminal, by nohup, or by CI."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

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


R_TEST = "tests/algorithms/program/test_documentation.py::test_examples_on_the_page_run"


def run_r_test(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run a test that needs R and jsonlite, in other surroundings."""
    kept = {name: value for name, value in os.environ.items() if name != "CI"}
    options = ["-q", "-rs", "-p", "no:cacheprovider", "--no-header"]
    return python("-m", "pytest", *options, R_TEST, cwd=ROOT, env=kept | environment)


def test_without_r_its_tests_are_skipped_and_say_so_but_not_in_ci(tmp_path: Path) -> None:
    skipped = run_r_test(PATH=str(tmp_path))
    assert skipped.returncode == 0, skipped.stdout
    assert "1 skipped" in skipped.stdout
    assert "not installed: R, jsonlite (Debian: see .ci/apt-packages)" in skipped.stdout
    failed = run_r_test(PATH=str(tmp_path), CI="true")
    assert failed.returncode == 1, failed.stdout
    assert "1 failed" in failed.stdout


def test_with_bare_r_the_package_that_is_missing_is_named(tmp_path: Path) -> None:
    """An Rscript that knows no package, since what R finds depends on how it was built."""
    bare = tmp_path / "Rscript"
    bare.write_text("#!/bin/sh\nprintf FALSE\n", encoding="utf-8")
    bare.chmod(0o755)
    skipped = run_r_test(PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert "not installed: jsonlite (Debian" in skipped.stdout
    assert "1 skipped" in skipped.stdout
