"""Files that commands write: never over the input, nor over what poise did not write."""

from __future__ import annotations

from pathlib import Path

import pytest

from poise import Trials
from poise.cli import COMMANDS, main
from poise.cli.input_files import OUTPUTS

TEST = (
    "test numbers.csv --target price --unlabeled more.csv --algorithm poise_test_models.py:mean "
    "--drop size --n 20 --epsilon 0.5 --delta 0.2 --distance poise_test_models.py:far "
    "--journal run.journal -q"
)
PROGRAM = (
    "test numbers.csv --target price --n 20 --epsilon 0.5 --delta 0.2 -q "
    "--program 'python fit.py {train} {test} {predictions}' --save fit.py"
)


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--save", "numbers.csv"),
        ("--save", "./more.csv"),
        ("--report", "poise_test_models.py"),
        ("--report", "../{folder}/poise_test_models.py"),
        ("--save", "link.csv"),
        ("--save", "run.journal"),
    ],
)
@pytest.mark.parametrize("force", ["", " --force"])
def test_no_output_is_an_input(run, folder: Path, option: str, name: str, force: str) -> None:
    (folder / "link.csv").unlink(missing_ok=True)
    (folder / "link.csv").symlink_to(folder / "numbers.csv")
    before = {path.name: path.read_bytes() for path in folder.glob("*.*")}
    result = run(f"{TEST} {option} {name.format(folder=folder.name)}{force}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{option} " in result.stderr
    assert "would replace another file of this command; give another name" in result.stderr
    assert {path.name: path.read_bytes() for path in folder.glob("*.*")} == before


FITTED = "numbers.csv --target price --drop id --algorithm sklearn.linear_model:Ridge"
ROWS = f"{FITTED} --n 10"
WRITING = [
    f"intervals {FITTED} --new more.csv --table",
    f"intervals {FITTED} --new more.csv --plot",
    f"compare {ROWS} --epsilon 1 --delta 0.2 --plot",
    f"curve {ROWS} --delta 0.2 --plot",
    f"deployed {FITTED} --hold-out 0.2 --epsilon 1 --delta 0.2 --save",
    f"deployed {FITTED} --hold-out 0.2 --epsilon 1 --delta 0.2 --plot",
    f"deployed {FITTED} --hold-out 0.2 --epsilon 1 --delta 0.2 --report",
    f"intervals {ROWS} --new more.csv --certify --epsilon 1 --delta 0.2 --table",
    f"monitor new.record {ROWS} --epsilon 1 --delta 0.2 --plot",
    f"profile {ROWS} --save",
    f"profile {ROWS} --plot",
    f"stabilize {ROWS} --epsilon 1 --delta 0.2 --plot",
    "plan --n 10 --delta 0.1 --plot",
    "show kept.trials --epsilon 1 --delta 0.5 --plot",
]


@pytest.mark.parametrize("command", WRITING)
def test_no_command_replaces_inputs_or_foreign_files(run, folder: Path, command: str) -> None:
    Trials.from_changes([0.1] * 9, n=5).save(folder / "kept.trials")
    (folder / "notes.png").write_text("mine")
    foreign = run(f"{command} notes.png")
    assert (foreign.exit_code, foreign.stdout) == (2, "")
    assert "notes.png exists and was not written by poise; give another" in foreign.stderr
    assert (folder / "notes.png").read_text() == "mine"
    for name in ("numbers.csv", "kept.trials"):
        if name in command:
            before = (folder / name).read_bytes()
            refused = run(f"{command} {name} --force")
            assert f"{name} would replace another file of this command" in refused.stderr
            assert (folder / name).read_bytes() == before


def test_every_command_that_writes_is_among_them() -> None:
    commands = {name: main.get_command(None, name) for name in COMMANDS}
    writing = {
        f"{name} --{option.name}"
        for name, command in commands.items()
        for option in command.params
        if option.name in OUTPUTS and name != "test"
    }
    covered = {f"{line.split()[0]} {line.split()[-1]}" for line in WRITING}
    assert writing - covered == {"show --report"}  # above


def test_a_program_is_an_input(run, folder: Path) -> None:
    (folder / "fit.py").write_text("pass")
    before, _, program = PROGRAM.partition("--program ")
    words, _, rest = program.removeprefix("'").partition("'")
    result = run(before, "--program", words, *rest.split(), "--force")
    assert "--save fit.py would replace another file of this command" in result.stderr


def test_two_outputs_are_two_files(run) -> None:
    result = run(f"{TEST} --save both --report both")
    assert "--save both would replace another file of this command" in result.stderr


def test_saved_trials_are_not_replaced_by_their_report(run, folder: Path) -> None:
    Trials.from_changes([0.1] * 9, n=5).save(folder / "some.trials")
    result = run("show some.trials --epsilon 1 --delta 0.5 --report some.trials")
    assert "--report some.trials would replace another file of this command" in result.stderr


@pytest.mark.parametrize(
    "asked",
    ["--save my.trials --report my.html --plot my.png", "--plot my.svg", "--plot my.pdf"],
)
def test_files_of_poise_are_replaced_and_others_are_not(run, folder: Path, asked: str) -> None:
    command = TEST.replace("--journal run.journal", asked)
    first = run(command)
    assert first.exit_code in (0, 1), first.stderr
    again = run(command)
    assert again.exit_code == first.exit_code, again.stderr
    names = asked.split()[1::2]
    for name in names:
        mine = (folder / name).read_bytes()
        (folder / name).write_text("my notes of three weeks")
        refused = run(command)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert f" {name} exists and was not written by poise; give another" in refused.stderr
        assert (folder / name).read_text() == "my notes of three weeks"
        (folder / name).write_bytes(mine)
    for name in names:
        (folder / name).write_text("my notes of three weeks")
    assert run(f"{command} --force").exit_code == first.exit_code
    for name in names:
        assert b"my notes" not in (folder / name).read_bytes()


@pytest.mark.parametrize(
    ("command", "name"), [("demo", "report.html"), ("reproduce", "reproduction.json")]
)
def test_folders_of_others_are_left_alone(run, tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / name).write_text("mine")
    result = run(f"{command} --output {tmp_path}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{name} exists and was not written by poise; give another folder" in result.stderr
    assert (tmp_path / name).read_text() == "mine"
