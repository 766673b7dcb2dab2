"""Ties among neighbours: trusted only where scikit-learn's choice among them cannot matter."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from poise.shortcuts import block_memory
from poise.shortcuts.find_shortcut import find_shortcut


def _line(*positions: float):
    """One trial on a line, with the test point at 0."""
    return np.array(positions)[None, :, None], np.zeros((1, 1))


def _pairs(estimator, X, y, x):
    return find_shortcut(estimator).pairs(X, np.array([y]), x)


def test_the_mean_of_the_nearest_by_hand() -> None:
    X, x = _line(1.0, 2.0, 3.0, -1.5)
    full, reduced, trusted = _pairs(KNeighborsRegressor(2), X, [1.0, 10.0, 100.0, 1000.0], x)
    assert (full[0], reduced[0], trusted[0]) == (500.5, 5.5, True)


def test_a_far_row_changes_nothing_at_all() -> None:
    X, x = _line(1.0, 2.0, 3.0, 4.0)
    full, reduced, trusted = _pairs(KNeighborsRegressor(2), X, [0.1, 0.2, 0.3, 9.0], x)
    assert trusted[0]
    assert full[0] == reduced[0]


def test_weights_are_inverse_distances_by_hand() -> None:
    X, x = _line(1.0, 2.0, 4.0, -0.5)
    estimator = KNeighborsRegressor(2, weights="distance")
    full, reduced, trusted = _pairs(estimator, X, [1.0, 4.0, 9.0, 7.0], x)
    assert trusted[0]
    assert full[0] == pytest.approx((1 * 1 + 2 * 7) / 3, rel=1e-15)
    assert reduced[0] == pytest.approx((1 * 1 + 0.5 * 4) / 1.5, rel=1e-15)


@pytest.mark.parametrize(
    ("positions", "y"),
    [
        ([1.0, 2.0, -2.0, 5.0], [0.0, 1.0, 2.0, 3.0]),  # rows 1 and 2 tie for the second place
        ([1.0, 2.0, 5.0, -2.0], [0.0, 1.0, 2.0, 3.0]),  # the removed row ties
        ([2.0, -2.0, 5.0, 1.0], [0.0, 1.0, 2.0, 3.0]),  # the removed row leaves one place for two
        ([1.0, 2.0, -2.0 - 1e-15, 5.0], [0.0, 1.0, 2.0, 3.0]),  # closer than rounding
    ],
)
def test_a_tie_that_could_matter_is_not_trusted(positions, y) -> None:
    X, x = _line(*positions)
    assert not _pairs(KNeighborsRegressor(2), X, y, x).trusted[0]


def test_a_tie_among_equal_responses_is_trusted() -> None:
    X, x = _line(1.0, 2.0, -2.0, 2.0)
    full, reduced, trusted = _pairs(KNeighborsRegressor(3), X, [7.0, 1.0, 1.0, 1.0], x)
    assert trusted[0]
    assert full[0] == reduced[0] == 3.0
    labels = _pairs(KNeighborsClassifier(2), X, ["b", "a", "a", "a"], x)
    assert labels == (["a"], ["a"], [True])


def test_a_tie_that_is_settled_once_the_row_is_back() -> None:
    """Without the last row two rows tie for one place; with it, for none."""
    X, x = _line(2.0, -2.0, 1.0, 0.5)
    assert not _pairs(KNeighborsRegressor(2), X, [1.0, 2.0, 3.0, 4.0], x).trusted[0]


def test_equal_votes_go_to_the_first_class_as_in_scikit_learn(fit_twice) -> None:
    X, x = _line(1.0, 2.0, -3.0, 4.0, 10.0)
    for labels in (["b", "a", "a", "b", "c"], [3, 1, 3, 1, 2], [True, False, False, True, True]):
        estimator = KNeighborsClassifier(4)
        full, reduced, trusted = _pairs(estimator, X, labels, x)
        slow = fit_twice(estimator, X, np.array([labels]), x)
        assert trusted[0]
        assert ([full[0]], [reduced[0]]) == slow


def test_equal_weighted_votes_are_not_trusted() -> None:
    X, x = _line(1.0, -1.0, 3.0, 9.0)
    estimator = KNeighborsClassifier(2, weights="distance")
    assert not _pairs(estimator, X, [0, 1, 1, 0], x).trusted[0]


@pytest.mark.parametrize("k", [4, 5, 50])
@pytest.mark.parametrize("kind", [KNeighborsRegressor, KNeighborsClassifier])
def test_more_neighbours_than_rows_is_left_to_the_estimator_to_refuse(kind, k) -> None:
    X, x = _line(1.0, 2.0, 3.0, 4.0)
    assert not _pairs(kind(k), X, [1, 2, 1, 2], x).trusted.any()
    assert _pairs(kind(3), X, [1, 2, 1, 2], x).trusted.all()


def test_a_row_at_the_test_point_takes_all_the_weight_in_a_tree() -> None:
    X, x = _line(0.0, 1.0, 2.0, 3.0)
    tree = KNeighborsRegressor(2, weights="distance", algorithm="kd_tree")
    full, reduced, trusted = _pairs(tree, X, [5.0, 6.0, 7.0, 8.0], x)
    assert (full[0], reduced[0], trusted[0]) == (5.0, 5.0, True)
    # By brute force the distance may come out as a small number instead of 0.
    brute = KNeighborsRegressor(2, weights="distance", algorithm="brute")
    assert not _pairs(brute, X, [5.0, 6.0, 7.0, 8.0], x).trusted[0]


def test_whole_responses_that_cancel_are_trusted() -> None:
    X, x = _line(1.0, 2.0, 3.0, 4.0)
    full, reduced, trusted = _pairs(KNeighborsRegressor(2), X, [1.0, -1.0, 1.0, 1.0], x)
    assert (full[0], reduced[0], trusted[0]) == (0.0, 0.0, True)
    assert not _pairs(KNeighborsRegressor(2), X, [0.1, -0.1, 1.0, 1.0], x).trusted[0]


def test_each_fit_has_its_own_scale() -> None:
    """The removed row stretches the first column, and with it changes who is near."""
    X = np.array([[[1.0, 0.0], [0.0, 1.5], [5.0, 5.0], [-60.0, 2.0]]])
    y, x = np.array([[1.0, 2.0, 3.0, 4.0]]), np.zeros((1, 2))
    pairs = find_shortcut(make_pipeline(StandardScaler(), KNeighborsRegressor(1))).pairs(X, y, x)
    first, second = X[0, :, 0], X[0, :, 1]
    for rows, answer in ((4, pairs.full[0]), (3, pairs.reduced[0])):
        scaled = (first / first[:rows].std()) ** 2 + (second / second[:rows].std()) ** 2
        assert answer == y[0, np.argmin(scaled[:rows])]
    assert pairs.trusted[0]


@pytest.mark.parametrize("d", [1, 7, 40])
@pytest.mark.parametrize("offset", [0.0, 30.0, 1e5])
def test_expanded_squares_are_off_by_no_more_than_the_slack(d, offset) -> None:
    rng = np.random.default_rng(d)
    X, x = offset + rng.normal(size=(20, 30, d)), offset + rng.normal(size=(20, d))
    neighborhood = find_shortcut(KNeighborsRegressor()).neighborhood
    found = neighborhood.distances(X, x)
    exact = ((X.astype(np.longdouble) - x[:, None]) ** 2).sum(axis=2)
    assert np.all(np.abs(found - exact) <= neighborhood.slack(found, x))


@pytest.mark.parametrize("estimator", [KNeighborsRegressor(3), KNeighborsRegressor(3, p=1)])
def test_the_same_bits_however_few_trials_fit_the_cache(monkeypatch, estimator) -> None:
    rng = np.random.default_rng(0)
    X, x, y = rng.normal(size=(40, 30, 4)), rng.normal(size=(40, 4)), rng.normal(size=(40, 30))
    expected = find_shortcut(estimator).pairs(X, y, x)
    monkeypatch.setattr(block_memory, "_CACHE_BYTES", 7 * X[0].nbytes)
    found = find_shortcut(estimator).pairs(X, y, x)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]
