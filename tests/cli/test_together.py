"""``poise compare`` and ``poise curve``, and the folders that they save."""

from __future__ import annotations

import json

import pytest
from sklearn.linear_model import Ridge

import poise

ROWS = "numbers.csv --target price --drop id"


def test_a_comparison_is_that_of_the_library_and_is_kept(run, folder, tmp_path):
    kept = str(tmp_path / "kept")
    asked = f"compare {ROWS} --algorithm Ridge --algorithm DecisionTreeRegressor --n 12"
    found = run(f"{asked} --epsilon 0.5 --delta 0.2 --save", kept)
    again = poise.load(kept)
    assert found.exit_code == 0
    assert "\nconstant " in found.stdout
    rows = [" ".join(row) for row in again.table().rows]
    assert [" ".join(line.split()) for line in found.stdout.splitlines()[1:3]] == [
        " ".join(row.split()) for row in rows
    ]
    by_hand = poise.read_table(folder / "numbers.csv", target="price", drop=["id"])
    assert list(again) == ["Ridge()", "DecisionTreeRegressor()"]
    alone = poise.stability_test(
        Ridge(),
        by_hand.X,
        by_hand.y,
        n=12,
        epsilon=0.5,
        delta=0.2,
        removals_per_trial=1,
    )
    assert (again["Ridge()"].trials.changes == alone.trials.changes).all()
    shown = run("show", kept, "-q")
    assert shown.stdout.splitlines()[0] == f"{again['Ridge()'].verdict}\tRidge()"
    assert json.loads(run("show", kept, "--json").stdout)["Ridge()"]["verdict"]
    refused = run(f"{asked} --epsilon 0.5 --delta 0.2 --save", kept)
    assert refused.exit_code == 2
    assert "--save must be a new or empty folder" in refused.stderr
    assert run("show", kept, "--delta", "0.1").exit_code == 2


def test_a_curve_has_verdicts_only_where_a_change_is_allowed(run):
    asked = f"curve {ROWS} --algorithm Ridge --n 6 --n 0.02 --delta 0.2"
    limits, verdicts = run(asked), run(f"{asked} --epsilon 0.9 -q")
    assert limits.exit_code == verdicts.exit_code == 0
    assert "All limits hold at once with 95% confidence" in limits.stdout
    assert [line.split("\t")[1] for line in verdicts.stdout.splitlines()] == ["6", "13"]


@pytest.mark.parametrize("command", ["compare", "curve"])
def test_what_is_missing_is_named(run, command):
    found = run(f"{command} {ROWS}")
    assert found.exit_code == 2
    assert "Missing --algorithm, --n" in found.stderr
