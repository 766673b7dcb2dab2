"""Records and verdicts about one training set: words, files and pictures."""

from __future__ import annotations

import numpy as np
import pytest

from poise.errors import ArgumentError, RecordError
from poise.results.conditional_design import ConditionalDesign
from poise.results.conditional_result import ConditionalResult
from poise.results.conditional_trials import ConditionalTrials
from poise.results.plots.influence import plot_influence
from poise.results.trials import Trials


def record(notion="deployed", changes=(0.1, 0.1, 0.3), m=60, points=1, **more):
    n = len(changes) if notion != "add-one" else 9
    fresh = m * (1 + points) if notion == "add-one" else m
    points = len(changes) if notion == "add-one" else 1
    fresh = m * (1 + points) if notion == "add-one" else m
    design = ConditionalDesign("model", notion, n, fresh, points=points, **more)
    return ConditionalTrials(np.tile(changes, (m, 1)), design)


FALSELY = " A procedure that prints this prints it falsely with probability at most 0.05."
SENTENCES = {
    ("deployed", None): (
        "averaged over a new point from the same distribution, at most a share 0.4 of the 3 "
        "removals of a training row changes the prediction there by more than 0.2."
    ),
    ("deployed", 0.35): (
        "with probability at least 0.6 over a new point from the same distribution, at most a "
        "share 0.35 of the 3 removals of a training row changes the prediction there by more "
        "than 0.2."
    ),
    ("jackknife", None): (
        "averaged over a new labelled row from the same distribution, at most a share 0.4 of the "
        "3 training rows has a leave-one-out prediction (by the model without the row) that "
        "changes by more than 0.2 when the new row is added to that model."
    ),
    ("jackknife", 0.35): (
        "with probability at least 0.6 over a new labelled row from the same distribution, at "
        "most a share 0.35 of the 3 training rows has a leave-one-out prediction (by the model "
        "without the row) that changes by more than 0.2 when the new row is added to that model."
    ),
    ("add-one", None): (
        "averaged over a new labelled row and new points from the same distribution, adding the "
        "row to the training set changes the prediction at a point by more than 0.2 with "
        "probability at most 0.4."
    ),
    ("add-one", 0.35): (
        "with probability at least 0.6 over a new labelled row and new points from the same "
        "distribution, at most a share 0.35 of the 3 new points has a prediction that changes by "
        "more than 0.2 when the new row is added to the training set."
    ),
}


@pytest.mark.parametrize(("notion", "gamma"), SENTENCES)
def test_one_sentence_per_notion_and_test(notion, gamma) -> None:
    result = record(notion, m=400).test(0.2, 0.4, gamma=gamma)
    sentence = SENTENCES[notion, gamma]
    assert result.sentence == f"For this training set and these seeds: {sentence}{FALSELY}"
    assert result.stable
    text = result.summary()
    assert result.sentence in text
    assert "It says nothing about another training set" in text
    assert "Proposition I" in text
    assert text.startswith(f"STABLE: model on this training set of {result.n} rows ({notion}")


def test_other_verdicts_say_what_is_not_so_or_not_settled() -> None:
    assert "this is not so" in record().test(0.05, 0.2).summary()
    assert (
        "it is not settled whether this is so: averaged over"
        in record(m=5).test(0.2, 0.3).summary()
    )
    assert "loss" in record(losses=True).test(0.2, 0.4).summary()


@pytest.mark.parametrize("gamma", [None, 0.4])
@pytest.mark.parametrize("notion", ["deployed", "add-one", "jackknife"])
def test_records_and_results_are_read_back_exactly(notion, gamma, tmp_path) -> None:
    changes = record(notion).changes.copy()
    changes[3, 1], changes[4, 0] = np.nan, np.inf
    mine = ConditionalTrials(changes, record(notion).design, n_fits=7, failures=("bad",))
    mine.save(tmp_path / "mine.trials")
    assert ConditionalTrials.load(tmp_path / "mine.trials") == mine
    assert ConditionalTrials.from_json(mine.to_json()) == mine
    assert hash(ConditionalTrials.from_json(mine.to_json())) == hash(mine)
    result = mine.test(0.2, 0.4, gamma=gamma)
    assert ConditionalResult.from_json(result.to_json()) == result
    assert result.to_frame().loc[0, "design.notion"] == notion
    for shown in (mine, result):
        assert "<table>" in shown._repr_html_()
        assert str(shown) == shown.summary()
    assert len(mine.to_frame()) == changes.size
    result.plot()
    mine.plot(0.2, gamma=gamma, delta=0.4)
    with pytest.raises(RecordError, match="has format"):
        Trials.load(tmp_path / "mine.trials")


def test_one_point_a_trial_is_the_binomial_test() -> None:
    """With one change a trial the two tests are the same."""
    m = 40
    design = ConditionalDesign("model", "add-one", 9, 2 * m)
    for count in (0, 3, 5, 8, 14, 20, 40):
        changes = np.full((m, 1), 0.1)
        changes[:count] = 0.9
        mine = ConditionalTrials(changes, design)
        assert mine.test(0.5, 0.2).verdict == mine.test(0.5, 0.2, gamma=0.0).verdict
    changes[:] = np.nan
    assert ConditionalTrials(changes, design).test(0.5, 0.2).verdict == "inconclusive"


def test_limits_without_a_verdict() -> None:
    mine = record()
    assert mine.delta_hat(0.2) >= 1 / 3
    assert mine.delta_hat(0.2, gamma=0.4) < 0.06
    assert mine.epsilon_hat(0.2) == 0.3
    assert mine.epsilon_hat(0.2, gamma=0.4) == 0.1


def test_influence_is_ordered_and_says_that_nothing_is_certified() -> None:
    mine = record(changes=(0.1, 0.5, 0.3, 0.5), m=6)
    found = mine.influence(0.2)
    assert found.rows.tolist() == [1, 3, 2, 0]
    assert found.share.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert found.largest_change.tolist() == [0.5, 0.5, 0.3, 0.1]
    assert "Descriptive, not certified: 4 rows were compared at 6 points" in str(found)
    assert found.to_frame()["training_row"].tolist() == [1, 3, 2, 0]
    assert found.plot().axes[0].get_ylabel() == "training row, counting from 0"
    named = plot_influence(found, line=lambda row: f"line {row + 2}").axes[0]
    assert named.get_ylabel() == "training row"
    assert named.get_yticklabels()[0].get_text() == f"line {found.rows[0] + 2}"
    with pytest.raises(ArgumentError, match="measure notion='deployed'"):
        record("jackknife").influence(0.2)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (np.zeros((60, 2)), r"must have shape \(trials, changes of a trial\) = \(m, 3\), got"),
        (np.zeros((61, 3)), "must hold at most 60 trials for this design, got 61"),
        (np.full((60, 3), -1.0), "must be numbers >= 0 or nan, got -1.0"),
        ([["small", 0.1, 0.1]], "must hold numbers >= 0 or nan, got .*'small'"),
    ],
)
def test_wrong_changes_are_refused(changes, complaint) -> None:
    with pytest.raises(ArgumentError, match=f"changes {complaint}"):
        ConditionalTrials(changes, record().design)


def test_a_negative_change_is_named_beside_one_that_failed() -> None:
    with pytest.raises(ArgumentError, match=r"must be numbers >= 0 or nan, got -1\.0"):
        Trials.from_changes([[[0.1, -1.0], [np.nan, 0.1]]], n=5)
