"""``poise curve``: the library's curve, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import poise

CURVE = (
    "curve numbers.csv --target price --drop id --algorithm sklearn.linear_model:Ridge --seed 0 "
    "--n 5 --n 10 --n 0.03"
)


@pytest.fixture(scope="module")
def expected(folder: Path) -> poise.StabilityCurve:
    frame = pd.read_csv(folder / "numbers.csv")
    X, y = frame[["size"]].to_numpy(), frame["price"].to_numpy()
    asked = {"n": [5, 10, 20], "epsilon": 1.0, "delta": 0.2, "random_state": 0}
    return poise.stability_curve(Ridge(), X, y, **asked)


def test_it_is_the_library_s_curve(run, expected: poise.StabilityCurve, folder: Path) -> None:
    done = run(f"{CURVE} --epsilon 1 --delta 0.2 --json --plot curve.svg")
    assert done.exit_code == (0 if expected.certified else 1), done.stderr
    found = json.loads(done.stdout)
    assert found.pop("run")["arguments"][0] == "curve"
    assert found == json.loads(expected.to_json())
    assert "<svg" in (folder / "curve.svg").read_text(encoding="utf-8")
    shown = run(f"{CURVE} --epsilon 1 --delta 0.2").stdout
    assert shown.startswith("Ridge() at 3 training sizes (epsilon = 1, delta = 0.2).")
    assert expected.meaning() in shown
    quiet = run(f"{CURVE} --epsilon 1 --delta 0.2 -q").stdout
    assert quiet.splitlines() == ["\t".join(row) for row in expected.table().rows]


def test_one_limit_is_no_gate(run) -> None:
    done = run(f"{CURVE} --delta 0.2 --json")
    assert done.exit_code == 0
    assert "delta_hat" not in json.loads(done.stdout)["sizes"]
    assert run(f"{CURVE} --epsilon 1e-9 --delta 0.2 -q").exit_code == 1


def test_a_journal_per_size(run, folder: Path) -> None:
    first = run(f"{CURVE} --delta 0.2 --journal sizes -q")
    assert len(list((folder / "sizes").iterdir())) == 3
    assert run(f"{CURVE} --delta 0.2 --journal sizes -q").stdout == first.stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("", "give --epsilon, --delta or both. See"),
        ("--delta 1.5", "delta must be in [0, 1), got 1.5"),
        ("--delta 0.2 --n 1", "n must be a whole number >= 2"),
        ("--delta 0.2 --n 1000", "n must be at most the number of labelled rows (660), got 1000"),
    ],
)
def test_what_cannot_be(run, more: str, message: str) -> None:
    done = run(f"{CURVE} {more}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_curve_and_compare_know_the_averaged_test(run) -> None:
    asked = "--epsilon 1 --delta 0.3 --test averaged --points 3"
    found = json.loads(run(f"{CURVE} {asked} --json").stdout)
    assert set(found["sizes"]["test"]) == {"averaged"}
    rows = CURVE.removeprefix("curve ").partition(" --n ")[0]
    compared = json.loads(run(f"compare {rows} --n 5 {asked} --json").stdout)
    assert (compared["test"], compared["algorithms"][0]["test"]) == ("averaged", "averaged")
    refused = run(f"compare {rows} --n 5 --epsilon 1 --delta 0.3 --test binomial --points 3")
    assert refused.exit_code == 2
