"""Preflight: what predictions are, whether the algorithm learns, and whether classes are rare."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import poise
from poise.questions.check.learns import LEARNS
from poise.questions.check.prediction_type import COMPARABLE
from poise.questions.check.rare_classes import RARE

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 2))
y = X[:, 0] + rng.normal(size=300)
words = np.where(y > 0, "up", "down")


def check(algorithm, responses=y, n=20, **settings):
    return poise.check_algorithm(algorithm, X, responses, n=n, random_state=0, **settings)


def mean_as(kind):
    return lambda A, b, seed: lambda rows: [kind(np.mean(b))] * len(rows)


@pytest.mark.parametrize(
    ("algorithm", "responses", "settings", "found"),
    [
        (Ridge(), y, {}, "a number (float64), compared by euclidean"),
        (Ridge(), np.column_stack([y, y]), {}, "2 numbers (float64), compared by euclidean"),
        (mean_as(Fraction), y, {}, "a number (Fraction), compared by euclidean"),
        (LogisticRegression(), words, {}, "a label (text), compared by label"),
        (KNeighborsClassifier(3), y > 0, {}, "a label (yes or no), compared by label"),
        (
            LogisticRegression(),
            words,
            {"response": "predict_proba"},
            "2 numbers (float64), compared by total_variation",
        ),
        (mean_as(float), y, {"distance": poise.LossChange("squared")}, "change of squared loss"),
    ],
)
def test_the_type_of_predictions_is_reported(algorithm, responses, settings, found) -> None:
    report = check(algorithm, responses, **settings)
    assert found in report[COMPARABLE].found
    assert report.ok


@pytest.mark.parametrize(
    ("algorithm", "settings", "found"),
    [
        (mean_as(str), {}, r"a label \(text\): predictions are text"),
        (mean_as(str), {"distance": "absolute"}, r"a label \(text\): predictions are text"),
        (Ridge(), {"distance": "total_variation"}, "total variation compares one probability"),
    ],
)
def test_what_every_trial_would_fail_for_is_known_beforehand(algorithm, settings, found) -> None:
    report = check(algorithm, **settings)
    assert report[COMPARABLE].severity == "fail"
    assert re.search(found, report[COMPARABLE].found)
    assert "distance='label'" in report[COMPARABLE].remedy


def test_predictions_that_are_none_are_found_by_the_first_fit() -> None:
    days = lambda A, b, seed: lambda rows: [datetime.date(2020, 1, 1)] * len(rows)  # noqa: E731
    masked = lambda A, b, seed: lambda rows: np.ma.masked_all(len(rows))  # noqa: E731
    assert "dates or times" in check(days)["accepts n rows"].found
    assert "masked" in check(masked)["accepts n rows"].found


FITTED = Ridge().fit(X, y)


@pytest.mark.parametrize(
    ("algorithm", "responses"),
    [
        (FrozenEstimator(FITTED), y),
        (FrozenEstimator(LogisticRegression().fit(X, words)), words),
        (DummyRegressor(strategy="constant", constant=1.0), y),
        (lambda A, b, seed: FITTED.predict, y),
        (lambda A, b, seed: lambda rows: np.full(len(rows), seed % 7), y),
    ],
)
def test_predictions_that_ignore_the_rows_fail(algorithm, responses) -> None:
    report = check(algorithm, responses)
    assert report[LEARNS].severity == "fail"
    assert "neither other rows nor other responses" in report[LEARNS].found
    assert "not a fitted model" in report[LEARNS].remedy
    result = poise.stability_test(
        algorithm, X, responses, n=4, epsilon=0.0, delta=0.05, random_state=0
    )
    assert result.verdict == "stable"  # which is why the question is asked


@pytest.mark.parametrize(
    ("algorithm", "responses"),
    [
        (Ridge(), y),
        (DummyRegressor(), y),
        (KNeighborsRegressor(1), np.where(y > 3, 1.0, 0.0)),  # hardly ever anything but 0
        (DummyClassifier(), np.where(y > 2, "rare", "usual")),  # the same label everywhere
        (KNeighborsClassifier(3), np.where(y > 2, 1, 0)),
        (PoissonRegressor(), np.abs(y)),
    ],
)
def test_coarse_predictions_are_not_taken_for_ignorance(algorithm, responses) -> None:
    assert check(algorithm, responses)[LEARNS].severity == "ok"


def test_detectors_of_outliers_and_picky_algorithms_are_warned_of_at_most() -> None:
    blind = IsolationForest(contamination=1e-3, n_estimators=5)
    assert check(blind, n=10)[LEARNS].severity in ("ok", "warn")

    def picky(A, b, seed):
        if max(b) > 4:
            raise ValueError("responses must be small")
        return lambda rows: np.zeros(len(rows))

    finding = check(picky)[LEARNS]
    assert (finding.severity, "it fails" in finding.found) == ("warn", True)


RARE_LABELS = np.array(["usual"] * 290 + ["rare"] * 10)


def test_a_run_that_would_meet_one_class_alone_is_foreseen() -> None:
    report = check(LogisticRegression(), RARE_LABELS, n=20)
    finding = report[RARE]
    assert finding.severity == "fail"
    assert "only class 'usual' (290 of 300 rows): ValueError" in finding.found
    assert "one of 14 trials meets one more likely than not" in finding.remedy
    assert poise.measure(
        LogisticRegression(), X, RARE_LABELS, n=20, random_state=0, on_error="unstable"
    ).failures
    # The n that is named avoids it with probability 95%, and is the smallest that does.
    enough = int(finding.remedy.split("n = ")[1].split()[0])
    law = [hypergeom(300, 290, n - 1).pmf(n - 1) * (300 // (n + 1)) for n in (enough - 1, enough)]
    assert law[1] <= 0.05 < law[0]


def test_a_class_that_may_be_missing_among_several() -> None:
    def picky(A, b, seed):
        if len(set(b)) < 3:
            raise ValueError("needs all three classes")
        return lambda rows: [b[0]] * len(rows)

    labels = np.array(["a"] * 140 + ["b"] * 140 + ["c"] * 20)
    finding = check(picky, labels, n=30)[RARE]
    assert "no row of class 'c' (20 of 300 rows): ValueError: needs all three" in finding.found
    assert finding.severity == "fail"


def test_a_class_with_a_single_row_left() -> None:
    def picky(A, b, seed):
        if list(b).count("rare") == 1:
            raise ValueError("n_splits=2 cannot be greater than the number of members")
        return lambda rows: [b[0]] * len(rows)

    finding = check(picky, RARE_LABELS, n=20)[RARE]
    assert "a single row of class 'rare' (10 of 300 rows)" in finding.found


@pytest.mark.parametrize("algorithm", [KNeighborsClassifier(3), LogisticRegression()])
def test_where_nothing_is_rare_or_nothing_fails_all_is_well(algorithm) -> None:
    assert check(algorithm, words, n=30)[RARE].severity == "ok"
    assert check(KNeighborsClassifier(3), RARE_LABELS)[RARE].severity == "ok"


def test_numbers_have_no_classes() -> None:
    with pytest.raises(KeyError):
        check(Ridge())[RARE]


def test_a_class_that_no_size_guards_against() -> None:
    lonely = np.array(["usual"] * 299 + ["once"])
    finding = check(LogisticRegression(), lonely, n=20)[RARE]
    assert "n = 286 or more avoids it (1 trial there)" in finding.remedy
