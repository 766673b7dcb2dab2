"""The linear shortcuts against formulas written out a second time."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge

from poise.shortcuts import block_memory
from poise.shortcuts.centred_moments import Moments
from poise.shortcuts.factorizations import smallest_eigenvalue
from poise.shortcuts.find_shortcut import find_shortcut
from poise.shortcuts.linear_narrow import remove_row


def _data(trials: int, n: int, d: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X, x = rng.normal(size=(trials, n, d)), rng.normal(size=(trials, d))
    return X, X.sum(axis=2) + rng.normal(size=(trials, n)), x


def _ridge_at_sixty_digits(X, y, x, penalty: float, intercept: bool) -> float:
    """Solve the normal equations of one trial; the constant is a column without penalty."""
    with mpmath.workdps(60):
        columns = [[1.0, *row] if intercept else list(row) for row in X]
        design, point = mpmath.matrix(columns), mpmath.matrix([1.0, *x] if intercept else list(x))
        penalties = mpmath.diag([penalty] * design.cols)
        if intercept:
            penalties[0, 0] = 0
        normal = design.T * design + penalties
        coefficients = mpmath.lu_solve(normal, design.T * mpmath.matrix(list(y)))
        return float((point.T * coefficients)[0])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("penalty", "n", "d"), [(1.0, 9, 3), (0.01, 4, 6), (0.0, 8, 3), (2.0, 5, 5)]
)
def test_ridge_is_right_to_the_last_digits(intercept, penalty, n, d) -> None:
    X, y, x = _data(3, n, d)
    pairs = find_shortcut(Ridge(alpha=penalty, fit_intercept=intercept)).pairs(X, y, x)
    assert pairs.trusted.all()
    for trial in range(3):
        full = _ridge_at_sixty_digits(X[trial], y[trial], x[trial], penalty, intercept)
        reduced = _ridge_at_sixty_digits(X[trial, :-1], y[trial, :-1], x[trial], penalty, intercept)
        assert pairs.full[trial] == pytest.approx(full, rel=1e-12)
        assert pairs.reduced[trial] == pytest.approx(reduced, rel=1e-12)


def test_it_is_the_last_row_that_is_removed() -> None:
    """The order of the others is of no account; another last row is another question."""
    X, y, x = _data(5, 12, 3)
    shortcut = find_shortcut(Ridge())
    pairs = shortcut.pairs(X, y, x)
    shuffled = [4, 0, 3, 1, 2, 9, 8, 7, 5, 6, 10, 11]
    again = shortcut.pairs(X[:, shuffled], y[:, shuffled], x)
    np.testing.assert_allclose(again.full, pairs.full, rtol=1e-12)
    np.testing.assert_allclose(again.reduced, pairs.reduced, rtol=1e-12)
    turned = shortcut.pairs(X[:, ::-1], y[:, ::-1], x)
    np.testing.assert_allclose(turned.full, pairs.full, rtol=1e-12)
    assert np.all(np.abs(turned.reduced - pairs.reduced) > 1e-6)


def test_a_change_of_a_thousandth_keeps_all_the_digits_the_prediction_has() -> None:
    X, y, x = _data(4, 2000, 2)
    change = np.array([
        _ridge_at_sixty_digits(X[t], y[t], x[t], 1.0, True)
        - _ridge_at_sixty_digits(X[t, :-1], y[t, :-1], x[t], 1.0, True)
        for t in range(2)
    ])  # fmt: skip
    pairs = find_shortcut(Ridge()).pairs(X[:2], y[:2], x[:2])
    np.testing.assert_allclose(pairs.full - pairs.reduced, change, atol=1e-15)


@pytest.mark.parametrize("intercept", [True, False])
def test_duplicated_columns_are_left_to_the_estimator(intercept) -> None:
    X, y, x = _data(20, 15, 4)
    X[..., 3], x[..., 3] = X[..., 0], x[..., 0]
    squares = find_shortcut(LinearRegression(fit_intercept=intercept)).pairs(X, y, x)
    unpenalised = find_shortcut(Ridge(alpha=0.0, fit_intercept=intercept)).pairs(X, y, x)
    assert not squares.trusted.any()
    assert not unpenalised.trusted.any()
    assert find_shortcut(Ridge(alpha=1.0, fit_intercept=intercept)).pairs(X, y, x).trusted.all()


@pytest.mark.parametrize(
    ("slack", "trusted"), [(1e-1, True), (1e-2, True), (1e-3, True), (1e-5, False)]
)
def test_least_squares_falls_back_long_before_singular_values_are_dropped(slack, trusted) -> None:
    X, y, x = _data(20, 30, 3)
    X[..., 2] = X[..., 0] + slack * X[..., 2]
    x[..., 2] = x[..., 0] + slack * x[..., 2]
    pairs = find_shortcut(LinearRegression()).pairs(X, y, x)
    assert np.mean(pairs.trusted == trusted) >= 0.9  # a prediction near 0 has no digits to spare


def test_a_coarser_cutoff_falls_back_earlier() -> None:
    X, y, x = _data(20, 30, 3)
    assert find_shortcut(LinearRegression(tol=1e-4)).pairs(X, y, x).trusted.all()
    assert not find_shortcut(LinearRegression(tol=0.01)).pairs(X, y, x).trusted.any()
    assert not find_shortcut(LinearRegression(tol=2.0)).pairs(X, y, x).trusted.any()


def test_a_row_without_which_the_fit_is_undetermined_is_left_to_the_estimator() -> None:
    X, y, x = _data(20, 15, 3)
    X[:, :-1, 2] = 0.0  # only the last row says anything about this column
    assert not find_shortcut(LinearRegression()).pairs(X, y, x).trusted.any()


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 8), power=st.floats(0, 7))
def test_the_bound_on_the_smallest_eigenvalue_is_one(seed, d, power) -> None:
    rng = np.random.default_rng(seed)
    spread = 10.0 ** -rng.uniform(0, power, size=d)
    rows = rng.normal(size=(3, d + 2, d)) * spread @ rng.normal(size=(d, d))
    gram = rows.mT @ rows
    bound = smallest_eigenvalue(gram, np.linalg.diagonal(np.linalg.cholesky(gram)))
    size = np.sqrt(np.linalg.diagonal(gram))
    exact = np.linalg.eigvalsh(gram / (size[:, :, None] * size[:, None, :]))[:, 0]
    assert np.all(bound <= exact + 1e-15)
    assert np.all(bound >= 0)


def test_the_formula_runs_on_jax_arrays_unchanged() -> None:
    X, y, x = _data(10, 20, 4)

    def removed(X, Y, x):
        return remove_row(Moments.of(X, Y, True), x, 0.5)[:2]

    expected = removed(X, y[:, None], x)
    with jax.enable_x64(True):
        arrays = [jnp.asarray(array) for array in (X, y[:, None], x)]
        found = jax.jit(removed)(*arrays)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


def test_blocks_of_any_size_follow_one_another_in_the_same_memory() -> None:
    """Answers of one block must not change when the next is computed."""
    X, y, x = _data(40, 30, 4)
    shortcut = find_shortcut(Ridge())
    whole = shortcut.pairs(X, y, x)
    kept = whole.full.copy()
    parts = [shortcut.pairs(X[s], y[s], x[s]) for s in (slice(0, 25), slice(25, 27), slice(27, 40))]
    np.testing.assert_allclose(np.concat([part.full for part in parts]), kept, rtol=1e-13)
    np.testing.assert_array_equal(whole.full, kept)


@pytest.mark.parametrize("estimator", [Ridge(), Ridge(fit_intercept=False), LinearRegression()])
@pytest.mark.parametrize("d", [3, 40])
def test_the_same_bits_however_few_trials_fit_the_cache(monkeypatch, estimator, d) -> None:
    X, y, x = _data(40, 60, d)
    expected = find_shortcut(estimator).pairs(X, y, x)
    monkeypatch.setattr(block_memory, "_CACHE_BYTES", 7 * X[0].nbytes)
    found = find_shortcut(estimator).pairs(X, y, x)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]
