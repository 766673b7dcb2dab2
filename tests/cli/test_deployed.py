"""``poise deployed``: fresh rows of a file or held out, rows by their lines, what matters most."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import poise
from poise.results.trials import LOOKED_AT

RNG = np.random.default_rng(25)
ROWS = pd.DataFrame({"owner": np.arange(130) // 2, "a": RNG.normal(size=130)})
ROWS["y"] = 2 * ROWS.a + RNG.normal(size=130)
ROWS.loc[7, ["a", "y"]] = [4.0, -30.0]  # line 9 of the file
TRAINED, FRESH = ROWS.head(80), ROWS.tail(50)
ASKED = "--target y --algorithm Ridge --drop owner --epsilon 1 --delta 0.3"
FROM = "deployed trained.csv --fresh fresh.csv"
GATE = """
[data]
file = "trained.csv"
target = "y"
fresh = "fresh.csv"
ids = "owner"

[defaults]
algorithm = "Ridge"
epsilon = 1
delta = 0.3
"""


@pytest.fixture(autouse=True)
def files(folder):
    LOOKED_AT.clear()  # this process has no memory
    TRAINED.to_csv(folder / "trained.csv", index=False)
    FRESH.to_csv(folder / "fresh.csv", index=False)
    FRESH[["owner", "a"]].to_csv(folder / "points.csv", index=False)


def library(**settings):
    asked = {"epsilon": 1, "delta": 0.3, **settings}
    X, fresh = (each[["a", "y"]].reset_index(drop=True) for each in (TRAINED, FRESH))
    return poise.deployed_test(Ridge(), X, "y", fresh, **asked)


@pytest.mark.filterwarnings("ignore:Every row leaves in turn")
@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ("", {}),
        ("--gamma 0.05", {"gamma": 0.05}),
        ("--update 3 --seed 4", {"update": 3, "random_state": 4}),
        ("--notion add-one", {"notion": "add-one"}),
        ("--without lines\\ 3-5,9", {"without": {"lines 3-5,9 of trained.csv": [1, 2, 3, 7]}}),
        ('--without "3 - 5, 9"', {"without": {"lines 3 - 5, 9 of trained.csv": [1, 2, 3, 7]}}),
        ("--without a==4", {"without": "a==4"}),
    ],
)
def test_answers_are_those_of_the_library_and_are_verified(run, options, settings) -> None:
    said = run("", *shlex.split(f"{FROM} {ASKED} --save s.json --force {options}"))
    result = library(**settings)
    assert said.exit_code == {"stable": 0, "unstable": 1, "inconclusive": 5}[result.verdict]
    assert said.stdout.startswith(str(result))
    again = run(
        "verify s.json trained.csv --fresh fresh.csv --target y --algorithm Ridge --drop owner"
    )
    assert "bit for bit" in again.stdout


def test_rows_that_matter_are_listed_with_the_command_for_each(run) -> None:
    listed = run(f"{FROM} {ASKED}").stdout.partition("certifies nothing):\n")[2].splitlines()
    models = [Ridge().fit(rows[["a"]], rows.y) for rows in (TRAINED, TRAINED.drop(7))]
    moved = abs(np.subtract(*(model.predict(FRESH[["a"]]) for model in models)))
    said = (
        f"  line 9: without it {100 * (moved > 1).mean():g}% of predictions change by more than 1"
    )
    assert listed[0].startswith(said)
    command = shlex.split(listed[0].partition(". poise ")[2])
    assert command[-4:] == ["--without", "line 9", "--chosen-from", "80"]
    assert "(line 9 of trained.csv)" in run("", *command).stdout
    asked = json.loads(run("", *command, "--json").stdout)["question"]
    assert asked["alpha"] == 0.05 / 80
    for option in ("--ids owner", "--groups owner"):
        words = f"deployed trained.csv --fresh points.csv {ASKED} {option} --json"
        told = json.loads(run(words.replace("--drop owner", "")).stdout)["influence"]
        assert told[0]["row"] == "owner == 3"
    assert "influential" not in run(f"{FROM} {ASKED} -q").stdout
    measured = run(f"{FROM} --target y --algorithm Ridge --drop owner --without 9 --chosen-from 80")
    assert "With 99.9375% confidence" in measured.stdout


def test_a_share_is_held_out(run) -> None:
    words = f"deployed trained.csv --hold-out 0.4 {ASKED}"
    told = json.loads(run(f"{words} --json --save held.json --force").stdout)
    assert (told["design"]["n"], told["n_trials"]) == (48, 32)
    assert json.loads(run(f"{words} --json --seed 1").stdout)["data"] != told["data"]
    again = run(
        "verify held.json trained.csv --hold-out 0.4 --target y --algorithm Ridge --drop owner"
    )
    assert "bit for bit" in again.stdout
    grouped = json.loads(run(f"{words.replace('--drop', '--groups')} --json").stdout)["design"]
    assert (grouped["n"], grouped["n_groups_unlabeled"] + grouped["n_groups"]) == (24, 16)


WRONG = [
    ("", "Give fresh rows: --fresh FILE, or --hold-out SHARE of DATA"),
    ("--fresh fresh.csv --hold-out 0.5", "Give fresh rows"),
    ("fresh.csv", "Give fresh rows: --fresh FILE"),
    ("--hold-out 1.5", "--hold-out must be a number in (0, 1), got 1.5"),
    ("--fresh trained.csv", "80 rows of trained.csv are training rows, such as line 2"),
    ("--fresh fresh.csv --without 1", "names line 1, in which no row of trained.csv begins"),
    ("--fresh fresh.csv --without owner==3", "must be a condition"),
    ("--fresh points.csv --update 2", "column 'y' of points.csv is missing: rows that are added"),
    ("--fresh numbers.csv", "numbers.csv has no column 'a', as trained.csv has"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_what_cannot_be_asked_ends_before_a_fit(run, options, message) -> None:
    done = run(
        f"deployed trained.csv {ASKED.replace('Ridge', 'poise_test_models.py:failing')} {options}"
    )
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    alone = run(f"{FROM} --target y --algorithm Ridge --drop owner --delta 0.1").stderr
    assert "`poise deployed` without --delta shows how large the changes are" in alone


def test_responses_of_fresh_rows_that_are_words_are_refused(run, folder) -> None:
    FRESH.assign(y="word").to_csv(folder / "words.csv", index=False)
    done = run(f"deployed trained.csv --fresh words.csv {ASKED}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is a regressor, and column 0 of y holds 'word' in row" in done.stderr


def test_gates_ask_about_the_training_set(run, folder) -> None:
    def gate(*questions, data=GATE, options=""):
        (folder / "fit.toml").write_text(
            data + "".join(f"[[questions]]\n{each}\n" for each in questions)
        )
        return run(f"test fit.toml {options}")

    asked = ("{}", "{ without = 'owner == 9' }", "{ hold_out = 0.4 }")
    counted = gate(*(f"deployed = {each}" for each in asked), "n = 3", options="--check")
    assert [line.partition(": ")[2] for line in counted.stdout.splitlines()] == [
        "Ridge() trained on this training set of 80 rows: 50 trials, 81 fits",
        "Ridge() trained on this training set of 80 rows: 50 trials, 2 fits",
        "Ridge() trained on this training set of 48 rows: 32 trials, 49 fits",
        "Ridge() trained on 3 rows: 20 trials, 80 fits",
    ]
    assert run("test fit.toml -q").exit_code in (0, 1, 5)
    for wrong, message in [
        ("hold_out = 4", "question 1: hold_out must be a number in (0, 1), got 4"),
        ("wihtout = '3'", "deployed has no key 'wihtout'; did you mean 'without'?"),
        ("update = 50", "question 1: X_fresh holds no trial: one takes 51 fresh rows"),
    ]:
        assert message in gate(f"deployed = {{ {wrong} }}").stderr
    bare = gate("deployed = {}", data=GATE.replace('fresh = "fresh.csv"', ""))
    assert 'needs fresh rows: fresh = "FILE" in [data]' in bare.stderr
