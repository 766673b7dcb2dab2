"""``poise compare`` and ``poise curve``, and the folders that they save."""

from __future__ import annotations

import json

from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.results.sentences import ASKED_AFTER

ROWS = "numbers.csv --target price --drop id"


def test_a_comparison_is_that_of_the_library_and_is_kept(run, folder, tmp_path):
    kept, question = str(tmp_path / "kept"), {"n": 12, "epsilon": 0.5, "delta": 0.2}
    asked = f"compare {ROWS} --algorithm Ridge --algorithm DecisionTreeRegressor --n 12"
    asked += " --epsilon 0.5 --delta 0.2 --save"
    found, again = run(asked, kept), poise.load(kept)
    assert (found.exit_code, found.stderr) == (0, f"Written: {kept}\n")
    by_hand = poise.read_table(folder / "numbers.csv", target="price", drop=["id"])
    models = [Ridge(), DecisionTreeRegressor()]
    assert found.stdout == f"{poise.compare(models, by_hand.X, by_hand.y, **question)}\n"
    assert found.stdout == f"{again}\n"  # also the constant's error
    alone = poise.stability_test(Ridge(), by_hand.X, by_hand.y, removals_per_trial=1, **question)
    assert (again["Ridge()"].trials.changes == alone.trials.changes).all()
    shown = run("show", kept, "-q")
    assert shown.stdout.splitlines()[0] == f"{again['Ridge()'].verdict}\tRidge()"
    assert json.loads(run("show", kept, "--json").stdout)["Ridge()"]["verdict"]
    refused = run(asked, kept)
    assert (refused.exit_code, "--save must be a new or empty" in refused.stderr) == (2, True)
    assert "share a level" in run("show", kept, "--delta", "0.1").stderr


def test_a_folder_is_shown_as_a_table_and_kept_again(run, tmp_path):
    """Each answer with its own level: of several statuses the worst is told."""
    for name, values in {"calm": [0.1] * 60, "wild": [0.9] * 60, "few": [0.1] * 5}.items():
        trials = poise.Trials.from_changes(values, n=5, algorithm="mine")
        trials.test(0.5, 0.1).save(tmp_path / f"{name}.json")
    shown = run("show", str(tmp_path), "--exit-status")
    assert shown.exit_code == 1
    verdicts = [line.split()[-1] for line in shown.stdout.splitlines()[1:4]]
    assert verdicts == ["stable", "inconclusive", "unstable"]
    assert "Each verdict, and each limit, is wrong" in shown.stdout
    assert shown.stdout.splitlines()[-1] == ASKED_AFTER
    again, page = str(tmp_path / "again"), str(tmp_path / "page.html")
    kept = run("show", str(tmp_path), "--epsilon", "2", "--save", again, "--report", page)
    assert kept.stderr == f"Written: {again}, {page}\n"
    found = [(each.epsilon, each.verdict) for each in poise.load(again).values()]
    assert found == [(2, "stable"), (2, "inconclusive"), (2, "stable")]
    poise.Trials.from_changes([0.1] * 9, n=5).save(tmp_path / "measured.json")
    assert run("show", str(tmp_path)).stdout.count("trained on 5 rows") == 4
    assert run("show", str(tmp_path), "-q").stdout.count("\t") == 4
    for form in ("--details", "--latex"):
        refused = run("show", str(tmp_path), form)
        assert (refused.exit_code, "give --epsilon and --delta" in refused.stderr) == (2, True)


def test_a_curve_has_verdicts_only_where_a_change_is_allowed(run):
    asked = f"curve {ROWS} --algorithm Ridge --n 6 --n 0.02 --delta 0.2"
    limits, verdicts = run(asked), run(f"{asked} --epsilon 0.9 -q")
    assert limits.exit_code == verdicts.exit_code == 0
    assert "All limits hold at once with 95% confidence" in limits.stdout
    assert [line.split("\t")[1] for line in verdicts.stdout.splitlines()] == ["6", "13"]
