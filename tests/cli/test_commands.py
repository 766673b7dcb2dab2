"""What commands print: the library's numbers, as text, as JSON, as files, and their statuses."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso

import poise

ROWS = "numbers.csv --target price --drop id"
LASSO = f"{ROWS} --algorithm Lasso(alpha=0.1) --n 20"
TEST = f"test {LASSO} --epsilon 0.5 --delta 0.2"
CASES = {  # what is typed, and the same in Python
    "": {},
    "--epsilon 0.01 --delta 0.1": {"epsilon": 0.01, "delta": 0.1},
    "--seed 3 --max-trials 12 --alpha 0.1": {"random_state": 3, "max_trials": 12, "alpha": 0.1},
    "--max-trials none --position uniform": {"max_trials": None, "position": "uniform"},
    "--points-per-trial 1 --no-shuffle": {"points_per_trial": 1, "shuffle": False},
    "--test averaged --remove 2 --replace": {"test": "averaged", "remove": 2, "replace": True},
    "--n 0.05 --name mine": {"n": 0.05, "name": "mine"},
    "--stop-early --no-look": {"stop_early": True, "check": False},
    "--groups group --n 4 --delta 0.4": {"groups": "group", "n": 4, "delta": 0.4},
    "--unlabeled more.csv": {"X_unlabeled": "more.csv"},
}
STATUS = {"stable": 0, "unstable": 1, "inconclusive": 5}


@pytest.mark.parametrize("typed", CASES)
def test_a_verdict_is_that_of_the_library(run, folder: Path, typed: str) -> None:
    asked = {"n": 20, "epsilon": 0.5, "delta": 0.2, **CASES[typed]}
    file = "grouped.csv" if "groups" in asked else "numbers.csv"
    rows = pd.read_csv(folder / file).drop(columns="id")
    if "X_unlabeled" in asked:
        asked["X_unlabeled"] = pd.read_csv(folder / "more.csv").drop(columns="id")
    expected = poise.stability_test(Lasso(alpha=0.1), rows, "price", **asked)
    result = run(f"{TEST.replace('numbers.csv', file)} {typed} --json --save found.json")
    assert result.exit_code == STATUS[expected.verdict], result.stderr
    found = poise.load(folder / "found.json")
    assert (found.trials, found.question) == (expected.trials, expected.question)
    said, kept = json.loads(result.stdout), json.loads((folder / "found.json").read_text())
    assert said.pop("command").startswith("poise test ")
    assert said.keys() == kept.keys() - {"changes", "errors", "digest", "command"}
    assert all(kept[name] == said[name] for name in said.keys() - {"created"})


def test_the_text_is_the_summary(run, folder: Path) -> None:
    result = run(f"{TEST} --save found.json")
    found = poise.load(folder / "found.json")
    assert result.stdout == f"{found}\n"
    assert result.stderr == "Written: found.json\n"
    assert run(f"{TEST} -q").output == f"{found.verdict}\n"
    assert run(f"{TEST} --latex").stdout.startswith(found.to_latex()[:20])
    assert found.details() in run(f"{TEST} --details").stdout
    few = f"{TEST} --n 200"
    assert '"stable" cannot be shown' in run(few).stderr
    assert run(f"{few} -q").output == "inconclusive\n"


def test_details_show_once_what_every_fit_prints(run) -> None:
    asked = TEST.replace("Lasso(alpha=0.1)", "poise_test_models.py:mean")
    for more in ("", "--no-look --journal run.journal", "--no-look --journal run.journal"):
        result = run(f"{asked} --details {more}")
        said = "printed by fits: a line that algorithms like to print (in 62 of 62 fits)"
        assert said in result.stdout
        assert "like to print" not in result.stdout.replace(said, "") + result.stderr


def test_rows_that_lack_a_value_are_left_out_and_counted(run, folder: Path) -> None:
    rows = pd.read_csv(folder / "numbers.csv")
    rows.loc[[3, 7], "size"] = rows.loc[9, "price"] = np.nan
    rows.to_csv(folder / "holes.csv", index=False)
    rows.to_excel(folder / "holes.xlsx", index=False)
    rows.iloc[:20].assign(price=np.nan).to_csv(folder / "unknown.csv", index=False)
    assert run(TEST.replace("numbers.csv", "holes.csv")).exit_code == 2
    for file in ("holes.csv", "holes.xlsx"):
        asked = f"{TEST.replace('numbers.csv', file)} --drop-missing --unlabeled unknown.csv"
        result = run(f"{asked} --json")
        design = json.loads(result.stdout)["design"]
        assert (design["n_labeled"], design["n_unlabeled"]) == (657, 18)
        assert result.stderr.splitlines() == [
            f"poise: 3 of 660 rows of {file} are left out: a value is missing",
            "poise: 2 of 20 rows of unknown.csv are left out: a value is missing",
        ]
        assert run(f"{asked} -q").stderr == ""


def test_measure_prints_how_large_the_changes_are(run, folder: Path) -> None:
    rows = pd.read_csv(folder / "numbers.csv").drop(columns="id")
    expected = poise.measure(Lasso(alpha=0.1), rows, "price", n=20, delta=0.2)
    result = run(f"measure {LASSO} --delta 0.2 --save changes.json")
    assert (result.exit_code, result.stdout) == (0, f"{expected}\n")
    assert poise.load(folder / "changes.json") == expected
    limit = float(run(f"measure {LASSO} --delta 0.2 -q").stdout)
    assert 0 <= limit - expected.epsilon_upper(0.2) < 1e-3 * limit
    labels = f"{ROWS.replace('numbers', 'labels')} --algorithm LogisticRegression --n 10"
    assert re.fullmatch(r"0\.\d+\n", run(f"measure {labels} -q").stdout)
    assert run(f"test {labels} --delta 0.2 -q").stdout in {f"{word}\n" for word in STATUS}


def test_plans_are_those_of_the_library(run) -> None:
    asked = {"n_labeled": 5000, "n": 100, "delta": 0.1}
    expected = json.loads(json.dumps(poise.plan(**asked).to_dict()))
    assert json.loads(run("plan --rows 5000 --n 100 --delta 0.1 --json").stdout) == expected
    assert run("plan --notion deployed --delta 0.05 -q").stdout == "59\n"
    assert json.loads(run("plan --rows 3000 --json").stdout)[-1]["n_trials"] == 600


def test_show_reads_and_asks_again(run, folder: Path) -> None:
    run(f"{TEST} --save found.json")
    run(f"measure {LASSO} --save changes.json")
    found, changes = poise.load(folder / "found.json"), poise.load(folder / "changes.json")
    assert run("show found.json").stdout == f"{found}\n"
    assert run("show changes.json").stdout == f"{changes}\n"
    for words, asked in [
        ("found.json --epsilon 0.001", {"epsilon": 0.001, "delta": 0.2}),
        ("changes.json --epsilon 0.5 --delta 0.2", {"epsilon": 0.5, "delta": 0.2}),
        ("found.json --alpha 0.2 --delta 0.05", {"epsilon": 0.5, "delta": 0.05, "alpha": 0.2}),
    ]:
        again = run(f"show {words}")
        expected = changes.test(**asked)
        assert again.exit_code == 0
        assert again.stdout.splitlines()[0] == str(expected).splitlines()[0]
        assert "Asked after the fits" in again.stdout
        assert run(f"show {words} --exit-status -q").exit_code == STATUS[expected.verdict]
    at = run("show changes.json --delta 0.3")
    assert "at most 30% of changes exceed" in at.stdout
    assert "need a verdict" in run("show changes.json --latex").stderr


WHERE = ("", "-q", "--json", "--latex", "--details", "-q --json")


def test_warnings_about_the_level_are_told_once_wherever_the_verdict_is(run, folder: Path) -> None:
    rows = pd.read_csv(folder / "numbers.csv")
    pd.concat([rows, rows]).to_csv(folder / "copied.csv", index=False)
    copied = TEST.replace("numbers.csv", "copied.csv")
    told = {option: run(f"{copied} {option}") for option in WHERE}
    run(f"{copied} --save copied.json")
    assert run("show copied.json -q").stderr == told["-q"].stderr
    for option, result in told.items():
        twice = "json" in option  # in the statement too
        assert result.output.count("Copies of one") == 1 + twice, option
        here = json.loads(result.stdout)["warnings"] if "--json" in option else None
        if option != "-q":
            first = result.stdout if option == "--latex" else result.stdout.splitlines()[0]
            assert "equal" in (here[0] if here else first)
            assert result.stderr == ""
        else:
            assert result.stderr.startswith("poise: warning: ")
            assert len(result.stderr.splitlines()) == 1


def test_commands_that_are_advised_can_be_typed(run) -> None:
    typed = "advise numbers.csv --target price --drop id --alpha 0.1 --delta 0.2 --algorithm Ridge"
    measure, test = run(typed).stdout.splitlines()[-2:]
    assert "--alpha 0.1" in test
    for line in (measure, test):
        result = run(line.partition("  poise ")[2])
        assert result.exit_code != 2, result.stderr


def test_the_demo_has_all_three_verdicts(run, tmp_path: Path) -> None:
    result = run(f"demo --output {tmp_path}/new/demo")
    assert result.exit_code == 0, result.stderr
    lines = [line.partition(" trained")[0] for line in result.stdout.splitlines()]
    assert {
        *("STABLE: Lasso()", "UNSTABLE: DecisionTreeRegressor()"),
        "INCONCLUSIVE: DecisionTreeRegressor(max_depth=2)",
    } < {*lines}
    files = sorted((tmp_path / "new" / "demo").glob("*.json"))
    assert [poise.load(file).verdict for file in files] == ["stable", "inconclusive", "unstable"]
    assert run(f"demo --output {tmp_path}/new/demo").stdout == result.stdout


MEAN = """
import sys
while line := sys.stdin.readline():
    k, _, n, m = map(int, line.split())
    rows = [sys.stdin.readline() for _ in range(n + m + 2)]
    mean = sum(float(row.rpartition(",")[2]) for row in rows[1 : n + 1]) / n
    print("predictions", k, ",".join([repr(mean)] * m), flush=True)
"""


def test_a_program_takes_the_place_of_an_algorithm(run, folder: Path) -> None:
    (folder / "mean.py").write_text(MEAN)
    program, place = f"{sys.executable} -S mean.py", "poise_test_models.py:mean"
    asked = f"{ROWS} --n 20 --epsilon 0.5 --delta 0.2 --no-look"
    run(f"compare {asked} --save both --algorithm {place}", "--program", program)
    expected, found = poise.load(folder / "both").values()
    np.testing.assert_allclose(found.trials.changes, expected.trials.changes)
    assert found.design.algorithm == program
    run(f"test {asked} --save mine.json", "--program", program)
    assert run(f"verify mine.json {ROWS} -q", "--program", program).stdout == "verified\n"
    assert f"--program '{program}'" in run(f"advise {ROWS}", "--program", program).stdout
    for words, named, message in (
        (f"test {asked} --algorithm {place}", "awk", "name one algorithm or one program"),
        (f"test {asked}", "no-such", "cannot find the program 'no-such'"),
        (f"test {asked} --force --save mean.py", program, "must not be a file that this command"),
    ):
        told = run(words, "--program", named)
        assert (told.exit_code, told.stdout) == (2, ""), told.stderr
        assert message in told.stderr
