"""Two fitted models, and what was fitted elsewhere: changes are those of a loop by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import binom
from sklearn.linear_model import Lasso, LogisticRegression, Ridge

import poise
from poise.cli import main
from poise.data.randomness import Randomness
from poise.errors import AlgorithmError, ArgumentError, DataError, TrialError, ValidityWarning

RNG = np.random.default_rng(43)
X = RNG.normal(size=(260, 3))
y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=260)
LABELS = np.where(y > 0, "yes", "no")
FRESH = slice(60, 260)
OLD, NEW = Ridge().fit(X[:40], y[:40]), Lasso(0.1).fit(X[:60], y[:60])
WAS, IS = (LogisticRegression(C=c).fit(X[:40], LABELS[:40]) for c in (0.1, 5.0))
ORDER = Randomness(0).order("order of fresh rows", 200)
THREE = np.digitize(y, [-1, 1])


def asked(old=OLD, new=NEW, X_fresh=X[FRESH], y_fresh=None, **settings):
    return poise.changed(old, new, X_fresh, y_fresh, **{"epsilon": 0.6, "delta": 0.2, **settings})


def test_every_fresh_row_is_a_trial_and_nothing_is_fitted():
    result = asked(y_fresh=y[FRESH])
    before, after = (model.predict(X[FRESH]) for model in (OLD, NEW))
    assert np.array_equal(result.trials.values, abs(before - after)[ORDER])
    assert np.array_equal(result.trials.errors, abs(before - y[FRESH])[ORDER])
    moved = int((abs(before - after) > 0.6).sum())
    assert result.statistic == moved
    assert np.isclose(result.pvalue, binom.cdf(moved, 200, 0.2), rtol=1e-9)
    assert (result.n_fits, result.n_trials, result.test) == (0, 200, "binomial")
    assert result.trials.to_frame().test_row.tolist() == ORDER.tolist()
    assert "Replacing old by new changes the prediction for a new row by" in str(result)
    assert "trained, tuned or chose neither model" in str(result)
    frame = pd.DataFrame(X[FRESH], columns=[*"abc"]).assign(y=y[FRESH])
    functions = [lambda rows, m=m: m.predict(rows.to_numpy()) for m in (OLD, NEW)]
    again = asked(*functions, frame, "y").trials
    assert np.allclose(again.changes, result.trials.changes, rtol=1e-12)
    assert asked(max_trials=50).trials.values.tolist() == result.trials.values[:50].tolist()


def test_labels_probabilities_losses_decisions_and_groups():
    labels = asked(WAS, IS, epsilon=None)
    flipped = WAS.predict(X[FRESH]) != IS.predict(X[FRESH])
    assert np.array_equal(labels.trials.values, flipped[ORDER])
    lacks = LogisticRegression().fit(X[THREE != 1], THREE[THREE != 1])  # one of three classes
    knows = LogisticRegression().fit(X, THREE)
    found = asked(lacks, knows, epsilon=0.3, response="predict_proba").trials.values
    few, all_three = (model.predict_proba(X[FRESH]) for model in (lacks, knows))
    gap = abs(np.insert(few, 1, 0.0, axis=1) - all_three).sum(axis=1) / 2
    assert np.allclose(found, gap[ORDER], rtol=1e-12)
    lost = asked(y_fresh=y[FRESH], distance=poise.loss_change("squared")).trials.values
    old, new = ((model.predict(X[FRESH]) - y[FRESH]) ** 2 for model in (OLD, NEW))
    assert np.array_equal(lost, abs(old - new)[ORDER])
    distance = poise.decisions.top_k(2, of=10)
    panels = asked(epsilon=None, distance=distance).trials.values
    rows = X[FRESH][ORDER].reshape(20, 10, 3)
    by_hand = [distance(OLD.predict(each), NEW.predict(each))[0] for each in rows]
    assert panels.tolist() == by_hand
    owners = np.arange(200) // 4
    grouped = asked(groups_fresh=owners).trials
    tested = grouped.to_frame().test_row
    assert sorted(owners[tested]) == [*range(50)]
    assert "a row of a new group" in str(grouped)


@pytest.mark.parametrize("place", [0, -1])  # all points are looked at, also the last one
def test_predictions_that_depend_on_others_are_made_one_by_one(place):
    odd = X[FRESH][ORDER[place], 0]

    def old(rows):
        return rows[:, 0] + (len(rows) > 1) * (rows[:, 0] == odd)

    with pytest.warns(ValidityWarning, match="predicted by itself"):
        result = asked(old, lambda rows: rows[:, 0])
    assert not result.trials.values.any()
    assert result.design.given_up == ("together",)


def broken(rows):
    raise ValueError("no such column")


def test_failures_are_trials():
    with pytest.raises(TrialError, match="no such column"):
        asked(new=broken)
    result = asked(new=broken, on_error="record")
    assert (result.n_failures, result.verdict) == (200, "inconclusive")
    hole = lambda rows: np.where(rows[:, 0] == X[99, 0], np.nan, rows[:, 0])  # noqa: E731
    assert asked(hole, lambda rows: rows[:, 0], on_error="record").n_failures == 1
    with pytest.raises(TrialError, match=r"row .* missing or infinite"):
        asked(hole, lambda rows: rows[:, 0])


REFUSED = [
    ({"new": Ridge()}, AlgorithmError, "not fitted yet"),
    ({"new": IS}, AlgorithmError, "one predicts labels, the other does not"),
    ({"new": 3.0}, AlgorithmError, "must be a fitted model with predict, or a function"),
    ({"new": broken, "response": "predict_proba"}, AlgorithmError, "response='predict'"),
    ({"epsilon": "5% of sd"}, DataError, "y has no sd: it is missing"),
    ({"distance": poise.loss_change("squared")}, ArgumentError, "y_fresh is missing"),
    ({"y_fresh": y[:9]}, DataError, "y_fresh must hold one value per fresh row"),
    ({"groups_fresh": [1, 2]}, DataError, "groups_fresh must hold one value per fresh row"),
]


@pytest.mark.parametrize(("given", "kind", "words"), REFUSED)
def test_what_cannot_be_asked_is_refused_before_a_prediction(given, kind, words):
    with pytest.raises(kind, match=words):
        asked(**{"old": OLD, **given})


# Fitted elsewhere -------------------------------------------------------------------------------


def test_the_rows_of_trials_are_those_of_a_test_with_this_seed():
    rows = poise.trial_rows(260, n=12, random_state=7)
    assert [len(each.full) for each in rows] == [12] * 20
    used = np.concatenate([np.append(each.full, each.test) for each in rows])
    assert len(np.unique(used)) == 20 * 13
    changes = [
        np.ptp([Lasso(0.1).fit(X[part], y[part]).predict(X[[test]]) for part in parts])
        for *parts, test in rows
    ]
    trials = poise.measure(Lasso(0.1), X, y, n=12, random_state=7)
    assert np.allclose(changes, trials.values, rtol=1e-9, atol=1e-12)


def judge(tmp_path, frame, *words):
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return CliRunner().invoke(main, ["judge", str(path), *words, "--delta", "0.2"])


def test_files_of_predictions_and_of_changes_are_judged(tmp_path):
    frame = pd.DataFrame({"old": OLD.predict(X[FRESH]), "new": NEW.predict(X[FRESH])})
    frame = frame.assign(owner=np.arange(200) // 4, y=y[FRESH])
    given = ["--columns", "old,new", "--epsilon", "0.6"]
    result = asked()
    said = judge(tmp_path, frame, *given)
    assert said.exit_code == {"stable": 0, "unstable": 1, "inconclusive": 5}[result.verdict]
    assert said.stdout.splitlines()[1:3] == str(result).splitlines()[1:3]
    grouped = judge(tmp_path, frame, *given, "--groups", "owner", "--details")
    assert "n_trials: 50" in grouped.stdout
    words = frame.assign(old=WAS.predict(X[FRESH]), new=IS.predict(X[FRESH]))
    assert "labels changed" in judge(tmp_path, words, "--columns", "old,new").stdout
    frame.loc[3, "new"] = np.nan
    assert "1 of 200 trials failed" in judge(tmp_path, frame, *given).stdout
    changes = pd.DataFrame({"id": range(40), "change": [*[0.1] * 39, np.nan]})
    said = judge(tmp_path, changes, "--n", "12", "--columns", "change", "--epsilon", "0.2")
    assert said.stdout.startswith("STABLE: An algorithm trained on 12 rows. Removing the last of")
    assert "1 of 40 trials failed" in said.stdout
