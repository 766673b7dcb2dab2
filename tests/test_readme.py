"""The README's examples, run as they stand."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
import tomllib

import pytest
from click.testing import CliRunner

from poise.cli import main
from shared.paths import ROOT

README = ROOT / "README.md"
COMMANDS = re.findall(r"^\$ poise (.*)$", README.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_python_examples() -> None:
    results = doctest.testfile(
        str(README), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.attempted >= 10
    assert results.failed == 0


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
def test_commands(command, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))  # the folder of the data is put there
    done = CliRunner().invoke(main, shlex.split(command), prog_name="poise")
    assert done.exit_code == 0, done.output
    assert done.stdout


def test_the_table_of_clean_trials_is_what_theory_says() -> None:
    import poise

    for alpha, row in ((0.1, (22, 45, 230)), (0.05, (29, 59, 299))):
        for delta, trials in zip((0.1, 0.05, 0.01), row, strict=True):
            assert poise.theory.critical_count(trials, delta, alpha) >= 0
            assert poise.theory.critical_count(trials - 1, delta, alpha) < 0
            assert f"| {trials} " in README.read_text(encoding="utf-8")


def test_both_commands_come_first() -> None:
    text = README.read_text(encoding="utf-8")
    assert 0 < text.index("make demo") < text.index("make test") < text.index("## In Python")


def test_every_extra_is_listed_with_its_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [line for line in README.read_text(encoding="utf-8").splitlines() if "| `" in line]
    for extra, packages in project["optional-dependencies"].items():
        if extra in ("test", "lint", "docs", "bench"):
            continue
        (line,) = [line for line in lines if f"`{extra}`" in line.split("|")[1]]
        for package in packages:
            assert re.split(r"[>=<;\[]", package)[0] in line, (extra, package)
