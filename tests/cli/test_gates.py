"""Gates: TOML files of questions, checked before the first fit, with one exit status for all."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import Lasso

import poise
from helpers import ROOT

DATA = """
[data]
file = "numbers.csv"
target = "price"
drop = ["id"]
"""
GATE = f"""{DATA}
[defaults]
algorithm = "Lasso(alpha=0.1)"
delta = 0.2
n = 20

[[questions]]
name = "small changes"
epsilon = 0.5

[[questions]]
epsilon = 0.01
algorithm = "Lasso(alpha=0.2)"
"""
ONE = f"{DATA}[[questions]]\nalgorithm = 'Lasso'\nn = 20\nepsilon = 0.5\ndelta = 0.2\n"
WRONG = [  # the file, and what is said of it
    ("= 3", "is not a TOML file: "),
    ("[questions]\n" * 2, "; a question begins with [[questions]]"),
    (f"{GATE}name = 'small changes'", "two questions are called 'small changes'"),
    ("[data]\nfile = 'numbers.csv'", "needs [data] with a file, and [[questions]]"),
    ("n = 3", "has no key 'n'"),
    (ONE.replace("target", "targt"), "[data] has no key 'targt'; did you mean 'target'?"),
    (ONE.replace("epsilon", "epsilom"), "question 1 has no key 'epsilom'; did you mean 'epsilon'?"),
    (ONE.replace("delta = 0.2", ""), "question 1: delta is missing"),
    (ONE.replace("0.2", "1.2"), "question 1: delta must be a number in [0, 1), got 1.2"),
    (ONE.replace("n = 20", "n = 1"), "question 1: n must be a whole number >= 2, got 1"),
    (ONE.replace("0.5", "-1"), "question 1: epsilon must be a finite number >= 0, got -1"),
    (ONE.replace("Lasso", "Lassoo"), "did you mean 'Lasso'?"),
    (ONE + "inconclusive = 'pas'", "inconclusive must be 'fail', 'skip' or 'pass', got 'pas'"),
    (ONE.replace("'Lasso'", "5"), "question 1: algorithm must be text, got 5"),
    ("questions = [1]\n" + DATA.partition("[[")[0], "question 1 must be a table"),
    (ONE.replace("n = 20", "n = 100"), 'these rows cannot give "stable": too few rows'),
    (ONE.replace("0.2", "0.001"), 'these rows cannot give "stable"'),
]


@pytest.fixture
def gate(run, folder: Path):
    def invoke(content: str, options: str = ""):
        (folder / "gate.toml").write_text(content)
        return run(f"test gate.toml {options}")

    return invoke


def test_answers_are_those_of_the_library(gate, folder: Path) -> None:
    rows = pd.read_csv(folder / "numbers.csv").drop(columns="id")
    asked = {"n": 20, "delta": 0.2}
    first = poise.stability_test(Lasso(alpha=0.1), rows, "price", epsilon=0.5, **asked)
    second = poise.stability_test(Lasso(alpha=0.2), rows, "price", epsilon=0.01, **asked)
    result = gate(GATE)
    assert (first.verdict, second.verdict, result.exit_code) == ("stable", "unstable", 1)
    lines = result.stdout.splitlines()
    assert lines[0] == f"small changes: {str(first).splitlines()[0]}"
    assert lines[1] == f"question 2: {str(second).splitlines()[0]}"
    assert gate(GATE, "-q").stdout == "stable\tsmall changes\nunstable\tquestion 2\n"
    assert first.details() in gate(GATE, "--details").stdout
    shown = gate(GATE, "--latex").stdout.splitlines()
    assert [each.split(" & ")[0] for each in shown if " & " in each][1:] == [
        "small changes",
        "question 2",
    ]
    said = json.loads(gate(GATE, "--json").stdout)
    assert said["small changes"]["pvalue"] == first.pvalue
    assert said["question 2"]["verdict"] == "unstable"


@pytest.mark.parametrize(("content", "message"), WRONG)
def test_mistakes_are_told_with_their_place_before_the_first_fit(gate, content, message) -> None:
    result = gate(content)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("poise: gate.toml") or "numbers.csv" in line
    assert message in line


def test_one_failing_question_does_not_stop_the_others(gate) -> None:
    failing = ONE.replace("'Lasso'", "'poise_test_models.py:failing'")
    second = ONE.partition("[[")[2]
    assert gate(f"{failing}[[{second.replace('20', '700')}").exit_code == 2  # before the first fit
    result = gate(f"{failing}[[{second}", "-q")
    assert (result.exit_code, result.stdout) == (3, "failed\tquestion 1\nstable\tquestion 2\n")
    assert "question 1: trial 0 failed: ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.stderr
    told = json.loads(gate(failing, "--json").stdout)["question 1"]
    assert "ZeroDivisionError" in told["error"]


def test_a_question_with_a_journal_goes_on(gate, folder: Path) -> None:
    (folder / "poise_test_once.py").write_text(
        "fits = []\n"
        "def once(X, y, seed):\n"
        "    fits.append(1)\n"
        "    assert len(fits) != 15\n"
        "    return lambda rows: [0.0] * len(rows)\n"
    )
    once = ONE.replace("'Lasso'", "'poise_test_once.py:once'")
    once += "check = false\njournal = 'once.journal'"
    assert gate(once).exit_code == 3
    content = (folder / "once.journal").read_text()
    assert content.count('"changes":[0.0]') == 7
    assert gate(once).stderr == "Written: once.journal\n"
    assert (folder / "once.journal").read_text().startswith(content)


def test_inconclusive_fails_unless_the_gate_says_otherwise(gate) -> None:
    open_ = ONE.replace("epsilon = 0.5", "epsilon = 0.12")
    assert gate(open_, "-q").stdout == "inconclusive\tquestion 1\n"
    assert gate(open_).exit_code == 5
    for word in ("pass", "skip"):
        assert gate(f"{open_}inconclusive = '{word}'").exit_code == 0
    assert gate(open_, "--accept inconclusive").exit_code == 0


def test_check_counts_fits_and_fits_nothing(gate) -> None:
    failing = ONE.replace("'Lasso'", "'poise_test_models.py:failing'")
    result = gate(failing, "--check --summary s.md")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "question 1: failing trained on 20 rows: 31 trials, 62 fits\n"
    assert gate(ONE.replace("0.2", "2"), "--check").exit_code == 2


def test_a_summary_is_appended(gate, folder: Path) -> None:
    (folder / "summary.md").write_text("# mine\n")
    for _ in range(2):
        gate(GATE, "-q --summary summary.md")
    text = (folder / "summary.md").read_text()
    assert text.startswith("# mine\n")
    assert text.count("| small changes | STABLE: Lasso(alpha=0.1) trained") == 2
    assert text.count(" Seen: 0 of 31 changes were larger than 0.5 (p = ") == 2
    gate(GATE, "-q --report page.html")
    page = (folder / "page.html").read_text()
    assert "small changes" in page
    assert "question 2" in page
    told = gate(GATE, "--summary summary.md --save kept")
    assert told.stderr == "Written: kept, summary.md\n"
    assert [each.verdict for each in poise.load(folder / "kept").values()] == ["stable", "unstable"]
    assert "must be a new or empty folder" in gate(GATE, "--save kept").stderr
    for option, said in [
        ("--summary numbers.csv", "--summary must not be a file that this command reads"),
        ("--epsilon 1", "--epsilon is for data: gate.toml has its questions"),
        ("--algorithm Ridge", "--algorithm is for data"),
        ("--no-look", "--look is for data"),
    ]:
        refused = gate(GATE, option)
        assert (refused.exit_code, said in refused.stderr) == (2, True)


def test_the_example(run) -> None:
    result = run(f"test {ROOT / 'examples' / 'gate.toml'} -q")
    assert result.exit_code == 0
    assert result.stdout == "stable\tlasso\ninconclusive\tsmall trees\n"
