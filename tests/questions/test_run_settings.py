"""Settings of the fits mean the same in ``poise.run`` as in ``stability_test``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import poise
from poise import Batch, Made, Query
from poise.errors import ArgumentError, TrialError
from shared.data import linear_rows
from shared.procedures import Ask

X, y = linear_rows(40, [1.0, -2.0, 0.5])


def run_and_test(algorithm, labels=y, *, question=None, **settings):
    """The same question by both doors, and the transcript read back from memory."""
    asked = {"n": 4, "epsilon": 0.3, "delta": 0.4} | (question or {})
    test = poise.procedures.BinomialTest(**asked)
    run = poise.run(test, algorithm, X, labels, random_state=3, **settings)
    direct = poise.stability_test(algorithm, X, labels, **asked, random_state=3, **settings)
    assert poise.replay(run.transcript) == run.result
    return run.result, direct


def test_what_an_estimator_is_asked() -> None:
    model, labels = GaussianNB(), (y > 0).astype(int)
    by_run, direct = run_and_test(model, labels, response="predict_proba")
    assert by_run == direct
    assert by_run.design.algorithm == "GaussianNB().predict_proba"
    assert by_run.design.distance == "total_variation"


def test_weights_follow_the_rows() -> None:
    weights = {"sample_weight": np.linspace(0.1, 9.0, len(y))}
    by_run, direct = run_and_test(Ridge(), fit_params=weights)
    assert by_run == direct
    every_trial = poise.procedures.MeasureChanges(n=4)
    changes = [
        poise.run(every_trial, Ridge(), X, y, random_state=3, fit_params=given).result.changes
        for given in (weights, None)
    ]
    alone = poise.measure(Ridge(), X, y, n=4, random_state=3, fit_params=weights)
    assert changes[0].tolist() == alone.changes.tolist() != changes[1].tolist()


def test_made_up_rows_have_no_weights() -> None:
    query = Query(Made(np.zeros((3, 3)), np.arange(3.0)), np.array([0]), xi=0)
    weights = {"sample_weight": np.ones(len(y))}
    with pytest.raises(ArgumentError, match="generates its own rows has no sample_weight"):
        poise.run(
            Ask(Batch([query])), Ridge(), X, y, fit_params=weights, on_error="unstable"
        )  # not a failed trial: no answer at all

    def level(X, y, seed, shift):
        return lambda rows: np.full(len(rows), np.mean(y) + shift)

    (answers,) = poise.run(Ask(Batch([query])), level, X, y, fit_params={"shift": 7.0}).result
    assert answers.predictions[0].tolist() == [8.0]


def test_groups_are_kept_together_by_procedures_that_say_so() -> None:
    groups = np.arange(len(y)) // 2
    by_run, direct = run_and_test(Ridge(), groups=groups, question={"delta": 0.6})
    assert by_run == direct
    assert by_run.n_trials == 20 // 5
    for procedure in (poise.procedures.BootstrapTest(4, 0.3, 0.4), Ask()):
        with pytest.raises(ArgumentError, match=r"would take groups apart; BinomialTest keeps"):
            poise.run(procedure, Ridge(), X, y, groups=groups)

    class Counting(Ask):
        keeps_groups = True

        def ask(self, sample, randomness):
            return len(sample.groups)
            yield

    assert poise.run(Counting(), Ridge(), X, y, groups=groups).result == 20


def test_losses_are_compared_at_labelled_rows() -> None:
    loss, more = poise.LossChange("squared"), np.random.default_rng(1).normal(size=(50, 3))
    by_run, direct = run_and_test(Ridge(), distance=loss, X_unlabeled=more)
    assert by_run == direct
    assert by_run.n_trials == 40 // 5


def test_a_call_that_takes_too_long() -> None:
    def slow(X, y, seed):  # in here, so that workers need not import this file and scikit-learn
        import time

        time.sleep(30)

    tasks = [Query(np.arange(5), np.array([0]), 0)]
    settings = {"n_jobs": 2, "timeout": 0.5}
    with pytest.raises(TrialError, match=r"0\.5"):
        poise.run(Ask(Batch(tasks)), slow, X, y, on_error="unstable", **settings)
    run = poise.run(Ask(Batch(tasks)), slow, X, y, on_timeout="unstable", **settings)
    [answers] = run.result
    assert answers.predictions[0].kind == "timeout"
    assert run.transcript.on_timeout == "unstable"


def test_exhaustive_search_knows_how_far_labels_are_apart() -> None:
    """Labels 0 and 2 are one flip apart, not two."""
    support = {"support_X": [[0.0], [1.0]], "support_y": [0, 2]}
    test = poise.procedures.ExhaustiveTest(3, 0.5, 0.1, **support, deterministic=True)
    X, labels = [[0.0], [1.0]] * 5, [0, 2] * 5
    run = poise.run(test, KNeighborsClassifier(1), X, labels, random_state=0)
    assert run.result.details["worst_change"] == 1.0
    assert poise.replay(run.transcript) == run.result
