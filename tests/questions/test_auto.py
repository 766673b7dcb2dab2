"""The default ``test="auto"``: it chooses before the first fit, and says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.procedures.checked_question import StabilityQuestion
from poise.procedures.trial_setup import TrialSetup
from poise.questions.choose_test import choose_test
from poise.results import AveragedResult, Design
from poise.testing import assert_stable
from poise.theory import trials_for_averaging

NEIGHBOURS = KNeighborsRegressor()
rng = np.random.default_rng(3)
X, SPARE = rng.normal(size=(640, 2)), rng.normal(size=(320, 2))
y = X.sum(axis=1) + rng.normal(size=640)
QUESTION: dict[str, Any] = {"n": 10, "epsilon": 1.0, "delta": 0.1, "random_state": 0}


def test_spare_rows_are_used_by_default_and_cost_no_fit() -> None:
    result = poise.stability_test(NEIGHBOURS, X, y, X_unlabeled=SPARE, **QUESTION)
    assert isinstance(result, AveragedResult)
    assert (result.n_trials, result.removals, result.points) == (64, 1, 5)
    assert result.why == (
        "The averaged test was chosen before the first fit: the spare rows give each trial 5 "
        "points at no further fit."
    )
    assert result.why in result.summary()
    paper = poise.stability_test(NEIGHBOURS, X, y, X_unlabeled=SPARE, test="binomial", **QUESTION)
    assert paper.test == "binomial"
    assert result.design.n_fits == paper.design.n_fits == 128
    assert assert_stable(NEIGHBOURS, X, y, X_unlabeled=SPARE, **QUESTION) == result


def test_without_spare_rows_it_is_the_binomial_test_and_says_no_more() -> None:
    result = poise.stability_test(NEIGHBOURS, X, y, **QUESTION)
    paper = poise.stability_test(NEIGHBOURS, X, y, test="binomial", **QUESTION)
    assert result == paper
    assert result.to_json() == paper.to_json().replace('"why": ""', f'"why": "{result.why}"')
    assert "no spare rows" in result.why
    assert result.summary() == paper.summary()


@pytest.mark.parametrize(("delta", "alpha"), [(0.05, 0.05), (0.1, 0.05), (0.2, 0.1)])
def test_it_averages_from_so_many_trials_on(delta: float, alpha: float) -> None:
    least = trials_for_averaging(delta, alpha)

    def chosen(trials: int, **coin: bool) -> str:
        question = StabilityQuestion(9, 1.0, delta, alpha, **coin)
        paper = Design("mean", 9, 9 * trials, 7 * trials)
        assert paper.n_trials == trials
        return choose_test(question, TrialSetup(9), paper).test

    assert (chosen(least - 1), chosen(least)) == ("binomial", "averaged")
    assert chosen(2, randomized=True) == "averaged"


def test_a_point_that_was_asked_for_is_no_choice() -> None:
    result = poise.stability_test(NEIGHBOURS, X, y, X_unlabeled=SPARE, points=1, **QUESTION)
    assert result.test == "binomial"
    assert result.why.endswith("one point a trial was asked for.")
    assert result.why in result.summary()


@pytest.mark.parametrize("points", [1, 3])
def test_a_journal_goes_on_with_the_trials_it_was_begun_with(points: int, tmp_path: Path) -> None:
    journal = tmp_path / "run.jsonl"
    settings = QUESTION | {"X_unlabeled": SPARE, "stop_early": False}
    test = "binomial" if points == 1 else "averaged"
    begun = poise.stability_test(
        NEIGHBOURS, X, y, journal=journal, test=test, points=points, **settings
    )
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:20]))
    again = poise.stability_test(NEIGHBOURS, X, y, journal=journal, **settings)
    assert again == begun
    assert f"the journal was begun with 1 removal and {points} point" in again.why
    assert journal.read_bytes().splitlines(keepends=True)[1:] == lines[1:]


def test_one_fit_of_ridge_serves_every_removal() -> None:
    result = poise.stability_test(Ridge(), X, y, X_unlabeled=SPARE, **QUESTION)
    assert (result.n_trials, result.removals, result.points) == (64, 10, 5)
    assert result.why.endswith(
        "one fit of a trial serves all of its 10 removals, and the spare rows give each trial 5 "
        "points at no further fit."
    )
    assert result.design.path == "rank-one downdate of ridge"
    asked = {"removals": "all", "points": 5, "test": "averaged"}
    assert poise.stability_test(Ridge(), X, y, X_unlabeled=SPARE, **asked, **QUESTION) == result


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        (Ridge(), {"fast": False}),
        (Ridge(alpha=0.0), {}),
        (LinearRegression(), {}),
        (Ridge(solver="lsqr"), {}),
        (Ridge(), {"distance": lambda a, b: abs(a - b)}),
    ],
    ids=["fit by fit", "no penalty", "least squares", "iterative", "own distance"],
)
def test_one_removal_where_more_could_cost_fits(algorithm, settings) -> None:
    result = poise.stability_test(algorithm, X, y, X_unlabeled=SPARE, **settings, **QUESTION)
    assert (result.removals, result.points) == (1, 5)


def test_no_more_changes_than_can_be_kept() -> None:
    question = StabilityQuestion(1000, 1.0, 0.1)
    for trials, removals in ((100, 1000), (3000, 1)):
        paper = Design("ridge", 1000, 1000 * trials, 9 * trials)
        choice = choose_test(question, TrialSetup(1000), paper, free_removals=True)
        assert (choice.removals, choice.points) == (removals, 9)
