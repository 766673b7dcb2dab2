"""``poise test``: verdicts, files, and the same numbers as the library."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
import poise.data.files.read_table
import poise.data.on_disk
from poise import StabilityResult, Trials

RIDGE = "test numbers.csv --target price --drop id --algorithm sklearn.linear_model:Ridge --n 20"
NEIGHBOURS = (
    "test numbers.csv --target price --drop id --seed 3 "
    "--algorithm sklearn.neighbors:KNeighborsRegressor --param n_neighbors=10 --n 20"
)


@pytest.mark.parametrize(
    ("question", "verdict", "status"),
    [
        ("--epsilon 0.5 --delta 0.2", "stable", 0),
        ("--epsilon 0 --delta 0.2", "unstable", 1),
        ("--epsilon 0.5 --delta 0.01", "inconclusive", 1),
    ],
)
def test_the_three_verdicts(run, question: str, verdict: str, status: int) -> None:
    result = run(f"{RIDGE} --seed 0 {question}")
    assert result.exit_code == status, result.output
    assert result.stdout.startswith(verdict.upper())
    assert "Next:" in result.stdout
    quiet = run(f"{RIDGE} --seed 0 {question} --quiet")
    assert quiet.output == f"{verdict}\n"
    assert quiet.exit_code == status


def test_json_is_the_result_of_the_library(run, folder: Path) -> None:
    done = run(f"{NEIGHBOURS} --epsilon 0.3 --delta 0.3 --alpha 0.1 --randomized --json")
    frame = pd.read_csv(folder / "numbers.csv")
    expected = poise.stability_test(
        KNeighborsRegressor(10),
        frame[["size"]].to_numpy(),
        frame["price"].to_numpy(),
        n=20,
        epsilon=0.3,
        delta=0.3,
        alpha=0.1,
        randomized=True,
        random_state=3,
    )
    assert done.stderr == ""
    assert StabilityResult.from_json(done.stdout) == expected
    assert done.exit_code == (0 if expected.stable else 1)


def test_every_setting_reaches_the_library(run, folder: Path) -> None:
    done = run(
        f"{NEIGHBOURS} --epsilon 0.3 --delta 0.3 --json --unlabeled more.csv --no-shuffle "
        "--no-fast --coupling independent --distance absolute --jobs 1 --on-error unstable"
    )
    design = json.loads(done.stdout)["design"]
    assert design["n_unlabeled"] == 60
    assert design["shuffle"] is False
    assert design["coupling"] == "independent"
    assert design["distance"] == "absolute"
    assert design["seed"] == 3
    assert design["algorithm"] == "KNeighborsRegressor(n_neighbors=10)"


def test_files_hold_every_trial(run, folder: Path) -> None:
    done = run(
        f"{RIDGE} --seed 0 --epsilon 0.5 --delta 0.2 --quiet "
        "--save ridge.trials --plot ridge.svg --report ridge.html"
    )
    assert (done.exit_code, done.output) == (0, "stable\n")
    trials = Trials.load(folder / "ridge.trials")
    frame = pd.read_csv(folder / "numbers.csv")
    X, y = frame[["size"]].to_numpy(), frame["price"].to_numpy()
    expected = poise.measure(Ridge(), X, y, n=20, random_state=0)
    assert trials.changes.tolist() == expected.changes.tolist()
    assert trials.n_observed == trials.n_trials == 31
    assert "<svg" in (folder / "ridge.svg").read_text(encoding="utf-8")
    page = (folder / "ridge.html").read_text(encoding="utf-8")
    assert "Ridge() is declared (0.5, 0.2)-stable at n = 20" in page
    assert "data:image/png;base64," in page


def test_text_columns_reach_a_pipeline_by_name(run) -> None:
    command = (
        "test rows.csv --target price --drop id --algorithm poise_test_pipelines.py:pipeline "
        "--n 60 --epsilon 1 --delta 0.3 --seed 0 --quiet"
    )
    assert run(command).output == "stable\n"
    assert run(command, "--param", "ridge__alpha=50.0").output == "stable\n"


@pytest.mark.parametrize("ending", ["parquet", "feather", "npz"])
def test_other_kinds_of_file_give_the_same_result(run, folder: Path, ending: str) -> None:
    frame = pd.read_csv(folder / "numbers.csv").drop(columns=["id"])
    path = folder / f"same.{ending}"
    if ending == "npz":
        np.savez(path, X=frame[["size"]].to_numpy(), price=frame["price"].to_numpy())
    else:
        getattr(frame, f"to_{ending}")(path)
    question = "--epsilon 0.5 --delta 0.2 --seed 5 --json"
    expected = StabilityResult.from_json(run(f"{RIDGE} {question}").stdout)
    command = RIDGE.replace("numbers.csv", path.name).replace("--drop id", "")
    assert StabilityResult.from_json(run(f"{command} {question}").stdout) == expected


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize(
    "asked",
    [
        "--algorithm sklearn.linear_model:Ridge --drop city",
        "--algorithm poise_test_pipelines.py:pipeline",
        "--algorithm poise_test_pipelines.py:pipeline --groups home --n 30",
        "--algorithm sklearn.linear_model:Ridge --drop city --jobs 2 --unlabeled more.{ending}",
    ],
    ids=["array", "frames", "groups", "unlabelled"],
)
def test_large_files_stay_on_disk(run, folder: Path, monkeypatch, ending: str, asked: str) -> None:
    """And nothing else changes: not the numbers, not the path they took."""
    frame = pd.read_csv(folder / "rows.csv").assign(home=np.arange(660) // 2)
    getattr(frame, f"to_{ending}")(folder / f"large.{ending}")
    rest = frame.iloc[:60, 1:].reset_index(drop=True).assign(size=lambda table: -table["size"])
    getattr(rest, f"to_{ending}")(folder / f"more.{ending}")
    command = (
        f"test large.{ending} --target price --drop id {asked.format(ending=ending)} "
        f"{'' if 'home' in asked else '--n 60 --drop home'} --epsilon 1 --delta 0.3 --seed 0 --json"
    )
    expected = run(command)
    opened: list[str] = []
    table = poise.data.on_disk.StoredTable.__init__

    def noticed(self, path, *rest) -> None:
        opened.append(Path(path).name)
        table(self, path, *rest)

    monkeypatch.setattr(poise.data.on_disk.StoredTable, "__init__", noticed)
    monkeypatch.setattr(poise.data.files.read_table, "_LARGE_BYTES", 0)
    found = run(command)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout) == json.loads(expected.stdout)
    assert set(opened) >= {f"large.{ending}"}
    assert (f"more.{ending}" in opened) == ("unlabeled" in asked)


def test_a_distance_of_ones_own(run) -> None:
    done = run(
        f"{RIDGE} --seed 0 --epsilon 999 --delta 0.2 --json",
        "--distance",
        "poise_test_models.py:far",
    )
    content = json.loads(done.stdout)
    assert content["verdict"] == "unstable"
    assert content["design"]["distance"] == "far"


def test_a_hopeless_question_is_called_so_in_one_line_before_the_first_fit(run) -> None:
    for extra in ("", "--save hopeless.trials"):
        done = run(f"{RIDGE} --epsilon 0.5 --delta 0.05 --seed 0 {extra}")
        assert done.exit_code == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith("poise: warning: with 31 trials at n = 20 the plain test cannot")
    assert run(f"{RIDGE} --epsilon 0.5 --delta 0.05 --quiet").output == "inconclusive\n"


def test_every_trial_is_run_if_that_is_asked_for(run) -> None:
    asked = f"{NEIGHBOURS} --epsilon 0.000001 --delta 0.1 --json"
    early = json.loads(run(asked).stdout)
    full = json.loads(run(f"{asked} --no-stop-early").stdout)
    assert early["verdict"] == full["verdict"] == "unstable"
    assert early["n_observed"] < full["n_observed"] == full["n_trials"]
