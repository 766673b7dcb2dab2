"""The simulated-sample test (Example 3) and its estimates of P."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

import poise
from poise.data.sample import Sample
from poise.errors import ArgumentError, DataError
from poise.procedures import SimulationTest
from poise.procedures.estimated_laws import as_law
from shared.algorithms import mean

rng = np.random.default_rng(2)
X = rng.multivariate_normal([1.0, -1.0], [[2.0, 0.6], [0.6, 1.0]], size=400)
y = X @ [1.0, -2.0] + rng.normal(size=400)
MANY = 40_000


def drawn(estimate, X=X, y=y, size=MANY):
    made_X, made_y = as_law(estimate).fit(Sample(X, y))(np.random.default_rng(3), size)
    return np.column_stack([made_X, made_y])


def standardised(made, expected_mean, expected_cov) -> float:
    """Largest error of a mean, in standard errors: above 6.5 for 3 means with chance < 1e-9."""
    errors = (made.mean(axis=0) - expected_mean) / np.sqrt(np.diag(expected_cov) / len(made))
    return float(np.abs(errors).max())


def test_the_gaussian_has_the_moments_of_the_rows() -> None:
    joined = np.column_stack([X, y])
    made = drawn("gaussian")
    cov = np.cov(joined, rowvar=False)
    assert standardised(made, joined.mean(axis=0), cov) < 6.5
    # A covariance has standard error sqrt((s_ii s_jj + s_ij^2)/N): 7 of them, 9 entries.
    errors = np.sqrt((np.outer(np.diag(cov), np.diag(cov)) + cov**2) / MANY)
    assert (np.abs(np.cov(made, rowvar=False) - cov) < 7 * errors).all()


def test_the_gaussian_copes_with_columns_that_do_not_vary() -> None:
    constant = np.column_stack([X, np.full(400, 3.0)])
    np.testing.assert_allclose(drawn("gaussian", constant, y, 50)[:, 2], 3.0, atol=1e-6)


def test_smoothing_widens_the_rows_by_silvermans_bandwidth() -> None:
    joined = np.column_stack([X, y])
    made = drawn("smoothed-bootstrap")
    width = (4 / (5 * 400)) ** (1 / 7)  # d = 3 columns, N = 400 rows
    expected = joined.var(axis=0) * (1 + width**2)
    assert standardised(made, joined.mean(axis=0), np.diag(expected)) < 6.5
    # Relative standard error of a variance is below 2/sqrt(N) = 0.01 for these tails.
    np.testing.assert_allclose(made.var(axis=0), expected, rtol=0.06)
    assert len(np.unique(made[:, 0])) == MANY  # no row is repeated


def test_smoothing_leaves_classes_alone() -> None:
    far = np.concatenate([X - 50, X + 50])
    labels = np.repeat(["ham", "spam"], 400)
    made_X, made_y = as_law("smoothed-bootstrap").fit(Sample(far, labels))(rng, 200)
    assert made_y.tolist() == np.where(made_X[:, 0] > 0, "spam", "ham").tolist()
    assert set(made_y) == {"ham", "spam"}
    assert not np.isin(made_X[:, 0], far[:, 0]).any()


@pytest.mark.parametrize("density", [KernelDensity(bandwidth=0.3), GaussianMixture(2)])
def test_scikit_learn_densities(density) -> None:
    joined = np.column_stack([X, y])
    made = drawn(density, size=20_000)
    assert standardised(made, joined.mean(axis=0), np.cov(made, rowvar=False)) < 8
    assert not hasattr(density, "tree_")  # the user's object stays unfitted
    assert not hasattr(density, "means_")


def test_rows_of_a_mixture_are_not_sorted_by_component() -> None:
    """GaussianMixture.sample sorts them: the removed row would always be of the last one."""
    far = np.concatenate([X - 50, X + 50])
    test = SimulationTest(8, 0.1, 0.5, estimate=GaussianMixture(2), simulations=60)
    run = poise.run(test, mean, far, np.concatenate([y, y]), random_state=0)
    removed = [task.full.train.X[-1, 0] > 0 for task in run.transcript.stages[0].tasks]
    # 60 fair coins fall between 10 and 50 heads with probability above 1 - 1e-7.
    assert 10 <= sum(removed) <= 50


def test_simulations_are_as_the_paper_says() -> None:
    test = SimulationTest(n=8, epsilon=0.2, delta=0.5, simulations=50)
    run = poise.run(test, mean, X[:9], y[:9], random_state=0)
    (stage,) = run.transcript.stages
    changes = []
    for task in stage.tasks:
        full, reduced = task.full.train, task.reduced.train
        assert full.X.shape == (8, 2)
        np.testing.assert_array_equal(reduced.X, full.X[:-1])
        np.testing.assert_array_equal(reduced.y, full.y[:-1])
        assert task.full.evaluate.X.shape == (1, 2)
        assert not (task.full.evaluate.X == full.X).all(axis=1).any()
        changes.append(abs(full.y.mean() - reduced.y.mean()))
    assert run.result.statistic == int((np.array(changes) > 0.2).sum())
    assert len({task.full.train.X.tobytes() for task in stage.tasks}) == 50
    assert not run.result.certifies


def test_n_may_exceed_the_number_of_rows() -> None:
    test = SimulationTest(n=100, epsilon=1.0, delta=0.5, simulations=10)
    assert poise.run(test, mean, X[:20], y[:20], random_state=0).result.n_trials == 10


def test_a_function_may_make_rows_of_any_kind() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})

    def resampled(X, y, generator, size):
        rows = generator.integers(len(y), size=size)
        return X.iloc[rows], y.iloc[rows]

    def strict(X, y, seed):
        assert list(X.columns) == ["a", "b"]
        return mean(X, y, seed)

    test = SimulationTest(8, 1.0, 0.5, estimate=resampled, simulations=10)
    run = poise.run(test, strict, frame, pd.Series(y), random_state=0)
    assert run.result.n_trials == 10
    assert poise.replay(run.transcript) == run.result


def test_a_function_must_make_as_many_rows_as_asked() -> None:
    test = SimulationTest(8, 1.0, 0.5, estimate=lambda X, y, g, size: (X[:3], y[:3]))
    with pytest.raises(DataError, match=r"as many rows as asked for \(9\), got 3"):
        poise.run(test, mean, X, y)


def test_named_estimates_need_numbers() -> None:
    frame = pd.DataFrame({"a": X[:, 0]})
    with pytest.raises(DataError, match=r"X must be an array of finite numbers .* got DataFrame"):
        poise.run(SimulationTest(8, 1.0, 0.5), mean, frame, y)
    with pytest.raises(DataError, match="y must be an array of finite numbers"):
        poise.run(SimulationTest(8, 0.0, 0.5), mean, X, np.array(["a", "b"] * 200))


@pytest.mark.parametrize("estimate", ["cauchy", 3, None])
def test_unknown_estimates(estimate) -> None:
    with pytest.raises(ArgumentError, match=f"estimate must be 'gaussian', .* got {estimate!r}"):
        SimulationTest(8, 1.0, 0.5, estimate=estimate)
