"""``poise advise``: the library's advice, with commands instead of calls."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pandas as pd

import poise
from poise.cli import main

ADVISE = "advise rows.csv --target price"


def test_the_menu_is_that_of_the_library(run, folder: Path) -> None:
    frame = pd.read_csv(folder / "rows.csv")
    expected = poise.advise(frame.drop(columns="price"), frame["price"], delta=0.2, n=660)
    content = json.loads(run(f"{ADVISE} --delta 0.2 --n 660 --json").stdout)
    assert content["menu"] == expected.to_dict()["menu"]
    assert [column["column"] for column in content["columns"]] == ["id"]
    assert run(f"{ADVISE} --delta 0.2 -q").output == f"{content['largest_n']}\n"


def test_the_commands_can_be_run(run) -> None:
    chosen = "--drop city --algorithm sklearn.linear_model:Ridge --param alpha=2.0 --delta 0.2"
    done = run(f"{ADVISE} {chosen}")
    assert done.exit_code == 0
    assert "Column id: identifier?" in done.stdout
    [command] = [line for line in done.stdout.splitlines() if line.startswith("    poise test")]
    words = shlex.split(command.replace(" E ", " 5 "))[1:]
    verdict = run("", *words, "--drop", "id", "-q")
    assert verdict.output == "stable\n"


def test_commands_keep_the_options_that_they_know(run, folder: Path) -> None:
    frame = pd.read_csv(folder / "rows.csv").assign(w=1.0)
    frame.to_csv(folder / "weighted.csv", index=False)
    lines = run(
        "advise weighted.csv --target city --drop id --weights w --response predict_proba "
        "--algorithm sklearn.tree:DecisionTreeClassifier --remove 2 --delta 0.2"
    ).stdout.splitlines()
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("    poise ")]
    assert len(commands) == 8
    for name, *words in commands:
        command = main.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        known = {option for each in command.params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= known
    (test,) = (words for words in commands if words[0] == "test")
    assert "--weights w --response predict_proba --remove 2" in " ".join(test)
    (all_rows,) = (words for words in commands if words[0] == "stabilize")
    assert "--n 660" in " ".join(all_rows)


def test_labels_are_asked_about_with_epsilon_0(run) -> None:
    tree = "--algorithm sklearn.tree:DecisionTreeClassifier --drop id"
    asked = run(f"advise rows.csv --target city {tree} --delta 0.2").stdout
    assert "--epsilon 0 --delta 0.2" in asked
    shares = run(f"advise rows.csv --target city {tree} --delta 0.2 --response predict_proba")
    assert "--epsilon E --delta 0.2" in shares.stdout


def test_an_algorithm_that_cannot_be_used_is_named_below_the_menu(run) -> None:
    done = run(f"{ADVISE} --algorithm sklearn.linear_model:Ridge")
    assert done.exit_code == 0
    assert "can be certified up to n = 21" in done.stdout
    assert "Ridge cannot be used with these data: it takes numbers, and column 'city'" in (
        done.stdout
    )


def test_a_share_of_the_spread_leaves_a_smaller_n(run, folder: Path) -> None:
    """The advice for '5% of spread' names the largest n that passes, and the next does not."""
    said = run(ADVISE).stdout
    found = re.search(r"from 30 rows that no trial uses, and n = (\d+) is the largest", said)
    assert found is not None
    asked = "test numbers.csv --target price --drop id --delta 0.1 --seed 0 -q "
    asked += "--algorithm poise_test_models.py:mean"
    for more, verdict in [(0, "stable\n"), (1, "inconclusive\n")]:
        n = int(found[1]) + more
        assert run(f"{asked} --n {n} --epsilon", "500% of spread").stdout == verdict


def test_without_enough_rows_no_n_is_named(run, folder: Path) -> None:
    pd.read_csv(folder / "numbers.csv").head(15).to_csv(folder / "few.csv", index=False)
    assert run("advise few.csv --target price -q").output == "none\n"
