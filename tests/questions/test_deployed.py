"""Questions about one training set: every change is that of a loop written by hand."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.data.randomness import Randomness
from poise.errors import (
    AlgorithmError,
    ArgumentError,
    DataError,
    PoiseWarning,
    PowerWarning,
    TrialError,
    ValidityWarning,
)

RNG = np.random.default_rng(37)
X = RNG.normal(size=(30, 3))
y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=30)
X_FRESH = RNG.normal(size=(24, 3))
Y_FRESH = X_FRESH @ [1.0, 2.0, 0.0] + RNG.normal(size=24)
ROWS = (X, y, X_FRESH, Y_FRESH)
TREE = DecisionTreeRegressor(random_state=5, max_features=1)  # its own seed decides what it does


def measured(algorithm=TREE, rows=ROWS, **settings):
    return poise.measure_deployed(algorithm, *rows, **{"shuffle": False, **settings})


def tree(X, y):
    """The model that a user deploys: fitted with the seed that the user has set."""
    return DecisionTreeRegressor(random_state=5, max_features=1).fit(X, y).predict


def without(i):
    return np.delete(X, i, axis=0), np.delete(y, i)


def test_every_row_leaves_in_turn():
    full = tree(X, y)(X_FRESH)
    by_hand = [abs(full - tree(*without(i))(X_FRESH)) for i in range(30)]
    trials = measured()
    assert np.array_equal(trials.changes[:, :, 0], np.transpose(by_hand))
    assert (trials.n_trials, trials.n_fits) == (24, 31)
    assert np.array_equal(trials.errors, abs(full - Y_FRESH))
    assert np.array_equal(measured(rows=(X, y, X_FRESH), n_jobs=2).changes, trials.changes)
    shuffled = measured(shuffle=True, random_state=3)
    order = [each - 30 for k in range(24) for each in shuffled.rows(k)["tested"]]
    assert order == Randomness(3).order("order of fresh rows", 24).tolist()
    assert np.array_equal(shuffled.changes, trials.changes[order])


GONE = np.isin(np.arange(30), [8, 17])
FRAME = pd.DataFrame(X).assign(site=np.where(GONE, "it's", "B"), number=2**53 + GONE)


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ([8, 17], None),
        (GONE, None),
        (["r8", "r17"], [f"r{i}" for i in range(30)]),
        ("site == it's", "site"),
        ("number == 9007199254740993", "number"),  # which no float64 is
    ],
)
def test_named_rows_leave_together(given, ids):
    by_hand = abs(tree(X, y)(X_FRESH) - tree(*without([8, 17]))(X_FRESH))
    rows = ROWS if not isinstance(ids, str) else (FRAME[[0, 1, 2, ids]], y, pd.DataFrame(X_FRESH))
    trials = measured(rows=rows, without=given, ids=ids)
    assert np.array_equal(trials.values, by_hand)
    assert trials.n_fits == 2
    said = f"where {given}" if isinstance(given, str) else "rows 8, 17"
    assert f"removing 2 of them ({said})" in str(trials)


@pytest.mark.parametrize(("batch", "points", "trials"), [(1, 1, 12), (3, 2, 4), (2, None, 8)])
def test_new_rows_are_added_and_the_model_trained_again(batch, points, trials):
    asked = {"notion": "add-one"} if batch == 1 else {"update": batch}
    found = measured(points_per_trial=points, **asked)
    assert found.n_trials == trials
    T = points or 1
    full = tree(X, y)
    for k in range(trials):
        new, at = slice(k * batch, (k + 1) * batch), trials * batch + k * T + np.arange(T)
        again = tree(np.append(X, X_FRESH[new], axis=0), np.append(y, Y_FRESH[new]))
        assert np.array_equal(found.changes[k, 0], abs(full(X_FRESH[at]) - again(X_FRESH[at])))
    assert found.n_fits == 1 + trials


def nearest(X, y, seed):
    """The mean of the two nearest rows: their order does not matter."""

    def predict(new):
        gaps = ((new[:, None] - X) ** 2).sum(axis=2)
        return y[np.argsort(gaps, axis=1)[:, :2]].mean(axis=1)

    return predict


def test_the_jackknife_predicts_the_row_that_is_left_out():
    trials = measured(nearest, notion="jackknife")
    by_hand = np.empty((24, 30))
    for i in range(30):
        rows, responses = without(i)
        before = nearest(rows, responses, 0)(X[i : i + 1])
        for k in range(24):
            more = np.append(rows, X_FRESH[k : k + 1], axis=0), np.append(responses, Y_FRESH[k])
            by_hand[k, i] = abs(before - nearest(*more, 0)(X[i : i + 1]))[0]
    assert np.array_equal(trials.changes[:, :, 0], by_hand)
    assert trials.n_fits == 30 + 30 * 24
    frame = trials.to_frame()
    assert frame.loc[31, ["test_row", "added_row"]].tolist() == [1, 31]
    first = lambda X, y, seed: lambda new: np.full(len(new), y[0])  # noqa: E731

    def needs_row_0(X_, y_, seed):
        return first(X_, y_, seed) if (X[0] == X_).all(axis=1).any() else 1 / 0

    for algorithm, policy in ((first, "raise"), (needs_row_0, "record")):
        with pytest.raises(AlgorithmError, match="which place it takes must not matter"):
            measured(algorithm, notion="jackknife", on_error=policy)
    with pytest.raises(TrialError, match="ZeroDivisionError"):  # which shows no order
        measured(lambda X, y, seed: 1 / 0, notion="jackknife")


def test_groups_leave_as_a_whole_and_one_row_stands_for_a_fresh_group():
    groups = np.array(["d", "a", "c", "b", "e"] * 6)
    fresh = np.array([*"aaxxxyyyyzzuuuvvvwwwtttt"])
    trials = measured(groups=groups, groups_fresh=fresh)
    assert (trials.n_trials, trials.design.n, trials.n_fits) == (7, 5, 6)
    tested = [trials.rows(k)["tested"][0] - 30 for k in range(7)]
    assert fresh[tested].tolist() == [*"xyzuvwt"]
    points = X_FRESH[tested]
    by_hand = [abs(tree(X, y)(points) - tree(*without(groups == g))(points)) for g in "dacbe"]
    assert np.array_equal(trials.changes[:, :, 0], np.transpose(by_hand))
    assert "this training set of 5 groups" in str(trials)
    again = measured(groups=groups, groups_fresh=fresh, update=2)
    assert again.n_trials == 2
    assert again.rows(1)["added"] == [*range(30 + 9, 30 + 14)]  # all of z and u


def test_of_many_rows_one_is_drawn_for_each_fresh_row(monkeypatch):
    for room in ("poise.questions.deployed", "poise.results.design"):
        monkeypatch.setattr(f"{room}.MOST_FITTED", 29)
    trials = measured(random_state=8)
    drawn = trials.design.drawn(24)
    assert trials.changes.shape == (24, 1, 1)
    assert trials.n_fits == 1 + len(set(drawn.tolist()))
    with pytest.warns(PoiseWarning, match="Every row leaves in turn, so this takes 31 fits"):
        all_of_them = measured(removals_per_trial="all").changes
    assert np.array_equal(trials.values, all_of_them[np.arange(24), drawn, 0])
    assert trials.test(1.0, 0.5).test == "binomial"
    with pytest.raises(DataError, match="removals_per_trial='all'"):
        trials.influence(1.0)
    assert measured(random_state=8, without=[3]).n_fits == 2
    with pytest.warns(PoiseWarning, match="31 fits"):
        poise.deployed_test(TREE, *ROWS, epsilon=1, delta=0.3, gamma=0.1)
    counts = np.bincount(trials.design.drawn(20_000), minlength=30)  # uniform, independent
    low, high = binom.ppf([1e-8, 1 - 1e-8], 20_000, 1 / 30)
    assert ((low <= counts) & (counts <= high)).all()


def test_losses_read_responses_and_decisions_the_points_of_a_trial():
    lost = measured(distance=poise.loss_change("squared")).changes[:, 2, 0]
    squares = [(tree(*rows)(X_FRESH) - Y_FRESH) ** 2 for rows in ((X, y), without(2))]
    assert np.array_equal(lost, abs(squares[0] - squares[1]))
    distance = poise.decisions.top_k(2, of=4)
    trials = measured(distance=distance)
    assert trials.changes.shape == (6, 30, 1)
    full, reduced = (tree(*rows)(X_FRESH) for rows in ((X, y), without(7)))
    by_hand = [distance(full[k : k + 4], reduced[k : k + 4])[0] for k in range(0, 24, 4)]
    assert trials.changes[:, 7, 0].tolist() == by_hand
    again = measured(distance=poise.decisions.flips(0.0, of=5), update=3)
    assert (again.n_trials, again.n_fits) == (3, 4)
    more = tree(np.append(X, X_FRESH[:3], axis=0), np.append(y, Y_FRESH[:3]))
    at = X_FRESH[9:14]
    assert again.changes[0, 0, 0] == np.mean((tree(X, y)(at) > 0) != (more(at) > 0))
    assert "changes on average at most a share of 0.4 of the decisions" in str(
        again.test(delta=0.4)
    )


def test_seeds_that_are_set_stay_and_others_come_from_the_run():
    kept = RandomForestRegressor(3, random_state=11)
    trials = measured(kept, without=[0], random_state=4)
    full, reduced = (
        RandomForestRegressor(3, random_state=11).fit(*rows).predict(X_FRESH)
        for rows in ((X, y), without(0))
    )
    assert np.array_equal(trials.values, abs(full - reduced))
    runs = [
        measured(RandomForestRegressor(3), without=[0], random_state=s).values for s in (4, 4, 5)
    ]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    assert kept.get_params()["random_state"] == 11


# What may go wrong ------------------------------------------------------------------------------


def together(X, y, seed):
    """Predictions that depend on the rows beside them."""
    return lambda new: new[:, 0] * y.sum() * (1 + len(new) % 2) / 2


def test_predictions_that_depend_on_the_batch_are_made_one_by_one():
    with pytest.warns(ValidityWarning, match="predicted by itself"):
        trials = measured(together)
    assert trials.design.given_up == ("together",)
    alone = [abs(X_FRESH[:, 0] * (y.sum() - np.delete(y, i).sum())) for i in range(30)]
    assert np.allclose(trials.changes[:, :, 0], np.transpose(alone), rtol=1e-12, atol=1e-13)


def fails_without(i):
    def fit(rows, responses, seed):
        if not (rows == X[i]).all(axis=1).any():
            raise ValueError("I need it")
        return tree(rows, responses)

    return fit


def test_failures_are_recorded_at_their_place():
    trials = measured(fails_without(3), on_error="record")
    assert np.isnan(trials.changes[:, 3]).all()
    assert np.array_equal(
        np.delete(trials.changes, 3, axis=1), np.delete(measured().changes, 3, axis=1)
    )
    assert trials.failures[0].message == "ValueError: I need it"
    assert (trials.shares(1e9) == 1 / 30).all()
    assert (trials.shares(1e9, failures_exceed=False) == 0).all()

    def fails_with_the_eighth(rows, responses, seed):
        return 1 / (Y_FRESH[7] not in responses) and tree(rows, responses)

    one = measured(fails_with_the_eighth, update=2, points_per_trial=1, on_error="record")
    assert [each.trial for each in one.failures] == np.flatnonzero(one.values == np.inf).tolist()
    assert one.failures[0].trial > 0
    nothing = measured(lambda X, y, seed: 1 / 0, update=2, on_error="record")
    assert nothing.n_failures == nothing.n_trials == 8
    with pytest.raises(TrialError, match="fit 4 failed: ValueError: I need it") as caught:
        measured(fails_without(3))
    assert caught.value.partial.n_observed == 0


REFUSED = [
    ({"without": [1], "update": 2}, ArgumentError, "cannot be given together"),
    ({"without": [99]}, ArgumentError, "names no row of X"),
    ({"without": range(30)}, ArgumentError, "and not all of them"),
    ({"without": "d == 1"}, ArgumentError, "must be a condition such as"),
    ({"coupling": "independent"}, ArgumentError, "coupling is not an argument"),
    ({"removals_per_trial": 3}, ArgumentError, "must be 'all' or left out"),
    ({"points_per_trial": 3}, ArgumentError, "each fresh row is a trial"),
    ({"gamma": 1.0}, ArgumentError, r"gamma must be a number in \[0, 1\)"),
    ({"gamma": 0.1, "without": [1]}, ArgumentError, "where every row of a given training set"),
    ({"test": "binomial"}, ArgumentError, "give gamma, the share of the rows that is tolerated"),
    ({"chosen_from": 3}, ArgumentError, "chosen_from needs without"),
    ({"update": 24}, DataError, "one takes 25 fresh rows"),
    ({"update": 2, "sample_weight": np.ones(30)}, ArgumentError, "have none"),
    ({"notion": "jackknife", "distance": "top_k(2, of=3)"}, ArgumentError, "one row is predicted"),
    ({"groups": np.arange(30)}, DataError, "X_fresh needs groups_fresh"),
    ({"X_fresh": X_FRESH[:, :2]}, DataError, "X_fresh must be like X"),
    ({"y_fresh": y}, DataError, "y_fresh must hold one value per fresh row"),
    ({"y_fresh": Y_FRESH[:, None]}, DataError, "y_fresh must have the columns of y"),
    ({"y_fresh": None, "update": 2}, ArgumentError, "y_fresh is missing"),
    (
        {"X_fresh": np.append(X_FRESH, X[:2], axis=0), "y_fresh": None},
        DataError,
        "2 rows of X_fresh are training rows, such as row 24",
    ),
]


@pytest.mark.parametrize(("settings", "kind", "words"), REFUSED)
def test_what_cannot_be_asked_is_refused_before_the_first_fit(settings, kind, words):
    def never(X, y, seed, sample_weight=None):
        raise AssertionError("fitted")

    asked = {"X_fresh": X_FRESH, "y_fresh": Y_FRESH, "epsilon": 1.0, "delta": 0.2, **settings}
    with pytest.raises(kind, match=words):
        poise.deployed_test(never, X, y, **asked)


def test_fresh_rows_that_are_few_or_equal_are_told():
    with pytest.warns(PowerWarning, match="too few fresh rows: 10 trials, 14 are the least"):
        result = poise.deployed_test(TREE, X, y, X_FRESH[:10], epsilon=1.0, delta=0.2)
    assert "14 fresh rows hold enough trials" in str(result)
    with pytest.warns(ValidityWarning, match="48 of 48 rows have an equal row elsewhere"):
        measured(rows=(X, y, np.append(X_FRESH, X_FRESH, axis=0)))
    few = RNG.integers(0, 2, size=(60, 2)).astype(float)  # equal by chance
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measured(KNeighborsRegressor(3), (few[:30], y, few[30:]))


# What may be said -------------------------------------------------------------------------------


def test_a_tolerated_share_is_read_by_the_binomial_test():
    trials = measured()
    for gamma in (0.0, 0.1, 1 / 3, 0.5):
        result = trials.test(0.8, 0.3, gamma=gamma)
        larger = int((trials.shares(0.8) > gamma).sum())
        assert result.test == "binomial"
        assert result.statistic == larger
        assert math.isclose(result.pvalue, binom.cdf(larger, 24, 0.3), rel_tol=1e-9)
        beyond = [
            (trials.shares(e) > gamma).mean()
            for e in (result.epsilon_upper * (1 - 1e-9), result.epsilon_upper)
        ]
        assert beyond[0] > beyond[1]
    assert trials.test(0.8, 0.3).test == "averaged"
    partly = measured(fails_without(3), on_error="record").test(0.8, 0.3, gamma=0.1)
    assert partly.statistic >= trials.test(0.8, 0.3, gamma=0.1).statistic


def test_influence_lists_rows_and_a_question_about_them_shares_alpha():
    rows = (X + 1, y, X_FRESH + 1, Y_FRESH)  # which no other test looks at
    trials = measured(rows=rows, ids=[f"r{i}" for i in range(30)])
    table = trials.influence(0.5)
    shares = (trials.changes[:, :, 0] > 0.5).mean(axis=0)
    assert table.moved.tolist() == sorted(shares, reverse=True)
    assert sorted(table.largest_change) == sorted(trials.changes[:, :, 0].max(axis=0))
    assert table.row[0] == f"r{shares.argmax()}" or shares.max() == table.moved[1]
    ask = {"epsilon": 0.5, "delta": 0.3, "without": [3]}
    with pytest.raises(ArgumentError, match="say chosen_from=30"):
        poise.deployed_test(TREE, *rows, **ask)
    result = poise.deployed_test(TREE, *rows, chosen_from=30, **ask)
    assert math.isclose(result.alpha, 0.05 / 30)
    said = "(this verdict is wrong with probability at most 0.05, whichever of 30 sets of rows was"
    assert said in str(result.trials.test(5.0, 0.3, 0.05 / 30))


def test_an_update_stops_early_once_the_verdict_is_certain():
    def far(X, y, seed):
        return lambda new: 1e3 * len(y) + new[:, 0]

    ask = {"epsilon": 1.0, "delta": 0.25, "stop_early": True, "points_per_trial": 1}
    result = poise.deployed_test(far, *ROWS, notion="add-one", **ask)
    assert result.verdict == "unstable"
    assert result.n_observed < result.n_trials == 12
    assert result.n_fits == 1 + result.n_observed
