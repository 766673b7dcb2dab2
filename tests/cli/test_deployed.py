"""``poise deployed``: the verdict, the rows that matter, files, and refusals."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import poise
from poise.results.conditional_trials import ConditionalTrials

RIDGE = "--algorithm sklearn.linear_model:Ridge --seed 0"
ASKED = "--epsilon 0.1 --delta 0.1"


@pytest.fixture
def rows(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": X @ [1.0, 2.0] + rng.normal(size=120)})
    table[:80].to_csv(tmp_path / "data.csv", index=False)
    table[80:].to_csv(tmp_path / "fresh.csv", index=False)
    table[80:].drop(columns="y").to_csv(tmp_path / "points.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return table


def test_json_is_the_result_of_the_library(run, rows):
    done = run(f"deployed data.csv --target y --fresh points.csv {RIDGE} {ASKED} --json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    X, y = rows[["a", "b"]].to_numpy(), rows["y"].to_numpy()
    asked = {"epsilon": 0.1, "delta": 0.1, "random_state": 0}
    result = poise.conditional_test(Ridge(), X[:80], y[:80], X[80:], **asked)
    assert said["verdict"] == result.verdict == "stable"
    assert said["delta_hat"] == pytest.approx(result.delta_hat)
    assert said["sentence"] == result.sentence
    assert (said["n"], said["n_trials"], said["notion"]) == (80, 40, "deployed")
    assert len(said["influence"]["rows"]) == 80
    first = said["influence"]["rows"][0]
    assert said["influence"]["places"][0] == f"line {first + 2}"  # after the line of names


def test_rows_are_named_by_their_line_also_if_others_are_held_out(run, rows):
    asked = f"deployed data.csv --target y --hold-out 0.4 {RIDGE} --delta 0.1 --epsilon 0.1"
    found = json.loads(run(f"{asked} --json").stdout)["influence"]
    assert len(set(found["places"])) == 48
    assert max(int(place.removeprefix("line ")) for place in found["places"]) > 50
    assert f"\n{found['places'][0]} " in run(asked).stdout


def test_the_screen_shows_sentence_limits_and_rows_that_matter(run, rows):
    done = run(f"deployed data.csv --target y --fresh points.csv {RIDGE} {ASKED}")
    text = " ".join(done.stdout.split())
    assert text.startswith("STABLE: Ridge() on this training set of 80 rows (deployed")
    assert "A procedure that prints this prints it falsely with probability at most 0.05" in text
    assert "It says nothing about another training set" in text
    assert "Descriptive, not certified: 80 rows were compared at 40 points" in text


@pytest.mark.parametrize("notion", ["add-one", "jackknife"])
def test_other_notions_read_the_responses(run, rows, notion):
    more = f"--notion {notion} --gamma 0.1 --delta 0.2 --epsilon 0.5"
    done = run(f"deployed data.csv --target y --fresh fresh.csv {RIDGE} {more} --json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["notion"], said["gamma"], said["test"]) == (notion, 0.1, "binomial")
    assert said["n_trials"] == (20 if notion == "add-one" else 40)
    assert said["influence"] is None


LOSSES = """
import poise

print("a line that files like to print")
mine = poise.LossChange("squared")

def mean(X, y, seed):
    return lambda rows: [float(sum(y)) / len(y)] * len(rows)
"""


@pytest.fixture
def losses(rows, monkeypatch):
    """Write losses.py."""
    monkeypatch.delitem(sys.modules, "losses", raising=False)  # of an earlier test
    Path("losses.py").write_text(LOSSES, encoding="utf-8")


@pytest.mark.parametrize("fresh", ["--fresh fresh.csv", "--hold-out 0.5"])
def test_a_loss_of_ones_own_reads_the_responses_as_a_named_one_does(run, losses, fresh):
    asked = f"deployed data.csv --target y {fresh} {RIDGE} {ASKED} --json"
    own, named = (run(f"{asked} --distance {each}") for each in ("losses.py:mine", "loss:squared"))
    assert own.exit_code == named.exit_code, own.output
    said, expected = json.loads(own.stdout), json.loads(named.stdout)
    for name in ("verdict", "delta_hat", "epsilon_hat", "influence"):
        assert said[name] == expected[name]


def test_a_toml_file_may_name_a_loss_of_ones_own(run, losses):
    one = (
        TOML.partition("[[deployed]]")[0]
        + """
[[deployed]]
algorithms = ["ridge"]
fresh = "fresh.csv"
epsilon = 0.1
distance = "losses.py:mine"
"""
    )
    answers = []
    for distance in ("losses.py:mine", "loss:squared"):
        Path("asked.toml").write_text(one.replace("losses.py:mine", distance), encoding="utf-8")
        done = run("run asked.toml --json")
        assert done.exit_code < 2, done.output
        answers.append(json.loads(done.stdout)["answers"][0]["result"])
    assert answers[0]["delta_hat"] == answers[1]["delta_hat"]
    assert answers[0]["epsilon_hat"] == answers[1]["epsilon_hat"]


def test_what_files_print_when_they_are_loaded_is_no_part_of_the_verdict(run, losses):
    words = "deployed data.csv --target y --fresh points.csv --algorithm losses.py:mean --seed 0"
    done = run(f"{words} {ASKED} -q")
    assert (done.exit_code, done.stdout) == (0, "stable\n"), done.output
    assert "a line that files like to print" in done.stderr


def test_hold_out_files_and_show(run, rows):
    files = "--save kept.trials --plot kept.png --report kept.html"
    words = f"deployed data.csv --target y --hold-out 0.5 {RIDGE} {ASKED} {files} -q"
    done = run(words)
    assert (done.exit_code, done.stdout) == (0, "stable\n"), done.output
    record = ConditionalTrials.load("kept.trials")
    assert record.changes.shape == (40, 40)
    with open("kept.html", encoding="utf-8") as page:
        assert "this training set of 40 rows" in page.read()
    again = run("show kept.trials --epsilon 0.1 --delta 0.1 --gamma 0.2 --json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["gamma"] == 0.2
    shown = run("show kept.trials")
    assert "nothing judged yet" in shown.stdout
    assert run("show kept.trials --epsilon 0.1").exit_code == 2
    # What poise wrote may be replaced.
    assert run(words).exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "give either --fresh or --hold-out"),
        ("--fresh points.csv --hold-out 0.5", "give either --fresh or --hold-out"),
        ("--hold-out 1.5", "--hold-out must be in (0, 1)"),
        ("--fresh data.csv", "80 rows of --fresh are training rows (line 2 of data.csv is one)"),
        ("--fresh points.csv --notion add-one", "y"),
        ("--fresh points.csv --gamma 2", "gamma must be in [0, 1)"),
        ("--fresh points.csv --delta 0.9999", ""),
        ("--fresh points.csv --plot data.csv", "would replace another file of this command"),
    ],
)
def test_refusals(run, rows, options, message):
    done = run(f"deployed data.csv --target y {RIDGE} {ASKED} {options}")
    assert done.exit_code == (0 if "0.9999" in options else 2), done.output
    assert message in " ".join(done.stderr.split())


def with_gap(name: str, line: int) -> None:
    """Leave out the first cell of one line."""
    lines = Path(name).read_text().splitlines()
    lines[line - 1] = "," + lines[line - 1].partition(",")[2]
    Path(name).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("notion", ["deployed", "add-one"])
@pytest.mark.parametrize("line", [5, 40, 77])
def test_a_gap_is_named_by_its_line_whichever_rows_are_held_out(run, rows, line, notion):
    with_gap("data.csv", line)
    words = f"deployed data.csv --target y {RIDGE} {ASKED} --hold-out 0.3 --notion {notion}"
    done = run(words)
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert "column 'a'" in said
    assert f"nan in line {line};" in said


@pytest.mark.parametrize(("notion", "table"), [("deployed", " of --fresh"), ("add-one", "")])
def test_a_gap_in_the_fresh_rows_is_named_by_its_line(run, rows, notion, table):
    with_gap("fresh.csv", 7)
    done = run(f"deployed data.csv --target y {RIDGE} {ASKED} --fresh fresh.csv --notion {notion}")
    assert done.exit_code == 2
    said = f"column 'a'{table} holds nan in line 7 of fresh.csv;"
    assert said in " ".join(done.stderr.split())


def test_a_gap_in_the_unlabelled_rows_is_named_by_its_line(run, rows):
    with_gap("points.csv", 7)
    done = run(f"test data.csv --target y {RIDGE} {ASKED} --n 5 --unlabeled points.csv")
    assert done.exit_code == 2
    assert "column 'a' of --unlabeled holds nan in line 7;" in " ".join(done.stderr.split())


def test_poise_test_with_all_rows_names_this_question(run, rows):
    done = run(f"test data.csv --target y {RIDGE} --n 75 {ASKED}")
    assert done.exit_code == 1
    # Once, in the advice after the verdict; the warning before it names what is missing.
    said = "is another question, which fresh rows can answer: poise deployed"
    assert said in " ".join(done.stdout.split())


def test_advise_names_it(run, rows):
    done = run(f"advise data.csv --target y {RIDGE.replace('--seed 0', '')}")
    assert "poise deployed data.csv --target y" in " ".join(done.stdout.split())


TOML = """
data = {file = "data.csv", target = "y"}
algorithms.ridge.use = "sklearn.linear_model:Ridge"
algorithms.tree = {use = "sklearn.tree:DecisionTreeRegressor", params = {max_depth = 1}}
defaults = {seed = 0, delta = 0.1}
[[deployed]]
fresh = "points.csv"
epsilon = 0.1
[[deployed]]
algorithms = ["ridge"]
hold_out = 0.5
notion = "jackknife"
gamma = 0.1
epsilon = "50% of spread"
"""


def test_a_toml_file_asks_the_same_questions(run, rows):
    from pathlib import Path

    Path("asked.toml").write_text(TOML, encoding="utf-8")
    done = run("run asked.toml --json --journal kept")
    said = json.loads(done.stdout)["answers"]
    assert [answer["question"] for answer in said] == ["deployed 1", "deployed 1", "deployed 2"]
    alone = run(f"deployed data.csv --target y --fresh points.csv {RIDGE} {ASKED} --json")
    for name in ("verdict", "delta_hat", "epsilon_hat", "n", "n_trials", "notion"):
        assert said[0]["result"][name] == json.loads(alone.stdout)[name]
    held = f"deployed data.csv --target y --hold-out 0.5 --notion jackknife --gamma 0.1 {RIDGE}"
    spread = "--epsilon", "50% of spread"
    other = json.loads(run(f"{held} --delta 0.1 --json", *spread).stdout)
    for name in ("verdict", "delta_hat", "epsilon", "n", "gamma"):
        assert said[2]["result"][name] == other[name]
    assert done.exit_code == max(answer["verdict"] != "stable" for answer in said)
    again = run("run asked.toml --json --journal kept")
    assert json.loads(again.stdout)["answers"] == said
    status = run("status kept")
    assert "80 of 80 removed rows" in " ".join(status.stdout.split())
    Path("asked.toml").write_text(TOML.replace("points.csv", "data.csv"), encoding="utf-8")
    refused = run("run asked.toml")
    assert refused.exit_code == 2
    assert "asked.toml, deployed 1, ridge: 80 rows of" in refused.stderr


def test_a_continued_run_holds_out_the_same_rows(run, rows):
    tree = "--algorithm sklearn.tree:DecisionTreeRegressor --param max_depth=1"
    asked = f"deployed data.csv --target y --hold-out 0.5 {tree} {ASKED} --json"
    first = json.loads(run(f"{asked} --journal kept.jsonl").stdout)
    for again in (f"{asked} --journal kept.jsonl", "resume kept.jsonl --yes"):
        found = json.loads(run(again).stdout)
        assert found["delta_hat"] == first["delta_hat"]
        assert found["influence"] == first["influence"]
    done = json.loads(run("status kept.jsonl --json").stdout)
    assert (done["trials"], done["planned"]) == (40, 40)
