"""Headings of tables, trials of different sizes side by side, and the advice a summary gives."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import poise
from poise import Design, Trials
from poise.arguments.printed_numbers import at_most
from poise.errors import ArgumentError
from poise.results import CompareResult
from poise.results.text.next_step import next_step
from poise.results.text.question_menu_table import menu_table
from poise.results.text.verdict_cells import ADJUSTED, LARGER, LIMITS, SHARES, pvalues
from poise.results.verdict import OPEN

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(240, 2)), RNG.normal(size=240)


def test_trials_at_different_n_are_not_compared() -> None:
    same = {"a": Trials.from_changes([0.1] * 30, n=5), "b": Trials.from_changes([0.2] * 30, n=5)}
    assert len(CompareResult.judge(same, epsilon=0.5, delta=0.2).rows) == 2
    mixed = same | {"c": Trials.from_changes([0.1] * 30, n=6)}
    with pytest.raises(ArgumentError, match=r"must have the same n, got n = \[5, 6\]"):
        CompareResult.judge(mixed, epsilon=0.5, delta=0.2)
    with pytest.raises(ArgumentError, match="at least one algorithm, got none"):
        CompareResult.judge({}, epsilon=0.5, delta=0.2)


def test_every_table_says_what_its_columns_are() -> None:
    settings = {"n": 10, "random_state": 0}
    profile = poise.measure(Ridge(), X, Y, **settings).profile()
    assert profile.table().columns == ["epsilon", "larger changes", "delta at most"]
    algorithms = {"ridge": Ridge(), "mean": DummyRegressor()}
    found = poise.compare(algorithms, X, Y, epsilon=1.0, delta=0.3, **settings)
    assert found.table().columns == [
        "algorithm", "verdict", "larger changes", "p, adjusted", "delta at most", "epsilon at most"
    ]  # fmt: skip
    curve = poise.stability_curve(Ridge(), X, Y, n=[5, 10], epsilon=0.5, delta=0.2, random_state=0)
    assert list(curve.table().columns) == [
        "n", "trials", "epsilon at most", "observed epsilon", "delta at most", "observed delta",
        "p, adjusted",
    ]  # fmt: skip
    only = poise.stability_curve(Ridge(), X, Y, n=[5, 10], delta=0.2, random_state=0)
    assert list(only.table().columns) == ["n", "trials", "epsilon at most", "observed epsilon"]
    assert menu_table(poise.advise(X, Y).menu).columns[:3] == ["n", "trials", "fits"]


# --- what would settle it -------------------------------------------------------------


def advice(changes: list[float], delta: float, n: int = 5, epsilon: float = 0.5) -> str:
    result = Trials.from_changes(changes, n=n).test(epsilon, delta)
    return next(line for line in result.summary().splitlines() if line.startswith("Next: "))


def test_a_stable_verdict_sends_you_on_and_an_unstable_one_back() -> None:
    assert advice([0.0] * 60, 0.1) == (
        "Next: train at this n with this algorithm; test again if either changes."
    )
    assert advice([1.0] * 60, 0.1).startswith("Next: regularise or bag the algorithm")


def test_too_few_trials_are_counted() -> None:
    """(1 − δ)^m ≤ α takes 29 trials at δ = .1, α = .05: 29·5 + 29 rows without unlabelled ones."""
    design = Design("x", 5, n_labeled=60)
    result = Trials(np.zeros(10), design).test(0.5, 0.1)
    [line] = [line for line in result.summary().splitlines() if line.startswith("Next: ")]
    assert "29 trials are the least with which the plain test can certify delta = 0.1" in line
    assert f"({29 * 6} fresh labelled rows; these rows are too few for any n)" in line
    wider = Trials(np.zeros(10), Design("x", 20, n_labeled=210)).test(0.5, 0.1)
    assert "or n = 6, the largest that these rows can answer" in wider.summary()


def test_what_would_have_passed_is_said_where_it_is_known() -> None:
    few = [0.9] * 4 + [0.0] * 46
    line = advice(few, 0.1)
    result = Trials.from_changes(few, n=5).test(0.5, 0.1)
    assert result.verdict == "inconclusive"
    assert f"a larger epsilon ({at_most(result.epsilon_hat)} would have passed)" in line
    assert f"; or a larger delta ({at_most(result.delta_hat)} would have passed)" in line
    assert line.endswith("would have passed), asked of fresh rows.")
    hopeless = advice([1.0] * 3 + [0.0] * 2, 0.5)
    assert "a larger epsilon (1 would have passed)" in hopeless
    infinite = advice([np.inf] * 4 + [0.0] * 46, 0.1)
    assert "a larger epsilon" not in infinite
    assert "no amount of data can certify" in advice([0.0] * 50, 0.0)


def test_without_a_trial_nothing_is_settled() -> None:
    """No trial at all: with probability 0.05 the coin of a randomised test says stable."""
    result = Trials(np.empty(0), Design("x", 5, n_labeled=5)).test(0.5, 0.1)
    assert "29 trials are the least" in result.summary()
    assert "a larger delta" not in result.summary()  # 1 is no bound


def test_with_the_least_number_of_trials_fresh_rows_are_enough() -> None:
    assert "Next: fresh rows alone" in advice([1.0] + [0.0] * 28, 0.1)  # 0 of 29 would pass
    assert "Next: 29 trials are the least" in advice([1.0] + [0.0] * 27, 0.1)


def test_a_ceiling_is_told_where_it_binds() -> None:
    """κ trials leave at most α/(1−δ)^κ: .14340 for 10 of them and .95538 for 28.

    It stands in the warning before the run and among the facts, and is not said again in the
    summary.
    """
    for m, most in [(10, "0.1434"), (28, "0.9554")]:
        design = Design("x", 5, n_labeled=6 * m)
        result = Trials(np.array([1.0] + [0.0] * (m - 1)), design).test(0.5, 0.1)
        assert result.facts()["power ceiling"] == most
        assert "no valid black-box test" not in result.summary()
    unknown = Trials.from_changes([0.0] * 28, n=5).test(0.5, 0.1)  # rows unknown: no ceiling
    assert unknown.facts()["power ceiling"] == "none proved"


def test_limits_of_a_run_that_stopped_early_are_no_advice() -> None:
    result = Trials.from_changes([0.9] * 4 + [0.0] * 46, n=5).test(0.5, 0.1)
    assert "would have passed" in next_step(result)
    assert next_step(dataclasses.replace(result, n_observed=49)).endswith("error level).")


def test_predictions_that_never_move_are_doubted() -> None:
    """An algorithm that ignores its rows passes every test; labels may well never move."""
    still = Trials.from_changes([0.0] * 60, n=5)
    assert "make sure that the algorithm learns" in still.test(0.0, 0.1).summary()
    assert "learns" not in still.test(0.1, 0.1).summary()
    moved = Trials.from_changes([0.0] * 59 + [1e-16], n=5)
    assert "learns" not in moved.test(0.0, 0.1).summary()
    design = dataclasses.replace(still.design, distance="label")
    assert "learns" not in Trials(np.zeros(60), design).test(0.0, 0.1).summary()


def _spelled(words: Collection[str]) -> set[str]:
    """Return the files of the package in which a string is one of these words."""
    root = Path(poise.__file__).parent
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in words
    }


def test_words_that_many_tables_share_are_spelled_in_one_file() -> None:
    result = Trials.from_changes([0.0] * 28, n=5).test(0.5, 0.1)
    shared = (LARGER, SHARES, ADJUSTED, *LIMITS, *pvalues(result))
    assert _spelled(shared) == {"results/text/verdict_cells.py"}
    # The card of a notebook has a colour of this name.
    assert _spelled([OPEN]) == {"results/verdict.py", "arguments/notebook_card.py"}
    templates = Path(poise.__file__).parent / "cli/ui/templates"
    assert not [p.name for p in templates.glob("*.html") if f'"{OPEN}"' in p.read_text("utf-8")]
