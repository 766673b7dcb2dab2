"""Stopping early saves what theory says it saves: every sequence of seven trials, really run."""

from __future__ import annotations

import time
from itertools import product
from math import fsum

import numpy as np
import pytest

import poise
from poise.theory.early_stopping import WORTH_SAVING, expected_fraction

M, N = 7, 2
# Stable with one change beyond epsilon at most, unstable with five at least.
QUESTION = {"n": N, "epsilon": 0.5, "delta": 0.4, "alpha": 0.2}


def jumps(A, b, seed):
    """Move by 1, or not at all, as the response of the row that is removed says."""
    level = float(b[-1]) if len(b) == N else 0.0
    return lambda rows: [level]


def observed(exceeds: tuple[int, ...], stop_early: bool | str) -> int:
    """Run the test on trials that exceed epsilon as told; return how many were looked at."""
    y = np.zeros(M * (N + 1))
    y[N - 1 : M * N : N] = exceeds
    X = np.arange(float(len(y))).reshape(-1, 1)  # no two rows are equal
    result = poise.stability_test(
        jumps, X, y, **QUESTION, stop_early=stop_early, shuffle=False, check=False
    )
    assert result.n_fits == 2 * result.n_observed
    return result.n_observed


@pytest.mark.parametrize(("stop_early", "scope"), [(True, "verdict"), ("stable", "stable")])
def test_the_expected_fraction_of_fits_is_exact(stop_early, scope) -> None:
    sequences = list(product((0, 1), repeat=M))
    looked_at = [observed(sequence, stop_early) for sequence in sequences]
    assert min(looked_at) < max(looked_at) == M
    for p in (0.0, 0.05, 0.3, 0.5, 0.9, 1.0):
        weights = [p ** sum(sequence) * (1 - p) ** (M - sum(sequence)) for sequence in sequences]
        mean = fsum(w * t for w, t in zip(weights, looked_at, strict=True)) / M
        expected = expected_fraction(M, 0.4, p, 0.2, scope, worth_saving=WORTH_SAVING)
        assert mean == pytest.approx(expected, abs=1e-12)


def test_all_trials_are_run_if_asked_for() -> None:
    assert observed((1,) * M, stop_early=False) == M


def test_one_worker_fits_nothing_beyond_the_verdict() -> None:
    fits = []

    def counted(A, b, seed):
        fits.append(len(b))
        return lambda rows: [float(len(b))]

    X = np.arange(3000.0).reshape(-1, 1)
    result = poise.stability_test(counted, X, X[:, 0], **QUESTION, check=False)
    assert result.verdict == "unstable"
    assert len(fits) == 2 * result.n_observed < 2 * result.n_trials


def test_a_verdict_does_not_wait_for_a_long_fit_that_nobody_needs(tmp_path) -> None:
    """All that decided were short; the one that has begun meanwhile takes a minute."""
    X = np.arange(60.0).reshape(-1, 1)
    arguments = QUESTION | {"shuffle": False, "check": False}
    alone = poise.stability_test(lambda A, b, s: lambda rows: [len(b)], X, X[:, 0], **arguments)
    waited_for = tmp_path / "the long fit has ended"

    def fit(A, b, seed):
        if A[0, 0] < N * alone.n_observed:
            time.sleep(0.06)
        else:
            time.sleep(60)
            waited_for.touch()
        size = float(len(b))
        return lambda rows: [size]

    result = poise.stability_test(fit, X, X[:, 0], **arguments, n_jobs=2, backend="loky")
    assert not waited_for.exists()
    assert result.verdict == "unstable"
    assert result.n_observed == alone.n_observed < result.n_trials


def test_a_run_goes_on_where_stopping_would_cost_more_than_it_saves() -> None:
    """Few trials left, or nothing but limits to learn: every trial is run."""
    X = np.arange(1100.0).reshape(-1, 1)
    still = poise.stability_test(
        lambda A, b, s: lambda rows: [0.0], X, X[:, 0], n=10, epsilon=1.0, delta=0.1, check=False
    )
    assert (still.verdict, still.n_observed) == ("stable", 100)  # forced at 96 of 100
    assert still.delta_hat == poise.theory.delta_hat(0, 100, 0.05)

    def every_twelfth(A, b, seed, trials=[]):  # noqa: B006
        if len(A) == 10:
            trials.append(1)
        return lambda rows: [float(len(A) == 10 and len(trials) % 12 == 0)]

    settings = {"n": 10, "epsilon": 0.5, "delta": 0.1, "shuffle": False, "check": False}
    open_question = poise.stability_test(every_twelfth, X, X[:, 0], **settings)
    assert (open_question.verdict, open_question.n_observed) == ("inconclusive", 100)
    wild = poise.stability_test(
        lambda A, b, s: lambda rows: [float(len(A))], X, X[:, 0], **settings
    )
    assert (wild.verdict, wild.n_observed) == ("unstable", 16)


def test_stop_early_stable_says_no_more_than_it_knows() -> None:
    X = np.arange(1100.0).reshape(-1, 1)
    settings = {"n": 10, "epsilon": 0.5, "delta": 0.1, "shuffle": False, "check": False}
    wild = lambda A, b, s: lambda rows: [float(len(A))]  # noqa: E731
    early = poise.stability_test(wild, X, X[:, 0], stop_early="stable", **settings)
    assert (early.verdict, early.n_observed) == ("not certified stable", 5)
    assert (
        poise.stability_test(wild, X, X[:, 0], stop_early=False, **settings).verdict == "unstable"
    )
