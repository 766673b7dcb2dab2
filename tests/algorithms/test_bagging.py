"""Bags that survive the removal of the last row, and the ensembles built on them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import poise
from poise.algorithms.as_algorithm import as_algorithm
from poise.errors import ArgumentError
from poise.notions import CoupledBaggingClassifier, CoupledBaggingRegressor, draw_bag
from shared.data import three_columns

SEEDS = st.integers(0, 2**64 - 1)


@given(seed=SEEDS, bag=st.integers(0, 50), n=st.integers(1, 40))
def test_erase_leaves_the_bag_of_the_full_fit_without_the_last_row(
    seed: int, bag: int, n: int
) -> None:
    full = draw_bag("erase", seed, bag, n + 1, nominal_rows=n + 1)
    assert len(full) == n + 1
    reduced = draw_bag("erase", seed, bag, n, nominal_rows=n + 1)
    assert np.array_equal(reduced, full[full != n])


@given(seed=SEEDS, bag=st.integers(0, 50), n=st.integers(1, 40))
def test_poisson_bags_are_erased_at_every_size(seed: int, bag: int, n: int) -> None:
    full = draw_bag("poisson", seed, bag, n + 1)
    assert np.array_equal(draw_bag("poisson", seed, bag, n), full[full != n])


@given(seed=SEEDS, bag=st.integers(0, 50), n=st.integers(1, 40))
def test_redraw_changes_nothing_but_the_copies_of_the_last_row(seed: int, bag: int, n: int) -> None:
    full, reduced = draw_bag("redraw", seed, bag, n + 1), draw_bag("redraw", seed, bag, n)
    assert (len(full), len(reduced)) == (n + 1, n)
    kept = full[:n] != n
    assert np.array_equal(reduced[kept], full[:n][kept])
    assert reduced.min() >= 0
    assert reduced.max() < n


# Each law is tested with a chi-square test at 1e-7 on a fixed seed.
BAGS = 4000


def chi_square(observed: list[int], probabilities: np.ndarray) -> float:
    return float(stats.chisquare(observed, probabilities * sum(observed)).pvalue)


@pytest.mark.parametrize("n", [2, 5, 13])
def test_ordinary_bags_are_uniform_draws_with_replacement(n: int) -> None:
    for scheme, nominal in (("redraw", None), ("erase", n)):
        bags = np.stack([np.sort(draw_bag(scheme, 3, b, n, nominal)) for b in range(BAGS)])
        counts = np.bincount(bags.ravel(), minlength=n)
        assert chi_square(list(counts), np.full(n, 1 / n)) > 1e-7
        # The number of copies of the last row is Binomial(n, 1/n), so draws are independent.
        copies = np.bincount((bags == n - 1).sum(axis=1), minlength=n + 1)[:4]
        law = stats.binom.pmf(np.arange(4), n, 1 / n)[: len(copies)]
        rest = [BAGS - int(copies.sum())] if n > 4 else []
        weights = np.append(law, 1 - law.sum()) if n > 4 else law / law.sum()
        assert chi_square([int(c) for c in copies] + rest, weights) > 1e-7


def test_pairs_of_places_in_a_redrawn_bag_are_independent() -> None:
    bags = np.stack([draw_bag("redraw", 8, b, 4) for b in range(BAGS)])
    pairs = Counter(map(tuple, bags[:, :2].tolist()))
    observed = [pairs[i, j] for i in range(4) for j in range(4)]
    assert chi_square(observed, np.full(16, 1 / 16)) > 1e-7


def test_redrawn_copies_go_to_each_other_row_alike() -> None:
    full = np.stack([draw_bag("redraw", 9, b, 6)[:5] for b in range(BAGS)])
    reduced = np.stack([draw_bag("redraw", 9, b, 5) for b in range(BAGS)])
    moved = reduced[full == 5]
    assert chi_square(list(np.bincount(moved, minlength=5)), np.full(5, 0.2)) > 1e-7


def test_poisson_bags_hold_each_row_poisson_times() -> None:
    counts = [np.bincount(draw_bag("poisson", 1, b, 6), minlength=6) for b in range(BAGS)]
    copies = np.bincount(np.concatenate(counts), minlength=7)
    law = stats.poisson.pmf(np.arange(6), 1)
    observed = [*map(int, copies[:6]), int(copies[6:].sum())]
    assert chi_square(observed, np.append(law, 1 - law.sum())) > 1e-7


def test_bags_refuse_what_they_cannot_draw() -> None:
    with pytest.raises(ArgumentError, match=r"nominal_rows must be .* got None"):
        draw_bag("erase", 0, 0, 5)
    with pytest.raises(ArgumentError, match=r"nominal_rows must be .* got 4"):
        draw_bag("erase", 0, 0, 5, nominal_rows=4)
    with pytest.raises(ArgumentError, match="scheme"):
        draw_bag("bootstrap", 0, 0, 5)


SCHEMES = [("poisson", None), ("erase", 25), ("redraw", None)]


@pytest.mark.parametrize(("scheme", "nominal"), SCHEMES)
def test_the_reduced_ensemble_is_the_full_one_with_the_row_erased(
    scheme: str, nominal: int | None
) -> None:
    X, y = three_columns(25)
    ensemble = as_algorithm(
        CoupledBaggingRegressor(LinearRegression(), 8, scheme=scheme, nominal_rows=nominal)
    )
    full = ensemble.model(ensemble.fit(X, y, xi=2**63))
    reduced = ensemble.model(ensemble.fit(X[:-1], y[:-1], xi=2**63))
    point = X[:1]
    for bag, other, member in zip(full.bags_, reduced.bags_, reduced.estimators_, strict=True):
        expected = bag[:-1].copy() if scheme == "redraw" else bag[bag != 24]
        if scheme == "redraw":
            expected[expected == 24] = other[expected == 24]
        assert np.array_equal(other, expected)
        by_hand = LinearRegression().fit(X[expected], y[expected])
        assert member.predict(point) == by_hand.predict(point)
    average = np.mean([m.predict(point) for m in reduced.estimators_])
    assert reduced.predict(point)[0] == pytest.approx(average, rel=1e-12)


def test_a_row_in_no_bag_changes_nothing() -> None:
    X, y = three_columns(25)
    model = CoupledBaggingRegressor(DecisionTreeRegressor(), 1)
    states = range(60)
    outside = [
        s for s in states if 24 not in clone(model).set_params(random_state=s).fit(X, y).bags_[0]
    ]
    assert 8 <= len(outside) <= 40  # about 60/e of them
    for state in outside:
        model.set_params(random_state=state)
        full = model.fit(X, y).predict(X)
        assert np.array_equal(full, model.fit(X[:-1], y[:-1]).predict(X))


@pytest.mark.parametrize("scheme", ["poisson", "redraw"])
def test_coupled_bags_move_predictions_less_than_fresh_ones(scheme: str) -> None:
    X, y = three_columns(2600, seed=1)
    model = CoupledBaggingRegressor(DecisionTreeRegressor(max_depth=2), 2, scheme=scheme)
    reused, fresh = (
        poise.measure(model, X, y, n=25, coupling=coupling, random_state=0).changes
        for coupling in ("shared", "independent")
    )
    # 100 pairs on the same rows; a sign test at 1e-6 needs 74 of them.
    assert np.count_nonzero(reused < fresh) >= 74


def test_members_get_random_states_of_their_own_that_survive_the_removal() -> None:
    X, y = three_columns(25)
    model = CoupledBaggingRegressor(make_pipeline(ExtraTreeRegressor()), 4, random_state=3)
    states = [m.steps[0][1].random_state for m in model.fit(X, y).estimators_]
    assert len(set(states)) == 4
    assert states == [m.steps[0][1].random_state for m in model.fit(X[:-1], y[:-1]).estimators_]
    other = clone(model).set_params(random_state=4).fit(X, y)
    assert states != [m.steps[0][1].random_state for m in other.estimators_]
    base = ExtraTreeRegressor(max_depth=2)  # made from its parameters, not cloned
    plain = CoupledBaggingRegressor(base, 4, random_state=3).fit(X, y).estimators_
    assert [m.random_state for m in plain] == states
    assert all(m.get_params() | {"random_state": None} == base.get_params() for m in plain)
    assert base.random_state is None


def test_an_empty_bag_stands_for_all_the_rows() -> None:
    X, y = three_columns(2)
    model = CoupledBaggingRegressor(Ridge(), 60, random_state=0).fit(X, y)
    drawn = [draw_bag("poisson", 0, b, 2) for b in range(60)]
    empty = [b for b, rows in enumerate(drawn) if rows.size == 0]
    assert empty  # (1 - e^-2)^60 is 2e-4, and the seed is fixed
    assert all(np.array_equal(model.bags_[b], [0, 1]) for b in empty)


def test_data_frames_stay_data_frames() -> None:
    X, y = three_columns(25)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = CoupledBaggingRegressor(make_pipeline(StandardScaler(), Ridge()), 3, random_state=0)
    model.fit(frame, pd.Series(y))
    assert list(model.estimators_[0].feature_names_in_) == ["a", "b", "c"]
    assert model.predict(frame) == pytest.approx(model.fit(X, y).predict(X))


@pytest.mark.parametrize("base", [DecisionTreeClassifier(max_depth=2), LinearSVC()])
def test_classifiers_vote(base: object) -> None:
    X, y = three_columns(60)
    labels = np.where(y > 0, "up", "down")
    model = CoupledBaggingClassifier(base, 9, random_state=0).fit(X, labels)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(60))
    assert model.score(X, labels) > 0.8
    assert is_classifier(model)
    assert is_regressor(CoupledBaggingRegressor(Ridge()))


def test_a_class_absent_from_a_bag_gets_no_vote_from_it() -> None:
    X = np.arange(8.0).reshape(-1, 1)
    labels = np.array(["b"] * 7 + ["a"])
    model = CoupledBaggingClassifier(DecisionTreeClassifier(), 12, random_state=1).fit(X, labels)
    without = [7 not in bag for bag in model.bags_]
    assert any(without)
    assert not all(without)
    votes = model.predict_proba([[7.0]])[0]
    assert votes[0] == pytest.approx(1 - np.mean(without))


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
@pytest.mark.parametrize(
    "model",
    [
        CoupledBaggingRegressor(Ridge(), 3, random_state=0),
        CoupledBaggingClassifier(DecisionTreeClassifier(), 3, random_state=0),
    ],
    ids=["regressor", "classifier"],
)
def test_scikit_learn_accepts_the_ensembles(model: object) -> None:
    results = check_estimator(model, on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
