"""Weights and other arguments of fit, as columns of a file: the same changes as from Python."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import poise

RIDGE = "--algorithm sklearn.linear_model:Ridge --n 20 --seed 0"
ASKED = "--epsilon 0.5 --delta 0.2 --json"


@pytest.fixture(scope="module")
def weighted(folder: Path) -> pd.DataFrame:
    frame = pd.read_csv(folder / "numbers.csv").drop(columns=["id"])
    frame["w"] = np.random.default_rng(1).exponential(size=len(frame))
    frame.to_csv(folder / "weighted.csv", index=False)
    return frame


@pytest.fixture(scope="module")
def expected(weighted: pd.DataFrame) -> poise.StabilityResult:
    return poise.stability_test(
        Ridge(),
        weighted[["size"]].to_numpy(),
        weighted["price"].to_numpy(),
        n=20,
        epsilon=0.5,
        delta=0.2,
        fit_params={"sample_weight": weighted["w"].to_numpy()},
        random_state=0,
    )


@pytest.mark.parametrize("option", ["--weights w", "--fit-param sample_weight=w"])
def test_weights_reach_every_fit(run, expected: poise.StabilityResult, option: str) -> None:
    done = run(f"test weighted.csv --target price {option} {RIDGE} {ASKED}")
    assert poise.StabilityResult.from_json(done.stdout) == expected, done.stderr
    plain = run(f"test weighted.csv --target price --drop w {RIDGE} {ASKED}")
    assert poise.StabilityResult.from_json(plain.stdout).epsilon_hat != expected.epsilon_hat


@pytest.mark.parametrize("key", ['weights = "w"', 'fit_params = {sample_weight = "w"}'])
def test_weights_in_a_file_of_questions(
    run, folder: Path, expected: poise.StabilityResult, key: str
) -> None:
    (folder / "weighted.toml").write_text(
        f"""
        [data]
        file = "weighted.csv"
        target = "price"
        {key}
        [algorithms.ridge]
        use = "sklearn.linear_model:Ridge"
        [[questions]]
        n = 20
        epsilon = 0.5
        delta = 0.2
        seed = 0
        """
    )
    done = run("run weighted.toml --json")
    (answer,) = json.loads(done.stdout)["answers"]
    named = replace(expected, design=replace(expected.design, name="ridge"))
    assert poise.StabilityResult.from_json(json.dumps(answer["result"])) == named


def test_other_commands_take_weights(run, weighted: pd.DataFrame) -> None:
    for command in ("profile {} -q", "check {} -q", "compare {} --epsilon 1 --delta 0.2 -q"):
        done = run(command.format(f"weighted.csv --target price --weights w {RIDGE}"))
        assert done.exit_code in (0, 1), done.stderr


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--weights weight", "weighted.csv has no column 'weight'"),
        ("--fit-param w", "--fit-param must look like sample_weight=COL, got 'w'"),
        ("--weights w --fit-param sample_weight=size", "sample_weight is given twice"),
        ("--weights price", "column 'price' cannot be the target and be dropped as well"),
    ],
)
def test_what_cannot_be(run, weighted: pd.DataFrame, option: str, message: str) -> None:
    done = run(f"test weighted.csv --target price {option} {RIDGE} --epsilon 1 --delta 0.2")
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_missing_weight_is_named_by_its_line(run, folder: Path, weighted: pd.DataFrame) -> None:
    weighted.assign(w=weighted["w"].where(weighted.index != 3)).to_csv(
        folder / "gap.csv", index=False
    )
    done = run(f"test gap.csv --target price --weights w {RIDGE} --epsilon 1 --delta 0.2")
    assert "column 'w' of gap.csv must not hold missing" in done.stderr
    assert "in line 5;" in done.stderr


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("fit_params = 3", "[data] fit_params must be a table such as"),
        ("fit_params = {sample_weight = 3}", "[data] sample_weight must be text, got 3"),
        (
            'weights = "w"\nfit_params = {sample_weight = "w"}',
            "sample_weight is given twice",
        ),
    ],
)
def test_keys_that_cannot_be(run, folder: Path, key: str, message: str) -> None:
    (folder / "wrong.toml").write_text(f'[data]\nfile = "weighted.csv"\ntarget = "price"\n{key}')
    assert message in run("run wrong.toml").stderr
