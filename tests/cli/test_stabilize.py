"""``poise stabilize``: the guarantee, what it costs, and the picture of before and after."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.cli.stabilize import _compared
from poise.questions.cost_of_stability import cost_of_stability

ROWS = "numbers.csv --target price --drop id"
TREE = "--algorithm sklearn.tree:DecisionTreeRegressor --param max_depth=2"
GOAL = "--n 20 --epsilon 0.8 --delta 0.3 --seed 0"


def test_the_guarantee_and_its_cost_are_the_library_s(run, folder) -> None:
    done = run(f"stabilize {ROWS} {TREE} {GOAL} --splits 2 --json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    rows = pd.read_csv(folder / "numbers.csv")
    stable = poise.stabilize(
        DecisionTreeRegressor(max_depth=2), n=20, epsilon=0.8, delta=0.3, random_state=0
    )
    assert said["guarantee"]["sentence"] == stable.guarantee.sentence
    assert said["guarantee"]["certificate"] is False
    assert said["guarantee"]["bag_size"] == stable.bag_size
    assert [c["n_bags"] for c in said["trade_off"]] == [c.n_bags for c in stable.trade_off()]
    cost = cost_of_stability(
        stable, rows[["size"]].to_numpy(), rows["price"].to_numpy(), splits=2, random_state=0
    )
    assert said["cost"]["stabilized"] == pytest.approx(cost.stabilized)
    assert said["cost"]["original"] == pytest.approx(cost.original)
    assert said["comparison"] is None


def test_both_are_tested_side_by_side_and_drawn(run, tmp_path) -> None:
    picture = tmp_path / "tree.png"
    bounds = "--bounds -8 8 --epsilon 12 --delta 0.4 --n 20 --seed 0 --shared-seed"
    done = run(f"stabilize {ROWS} {TREE} {bounds} --splits 0 --plot {picture}")
    assert done.exit_code == 0, done.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = " ".join(done.stdout.split())
    assert "changes by more than 12 with probability at most 0.4" in text
    assert "cheapest first" in text
    assert "chosen" in text
    more = run(f"stabilize {ROWS} {TREE} {bounds} --splits 0 --n-bags 123").stdout
    [row] = [line.split() for line in more.splitlines() if "chosen" in line]
    assert row[1] == "123"
    assert "original" in text
    assert "stabilised" in text
    assert "R²" not in text


@pytest.mark.parametrize(
    ("promised", "tested"),
    [(0.148111, 0.1482), (0.3, 0.3), (0.99996, 0.99996)],  # 1 is no delta
)
def test_what_is_tested_follows_from_what_is_promised(monkeypatch, promised, tested) -> None:
    asked = {}
    monkeypatch.setattr("poise.questions.compare.compare", lambda *_, **given: asked.update(given))
    promise = SimpleNamespace(n=20, epsilon=0.123411, delta=promised, units="training range")
    stable = SimpleNamespace(guarantee=promise, estimator=None)
    _compared(stable, {"y": [0.0, 2.0]}, {})
    assert (asked["epsilon"], asked["delta"]) == (0.2469, tested)


def test_classes_and_a_bare_answer(run, folder) -> None:
    rows = pd.read_csv(folder / "numbers.csv")
    rows.assign(dear=(rows["price"] > 0).astype(int)).to_csv(folder / "dear.csv", index=False)
    data = "dear.csv --target dear --drop id --drop price"
    tree = "--algorithm sklearn.tree:DecisionTreeClassifier --param max_depth=1"
    asked = "--n 20 --epsilon 1.2 --delta 0.4 --seed 0 --class 0 --class 1"
    done = run(f"stabilize {data} {tree} {asked} --splits 2 --quiet")
    assert done.exit_code == 0, done.output
    assert "share at least k labels (Theorem M)" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    strange = run(f"stabilize {data} {tree} {asked.replace('--class 1', '--class 2')}")
    assert (strange.exit_code, strange.stdout) == (2, "")
    assert "classes must hold every label in y; 1 is not" in " ".join(strange.stderr.split())
    told = run(f"stabilize {data} {tree} {asked} --splits 2 --test")
    assert told.exit_code == 0, told.output
    assert "accuracy on rows left out, over 2 random splits" in " ".join(told.stdout.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--n 20 --epsilon 0.001 --delta 0.05", "possible are epsilon above"),
        ("--n 20 --epsilon 0.8 --delta 0.3 --bounds 2 1", "low < high"),
        ("--n 20 --epsilon 0.8 --delta 0.3 --n-bags 1", "--n-bags must be at least"),
        ("--n 20 --epsilon 0.8 --delta 0.3 --class a", "classes are for classifiers"),
    ],
)
def test_requests_that_cannot_be_granted_end_before_the_first_fit(run, options, message) -> None:
    done = run(f"stabilize {ROWS} {TREE} {options}")
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_rows_that_cannot_be_used_are_no_defect(run, folder) -> None:
    rows = pd.read_csv(folder / "numbers.csv")
    rows.assign(size=rows["size"].mask(rows.index == 3)).to_csv(folder / "gaps.csv", index=False)
    done = run(
        f"stabilize gaps.csv --target price --drop id --algorithm sklearn.linear_model:Ridge {GOAL}"
    )
    assert done.exit_code == 2
    assert "takes no missing or infinite values" in " ".join(done.stderr.split())
    assert run(f"stabilize {ROWS} {TREE} {GOAL} --weights size").exit_code == 2


def test_functions_cannot_be_stabilised(run) -> None:
    done = run(f"stabilize {ROWS} --algorithm poise_test_models.py:mean {GOAL}")
    assert done.exit_code == 2
    assert "estimator must be a scikit-learn estimator" in " ".join(done.stderr.split())
