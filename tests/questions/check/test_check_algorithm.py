"""Preflight: good algorithms pass, and each kind of bad one is caught by the check for it."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge, SGDRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import poise
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.questions.check import Severity
from poise.questions.check.algorithm_checks import (
    CAREFUL,
    CHECKS,
    DETERMINISTIC,
    FITS,
    FITS_FEWER,
    ROW_BY_ROW,
    STATELESS,
    SYMMETRIC,
)
from poise.questions.check.learns import LEARNS
from poise.questions.check.prediction_type import COMPARABLE
from poise.questions.check.probe import Probe
from shared.algorithms import constant

X, y = load_diabetes(return_X_y=True)
NAMES = [*CHECKS, "time"]


def check(algorithm, n: int = 12, **settings):
    settings = {"random_state": 0} | settings
    return poise.check_algorithm(algorithm, X, y, n=n, **settings)


def severities(report) -> dict[str, str]:
    return {finding.check: finding.severity.value for finding in report.findings}


@pytest.mark.parametrize(
    "algorithm",
    [
        Ridge(),
        make_pipeline(StandardScaler(), KNeighborsRegressor(3)),
        lambda X, y, seed: constant(np.mean(y)),
        lambda X, y, seed: constant(np.random.default_rng(seed).choice(np.sort(y))),
    ],
    ids=["ridge", "pipeline", "mean", "seeded choice"],
)
def test_nothing_is_found_where_nothing_is_wrong(algorithm) -> None:
    report = check(algorithm)
    assert severities(report) == dict.fromkeys(NAMES, "ok")
    assert report.ok
    assert report.failed == report.warned == ()
    assert "nothing found" in report.summary()
    assert "exactly" in report[SYMMETRIC].found


def test_symmetry_in_distribution_only_is_no_fault() -> None:
    report = check(RandomForestRegressor(5))
    assert severities(report) == dict.fromkeys(NAMES, "ok")
    assert "in distribution only" in report[SYMMETRIC].found


def test_an_asymmetric_algorithm_is_caught() -> None:
    report = check(lambda X, y, seed: constant(y[-1]))
    assert report[SYMMETRIC].severity == Severity.WARN
    assert "Symmetrized" in report[SYMMETRIC].remedy
    assert report.ok
    online = SGDRegressor(shuffle=False, max_iter=1, tol=None)
    assert check(online)[SYMMETRIC].severity == Severity.WARN


def test_hidden_randomness_is_caught() -> None:
    report = check(lambda X, y, seed: constant(np.random.default_rng().normal()))
    assert report[DETERMINISTIC].severity == Severity.FAIL
    assert report[STATELESS].severity == Severity.SKIPPED
    assert not report.ok
    with pytest.raises(AlgorithmError, match="failed its preflight: deterministic given its seed"):
        report.raise_if_failed()


def test_global_generators_are_set_from_the_seed_and_do_no_harm() -> None:
    def draws(X, y, seed):
        return constant(np.random.normal())  # noqa: NPY002

    assert check(draws)[DETERMINISTIC].severity == Severity.OK
    probe = Probe(poise.as_algorithm(draws), Sample(X, y), max_seconds=60)
    rows, point = np.arange(5), np.array([9])
    first, second, third = (probe.predictions(rows, point, xi)[0] for xi in (1, 2, 1))
    assert first == third != second


def test_noise_in_the_last_digits_is_a_warning() -> None:
    counter = itertools.count()
    report = check(lambda X, y, seed: constant(1 + 1e-6 * next(counter)))
    assert report[DETERMINISTIC].severity == Severity.WARN
    assert "last digits" in report[DETERMINISTIC].found


def remembers_all_responses():
    seen: list[float] = []

    def fit(X, y, seed):
        seen.extend(y)
        return constant(np.mean(seen))

    return fit


class WarmStart:
    """Starts from where its last fit ended, in the object itself: cloning would hide it."""

    level = 0.0

    def __call__(self, X, y, seed):
        self.level = 0.5 * self.level + 0.5 * float(np.mean(y))
        return constant(self.level)


class CacheByShape:
    """Answers from its first fit as long as the shape stays the same."""

    def __init__(self):
        self.cache = {}

    def __call__(self, X, y, seed):
        if len(self.cache) < 1:
            self.cache["level"] = float(np.mean(y))
        elif self.cache["level"] == float(np.mean(y)):
            pass
        else:
            self.cache["level"] += 1.0
        return constant(self.cache["level"])


@pytest.mark.parametrize(
    "algorithm",
    [remembers_all_responses(), WarmStart(), CacheByShape()],
    ids=["all responses", "warm start", "cache"],
)
def test_stateful_algorithms_are_caught(algorithm) -> None:
    report = check(algorithm)
    assert report[STATELESS].severity == Severity.FAIL
    assert "inside fit" in report[STATELESS].remedy
    assert report[SYMMETRIC].severity == Severity.SKIPPED


def test_predictions_that_depend_on_their_company_are_caught() -> None:
    def scaled_with_the_test_rows(X, y, seed):
        return lambda rows: rows[:, 0] - rows[:, 0].mean() + y.mean()

    def position(X, y, seed):
        return lambda rows: np.arange(len(rows)) + y.mean()

    for algorithm in (scaled_with_the_test_rows, position):
        report = check(algorithm)
        assert report[ROW_BY_ROW].severity == Severity.WARN
        assert report.ok


@pytest.mark.parametrize("part", ["X", "y", "test rows"])
def test_writing_to_the_input_is_caught(part) -> None:
    def writes(X, y, seed):
        def predict(rows):
            if part == "test rows":
                rows[0] += 1.0
            return np.zeros(len(rows))

        (X if part == "X" else y)[0] += part != "test rows"
        return predict

    report = check(writes)
    assert report[CAREFUL].severity == Severity.WARN
    assert report[CAREFUL].found == f"it writes to {part}"
    assert load_diabetes(return_X_y=True)[0].tolist() == X.tolist()


def test_an_algorithm_that_needs_n_rows_is_caught() -> None:
    report = check(KNeighborsRegressor(12))
    assert report[FITS].severity == Severity.OK
    assert report[FITS_FEWER].severity == Severity.FAIL
    assert "n_neighbors" in report[FITS_FEWER].found


def test_an_algorithm_that_cannot_be_fitted_is_asked_no_more() -> None:
    def failing(X, y, seed):
        raise ZeroDivisionError("singular\n  matrix")

    report = check(failing)
    assert severities(report) == {FITS: "fail", "time": "skipped"}
    assert report[FITS].found == "ZeroDivisionError: singular matrix"
    assert math.isnan(report.seconds_per_fit)
    assert json.loads(report.to_json())["seconds_per_fit"] is None


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        (lambda rows: 1.0, "shape ()"),
        (lambda rows: np.zeros(len(rows) + 1), "shape (6,) for 5 rows"),
        (lambda rows: np.full(len(rows), np.nan), "not a number"),
    ],
)
def test_unusable_predictions_are_caught(predict, message) -> None:
    report = check(lambda X, y, seed: predict)
    assert report[FITS].severity == Severity.FAIL
    assert message in report[FITS].found
    assert len(report.findings) == 2


class Clock:
    """A clock that only moves when an algorithm says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("poise.questions.check.probe.time", clock)
    return clock


def test_time_is_estimated_from_fits_and_first_predictions(clock) -> None:
    def lazy(X, y, seed):  # like a program: the work is done when predictions are asked for
        def predict(rows):
            clock.now += 1.5
            return np.zeros(len(rows))

        clock.now += 0.5
        return predict

    report = check(lazy)
    assert report.n_fits_needed == 2 * 34
    assert report.seconds_per_fit == 2.0
    assert report["time"].found == "68 fits, about 2 min one after the other"
    assert report["time"].severity == Severity.OK


def test_a_long_test_comes_with_advice(clock) -> None:
    def long(X, y, seed):
        clock.now += 100.0
        return constant(np.mean(y))

    report = check(long, max_seconds=1e6)
    assert report["time"].found == "68 fits, about 1.9 h one after the other"
    assert report["time"].severity == Severity.WARN
    assert "n_jobs" in report["time"].remedy


def test_no_fit_is_started_after_the_time_allowed(clock) -> None:
    def slow(X, y, seed):
        clock.now += 1.0
        return constant(np.mean(y))

    report = check(slow, max_seconds=2.5)
    assert severities(report) == {
        FITS: "ok",
        DETERMINISTIC: "ok",
        STATELESS: "skipped",
        FITS_FEWER: "skipped",
        COMPARABLE: "skipped",
        LEARNS: "skipped",
        ROW_BY_ROW: "skipped",
        SYMMETRIC: "skipped",
        CAREFUL: "ok",
        "time": "ok",
    }
    assert "max_seconds" in report[SYMMETRIC].remedy


def test_an_order_that_matters_is_reported_even_if_time_runs_out(clock) -> None:
    def slow(X, y, seed):
        clock.now += 1.0
        return constant(y[-1])

    report = check(slow, max_seconds=20)
    assert report[SYMMETRIC].severity == Severity.WARN
    assert "not settled" in report[SYMMETRIC].found


@pytest.mark.parametrize("container", ["frame", "sparse", "lists"])
def test_any_container_and_weights_that_follow_the_rows(container) -> None:
    rows = {
        "frame": lambda: pd.DataFrame(X, columns=list("abcdefghij")),
        "sparse": lambda: scipy.sparse.csr_array(X),
        "lists": X.tolist,
    }[container]()
    weights = np.linspace(0.1, 1.0, len(y))
    report = poise.check_algorithm(
        Ridge(), rows, y, n=15, fit_params={"sample_weight": weights}, random_state=1
    )
    assert severities(report) == dict.fromkeys(NAMES, "ok")


def test_classifiers_and_groups() -> None:
    labels = np.where(y > np.median(y), "high", "low")
    report = poise.check_algorithm(
        LogisticRegression(), X, labels, n=40, response="predict_proba", random_state=0
    )
    assert report.ok
    report = poise.check_algorithm(DummyClassifier(), X, labels, n=5, random_state=0)
    assert report.ok
    groups = np.arange(len(y)) // 4
    report = check(Ridge(), n=10, groups=groups)
    assert report.ok
    assert report.n_fits_needed == 2 * (111 // 11)


@pytest.mark.parametrize("rows", [12, 13, 20, 30])
def test_few_rows_are_enough(rows) -> None:
    report = poise.check_algorithm(Ridge(), X[:rows], y[:rows], n=12, random_state=0)
    assert severities(report) == dict.fromkeys(NAMES, "ok")


def test_bad_arguments() -> None:
    with pytest.raises(ArgumentError, match="n must be at most"):
        check(Ridge(), n=443)
    with pytest.raises(ArgumentError, match="max_seconds must be"):
        check(Ridge(), max_seconds=0)
    with pytest.raises(AlgorithmError, match="write Ridge"):
        check(Ridge)
    with pytest.raises(DataError):
        poise.check_algorithm(Ridge(), X, y[:-1], n=12)


def test_reports_as_text_frame_json_and_html() -> None:
    report = check(lambda X, y, seed: constant(y[-1]))
    text = str(report)
    assert "10 checks, 1 to look at" in text
    assert text.splitlines()[-1].startswith("symmetric in its rows: a verdict is about removing")
    frame = report.to_frame()
    assert frame["check"].tolist() == NAMES
    assert frame["severity"].tolist().count("warn") == 1
    content = json.loads(report.to_json())
    assert content["ok"] is True
    assert content["findings"][7]["severity"] == "warn"
    assert "&lt;lambda&gt;" in report._repr_html_()
    with pytest.raises(KeyError, match="no check 'symmetric'; checks: accepts n rows"):
        _ = report["symmetric"]
