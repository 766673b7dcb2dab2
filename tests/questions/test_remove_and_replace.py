"""Removing several rows, and replacing them: other trials, other counts, other words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.errors import ArgumentError, PowerWarning
from poise.protocol.randomness import Randomness
from shared.data import linear_rows

X, y = linear_rows(300, [1.0, 0.0])


def by_hand(n: int, remove: int, replace: bool, n_trials: int) -> list[float]:
    """Written from the definition, without anything of poise but its random terms."""
    taken = n + remove if replace else n
    words = Randomness(5).block("xi", 0, n_trials)[:, 0]
    changes = []
    for k in range(n_trials):
        first = k * taken
        full = list(range(first, first + n))
        reduced = full[: n - remove]
        if replace:
            reduced = reduced + list(range(first + n, first + n + remove))
        point = X[[n_trials * taken + k]]
        tree = DecisionTreeRegressor(random_state=int(words[k]) >> 33, max_features=1)
        a, b = (tree.fit(X[rows], y[rows]).predict(point)[0] for rows in (full, reduced))
        changes.append(abs(a - b))
    return changes


@pytest.mark.parametrize(
    ("remove", "replace", "n_trials"),
    [(1, False, 300 // 11), (3, False, 300 // 11), (1, True, 300 // 12), (4, True, 300 // 15)],
)
def test_changes_equal_a_loop_by_hand(remove, replace, n_trials) -> None:
    tree = DecisionTreeRegressor(max_features=1)
    got = poise.measure(
        tree, X, y, n=10, remove=remove, replace=replace, shuffle=False, random_state=5
    )
    assert got.n_trials == n_trials
    assert got.changes.tolist() == by_hand(10, remove, replace, n_trials)


def test_only_the_plain_removal_of_one_row_takes_a_shortcut() -> None:
    paths = {
        (remove, replace): poise.measure(
            Ridge(), X, y, n=6, remove=remove, replace=replace, random_state=0
        ).design.path
        for remove in (1, 2)
        for replace in (False, True)
    }
    assert paths.pop((1, False)) != "fit by fit"
    assert set(paths.values()) == {"fit by fit"}


def test_fresh_rows_stand_where_the_old_ones_stood() -> None:
    trained: list[list[int]] = []

    def spy(A, b, seed):
        trained.append(A[:, 0].astype(int).tolist())
        return lambda rows: [0.0]

    rows = np.arange(40.0).reshape(-1, 1)
    poise.measure(spy, rows, np.zeros(40), n=4, remove=2, replace=True, shuffle=False)
    assert trained[:4] == [[0, 1, 2, 3], [0, 1, 4, 5], [6, 7, 8, 9], [6, 7, 10, 11]]
    trained.clear()
    poise.measure(spy, rows, np.zeros(40), n=4, remove=3, shuffle=False)
    assert trained[:4] == [[0, 1, 2, 3], [0], [4, 5, 6, 7], [4]]


@given(
    n=st.integers(2, 12),
    labeled=st.integers(0, 200),
    unlabeled=st.integers(0, 100),
    remove=st.integers(1, 6),
    replace=st.booleans(),
    labeled_test=st.booleans(),
)
def test_the_number_of_trials_is_the_most_that_fit(
    n, labeled, unlabeled, remove, replace, labeled_test
) -> None:
    design = poise.Design(
        "", n, labeled, unlabeled, remove=remove, replace=replace, labeled_test=labeled_test
    )
    taken = n + remove if replace else n
    points = 0 if labeled_test else unlabeled
    fits = [m for m in range(labeled + 1) if m * taken + max(0, m - points) <= labeled]
    assert design.n_trials == max(fits)
    assert int(design.kappa) == design.n_trials


def test_shared_randomness_and_rows_stay_as_they_are() -> None:
    """One removed row of the general split is the paper's split."""
    from poise.procedures.split_of_groups import UnitSplit
    from poise.procedures.split_of_rows import Split, TrialSizes
    from poise.protocol.randomness import Shared

    settings = (TrialSizes(5, 20, 110, 12), Randomness(3), Shared(), True)
    for a, b in zip(Split(*settings), UnitSplit(*settings), strict=True):
        for first, second in ((a.full, b.full), (a.reduced, b.reduced)):
            assert first.train.tolist() == second.train.tolist()
            assert first.evaluate.tolist() == second.evaluate.tolist()
            assert first.xi == second.xi


@pytest.mark.parametrize(
    ("settings", "phrases"),
    [
        (
            {"remove": 3},
            ["without the last 3 of them", "removing 3 rows", "under the removal of 3 rows at n"],
        ),
        (
            {"replace": True},
            ["a fresh one in place of the last", "replacing a row", "the replacement of a row at"],
        ),
        (
            {"remove": 2, "replace": True},
            ["with 2 fresh ones in place of the last 2", "replacing 2 rows"],
        ),
    ],
    ids=str,
)
def test_each_variant_has_its_own_statement_and_its_own_ceiling(settings, phrases) -> None:
    result = poise.stability_test(
        Ridge(), X, y, n=6, epsilon=2.0, delta=0.2, random_state=0, **settings
    )
    text = result.summary()
    assert all(phrase in text for phrase in phrases), text
    unproved = settings == {"remove": 2, "replace": True}
    assert ("No ceiling on the power of other tests is proved for this variant" in text) == unproved
    assert (result.power_bound is None) == unproved
    assert ("none proved" in result.to_html()) == unproved
    assert ("no two rows have the same" in text) == (settings == {"replace": True})
    assert poise.StabilityResult.from_json(result.to_json()) == result


def test_the_papers_setting_keeps_its_ceiling_and_its_words() -> None:
    question = {"n": 6, "epsilon": 2.0, "delta": 0.2, "random_state": 0, "test": "binomial"}
    result = poise.stability_test(Ridge(), X, y, **question)
    assert result.power_bound == 1.0
    assert "without the last of them" in result.summary()
    assert "variant" not in result.summary()


def test_a_saved_measurement_of_a_variant_comes_back(tmp_path) -> None:
    trials = poise.measure(Ridge(), X, y, n=6, remove=2, replace=True, random_state=0)
    trials.save(tmp_path / "trials.npz")
    again = poise.Trials.load(tmp_path / "trials.npz")
    assert again.design == trials.design
    assert again.n_trials == trials.n_trials == 300 // 9


def test_hopeless_questions_count_the_rows_of_the_variant() -> None:
    with pytest.warns(PowerWarning, match=r"cannot certify .*0\.05\. You need 377 labelled rows"):
        poise.stability_test(
            Ridge(), X, y, n=10, epsilon=1.0, delta=0.1, remove=2, replace=True, random_state=0
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"remove": 0}, "remove must be a whole number >= 1, got 0"),
        ({"remove": 10}, r"remove must be less than n = 10 .*got 10"),
        ({"remove": 11, "replace": True}, "at most n with replace=True"),
        ({"remove": 1.5}, "remove must be a whole number"),
    ],
)
def test_refused_before_the_first_fit(settings, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        poise.measure(Ridge(), X, y, n=10, **settings)


def test_replacing_every_row_compares_two_training_sets() -> None:
    trials = poise.measure(Ridge(), X, y, n=10, remove=10, replace=True, shuffle=False)
    assert trials.n_trials == 300 // 21
    a = Ridge().fit(X[:10], y[:10]).predict(X[[280]])[0]
    b = Ridge().fit(X[10:20], y[10:20]).predict(X[[280]])[0]
    assert trials.changes[0] == pytest.approx(abs(a - b), rel=1e-12)


def test_a_black_box_run_knows_the_variants_too() -> None:
    test = poise.procedures.BinomialTest(n=6, epsilon=2.0, delta=0.2, remove=2, replace=True)
    run = poise.run(test, Ridge(), X, y, random_state=0)
    direct = poise.stability_test(
        Ridge(), X, y, n=6, epsilon=2.0, delta=0.2, remove=2, replace=True, random_state=0
    )
    assert run.result == direct
    assert poise.replay(run.transcript) == run.result
