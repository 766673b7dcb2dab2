"""One exit status for every ending, the same in every command."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

import poise
from poise.cli import EXIT_STATUS
from poise.cli.exit_status import ExitStatus
from poise.errors import ArgumentError, RecordError, TrialError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (TrialError("trial 3 failed"), 3),
        (BrokenPipeError(), 141),
        (click.UsageError("no such option"), 2),
        (ArgumentError("n must be at least 2"), 2),
        (RecordError("no such file"), 2),
        (FileNotFoundError("rows.csv"), 2),
        (ZeroDivisionError(), 70),
    ],
)
def test_every_error_has_its_status(error, status) -> None:
    assert ExitStatus.of_error(error) == status


def test_results() -> None:
    assert (ExitStatus.of_result(True), ExitStatus.of_result(False)) == (0, 1)


def test_the_help_lists_them() -> None:
    listed = {int(number) for number in re.findall(r"^  (\d+) ", EXIT_STATUS, re.MULTILINE)}
    assert listed == {0, 1, 2, 3, 4, 130}
    assert "not certified stable" in EXIT_STATUS


def test_no_command_spells_a_status_of_its_own() -> None:
    folder = Path(poise.__file__).parent / "cli"
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"return (\d+ if .* else \d+|\d+)$", text, re.MULTILINE), path.name


def test_done_is_not_a_verdict_of_its_own() -> None:
    """A shell knows one 0; no other status has two names."""
    assert ExitStatus.DONE is ExitStatus.STABLE
    assert len(ExitStatus.__members__) == len(ExitStatus) + 1
