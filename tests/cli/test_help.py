"""Help: complete, made of the settings, and free of heavy imports."""

from __future__ import annotations

import inspect
import re
import shlex
import sys

import click
import pytest

import poise
from helpers import python
from poise.cli import COMMANDS, main
from poise.cli.algorithms import load_algorithm, load_object
from poise.settings import OF_A_VERDICT, Every, settings_of

HEAVY = ["numpy", "scipy", "sklearn", "pandas", "pyarrow", "joblib", "rich", "jinja2", "msgspec"]
FIRST = (
    "--target --algorithm --n --epsilon --delta --alpha --unlabeled --groups --drop --response "
    "--seed --jobs --max-trials --journal --save --report --json --quiet --help --help-all"
)


def test_help_loads_nothing_heavy() -> None:
    asked = [["--help"], ["--version"], [], *[[name, "--help"] for name in COMMANDS]]
    code = (
        "import sys\nfrom poise.cli import main\n"
        f"for words in {asked}:\n"
        "    try:\n        main(words)\n    except SystemExit:\n        pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)\n"
    )
    done = python(code)
    assert done.stderr.strip() == "[]"
    assert done.stdout.count("Usage: poise") == len(COMMANDS) + 2


def test_every_command_and_option_explains_itself(run) -> None:
    assert (bare := run("")).exit_code == 2  # which is no verdict
    assert (listed := run("--help").stdout) == bare.stdout
    assert "5    inconclusive" in listed
    for name, (_, line) in COMMANDS.items():
        assert f"{name}  " in listed
        assert line in " ".join(listed.split())
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.help
        assert all(p.help for p in command.params if isinstance(p, click.Option)), name
        text = run(f"{name} --help-all").stdout or run(f"{name} --help").stdout
        shown = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)
        options = [max(p.opts, key=len) for p in command.params if isinstance(p, click.Option)]
        assert set(options) <= set(shown), name
        hides = any(getattr(p, "hidden", False) for p in command.params)
        assert ("--help-all" in shown) == hides, name


def test_the_first_screen_of_a_test(run) -> None:
    text = run("test --help").stdout
    shown = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)
    assert sorted(shown) == sorted(FIRST.split())
    assert len(text.splitlines()) <= 60


@pytest.mark.parametrize("name", ["test", "measure"])
def test_options_are_the_keywords_of_the_library(name: str) -> None:
    known = inspect.signature(poise.stability_test if name == "test" else poise.measure).parameters
    params = {p.name: p for p in main.get_command(click.Context(main), name).params}
    for key, setting in settings_of(Every).items():
        if setting.said.option == "-" or (name == "measure" and key in OF_A_VERDICT):
            assert key not in params
            continue
        default = known[key].default
        shown = not isinstance(default, bool) and isinstance(default, (int, float, str))
        help = setting.said.help.replace(", or the name of a column", "")
        assert params[key].help == help + f"  [default: {default}]" * shown
        assert params[key].default is None  # what is not typed is left to the library


def test_algorithms_by_name(folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.path", list(sys.path))
    for name in ["DummyRegressor", "GaussianNB", "IsolationForest"]:
        assert type(load_algorithm(name)).__name__ == name
    original = load_object("poise_test_pipe.py:pipeline", "algorithm")
    assert load_algorithm("poise_test_pipe.py:pipeline") is original
    changed = load_algorithm("poise_test_pipe.py:pipeline(ridge__alpha=3.0)")
    assert (changed["ridge"].alpha, original["ridge"].alpha) == (3.0, 1.0)
    shifted = load_algorithm("poise_test_models.py:mean(shift=2.0)")
    assert shifted.fit([[0], [1]], [1.0, 3.0], 0)([[5]]) == [4.0]


def test_the_examples_of_the_help_are_read(run) -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        text = command.help.replace("\\\n", " ")
        for line in re.findall(r"^ +poise (.*)$", text, re.MULTILINE):
            words = shlex.split(line, comments=True)
            assert words[0] == name
            command.make_context(name, words[1:])
