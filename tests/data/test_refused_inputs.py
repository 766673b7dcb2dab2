"""Bad input gets a clear error before the first fit: argument, value, remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.cluster import DBSCAN
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

import poise
from poise.errors import AlgorithmError, ArgumentError, DataError, PowerWarning

X = np.random.default_rng(0).normal(size=(300, 3))
y = X[:, 0]
fits: list[int] = []


def spy(A, b, seed):
    fits.append(1)
    return lambda rows: [0.0]


GOOD = {"n": 10, "epsilon": 1.0, "delta": 0.2, "alpha": 0.05}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 1}, r"n must be a whole number >= 2 .*got 1"),
        ({"n": 0}, "n must be a whole number >= 2"),
        ({"n": 2.5}, r"n must be .*got 2\.5"),
        ({"n": "ten"}, r"n must be .*'ten'"),
        ({"n": True}, r"n must be .*True"),
        ({"n": 301}, r"n must be at most the number of labelled rows \(300\), got 301"),
        ({"epsilon": -0.1}, r"epsilon must be a finite number >= 0.*got -0\.1"),
        ({"epsilon": np.inf}, r"epsilon must be .*got inf"),
        ({"epsilon": np.nan}, r"epsilon must be .*nan"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\), got 1\.0"),
        ({"delta": -0.1}, r"delta must be in \[0, 1\), got -0\.1"),
        ({"delta": 1.2}, r"delta must be in \[0, 1\), got 1\.2"),
        ({"delta": "0.1"}, "delta must be a number"),
        ({"alpha": 0.0}, r"alpha must be in \(0, 1\), got 0\.0"),
        ({"alpha": 1}, r"alpha must be in \(0, 1\), got 1"),
        ({"coupling": "sharde"}, "coupling must be 'shared', 'independent' or .*'sharde'"),
        ({"distance": "manhattan"}, "distance must be .*'manhattan'"),
        ({"on_error": "ignore"}, "on_error must be one of 'raise', 'unstable', got 'ignore'"),
        ({"random_state": "x"}, "random_state must be .*'x'"),
        ({"random_state": -1}, "random_state must be .*-1"),
        ({"n_jobs": 0}, "n_jobs must be .*0"),
        ({"stop_early": "yes"}, "stop_early must be .*'yes'"),
        ({"replace": "no"}, "replace must be True or False, got 'no'"),
        ({"check": "no"}, "check must be True or False, got 'no'"),
        ({"timeout": "5"}, "timeout must be a number of seconds > 0 or None, got '5'"),
    ],
)
def test_arguments(change, message) -> None:
    fits.clear()
    with pytest.raises(ArgumentError, match=message):
        poise.stability_test(spy, X, y, **(GOOD | change))
    assert not fits


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((X[:0], y[:0]), "X has no rows"),
        ((X, y[:-1]), "X and y must have the same number of rows, got 300 and 299"),
        ((X, np.where(np.arange(300) == 17, np.nan, y)), r"missing or infinite.*row 17"),
        ((X, np.where(np.arange(300) == 4, np.inf, y)), r"missing or infinite.*row 4"),
        ((X, [None, *y[1:].tolist()]), r"missing.*row 0"),
        ((X, "y"), "y must be an array, .*got str"),
        ((None, y), "X must be an array, .*got NoneType"),
        ((pl.LazyFrame({"a": [1.0]}), [1.0]), r"got LazyFrame; give X\.collect\(\)"),
        ((torch.ones(300, 3), y), r"got Tensor; give numpy\.asarray\(X\)"),
        ((X, y + 1j), "y must hold numbers or classes, got complex numbers"),
        ((pd.DataFrame(X), y, pl.DataFrame(X)), r"as X \(pandas DataFrame\), got polars"),
        ((X, y, X[:, :2]), r"X_unlabeled must have the columns of X \(3\), got 2"),
        ((X, y, X[:0]), "X_unlabeled has no rows"),
        ((X, y, X.tolist()), r"same kind of container as X \(ndarray\), got list"),
    ],
)
def test_data(data, message) -> None:
    fits.clear()
    unlabeled = data[2] if len(data) > 2 else None
    with pytest.raises(DataError, match=message):
        poise.stability_test(spy, data[0], data[1], X_unlabeled=unlabeled, **GOOD)
    assert not fits


def test_columns_of_frames_must_agree() -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(DataError, match="X_unlabeled must have the columns of X"):
        poise.measure(spy, frame, y, n=10, X_unlabeled=frame.rename(columns={"c": "z"}))


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        (Ridge, r"got the class Ridge; write Ridge\(\)"),
        (StandardScaler(), r"method predict\(X\), got StandardScaler"),
        (DBSCAN(), r"method predict\(X\), got DBSCAN"),
        (3, "estimator with fit and predict, or a function"),
        (lambda A, b: None, r"must accept \(X, y, seed\)"),
    ],
)
def test_algorithms(candidate, message) -> None:
    with pytest.raises(AlgorithmError, match=message):
        poise.measure(candidate, X, y, n=10)


def test_a_hopeless_question_is_answered_before_the_first_fit() -> None:
    fits.clear()
    with pytest.warns(PowerWarning, match=r"no valid black-box test has more than 0\.0555"):
        result = poise.stability_test(spy, X, y, n=300, epsilon=1.0, delta=0.1)
    assert not fits
    assert result.verdict == "inconclusive"
    assert result.n_trials == result.n_fits == 0
    assert "Nothing was fitted" in result.summary()


def test_the_warning_says_what_would_be_needed() -> None:
    with pytest.warns(PowerWarning, match=r"You need 319 labelled rows .*now 300"):
        poise.stability_test(spy, X, y, n=10, epsilon=1.0, delta=0.1)
    with pytest.warns(PowerWarning, match="No amount of data can certify delta = 0"):
        poise.stability_test(spy, X, y, n=10, epsilon=1.0, delta=0.0)
