"""Data that an estimator would refuse, or answer in another precision, are never trusted."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from poise.shortcuts.find_shortcut import find_shortcut

REGRESSORS = [
    Ridge(),
    LinearRegression(),
    KNeighborsRegressor(3),
    KNeighborsRegressor(3, weights="distance"),
    KernelRidge(kernel="rbf"),
    KernelRidge(kernel="laplacian"),
    KernelRidge(kernel="poly"),
    GaussianProcessRegressor(optimizer=None, alpha=0.1, normalize_y=True),
    make_pipeline(StandardScaler(), Ridge()),
    make_pipeline(StandardScaler(), KNeighborsRegressor(2)),
]
CLASSIFIERS = [
    KNeighborsClassifier(3),
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    make_pipeline(StandardScaler(), GaussianNB()),
]


def _data():
    rng = np.random.default_rng(4)
    X, x = rng.normal(size=(6, 20, 3)), rng.normal(size=(6, 3))
    return X, X.sum(axis=2) + rng.normal(size=(6, 20)), x


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 7, 19])
@pytest.mark.parametrize("estimator", REGRESSORS + CLASSIFIERS, ids=str)
def test_one_bad_number_spoils_its_own_trial_only(estimator, row, bad) -> None:
    X, y, x = _data()
    if estimator in CLASSIFIERS:
        y = np.digitize(y, [-1.0, 1.0])
    shortcut = find_shortcut(estimator)
    clean = shortcut.pairs(X, y, x)
    X[2, row, 1] = bad
    x[4, 0] = bad
    spoilt = shortcut.pairs(X, y, x)
    assert clean.trusted.all()
    assert spoilt.trusted.tolist() == [True, True, False, True, False, True]
    good = spoilt.trusted
    np.testing.assert_allclose(spoilt.full[good], clean.full[good], rtol=1e-12)
    np.testing.assert_allclose(spoilt.reduced[good], clean.reduced[good], rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 19])
@pytest.mark.parametrize("estimator", [*REGRESSORS, DummyRegressor(strategy="median")], ids=str)
def test_a_bad_response_spoils_its_trial(estimator, row, bad) -> None:
    X, y, x = _data()
    y[3, row] = bad
    pairs = find_shortcut(estimator).pairs(X, y, x)
    assert pairs.trusted.tolist() == [True, True, True, False, True, True]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
def test_whole_responses_are_numbers_and_others_are_left_alone(estimator, fit_twice) -> None:
    X, y, x = _data()
    whole = np.rint(5 * y).astype(np.int32)
    shortcut = find_shortcut(estimator)
    pairs = shortcut.pairs(X, whole, x)
    full, reduced = fit_twice(estimator, X, whole, x)
    assert pairs.trusted.all()
    np.testing.assert_allclose(pairs.full, full, rtol=1e-10)
    np.testing.assert_allclose(pairs.reduced, reduced, rtol=1e-10)
    assert not shortcut.pairs(X, y.astype(np.float32), x).trusted.any()
    assert not shortcut.pairs(X, whole.astype(str), x).trusted.any()


@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
def test_a_singular_trial_does_not_disturb_the_others(estimator) -> None:
    X, y, x = _data()
    shortcut = find_shortcut(estimator)
    clean = shortcut.pairs(X, y, x)
    X[1] = X[1, :1]  # all rows the same
    mixed = shortcut.pairs(X, y, x)
    others = [0, 2, 3, 4, 5]
    assert mixed.trusted[others].all()
    np.testing.assert_allclose(mixed.full[others], clean.full[others], rtol=1e-12)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_labels_of_any_type_come_back_as_they_were(estimator, fit_twice) -> None:
    X, y, x = _data()
    codes = np.digitize(y, [-1.0, 1.0])
    for names in (["low", "middle", "top"], [10, 20, 30], [-1.0, 0.0, 2.0]):
        labels = np.array(names)[codes]
        pairs = find_shortcut(estimator).pairs(X, labels, x)
        full, reduced = fit_twice(estimator, X, labels, x)
        assert pairs.trusted.all()
        assert pairs.full.dtype == labels.dtype
        assert pairs.full.tolist() == [label.item() for label in full]
        assert pairs.reduced.tolist() == [label.item() for label in reduced]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_fractions_are_not_labels(estimator) -> None:
    X, y, x = _data()
    assert not find_shortcut(estimator).pairs(X, y, x).trusted.any()


@pytest.mark.parametrize("estimator", CLASSIFIERS[1:], ids=str)
def test_a_class_that_leaves_with_the_row_is_left_to_the_estimator(estimator) -> None:
    X, y, x = _data()
    codes = (y > 0).astype(int)
    codes[2, -1] = 7
    pairs = find_shortcut(estimator).pairs(X, codes, x)
    assert pairs.trusted.tolist() == [True, True, False, True, True, True]


def test_classes_missing_from_a_trial_are_never_predicted(fit_twice) -> None:
    """Chunks may hold classes that single trials do not."""
    X, y, x = _data()
    codes = np.digitize(y, [-1.0, 1.0])
    codes[3] = np.where(codes[3] == 1, 0, codes[3])
    codes[4] = np.where(codes[4] == 0, 5, codes[4])
    for estimator in CLASSIFIERS:
        pairs = find_shortcut(estimator).pairs(X, codes, x)
        full, reduced = fit_twice(estimator, X, codes, x)
        good = np.flatnonzero(pairs.trusted)
        assert {3, 4} <= set(good.tolist())
        assert [full[trial] for trial in good] == pairs.full[good].tolist()
        assert [reduced[trial] for trial in good] == pairs.reduced[good].tolist()


def test_a_length_scale_for_other_columns_is_left_to_the_estimator_to_refuse() -> None:
    X, y, x = _data()
    wrong = GaussianProcessRegressor(RBF([1.0, 2.0]), optimizer=None)
    with pytest.raises(ValueError, match="Anisotropic"):
        wrong.fit(X[0], y[0])
    assert not find_shortcut(wrong).pairs(X, y, x).trusted.any()


def test_the_scale_of_labels_is_0_and_of_numbers_the_larger() -> None:
    X, y, x = _data()
    assert not find_shortcut(GaussianNB()).pairs(X, (y > 0).astype(int), x).scale.any()
    pairs = find_shortcut(Ridge()).pairs(X, y, x)
    expected = np.maximum(np.abs(pairs.full), np.abs(pairs.reduced))
    np.testing.assert_array_equal(pairs.scale, expected)


def test_inputs_are_not_written_to() -> None:
    X, y, x = _data()
    codes = np.digitize(y, [-1.0, 1.0])
    for array in (X, y, x, codes):
        array.setflags(write=False)
    for estimator in REGRESSORS:
        find_shortcut(estimator).pairs(X, y, x)
    for estimator in CLASSIFIERS:
        find_shortcut(estimator).pairs(X, codes, x)
