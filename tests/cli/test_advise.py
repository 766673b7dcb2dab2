"""``poise advise``: the library's advice, with commands instead of calls."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pandas as pd

import poise

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


def test_without_enough_rows_no_n_is_named(run, folder: Path) -> None:
    pd.read_csv(folder / "numbers.csv").head(15).to_csv(folder / "few.csv", index=False)
    assert run("advise few.csv --target price -q").output == "none\n"
