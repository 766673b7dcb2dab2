"""Wrong use is one line on stderr, nothing on stdout, status 2, and said as early as possible."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

import poise
from helpers import python
from poise.cli import main

ROWS = "numbers.csv --target price --drop id"
BASE = f"test {ROWS} --n 20 --epsilon 0.5 --delta 0.2"
RIDGE = f"{BASE} --algorithm Ridge"
MODELS = f"{BASE} --algorithm poise_test_models.py"
PIPE = f"{BASE} --algorithm poise_test_pipe.py"
MEASURE = f"measure {ROWS} --algorithm Ridge --n 20"

# Answered from the options and the first lines of the files, before scikit-learn is imported.
EARLY = """
tset => No command 'tset'; did you mean 'test'? See poise --help
--nonsense => No such option '--nonsense'. See poise --help
RIDGE --nonsense => No such option '--nonsense'. See poise test --help
RIDGE --epsilo 1 => No such option '--epsilo'; did you mean '--epsilon'?
verify a.json --dat b.csv => No such option '--dat'. See poise verify --help
test numbers.csv => Missing --target, --algorithm, --n, --delta, --epsilon (unless
test => Missing argument 'DATA'
RIDGE --n many => --n must be a number > 0, got 'many'
RIDGE --n 0 => --n must be a whole number >= 2, got 0
RIDGE --delta 1.2 => --delta must be a number in [0, 1), got 1.2
RIDGE --delta 5% => --delta must be a number in [0, 1), got '5%'
RIDGE --epsilon nan => --epsilon must be
RIDGE --n 1.5 => --n must be
RIDGE --epsilon -1 => --epsilon must be a finite number >= 0, got -1
RIDGE --epsilon much => --epsilon must be a number >= 0 or a share such as '5% of sd'
RIDGE --seed -1 => --seed must be a whole number >= 0, got -1
RIDGE --target prize => has no column 'prize', only id, size, price; did you mean 'price'?
RIDGE --drop idd => has no column 'idd', only id, size, price; did you mean 'id'?
RIDGE --groups sise => --groups is not a column of numbers.csv: 'sise'; did you mean 'size'?
RIDGE --unlabeled nowhere.csv => nowhere.csv
test - --target y --algorithm Ridge --n 9 --epsilon 1 --delta 0.2 --unlabeled - => holds one table
RIDGE --save nowhere/x.json => --save cannot be written: there is no folder nowhere
RIDGE --save . => --save must be a regular file, got '.'
RIDGE(alpha --n 20 => --algorithm must look like Ridge(alpha=1.0, name='text')
BASE --algorithm Rigde => got 'Rigde'; did you mean 'Ridge'?
BASE --algorithm own.py => got 'own.py'; name what is in it: own.py:NAME
BASE --algorithm sklearn.linear_model.Ridge => did you mean sklearn.linear_model:Ridge?
plan --n 5 => Give two of --rows, --n and --delta, or --rows alone.
BASE --algorithm model.joblib => got 'model.joblib'; a fitted model cannot be fitted again
BASE --algorithm no_such_module:x => cannot import 'no_such_module'
BASE --algorithm nowhere.py:x => no such file
MODELS:maen => has no 'maen'; did you mean 'mean'?
MODELS:mean(shfit=1) => got an unexpected keyword argument 'shfit'
RIDGE --summary x.md => --summary is for gates, which are TOML files.
RIDGE --check => --check is for gates
MEASURE --epsilon 1 => No such option '--epsilon'
show numbers.csv => numbers.csv
"""
LATER = """
RIDGE --n 661 => --n must be at most
RIDGE(alhpa=2) => got an unexpected keyword argument 'alhpa'
RIDGE(alpha=1,alpha=2) => --algorithm must look like Ridge(alpha=1.0, name='text')
BASE --algorithm sklearn.linear_model:Ridg => has no 'Ridg'; did you mean 'Ridge'?
MODELS:number => --algorithm must be an estimator with fit and predict, or a function
MODELS:number(a=1) => --algorithm must be an estimator or a function, got 7
PIPE:bare(a=1) => Bare does not take these parameters
PIPE:pipeline(ridge__gamma=1) => Invalid parameter 'gamma'
BASE --algorithm sklearn.pipeline:Pipeline => Pipeline cannot be created
BASE --algorithm colorsys.py:x => colorsys.py has the name of another module; rename the file
test labels.csv --target price --algorithm RidgeClassifier --n 20 --delta 0.2 --epsilon 1 => \
--epsilon must be left out
RIDGE --distance manhattan => --distance must be
RIDGE --remove 30 => --remove must be
test numbers.csv --target price --algorithm Ridge --n 20 --delta 0.2 => `poise measure` shows
"""


def cases(text: str) -> list[tuple[str, str]]:
    """Return what is typed, and what is said of it."""
    text = re.sub(r"^[A-Z]+", lambda found: globals()[found[0]], text.strip(), flags=re.MULTILINE)
    return [tuple(line.split(" => ")) for line in text.splitlines()]


@pytest.mark.parametrize(("command", "message"), cases(EARLY + LATER.lstrip()))
def test_wrong_use_is_one_line_and_status_2(run, command: str, message: str) -> None:
    result = run(command)
    (line,) = result.stderr.splitlines()
    assert line.startswith("poise: ")
    assert message in line
    assert (result.exit_code, result.stdout) == (2, "")


SCRIPT = """
import contextlib, io, os, sys
from poise.cli import main
os.chdir(sys.argv[1])
for line in sys.argv[2:]:
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            main.main(line.split())
        except SystemExit as end:
            print(end.code, "sklearn" in sys.modules, line)
"""


def test_what_is_wrong_with_options_columns_and_files_is_said_before_sklearn(folder: Path) -> None:
    commands = [command for command, _ in cases(EARLY)]
    said = python(SCRIPT, str(folder), *commands).stdout.splitlines()
    assert said == [f"2 False {command}" for command in commands]


def test_errors_are_json_too(run) -> None:
    wrong = json.loads(run(f"{RIDGE} --delta 2 --json").stdout)
    said = "--delta must be a number in [0, 1), got 2"
    assert wrong == {"error": "ArgumentError", "message": said, "exit_status": 2}
    failed = json.loads(run(f"{MODELS}:failing --json").stdout)
    assert failed["message"].startswith("trial 0 failed: ")
    assert (failed["exit_status"], failed["trial"], failed["kind"]) == (3, 0, "error")


def test_a_failed_fit_is_status_3_and_names_the_trial_and_the_remedy(run) -> None:
    result = run(f"{MODELS}:failing")
    (line,) = result.stderr.splitlines()
    assert "trial 0 failed: ZeroDivisionError: the matrix is singular" in line
    assert line.endswith("; poise --traceback … shows where")  # so would fail all others
    assert (result.exit_code, result.stdout) == (3, "")
    assert "in failing" in run(f"--traceback {MODELS}:failing").stderr
    recorded = run(f"{MODELS}:failing --on-error record --no-look -q")
    assert (recorded.exit_code, recorded.stdout) == (5, "inconclusive\n")


@pytest.mark.parametrize(
    ("error", "status", "last"),
    [
        ("OSError", 3, "--on-error record counts a failed trial against 'stable' instead"),
        ("KeyboardInterrupt", 130, "poise: interrupted"),
    ],
)
def test_what_ended_early_says_what_is_kept_and_goes_on(run, folder, error, status, last) -> None:
    words = f"{MODELS}:ends_once(error='{error}') --no-look --journal {error}.journal"
    stopped = run(f"{words} --save late.json --force")
    assert stopped.exit_code == status, stopped.stderr
    assert "what was measured before is in late.json" in stopped.stderr
    assert f"{error}.journal: the same command goes on from there" in stopped.stderr
    assert stopped.stderr.splitlines()[-1].endswith(last)
    assert poise.load(folder / "late.json").changes.tolist() == [[[0.0]]] * 7
    assert "only 7 of" in run(f"show {error}.journal").stdout
    done = run(words)
    assert (done.exit_code, run(f"show {error}.journal").stdout) == (0, done.stdout)
    over = run(f"{words} --save {error}.journal").stderr
    assert "--save must not be a file that this command" in over


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (KeyboardInterrupt(), 130, "poise: interrupted"),
        (click.Abort(), 130, "poise: interrupted"),
        (PermissionError(13, "Permission denied", "x"), 2, "poise: Permission denied: x"),
        (KeyError("x"), 70, "poise: a defect in poise: KeyError: 'x'"),
        (EOFError("marshal data too short"), 70, "poise: a defect in poise: EOFError: marshal"),
        (BrokenPipeError(), 141, ""),
        (SystemExit(0), 3, "poise: user code ended the program: SystemExit: 0"),
        (click.exceptions.Exit(0), 3, "poise: user code ended the program: SystemExit: 0"),
    ],
)
def test_what_cannot_be_foreseen(run, monkeypatch, error, status: int, line: str) -> None:
    def fail(*given: object, **named: object) -> None:
        raise error

    monkeypatch.setattr("poise.results.file.load", fail)
    monkeypatch.setattr("poise.cli.errors._forget_stdout", lambda: None)
    result = run("show some.json")
    assert (result.exit_code, result.stdout) == (status, "")
    assert result.stderr.startswith(line)
    assert len(result.stderr.splitlines()) == bool(line)


def test_programs_that_embed_the_commands_see_the_errors_themselves() -> None:
    with pytest.raises(click.UsageError):
        main.main(["test"], standalone_mode=False)


def test_a_row_is_named_by_its_line_and_a_column_by_its_name(run, folder: Path) -> None:
    lines = (folder / "numbers.csv").read_text().splitlines()
    for cells, asked, said in [
        ("5,1,", BASE, "column 'price' of broken.csv"),
        ("5,tall,1", BASE, "column 'size' of broken.csv mixes"),
        ("5,,1", "advise numbers.csv --target price", "column 'size' of broken.csv holds nan"),
    ]:
        (folder / "broken.csv").write_text("\n".join([*lines[:5], cells, *lines[6:]]))
        told = run(asked.replace("numbers.csv", "broken.csv") + " --algorithm Lasso").output
        (line,) = (line for line in told.splitlines() if "broken.csv" in line and said in line)
        assert "line 6" in line
