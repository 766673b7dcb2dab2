"""Data as people have them, on the command line: the options, standard input, early answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from poise import StabilityResult

RIDGE = "--algorithm sklearn.linear_model:Ridge --n 20 --seed 0"
ASKED = f"{RIDGE} --epsilon 0.5 --delta 0.2 --json"
FORM = "--decimal , --sep ; --encoding utf-16 --no-header"


@pytest.fixture(scope="module")
def german(folder: Path) -> Path:
    """The same numbers, with decimal commas, in another encoding and without a header."""
    frame = pd.read_csv(folder / "numbers.csv")
    path = folder / "german.txt"
    frame.to_csv(path, sep=";", decimal=",", encoding="utf-16", header=False, index=False)
    return path


def test_every_command_reads_the_same_rows(run, german: Path) -> None:
    plain = run(f"test numbers.csv --target price {ASKED}")
    assert plain.exit_code in (0, 1), plain.stderr
    foreign = run(f"test german.txt --target 3 {FORM} {ASKED}")
    found = StabilityResult.from_json(foreign.stdout)
    assert found == StabilityResult.from_json(plain.stdout)
    for command in (
        f"profile german.txt --target 3 {FORM} {RIDGE} -q",
        f"check german.txt --target 3 {FORM} {RIDGE} -q",
        f"compare german.txt --target 3 {FORM} {ASKED}",
    ):
        result = run(command)
        assert result.exit_code in (0, 1), result.stderr


def test_the_keys_of_a_file_of_questions(run, folder: Path, german: Path) -> None:
    content = """
    [data]
    file = "german.txt"
    target = "3"
    decimal = ","
    sep = ";"
    encoding = "utf-16"
    header = false
    [algorithms.ridge]
    use = "sklearn.linear_model:Ridge"
    [[questions]]
    n = 20
    epsilon = 0.5
    delta = 0.2
    """
    (folder / "german.toml").write_text(content)
    result = run("run german.toml -q")
    assert result.exit_code in (0, 1), result.stderr
    (folder / "german.toml").write_text(content.replace('decimal = ","', 'decimal = "comma"'))
    result = run("run german.toml -q")
    assert "german.toml: [data] decimal must be one of '.', ',', got 'comma'" in result.stderr
    (folder / "german.toml").write_text(content.replace("german.txt", "http://host/x.csv"))
    assert "http://host/x.csv is the address of a file" in run("run german.toml").stderr


def test_standard_input(folder: Path) -> None:
    # A mean: the process need not import scikit-learn.
    asked = ASKED.replace("sklearn.linear_model:Ridge", "poise_test_models.py:mean")
    command = f"-m poise test - --target price {asked}"
    piped = subprocess.run(
        [sys.executable, *command.split()],
        cwd=folder,
        input=(folder / "numbers.csv").read_bytes(),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert b'"verdict"' in piped.stdout, piped.stderr


def test_standard_input_holds_one_table(run) -> None:
    result = run(f"test - --target price --unlabeled - {ASKED}")
    assert result.exit_code == 2
    assert "standard input holds one table" in result.stderr


def test_an_open_quote_is_bad_data(run, folder: Path) -> None:
    lines = (folder / "numbers.csv").read_text().splitlines()
    lines[8] = lines[8].replace(",", ',"', 1)
    (folder / "quote.csv").write_text("\n".join(lines))
    result = run(f"test quote.csv --target price {ASKED}")
    assert result.exit_code == 2
    assert "begins in line 9: a quote is opened and never closed" in result.stderr


def test_rows_are_counted_as_lines(run, folder: Path) -> None:
    lines = (folder / "numbers.csv").read_text().splitlines()
    cells = lines[5].split(",")
    broken = [*lines[:3], "", *lines[3:5], ",".join([cells[0], "tall", cells[2]]), *lines[6:]]
    (folder / "broken.csv").write_text("\n".join(broken))
    result = run(f"test broken.csv --target price {ASKED}")
    assert result.exit_code == 2
    assert "column 'size' holds 'tall' in line 7; encode it" in result.stderr
    gap = [*lines[:5], f"{cells[0]},{cells[1]},", *lines[6:]]
    (folder / "broken.csv").write_text("\n".join(gap))
    result = run(f"test broken.csv --target price {ASKED}")
    assert "got nan in line 6;" in result.stderr


# Each is answered from the options and the first lines of the file.
ANSWERED_EARLY = [
    ("test numbers.csv --target prize {asked}", "did you mean 'price'?"),
    ("test nmbers.csv --target price {asked}", "did you mean 'numbers.csv'?"),
    ("check numbers.csv --target price --drop idd", "did you mean 'id'?"),
    ("compare numbers.csv --target prize {asked}", "did you mean 'price'?"),
    ("profile https://host/rows.csv --target price", "is the address of a file"),
    ("test numbers.csv --target price {asked} --decimal ;", "is not one of '.', ','"),
    ("test numbers.csv --target price {asked} --encoding latin-99", "encoding must be a known"),
    ("test numbers.csv --target price {asked} --delta 1.2", "delta must be in [0, 1), got 1.2"),
    ("compare numbers.csv --target price {asked} --epsilon -1", "epsilon must be a finite"),
    ("profile numbers.csv --target price --n 1", "n must be a whole number >= 2"),
    ("check numbers.csv --target price --n 1", "n must be a whole number >= 2"),
    ("test numbers.csv --target price {asked} --coupling loose", "is not one of"),
    ("test numbers.csv --target price {asked} --remove 30", "remove must be less than n"),
    (
        "test german.txt --target 3 {asked}",
        "holds numbers, not column names; add a header line, or give --no-header",
    ),
    ("test german.txt --target 3 --no-header {asked}", "has decimal commas (column '2', '0,125"),
]

SCRIPT = """
import contextlib, io, sys
from poise.cli import main
for line in sys.stdin:
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            main.main(line.split())
        except SystemExit as end:
            status = end.code
    print(status, "sklearn" in sys.modules, said.getvalue().strip())
"""


def test_wrong_columns_options_and_files_are_answered_before_sklearn(
    folder: Path, german: Path
) -> None:
    asked = "--epsilon 1 --delta 0.1"
    commands = [command.format(asked=asked).split() for command, _ in ANSWERED_EARLY]
    lines = [" ".join([*words[:2], *RIDGE.split(), *words[2:]]) for words in commands]
    answered = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    said = answered.stdout.splitlines()
    assert len(said) == len(lines)
    for line, (command, message) in zip(said, ANSWERED_EARLY, strict=True):
        assert line.startswith("2 False"), (command, line)
        assert message in line, (command, line)
