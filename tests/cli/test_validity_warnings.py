"""What may make an error level wrong is printed however quiet a command is, and is in its JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

SAID = "rows have an equal elsewhere"
ROWS = "copies.csv --target price"
MEAN = "--algorithm poise_test_models.py:mean"
ASKED = "--n 20 --seed 0 --epsilon 5 --delta 0.2"
TEST = f"test {ROWS} {ASKED} {MEAN}"
TWO = f"{MEAN} --algorithm sklearn.linear_model:Ridge"


@pytest.fixture(scope="module", autouse=True)
def copies(folder: Path) -> None:
    """Write a table of which 50 rows occur twice, and a file of questions about it."""
    rows = pd.read_csv(folder / "numbers.csv").drop(columns="id")
    pd.concat([rows, rows[:50]]).to_csv(folder / "copies.csv", index=False)
    (folder / "copies.toml").write_text(
        """
        data = {file = "copies.csv", target = "price"}
        algorithms.mean.use = "poise_test_models.py:mean"
        questions = [{n = 20, epsilon = 5.0, delta = 0.2, seed = 0}]
        """
    )


@pytest.mark.parametrize(
    "command",
    [
        TEST,
        f"{TEST} --save copies.trials",
        f"{TEST} --journal {{tmp}}/copies.jsonl",
        f"compare {ROWS} {ASKED} {TWO}",
        f"profile {ROWS} --n 20 --seed 0 {MEAN}",
        "run copies.toml",
    ],
    ids=lambda command: " ".join(command.split()[:1] + command.split()[-2:]),
)
@pytest.mark.parametrize("how", ["", "-q", "--json", "--json -q"])
def test_every_command_says_it_once_on_stderr(run, tmp_path, command: str, how: str) -> None:
    done = run(f"{command.format(tmp=tmp_path)} {how}")
    assert done.stderr.count(SAID) == 1, done.stderr
    assert "the error level does not hold" in done.stderr
    if "--json" in how:
        content = json.loads(done.stdout)
        result = content["answers"][0]["result"] if "answers" in content else content
        found = result["warnings"]
        assert len(found) == 1
        assert SAID in found[0]
    elif not how:
        assert "Warning: " in done.stdout or command.startswith("run")


@pytest.mark.parametrize("asked", ["--epsilon 5 --delta 0.2", "--epsilon 5", "--delta 0.2", ""])
@pytest.mark.parametrize("how", ["", "-q", "--json"])
def test_saved_trials_are_shown_with_it(run, folder: Path, asked: str, how: str) -> None:
    if not (folder / "shown.trials").exists():
        run(f"{TEST} --save shown.trials")
    done = run(f"show shown.trials {asked} {how}")
    if how == "--json":
        assert SAID in json.loads(done.stdout)["warnings"][0]
    assert (done.stderr if how else done.stdout).count(SAID) == 1


@pytest.mark.parametrize("how", ["", "-q", "--json"])
def test_the_status_of_a_run_has_it(run, tmp_path, how: str) -> None:
    run(f"{TEST} --journal {tmp_path}/run.jsonl")
    done = run(f"status {tmp_path}/run.jsonl {how}")
    if how == "--json":
        assert SAID in json.loads(done.stdout)["warnings"][0]
    assert (done.stderr if how else done.stdout).count(SAID) == 1


def test_a_report_has_it(run, folder: Path) -> None:
    run(f"{TEST} --report copies.html -q")
    assert SAID in (folder / "copies.html").read_text()


@pytest.mark.parametrize("saved", ["", " --save forgetful.trials"])
def test_an_algorithm_with_a_memory_is_told_on(run, folder: Path, saved: str) -> None:
    (folder / "forgetful.py").write_text(
        "import itertools\n"
        "fits = itertools.count()\n"
        "def fit(X, y, seed):\n"
        "    level = float(next(fits) ** 1.5)\n"
        "    return lambda rows: [level] * len(rows)\n"
    )
    rows = "test numbers.csv --target price --drop id"
    done = run(f"{rows} {ASKED} --algorithm forgetful.py:fit --json -q{saved}")
    (said,) = json.loads(done.stdout)["warnings"]
    assert said.startswith("the first trial, computed once more, gave")
    assert done.stderr.count("the error level may not hold") == 1


def test_other_warnings_stay_quiet(run) -> None:
    command = f"test numbers.csv --target price --drop id --n 20 --epsilon 5 --delta 0.01 {MEAN}"
    assert "cannot certify" in run(command).stderr
    assert "warning" not in run(f"{command} -q").stderr
