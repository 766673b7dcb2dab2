"""Results are frozen, complete, comparable, and say what was left to chance."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import poise
from poise.arguments.printed_numbers import at_least, at_most
from poise.errors import ArgumentError, PowerWarning, RecordError
from poise.results.text.rows_needed import needed
from poise.simulation.worlds.zoo import ZOO

CHANGES = [0.0, 0.1, 0.25, np.inf, 0.3] * 12


def test_json_round_trips_exactly_infinity_included() -> None:
    trials = poise.Trials.from_changes(CHANGES, n=7, random_state=1)
    assert poise.Trials.from_json(trials.to_json()) == trials
    for epsilon in (0.0, 0.2, 1.0):
        result = trials.test(epsilon=epsilon, delta=0.1)
        assert poise.StabilityResult.from_json(result.to_json()) == result
    assert trials.test(epsilon=0.2, delta=0.1).epsilon_hat == np.inf
    profile = trials.profile()
    assert poise.Profile.from_json(profile.to_json()) == profile
    assert profile != trials.profile(alpha=0.1)


@pytest.mark.parametrize(
    "name", ["Infinity", "-Infinity", "\\Infinity", "\\\\-Infinity", "Infinity()"]
)
def test_a_name_that_reads_like_an_infinity_stays_a_name(name) -> None:
    trials = poise.Trials.from_changes([0.5, np.inf], n=5)
    trials = dataclasses.replace(trials, design=dataclasses.replace(trials.design, algorithm=name))
    again = poise.Trials.from_json(trials.to_json())
    assert again.design.algorithm == name
    assert again.changes.tolist() == [0.5, np.inf]
    result = trials.test(epsilon=1.0, delta=0.1)
    assert poise.StabilityResult.from_json(result.to_json()) == result


def test_files_round_trip_exactly(tmp_path) -> None:
    trials = poise.Trials.from_changes(CHANGES, n=7, random_state=1)
    trials.save(tmp_path / "saved")
    assert poise.Trials.load(tmp_path / "saved") == trials
    assert hash(poise.Trials.load(tmp_path / "saved")) == hash(trials)
    (tmp_path / "other").write_text("nonsense")
    with pytest.raises(RecordError, match="does not hold trials"):
        poise.Trials.load(tmp_path / "other")
    with pytest.raises(RecordError, match="no such file"):
        poise.Trials.load(tmp_path / "absent")


@pytest.mark.parametrize("kind", [poise.Trials, poise.StabilityResult, poise.Profile])
@pytest.mark.parametrize("text", ["{}", "[]", "not json"])
def test_foreign_json_is_refused_with_a_message(kind, text) -> None:
    with pytest.raises(RecordError, match="this is not JSON of"):
        kind.from_json(text)


def test_results_are_frozen() -> None:
    trials = poise.Trials.from_changes(CHANGES, n=7)
    with pytest.raises(dataclasses.FrozenInstanceError):
        trials.n_fits = 3
    with pytest.raises(ValueError, match="read-only"):
        trials.changes[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        trials.test(epsilon=1.0, delta=0.1).alpha = 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [(["a"], "got"), ([[1.0]], "flat"), ([1.0, -2.0], r"-2.0 at position 1"), ([np.nan], "nan")],
)
def test_changes_that_are_none(changes, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        poise.Trials.from_changes(changes, n=5)


def test_a_coin_is_called_a_coin() -> None:
    X, y = np.zeros((60, 1)), np.zeros(60)
    verdicts = set()
    for seed in range(60):
        with pytest.warns(PowerWarning, match="randomised test can hardly certify"):
            result = poise.stability_test(
                Ridge(), X, y, n=60, epsilon=1.0, delta=0.1, alpha=0.2, randomized=True,
                random_state=seed, check=False,
            )  # fmt: skip
        verdicts.add(result.verdict.value)
        assert "A coin alone decided" in result.summary()
        assert "train at this n" not in result.summary()
    assert verdicts == {"stable", "inconclusive"}
    tossed = {poise.Trials.from_changes(CHANGES, n=7, random_state=s).design.zeta for s in range(9)}
    assert len(tossed) == 9


def test_unlabelled_rows_spare_labelled_ones() -> None:
    design = poise.Design("x", n=100, n_labeled=300, n_unlabeled=1000)
    assert needed(design, 0.1, 0.05) == (29, 2900)
    assert needed(poise.Design("x", n=100, n_labeled=300, n_unlabeled=9), 0.1, 0.05) == (29, 2920)
    for delta, alpha in ((0.59, 0.068921), (0.52, 0.110592)):
        trials, rows = needed(poise.Design("x", n=5, n_labeled=9), delta, alpha)
        assert rows == poise.plan(n=5, delta=delta, alpha=alpha, power=1.0).n_labeled
        assert poise.theory.critical_count(trials, delta, alpha) >= 0
        assert poise.theory.critical_count(trials - 1, delta, alpha) < 0


def test_delta_zero_is_not_promised_more_rows() -> None:
    summary = poise.Trials.from_changes([0.0] * 50, n=5).test(epsilon=0.0, delta=0.0).summary()
    assert "no amount of data" in summary
    assert "more rows" not in summary


def test_exhaustive_search_measures_by_the_distance_of_the_run() -> None:
    test = poise.procedures.ExhaustiveTest(
        n=4, epsilon=0.5, delta=0.1, support_X=[[0], [1]] * 2, support_y=[0.0, 0.0, 1.0, 1.0]
    )
    data = ([[0], [1], [1], [0]] * 5, [0.0, 1.0, 0.0, 1.0] * 5)
    honest = poise.run(test, DummyRegressor(), *data, random_state=0)
    assert honest.verdict == "stable"
    far = poise.run(
        test, DummyRegressor(), *data, random_state=0, distance=lambda a, b: 100 * abs(a - b)
    )
    assert far.verdict != "stable"
    with pytest.raises(ArgumentError, match="distance must be 'auto'"):
        poise.run(
            poise.procedures.TransparentLinearTest(n=4, epsilon=0.5, delta=0.1),
            Ridge(), *data, models="transparent", distance=lambda a, b: 1.0,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["shuffle", "randomized", "fast", "progress"])
def test_words_are_not_flags(name) -> None:
    with pytest.raises(ArgumentError, match=f"{name} must be True or False, got 'no'"):
        poise.stability_test(
            Ridge(), np.zeros((40, 1)), np.zeros(40), n=4, epsilon=1.0, delta=0.5, **{name: "no"}
        )


def test_loose_columns_and_masks() -> None:
    import pandas as pd
    import pyarrow as pa

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), rng.normal(size=120)
    expected = poise.measure(Ridge(), X, y, n=10, random_state=0, fast=False).changes
    for column in (pa.array(y), pd.array(y)):
        got = poise.measure(Ridge(), X, column, n=10, random_state=0).changes
        np.testing.assert_allclose(got, expected)
    with pytest.raises(poise.errors.DataError, match="masked"):
        poise.measure(Ridge(), X, np.ma.masked_less(y, 0), n=10)


def test_limits_are_rounded_to_the_safe_side() -> None:
    for limit in np.random.default_rng(0).uniform(0, 2000, size=300) ** 2 / 1000:
        assert float(at_least(limit).replace(",", "")) <= limit
        assert float(at_most(limit).replace(",", "")) >= limit
    assert (at_most(0.1), at_least(0.1), at_most(np.inf)) == ("0.1", "0.1", "infinity")


def test_certainty_is_not_hedged_and_a_heuristic_does_not_blame_the_data() -> None:
    X, y = [[0], [1], [1], [0]], [0.0, 1.0, 0.0, 1.0]
    support = {"support_X": [[0], [1]] * 2, "support_y": [0.0, 0.0, 1.0, 1.0]}
    search = poise.procedures.ExhaustiveTest(
        n=4, epsilon=0.5, delta=0.1, **support, deterministic=True
    )
    text = poise.run(search, DummyRegressor(), X, y, random_state=0).result.summary()
    assert "with certainty" in text
    assert "at level" not in text
    assert "no prediction can move" not in text
    heuristic = poise.procedures.BootstrapTest(n=2, epsilon=0.1, delta=0.5, resamples=4)
    found = poise.run(heuristic, DummyRegressor(), X, y, random_state=0).result
    assert found.verdict == "inconclusive"
    assert "these data hold" not in found.summary()
    assert poise.ProcedureResult.from_json(found.to_json()) == found


def everything_people_look_at():
    """One result of every kind."""
    trials = poise.Trials.from_changes(np.arange(1, 51) / 10, n=10)
    more = [poise.Trials.from_changes(np.arange(1, 51) / n, n=n) for n in (10, 20, 40)]
    curve = poise.StabilityCurve(tuple(more), epsilon=1.0, delta=0.2)
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40.0)
    bootstrap = poise.procedures.BootstrapTest(n=5, epsilon=1.0, delta=0.2, resamples=9)
    audit = poise.audit_with_traps(
        poise.procedures.BinomialTest(n=5, epsilon=0.5, delta=0.2),
        ZOO["constant"](n=5),
        n_labeled=60,
        replications=5,
        random_state=0,
    )
    return [
        trials,
        trials.test(epsilon=1.0, delta=0.2),
        trials.profile(),
        poise.CompareResult.judge({"<a>": trials}, epsilon=1.0, delta=0.2),
        curve,
        curve.extrapolate([80, 160]),
        poise.plan(n=10, delta=0.1, alpha=0.05, power=0.9),
        poise.run(bootstrap, DummyRegressor(), X, y, random_state=0).result,
        poise.check_algorithm(DummyRegressor(), X, y, n=5, random_state=0),
        audit,
        audit.results[0],
    ]


def test_every_result_is_a_frame_and_a_table_in_a_notebook() -> None:
    for result in everything_people_look_at():
        assert len(result.to_frame()) >= 1, type(result)
        html = result._repr_html_()
        assert html.startswith("<"), type(result)
        assert "<a>" not in html


def test_a_result_as_one_row() -> None:
    result = poise.Trials.from_changes([0.0] * 30, n=5).test(epsilon=0.1, delta=0.1)
    frame = result.to_frame()
    assert frame.shape[0] == 1
    assert frame["verdict"].tolist() == ["stable"]
    assert frame["design.n"].tolist() == [5]


def test_a_profile_speaks_of_what_was_removed() -> None:
    trials = poise.Trials.from_changes(np.arange(1, 51) / 10, n=10)
    rows = {"n_labeled": 550, "n_unlabeled": 0}  # a loss needs labelled test rows
    design = dataclasses.replace(trials.design, remove=3, labeled_test=True, **rows)
    profile = dataclasses.replace(trials, design=design).profile()
    assert "removing 3 rows moves a loss by more than epsilon" in profile.statement()
    table = profile.table([1.0, 99.0])
    assert [row[:2] for row in table.rows] == [["1", "40 of 50"], ["99", "0 of 50"]]
    assert table.rows[1][2] == at_most(profile.at(99.0))
    assert len(profile.table().rows) == 16
