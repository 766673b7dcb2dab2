"""``poise.conditional_test``: equal to a plain loop of refits, on every path."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.errors import AlgorithmError, ArgumentError, DataError, PowerWarning, TrialError
from shared.algorithms import mean, nearest
from shared.data import linear_rows


def rows(n=12, fresh=20, seed=3):
    X, y = linear_rows(n + fresh, [1.0, -2.0], seed)
    return X[:n], y[:n], X[n:], y[n:]


def refits(notion, fit, X, y, X_fresh, y_fresh, order, points=1):
    """Section 4 as a loop: the changes of every trial, in this order of the fresh rows."""
    n, m = len(X), len(order) // (1 + points) if notion == "add-one" else len(order)
    without = [np.delete(np.arange(n), i) for i in range(n)]
    found = []
    for k in range(m):
        z = order[k]
        if notion == "deployed":
            x = X_fresh[[z]]
            moved = [abs(fit(X, y)(x) - fit(X[w], y[w])(x))[0] for w in without]
        else:
            join = lambda w: fit(np.vstack([X[w], X_fresh[z]]), np.append(y[w], y_fresh[z]))  # noqa: B023, E731
            if notion == "add-one":
                at = X_fresh[order[m + k * points : m + (k + 1) * points]]
                moved = abs(join(np.arange(n))(at) - fit(X, y)(at))
            else:
                pairs = [(join(w)(X[[i]]), fit(X[w], y[w])(X[[i]])) for i, w in enumerate(without)]
                moved = [abs(a - b)[0] for a, b in pairs]
        found.append(moved)
    return np.array(found)


NOTIONS = [("deployed", 1), ("add-one", 1), ("add-one", 3), ("jackknife", 1)]


@pytest.mark.parametrize(("notion", "points"), NOTIONS)
@pytest.mark.parametrize("fit", [mean, nearest])
def test_changes_are_those_of_a_plain_loop(notion, points, fit) -> None:
    data = rows()
    record = poise.measure_conditional(fit, *data, notion=notion, points=points, shuffle=False)
    expected = refits(notion, lambda X, y: fit(X, y, 0), *data, np.arange(20), points)
    np.testing.assert_allclose(record.changes, expected, rtol=1e-12, atol=1e-12)
    fits = {"deployed": 13, "add-one": 1 + len(expected), "jackknife": 12 + 12 * 20}
    assert record.n_fits == record.design.n_fits == fits[notion]
    assert record.n_trials == len(expected)


@pytest.mark.parametrize("notion", ["deployed", "jackknife"])
def test_fresh_rows_in_random_order_are_named(notion) -> None:
    data = rows()
    record = poise.measure_conditional(nearest, *data, notion=notion, random_state=1)
    assert sorted(record.fresh) == list(range(20)) != list(record.fresh)
    expected = refits(notion, lambda X, y: nearest(X, y, 0), *data, record.fresh)
    np.testing.assert_allclose(record.changes, expected, rtol=1e-12, atol=1e-12)


def test_every_fit_has_one_seed_which_the_record_names() -> None:
    seeds = []

    def noisy(X, y, seed):
        seeds.append(seed)
        return mean(X, y, seed)

    record = poise.measure_conditional(noisy, *rows(), notion="add-one", random_state=5)
    assert set(seeds) == {record.design.training_seed}
    tree = DecisionTreeRegressor(splitter="random")
    X, y, fresh, _ = rows(40)
    again = poise.measure_conditional(tree, X, y, fresh, random_state=5, shuffle=False)
    deployed = DecisionTreeRegressor(splitter="random", random_state=again.design.training_seed)
    full = deployed.fit(X, y).predict(fresh)
    without = deployed.fit(X[1:], y[1:]).predict(fresh)
    np.testing.assert_array_equal(again.changes[:, 0], np.abs(full - without))


FORMULAS = [Ridge(), Ridge(0.1, fit_intercept=False), KernelRidge(kernel="rbf", alpha=0.5)]


@pytest.mark.parametrize("notion", ["deployed", "jackknife"])
@pytest.mark.parametrize("estimator", FORMULAS, ids=str)
def test_closed_forms_are_the_fits(notion, estimator) -> None:
    data = rows(40, 6)
    fast, slow = (
        poise.measure_conditional(estimator, *data, notion=notion, fast=fast, random_state=2)
        for fast in (True, False)
    )
    assert fast.design.path.startswith("closed form")
    assert slow.design.path == "fit by fit"
    assert fast.n_fits < slow.n_fits / 2
    np.testing.assert_allclose(fast.changes, slow.changes, rtol=1e-8, atol=1e-10)
    # At ε equal to a change, the fits decide, whatever the rounding of the formula.
    edge = float(slow.changes[3, 17])
    asked = {"notion": notion, "epsilon": edge, "delta": 0.5, "random_state": 2}
    quick = poise.conditional_test(estimator, *data, **asked)
    np.testing.assert_array_equal(quick.statistic, slow.test(edge, 0.5).statistic)
    assert quick.design.path.startswith("closed form")


def test_a_wrong_formula_is_noticed(monkeypatch) -> None:
    from poise.questions.conditional import closed_form

    right = closed_form.find_left_out

    def wrong(estimator, X, y):
        found = right(estimator, X, y)
        object.__setattr__(found, "errors", found.errors * 1.001)
        return found

    monkeypatch.setattr(closed_form, "find_left_out", wrong)
    with pytest.warns(poise.errors.PoiseWarning, match="differs from the fits"):
        record = poise.measure_conditional(Ridge(), *rows(40, 12), random_state=2)
    assert record.design.path == "fit by fit"


@pytest.mark.parametrize("kind", [pd.DataFrame, csr_matrix, np.ndarray.tolist], ids=str)
def test_containers_stay_what_they_are(kind) -> None:
    X, y, fresh, y_fresh = rows(40, 12)
    for notion in ("deployed", "add-one"):
        plain, other = (
            poise.measure_conditional(
                Ridge(), made(X), y, made(fresh), y_fresh, notion=notion, random_state=0
            )
            for made in (np.asarray, kind)
        )
        np.testing.assert_allclose(other.changes, plain.changes, rtol=1e-6, atol=1e-9)
    series = poise.measure_conditional(
        Ridge(), X, pd.Series(y), fresh, pd.Series(y_fresh), notion="add-one", random_state=0
    )
    np.testing.assert_allclose(series.changes, plain.changes, rtol=1e-9, atol=1e-12)


def test_losses_and_probabilities() -> None:
    X, y, fresh, y_fresh = rows()
    asked = {"distance": "loss:squared", "shuffle": False}
    record = poise.measure_conditional(nearest, X, y, fresh, y_fresh, **asked)
    full, less = nearest(X, y, 0)(fresh), nearest(X[1:], y[1:], 0)(fresh)
    expected = np.abs((y_fresh - full) ** 2 - (y_fresh - less) ** 2)
    np.testing.assert_allclose(record.changes[:, 0], expected)
    assert record.design.losses
    with pytest.raises(ArgumentError, match="y_fresh must hold the responses"):
        poise.measure_conditional(nearest, X, y, fresh, distance="loss:squared")
    classes = poise.conditional_test(
        LogisticRegression(), X, y > 0, fresh, response="predict_proba", epsilon=0.2,
        delta=0.2, random_state=0,
    )  # fmt: skip
    assert classes.verdict == "stable"
    assert classes.design.distance == "total_variation"


def test_weights_are_those_of_the_training_rows() -> None:
    X, y, fresh, y_fresh = rows(20, 8)
    weights = np.arange(1.0, 21.0)
    weighted = {"fit_params": {"sample_weight": weights}, "random_state": 0}
    record = poise.measure_conditional(Ridge(), X, y, fresh, shuffle=False, **weighted)
    full = Ridge().fit(X, y, weights).predict(fresh)
    less = Ridge().fit(X[1:], y[1:], weights[1:]).predict(fresh)
    np.testing.assert_allclose(record.changes[:, 0], np.abs(full - less))
    with pytest.raises(ArgumentError, match="fit_params must be None"):
        poise.measure_conditional(Ridge(), X, y, fresh, y_fresh, notion="add-one", **weighted)


def test_workers_and_a_journal_give_the_same_changes(tmp_path) -> None:
    data = rows()
    for notion in ("deployed", "jackknife"):
        asked = {"notion": notion, "random_state": 4}
        plain = poise.measure_conditional(nearest, *data, **asked)
        place = tmp_path / f"{notion}.journal"
        threads = poise.measure_conditional(
            nearest, *data, **asked, n_jobs=2, backend="threading", journal=place
        )
        assert threads == plain
        lines = place.read_bytes().splitlines(keepends=True)
        place.write_bytes(b"".join(lines[:5]))  # as if it was interrupted
        assert poise.measure_conditional(nearest, *data, **asked, journal=place) == plain
        assert place.read_bytes().splitlines(keepends=True) == lines
        with pytest.raises(poise.errors.RecordError, match="belongs to another run"):
            poise.measure_conditional(mean, *data, **asked, journal=place)


def test_a_run_stops_when_its_verdict_is_forced() -> None:
    X, y, fresh, y_fresh = rows(12, 90)
    for notion in ("add-one", "jackknife"):
        for gamma in (None, 0.1):
            asked = {"notion": notion, "epsilon": 9.0, "delta": 0.4, "gamma": gamma}
            asked |= {"random_state": 0}
            stopped = poise.conditional_test(mean, X, y, fresh, y_fresh, **asked)
            whole = poise.conditional_test(mean, X, y, fresh, y_fresh, **asked, stop_early=False)
            assert stopped.verdict == whole.verdict == "stable"
            assert stopped.n_observed < whole.n_observed == whole.n_trials
            assert stopped.stopped_early
            assert stopped.settled
            assert "stopped once the verdict was forced" in stopped.summary()


def fails_without_the_first(X, y, seed):
    """Fail where the largest response is missing."""
    if y.max() < 100:
        raise ZeroDivisionError("no large response")
    return mean(X, y, seed)


def test_a_failure_counts_against_stable_and_never_for_unstable() -> None:
    X, y, fresh, _ = rows(4, 80)
    y[0] = 100.0
    with pytest.raises(TrialError, match="no large response") as caught:
        poise.measure_conditional(fails_without_the_first, X, y, fresh)
    assert np.isnan(caught.value.partial.changes).all()
    record = poise.measure_conditional(fails_without_the_first, X, y, fresh, on_error="unstable")
    assert np.isnan(record.changes[:, 0]).all()
    assert np.isfinite(record.changes[:, 1:]).all()
    assert record.n_failures == 80
    assert len(record.failures) == 1
    assert set(record.shares(1000.0)) == {0.25}
    assert set(record.shares(1000.0, failures_exceed=False)) == {0.0}
    assert record.test(1000.0, 0.3).verdict == "stable"
    for asked in ({"delta": 0.1}, {"delta": 0.1, "gamma": 0.0}):
        result = record.test(1000.0, **asked)
        assert result.verdict == "inconclusive"  # the failures alone keep it from "stable"
        assert (result.n_moved, result.pvalue_unstable) == (0.0, 1.0)
        assert "failed at least in part" in result.summary()
    assert record.test(1000.0, 0.1, gamma=0.25).verdict == "stable"


def test_a_full_fit_that_fails_leaves_nothing() -> None:
    def fails(X, y, seed):
        raise ZeroDivisionError("always")

    for notion in ("deployed", "add-one", "jackknife"):
        record = poise.measure_conditional(fails, *rows(3, 40), notion=notion, on_error="unstable")
        assert np.isnan(record.changes).all()
        assert record.test(1.0, 0.2).verdict == "inconclusive"


def test_prediction_that_is_no_number_costs_one_place() -> None:
    X, y, fresh, _ = rows(6, 10)

    def holey(X, y, seed):
        def predict(points):
            found = np.full(len(points), y.mean())
            return found if len(y) == 6 else np.where(points[:, 0] == fresh[3, 0], np.nan, found)

        return predict

    record = poise.measure_conditional(holey, X, y, fresh, on_error="unstable", shuffle=False)
    assert np.isnan(record.changes[3]).all()
    assert np.isfinite(np.delete(record.changes, 3, axis=0)).all()


def last(X, y, seed):
    return lambda points: np.full(len(points), y[-1])


X, Y, FRESH, Y_FRESH = rows(12, 40)
REFUSED = {
    "notion": ({"notion": "deploy"}, ArgumentError, "notion must be one of"),
    "points": ({"points": 3}, ArgumentError, "points must be 1 for notion='deployed'"),
    "training rows": ({"X_fresh": X}, DataError, "12 rows of X_fresh are training rows"),
    "one training row": (
        {"X_fresh": np.vstack([FRESH, X[3]])},
        DataError,
        r"1 row of X_fresh is a training row \(row 40 \(counting from 0",
    ),
    "columns": ({"X_fresh": FRESH[:, :1]}, DataError, "X_fresh must have the columns of X"),
    "length": ({"y_fresh": Y_FRESH[:5]}, DataError, "must have the same number of rows"),
    "no responses": ({"notion": "add-one"}, ArgumentError, "y_fresh must hold the responses"),
    "too few": ({"X_fresh": FRESH[:1]}, DataError, "too few rows for any verdict"),
    "order": (
        {"algorithm": last, "notion": "jackknife", "y_fresh": Y_FRESH},
        AlgorithmError,
        "the order of the rows changes the predictions",
    ),
    "gamma": ({"gamma": 1.0}, ArgumentError, r"gamma must be in \[0, 1\)"),
    "delta": ({"delta": 1.0}, ArgumentError, r"delta must be in \[0, 1\)"),
    "one row": ({"X": X[:1], "y": Y[:1]}, DataError, "at least 2 training rows"),
    "epsilon": ({"distance": "label", "epsilon": 1.0}, ArgumentError, "epsilon must be below 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_come_before_the_first_fit(case) -> None:
    change, kind, message = REFUSED[case]

    def never(X, y, seed):
        raise AssertionError("a fit was made")

    asked = {"algorithm": never, "X": X, "y": Y, "X_fresh": FRESH, "epsilon": 0.5, "delta": 0.1}
    with pytest.raises(kind, match=message):
        poise.conditional_test(**(asked | change))


def test_few_fresh_rows_are_warned_of() -> None:
    with pytest.warns(PowerWarning, match="at least 29 fresh rows"):
        poise.conditional_test(mean, X, Y, FRESH[:20], epsilon=0.5, delta=0.1)
    with pytest.warns(PowerWarning, match="at least 58 fresh rows"):
        poise.conditional_test(mean, X, Y, FRESH, Y_FRESH, notion="add-one", epsilon=0.5, delta=0.1)
    with pytest.warns(PowerWarning, match="no amount of data"):
        poise.conditional_test(mean, X, Y, FRESH, epsilon=0.5, delta=0.0)


def test_a_warning_before_the_first_fit_names_the_line_of_the_caller() -> None:
    few, twice = FRESH[:20], np.vstack([FRESH, FRESH])
    asked = {"epsilon": 0.5, "delta": 0.1}
    with pytest.warns(PowerWarning) as power:
        poise.conditional_test(mean, X, Y, few, **asked)
    with pytest.warns(poise.errors.ValidityWarning) as tested:
        poise.conditional_test(mean, X, Y, twice, **asked)
    with pytest.warns(poise.errors.ValidityWarning) as measured:
        poise.measure_conditional(mean, X, Y, twice)
    assert {each.filename for each in [*power, *tested, *measured]} == {__file__}


def test_copied_fresh_rows_are_warned_of() -> None:
    twice = np.vstack([FRESH, FRESH])
    with pytest.warns(poise.errors.ValidityWarning, match="80 of the 80 fresh rows"):
        result = poise.conditional_test(mean, X, Y, twice, epsilon=0.5, delta=0.1)
    assert re.search("80 of the 80", result.warnings[0])
    assert "Warning: 80 of the 80" in result.summary()


def test_epsilon_may_be_a_share_of_the_spread() -> None:
    result = poise.conditional_test(mean, X, Y, FRESH, epsilon="50% of spread", delta=0.1)
    assert result.epsilon == float(f"{0.5 * Y.std(ddof=1):.4g}")
    assert result.verdict == "stable"


def test_a_share_of_no_spread_or_of_another_unit_is_refused() -> None:
    share = {"epsilon": "5% of spread", "delta": 0.1}
    with pytest.raises(ArgumentError, match="the 12 training rows have one and the same response"):
        poise.conditional_test(mean, X[:12], np.ones(12), FRESH, **share)
    with pytest.raises(ArgumentError, match="epsilon must be a number for losses"):
        poise.conditional_test(mean, X, Y, FRESH, Y_FRESH, distance="loss:squared", **share)
    with pytest.raises(ArgumentError, match="epsilon must be a number for predict_proba"):
        poise.conditional_test(mean, X, Y, FRESH, response="predict_proba", **share)


def test_responses_of_fresh_rows_are_checked_also_where_they_are_not_needed() -> None:
    gap = np.append(np.nan, Y_FRESH[1:])
    for notion in ("deployed", "add-one"):
        with pytest.raises(DataError, match=r"y_fresh must not hold missing .* nan in row 0"):
            poise.measure_conditional(mean, X, Y, FRESH, gap, notion=notion)
