"""poise.measure against loops written by hand, and the promises it makes about randomness."""

from __future__ import annotations

import random

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.algorithms.function import seed_from
from poise.errors import PowerWarning, TrialError
from poise.protocol.randomness import Randomness

X, y = load_diabetes(return_X_y=True)


def paper_loop(estimator, n: int, seed: int, independent: bool = False) -> list[float]:
    """The Binomial test's trials, written from the paper (Example 1), one line at a time."""
    m = min(len(X) // n, len(X) // (n + 1))
    words = Randomness(seed).block("xi", 0, m)
    changes = []
    for k in range(1, m + 1):
        predictions = []
        for last, column in ((k * n, 0), (k * n - 1, 1 if independent else 0)):
            model = clone(estimator)
            if "random_state" in model.get_params():
                model.set_params(random_state=seed_from(int(words[k - 1, column])))
            model.fit(X[(k - 1) * n : last], y[(k - 1) * n : last])
            predictions.append(model.predict(X[m * n + k - 1 : m * n + k])[0])
        changes.append(abs(predictions[0] - predictions[1]))
    return changes


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(alpha=0.5),
        KNeighborsRegressor(3),
        DecisionTreeRegressor(),
        GradientBoostingRegressor(n_estimators=15, subsample=0.8),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("independent", [False, True], ids=["shared", "independent"])
def test_equals_a_loop_over_the_papers_split(estimator, independent) -> None:
    coupling = "independent" if independent else "shared"
    trials = poise.measure(estimator, X, y, n=30, shuffle=False, random_state=5, coupling=coupling)
    assert trials.n_trials == 14
    expected = paper_loop(estimator, 30, 5, independent)
    if type(estimator).__name__ in ("Ridge", "KNeighborsRegressor"):  # may take an exact shortcut
        np.testing.assert_allclose(trials.changes, expected, rtol=0, atol=1e-9 * np.abs(y).max())
        slow = poise.measure(
            estimator, X, y, n=30, shuffle=False, random_state=5, coupling=coupling, fast=False
        )
        assert slow.changes.tolist() == expected
    else:
        assert trials.changes.tolist() == expected


@pytest.mark.parametrize("coupling", ["shared", "independent"])
def test_same_seed_same_changes_whatever_n_jobs(coupling) -> None:
    forest = RandomForestRegressor(n_estimators=5, n_jobs=-1)
    kwargs = {"n": 40, "random_state": 3, "coupling": coupling}
    one = poise.measure(forest, X, y, **kwargs, n_jobs=1).changes
    two = poise.measure(forest, X, y, **kwargs, n_jobs=2).changes
    with joblib.parallel_config(backend="threading", n_jobs=2):
        threads = poise.measure(forest, X, y, **kwargs).changes
    assert one.tolist() == two.tolist() == threads.tolist()
    assert one.tolist() != poise.measure(forest, X, y, n=40, random_state=4).changes.tolist()


def test_function_algorithm_equals_estimator() -> None:
    def tree(X, y, seed):
        return DecisionTreeRegressor(random_state=seed, max_features=2).fit(X, y).predict

    a = poise.measure(tree, X, y, n=50, random_state=1)
    b = poise.measure(DecisionTreeRegressor(max_features=2), X, y, n=50, random_state=1)
    assert a.changes.tolist() == b.changes.tolist()


def test_every_nested_random_state_is_set_from_xi() -> None:
    seen = []

    class Spy(RegressorMixin, BaseEstimator):
        def __init__(self, random_state=None):
            self.random_state = random_state

        def fit(self, X, y):
            seen.append(self.random_state)
            self.level_ = float(np.mean(y))
            return self

        def predict(self, X):
            return np.full(len(X), self.level_)

    inner = BaggingRegressor(Spy(), n_estimators=1)
    model = make_pipeline(StandardScaler(), Spy())
    poise.measure(model, X, y, n=100, random_state=0, check=False)
    full, reduced = seen[0::2], seen[1::2]
    assert full == reduced, "shared coupling: both fits of a trial get the same seed"
    assert len(set(full)) == len(full)
    assert all(isinstance(s, int) for s in seen)
    seen.clear()
    poise.measure(inner, X, y, n=200, random_state=0)
    assert all(s is not None for s in seen)
    assert inner.estimator.random_state is None, "the user's object is never touched"


def test_global_generators_are_pinned_and_restored() -> None:
    def noisy(X, y, seed):
        level = random.random() + np.random.rand()  # noqa: NPY002
        return lambda rows: np.full(len(rows), level)

    random.seed(123)
    np.random.seed(123)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    shared = poise.measure(noisy, X, y, n=40, random_state=0)
    independent = poise.measure(noisy, X, y, n=40, random_state=0, coupling="independent")
    after = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    assert shared.changes.tolist() == [0.0] * 10
    assert (independent.changes > 0).all()
    assert before == after


def test_an_algorithm_that_changes_its_input_hurts_nobody() -> None:
    def vandal(X, y, seed):
        level = float(y.mean())
        X *= 0.0
        y *= 0.0

        def predict(rows):
            rows *= 0.0
            return np.full(1, level)

        return predict

    copy_X, copy_y = X.copy(), y.copy()
    got = poise.measure(vandal, copy_X, copy_y, n=40, shuffle=False, random_state=0)
    m = got.n_trials
    expected = [
        abs(y[k * 40 : k * 40 + 40].mean() - y[k * 40 : k * 40 + 39].mean()) for k in range(m)
    ]
    np.testing.assert_allclose(got.changes, expected, rtol=1e-12)
    assert np.array_equal(copy_X, X)
    assert np.array_equal(copy_y, y)


def test_no_row_is_shared_by_two_trials_and_leftovers_come_first() -> None:
    rows = np.arange(25.0).reshape(-1, 1)
    used: list[list[float]] = []
    points: list[float] = []

    def spy(X, y, seed):
        used.append(X.ravel().tolist())

        def predict(row):
            points.append(float(row[0, 0]))
            return [0.0]

        return predict

    unlabeled = np.arange(100.0, 103.0).reshape(-1, 1)
    poise.measure(spy, rows, np.zeros(25), n=4, X_unlabeled=unlabeled, shuffle=False, check=False)
    assert used[0] == [0, 1, 2, 3]
    assert used[1] == [0, 1, 2]
    assert points[::2] == [20.0, 21.0, 22.0, 23.0, 24.0]
    for full, reduced in zip(used[::2], used[1::2], strict=True):
        assert reduced == full[:-1]
    used.clear()
    points.clear()
    poise.measure(spy, rows, np.zeros(25), n=6, X_unlabeled=unlabeled, shuffle=False, check=False)
    assert points[::2] == [24.0, 100.0, 101.0, 102.0]
    used.clear()
    points.clear()
    poise.measure(spy, rows, np.zeros(25), n=4, X_unlabeled=unlabeled, random_state=1, check=False)
    everything = [v for full in used[::2] for v in full] + points[::2]
    assert len(set(everything)) == len(everything) == 5 * 4 + 5
    assert used[0] != [0, 1, 2, 3]


def test_user_couplings() -> None:
    class Antithetic:
        name = "antithetic"

        def pairs(self, words):
            return words[:, 0], ~words[:, 0]

    terms = []

    class Spy(poise.Algorithm):
        name = "spy"

        def fit(self, X, y, xi):
            terms.append(xi)
            return lambda rows: [0.0]

    trials = poise.measure(Spy(), X, y, n=100, coupling=Antithetic(), random_state=0)
    assert trials.design.coupling == "antithetic"
    assert all(a + b == 2**64 - 1 for a, b in zip(terms[::2], terms[1::2], strict=True))


CONTAINERS = ["numpy", "pandas", "polars", "pyarrow", "sparse", "list", "memmap"]


def _as(kind: str, table: np.ndarray, tmp_path):
    names = [f"c{j}" for j in range(table.shape[1])]
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(table, columns=names)
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(dict(zip(names, table.T, strict=True)))
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table(dict(zip(names, table.T, strict=True)))
    if kind == "sparse":
        import scipy.sparse

        return scipy.sparse.coo_array(table)
    if kind == "memmap":
        path = tmp_path / f"{id(table)}.dat"
        mapped = np.memmap(path, dtype=table.dtype, mode="w+", shape=table.shape)
        mapped[:] = table
        return mapped
    return table.tolist() if kind == "list" else table


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_containers_reach_the_algorithm_as_they_are(kind, n_jobs, tmp_path) -> None:
    labeled, unlabeled = X[:300], X[300:]
    tree = DecisionTreeRegressor()
    expected = poise.measure(tree, labeled, y[:300], n=30, X_unlabeled=unlabeled, random_state=2)
    native = _as(kind, labeled, tmp_path)
    kinds = set()

    def fit(A, b, seed):
        kinds.add(type(A))
        table = A.to_pandas().to_numpy() if kind == "pyarrow" else A
        model = DecisionTreeRegressor(random_state=seed).fit(table, b)
        return lambda rows: model.predict(
            rows.to_pandas().to_numpy() if kind == "pyarrow" else rows
        )

    got = poise.measure(
        fit,
        native,
        y[:300],
        n=30,
        X_unlabeled=_as(kind, unlabeled, tmp_path),
        random_state=2,
        n_jobs=n_jobs,
    )
    assert got.changes.tolist() == expected.changes.tolist()
    if n_jobs == 1:
        wanted = {"memmap": np.ndarray, "list": list}.get(kind)
        assert kinds == {wanted or type(native)} or kind == "sparse"


def test_pipelines_see_their_column_names_and_text() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=300), "town": rng.choice(["a", "b"], 300)})
    response = pd.Series(frame["size"] + (frame["town"] == "a"), name="price")
    columns = ColumnTransformer(
        [("town", OneHotEncoder(handle_unknown="ignore"), ["town"])], remainder="passthrough"
    )
    trials = poise.measure(make_pipeline(columns, Ridge()), frame, response, n=20, random_state=0)
    assert trials.n_trials == 14
    assert (trials.changes > 0).all()


def test_vectors_and_labels_have_a_distance() -> None:
    def both(X, y, seed):
        level = y.mean()
        return lambda rows: np.array([[level, 2 * level]])

    one = poise.measure(lambda X, y, s: lambda r: [y.mean()], X, y, n=40, random_state=0)
    two = poise.measure(both, X, y, n=40, random_state=0)
    np.testing.assert_allclose(two.changes, np.sqrt(5) * one.changes, rtol=1e-9)

    def vote(X, y, seed):
        winner = "high" if y[-1] > 100 else "low"
        return lambda rows: np.array([winner])

    labels = poise.measure(vote, X, y, n=40, random_state=0, distance="label")
    assert set(labels.changes) <= {0.0, 1.0}
    with pytest.raises(TrialError, match="distance='label' compares labels"):
        poise.measure(vote, X, y, n=40, random_state=0)
    custom = poise.measure(both, X, y, n=40, random_state=0, distance=lambda a, b: 7.0)
    assert set(custom.changes) == {7.0}


def test_a_measurement_without_a_single_trial_says_so() -> None:
    with pytest.warns(
        PowerWarning, match="no trial can be run: 442 labelled and 0 unlabelled rows"
    ):
        trials = poise.measure(Ridge(), X, y, n=len(y))
    assert trials.n_trials == 0
    one = poise.measure(Ridge(), X, y, n=len(y), X_unlabeled=X[:1] + 1)
    assert one.n_trials == 1


def test_one_trial_is_one_trial() -> None:
    def failing(X, y, seed):
        failing.fits += 1
        if failing.fits > 2:
            raise ZeroDivisionError
        return lambda rows: [0.0]

    failing.fits = 0
    with pytest.raises(TrialError, match=r"before it \(1 trial\) is in"):
        poise.measure(failing, X, y, n=40)
    with pytest.warns(PowerWarning, match="with 1 trial at n = 300"):
        result = poise.stability_test(Ridge(), X, y, n=300, epsilon=9, delta=0.1, random_state=0)
    assert "0 of 1 independent trial," in result.summary()


@pytest.mark.parametrize(
    "random_state",
    [lambda: None, lambda: np.random.default_rng(3), lambda: np.random.RandomState(3)],
)
def test_seeds_that_are_drawn_can_be_read_as_floats(random_state) -> None:
    """jq and JavaScript read every number of a JSON file as one; a seed must survive that."""
    drawn = [Randomness.from_state(random_state()).root for _ in range(100)]
    assert all(int(float(seed)) == seed < 2**53 for seed in drawn)
    assert Randomness.from_state(2**63 + 1).root == 2**63 + 1
