"""``--name`` and ``--epsilon "40% of spread"``, wherever an algorithm or an ε can be given."""

from __future__ import annotations

import json
from pathlib import Path

import poise
from poise import StabilityResult, Trials

TEST = (
    "test numbers.csv --target price --drop id --n 20 --seed 0 --delta 0.2 "
    "--algorithm sklearn.linear_model:Ridge"
)
SPREAD = ("--epsilon", "40% of spread")

QUESTIONS = """
[data]
file = "numbers.csv"
target = "price"
drop = ["id"]

[algorithms.ridge]
use = "sklearn.linear_model:Ridge"

[[questions]]
n = 20
epsilon = "40% of spread"
delta = 0.2
seed = 0
"""


def test_a_share_of_the_spread_is_the_librarys(run, folder: Path) -> None:
    done = run(TEST, *SPREAD, "--name", "my ridge", "--save", "spread.trials", "--json")
    result = StabilityResult.from_json(done.stdout)
    assert result.epsilon == 0.4 * result.design.spread
    assert (result.design.set_aside, result.design.n_labeled) == (30, 630)
    assert "my ridge" in result.summary().splitlines()[0]
    assert Trials.load(folder / "spread.trials").design == result.design
    again = run("show spread.trials --delta 0.2 --json", *SPREAD)
    assert StabilityResult.from_json(again.stdout) == result
    stopped = run(TEST, *SPREAD).stdout
    assert "= 40% of spread, 0.2)-stable" in " ".join(stopped.split())


def test_a_file_of_questions_may_ask_so(run, folder: Path) -> None:
    (folder / "spread.toml").write_text(QUESTIONS, encoding="utf-8")
    [answer] = json.loads(run("run spread.toml --json").stdout)["answers"]
    assert answer["result"]["design"]["name"] == "ridge"
    assert answer["result"]["design"]["set_aside"] == 30


def test_what_is_no_share_is_refused(run) -> None:
    done = run(TEST, "--epsilon", "40%")
    assert done.exit_code == 2
    assert "a share as in '5% of spread', got '40%'" in done.stderr
    Trials.from_changes([0.1] * 30, n=20).save("plain.trials")
    done = run("show plain.trials --delta 0.2", *SPREAD)
    assert (done.exit_code, "no rows were set aside" in done.stderr) == (2, True)


def test_compare_takes_names(run) -> None:
    command = TEST.replace("test", "compare", 1).replace(
        "--algorithm sklearn.linear_model:Ridge",
        "--algorithm mine=sklearn.linear_model:Ridge(alpha=2.0) "
        "--algorithm sklearn.linear_model:Ridge",
    )
    done = run(command, *SPREAD, "-q")
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == ["mine", "Ridge()"]
    assert poise.relative(0.4).rows == 30
