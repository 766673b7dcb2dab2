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
    (f"{GATE}name = 'small changes'", "two questions are called 'small changes'"),
    ("[data]\nfile = 'numbers.csv'", "needs [data] with a file, and [[questions]]"),
    ("n = 3", "has no key 'n'"),
    (ONE.replace("target", "targt"), "[data] has no key 'targt'; did you mean 'target'?"),
    (ONE.replace("epsilon", "epsilom"), "question 1 has no key 'epsilom'; did you mean 'epsilon'?"),
    (ONE.replace("delta = 0.2", ""), "question 1: delta is missing"),
    (ONE.replace("0.2", "1.2"), "question 1: delta must be a number in [0, 1), got 1.2"),
    (ONE.replace("Lasso", "Lassoo"), "did you mean 'Lasso'?"),
    (ONE + "inconclusive = 'pas'", "inconclusive must be 'fail', 'skip' or 'pass', got 'pas'"),
    (ONE.replace("'Lasso'", "5"), "question 1: algorithm must be text, got 5"),
    ("questions = [1]\n" + DATA.partition("[[")[0], "question 1 must be a table"),
    (ONE.replace("n = 20", "n = 100"), 'these rows cannot give "stable": too few rows'),
]
REFUSED = {  # options, and what is said of them
    "--summary numbers.csv": "--summary must not be a file that this command reads",
    "--save .": "--save must be a new or empty folder",
    "--epsilon 1": "--epsilon is for data: gate.toml has its questions",
    "--algorithm Ridge": "--algorithm is for data",
    "--no-look": "--look is for data",
}


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
    (folder / "summary.md").write_text("# mine\n")
    result = gate(GATE, "--summary summary.md --save kept --report page.html")
    assert (first.verdict, second.verdict, result.exit_code) == ("stable", "unstable", 1)
    lines = [str(each).splitlines() for each in (first, second)]
    assert result.stdout == f"small changes: {lines[0][0]}\nquestion 2: {lines[1][0]}\n"
    assert result.stderr == "Written: kept, page.html, summary.md\n"
    kept = poise.load(folder / "kept").values()
    assert [each.pvalue for each in kept] == [first.pvalue, second.pvalue]
    quiet = gate(GATE, "-q --summary summary.md").stdout
    assert quiet == "stable\tsmall changes\nunstable\tquestion 2\n"
    summary = (folder / "summary.md").read_text()
    assert summary.startswith("# mine\n")
    assert summary.count(f"| small changes | {' '.join(lines[0][:2])} |") == 2
    assert first.details() in gate(GATE, "--details").stdout
    assert json.loads(gate(GATE, "--json").stdout)["question 2"]["pvalue"] == second.pvalue
    for text in ((folder / "page.html").read_text(), gate(GATE, "--latex").stdout):
        assert text.index("small changes") < text.index("question 2")


@pytest.mark.parametrize(
    ("content", "message", "option"),
    [*((*each, "") for each in WRONG), *((GATE, said, name) for name, said in REFUSED.items())],
)
def test_mistakes_are_told_in_one_line_before_the_first_fit(gate, content, message, option) -> None:
    result = gate(content, option)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
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
    once = ONE.replace("'Lasso'", "\"poise_test_models.py:ends_once(error='ValueError')\"")
    once += "check = false\njournal = 'once.journal'"
    assert gate(once).exit_code == 3
    content = (folder / "once.journal").read_text()
    assert content.count('"changes":[0.0]') == 7
    assert gate(once).stderr == "Written: once.journal\n"
    assert (folder / "once.journal").read_text().startswith(content)


def test_inconclusive_fails_unless_the_gate_says_otherwise(gate) -> None:
    open_ = ONE.replace("epsilon = 0.5", "epsilon = 0.12")
    assert (found := gate(open_, "-q")).stdout == "inconclusive\tquestion 1\n"
    assert found.exit_code == 5
    for more, option in (("inconclusive = 'skip'", ""), ("", "--accept inconclusive")):
        assert gate(open_ + more, option).exit_code == 0
    assert gate(GATE, "--accept inconclusive").exit_code == 1  # one of them is unstable


def test_check_counts_fits_and_fits_nothing(gate) -> None:
    failing = ONE.replace("'Lasso'", "'poise_test_models.py:failing'")
    result = gate(failing, "--check --summary s.md")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "question 1: failing trained on 20 rows: 31 trials, 62 fits\n"
    assert gate(ONE.replace("0.2", "2"), "--check").exit_code == 2


def test_the_example(run) -> None:
    result = run(f"test {ROOT / 'examples' / 'gate.toml'} -q")
    assert result.exit_code == 0
    assert result.stdout == "stable\tlasso\ninconclusive\tsmall trees\n"
