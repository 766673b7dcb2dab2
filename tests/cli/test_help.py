"""Help: complete, in step with the commands, and free of heavy imports."""

from __future__ import annotations

import re

import click
import pytest

from poise.cli import COMMANDS, main
from poise.cli.help_sections import SECTIONS, SectionedCommand
from shared.processes import python

HEAVY = ["numpy", "scipy", "sklearn", "matplotlib", "pandas", "joblib", "rich", "jinja2"]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["test", "--help"], []])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from poise.cli import main\n"
        "try:\n"
        f"    main({arguments!r})\n"
        "except SystemExit:\n"
        f"    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = python("-c", code)
    assert done.stderr.strip() == "[]"
    assert "poise" in done.stdout


def test_every_command_is_listed_and_explains_itself(run) -> None:
    listed = run("--help").stdout
    for name, line in COMMANDS.items():
        assert f"{name}  " in listed
        assert line in listed
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.name == name
        assert command.help
        own = run(f"{name} --help")
        assert own.exit_code == 0
        assert own.stderr == ""
        documented = {option for option in own.stdout.split() if option.startswith("--")}
        assert "--help" in documented


def test_exit_statuses_are_documented(run) -> None:
    text = run("--help").stdout
    for line in ["0    stable", "1    unstable, inconclusive", "3    a fit failed"]:
        assert line in text


def test_sections_list_every_option_once_and_the_question_first(run) -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        if not isinstance(command, SectionedCommand):
            continue
        text = run(f"{name} --help").stdout
        text = text[text.index("\nThe question:") :]
        listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)
        options = [p.opts for p in command.params if isinstance(p, click.Option)]
        long = [next(opt for opt in opts if opt.startswith("--")) for opts in options]
        assert sorted(listed) == sorted([*long, "--help"])
        headings = [title for title in SECTIONS if f"\n{title}:\n" in text]
        assert headings[0] == "The question"
        places = [text.index(f"\n{title}:\n") for title in headings]
        assert places == sorted(places)


def test_every_option_has_help() -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (name, parameter.name)


def test_without_a_command_help_is_shown_and_it_is_no_verdict(run) -> None:
    result = run("")
    assert result.exit_code == 2
    assert "Commands:" in result.stdout
