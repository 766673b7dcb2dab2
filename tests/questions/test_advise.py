"""``poise.advise``: the menu beside what a run would do, and everything about the rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import poise
from poise.errors import ArgumentError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 2)), RNG.normal(size=300)


@pytest.mark.parametrize(
    "setting",
    [{}, {"replace": True}, {"remove": 2, "replace": True}, {"X_unlabeled": X[:40] + 1.0}],
    ids=["paper", "replace", "replace 2", "unlabelled"],
)
def test_lines_count_the_trials_that_a_run_has(setting: dict[str, Any]) -> None:
    advice = poise.advise(X, Y, delta=0.2, **setting)
    for line in list(advice.menu)[3:6]:
        trials = poise.measure(Ridge(), X, Y, n=line.n, random_state=0, **setting)
        assert (trials.n_trials, trials.n_fits) == (line.n_trials, line.n_fits)


def test_groups_are_what_is_counted() -> None:
    groups = np.repeat(np.arange(100), 3)
    advice = poise.advise(X, Y, groups=groups, delta=0.3)
    line = advice.menu.largest
    assert line is not None
    trials = poise.measure(Ridge(), X, Y, n=line.n, groups=groups, random_state=0)
    assert trials.n_trials == line.n_trials
    assert "What 100 labelled groups can answer" in advice.headline()


def test_the_proposed_n_certifies_delta_and_the_next_does_not() -> None:
    line = poise.advise(X, Y, delta=0.2).menu.largest
    assert line is not None

    def still(rows: Any, responses: Any, seed: int) -> Any:
        return lambda points: np.zeros(len(points))

    asked = {"epsilon": 0.0, "delta": 0.2, "random_state": 0}
    assert poise.stability_test(still, X, Y, n=line.n, **asked).stable
    with pytest.warns(poise.errors.PowerWarning):
        assert not poise.stability_test(still, X, Y, n=line.n + 1, **asked).stable


def test_what_about_the_rows_deserves_a_look() -> None:
    frame = pd.DataFrame({"row": np.arange(300), "a": X[:, 0], "visited": ["2020-01-01"] * 300})
    frame = pd.concat([frame, frame.head(7)], ignore_index=True)
    advice = poise.advise(frame, np.append(Y, Y[:7]))
    assert advice.copies == 14
    assert [remark.column for remark in advice.remarks] == ["visited"]
    text = advice.summary()
    assert "14 rows have an equal elsewhere" in text
    assert "Column visited: time? dates or times; rows in time are seldom independent" in text
    assert "whether an algorithm is stable at n = 307, all rows there are" in text


def test_rare_classes_have_a_column() -> None:
    labels = np.array(["rare"] * 15 + ["common"] * 285)
    advice = poise.advise(X, labels, algorithm=LogisticRegression(), delta=0.2)
    table = advice.table()
    place = table.columns.index("class absent")
    for line, cells in zip(advice.menu, table.rows, strict=True):
        lacking = np.prod([(285 - i) / (300 - i) for i in range(line.n)])
        assert float(cells[place].strip("<% ")) / 100 >= min(lacking, 1e-3) - 5e-4
        assert advice.chance_absent(line.n) >= lacking * (1 - 1e-9)
    assert "rarest first: rare 5%, common 95%" in advice.summary()


def test_one_fit_is_timed_and_a_failing_one_is_no_error() -> None:
    advice = poise.advise(X, Y, algorithm=Ridge(), random_state=0)
    assert advice.timed is not None
    assert advice.timed.seconds is not None
    assert advice.timed.n == advice.menu.largest.n  # type: ignore[union-attr]
    small, large = advice.menu.rows[-1], advice.menu.rows[0]
    assert advice.timed.estimate(small) == small.n_fits * advice.timed.seconds
    grown = large.n / advice.timed.n
    assert advice.timed.estimate(large) == pytest.approx(2 * grown * advice.timed.seconds)

    def failing(rows: Any, responses: Any, seed: int) -> Any:
        raise ZeroDivisionError("the matrix\nis singular")

    failed = poise.advise(X, Y, algorithm=failing)
    assert "(ZeroDivisionError: the matrix is singular)" in failed.summary()
    assert "time" not in failed.table().columns


def test_every_form_says_the_same() -> None:
    advice = poise.advise(X, Y)
    content = json.loads(advice.to_json())
    assert [row["n"] for row in content["menu"]["rows"]] == [line.n for line in advice.menu]
    assert content["largest_n"] == advice.menu.largest.n  # type: ignore[union-attr]
    assert advice.to_frame()["n_trials"].tolist() == [line.n_trials for line in advice.menu]
    html = advice._repr_html_()
    assert f"n={content['largest_n']}, epsilon=..." in html
    assert str(advice) == advice.summary()


def test_it_shows_itself_in_one_line() -> None:
    assert repr(poise.advise(X, Y)) == (
        "<Advice: What 300 labelled rows can answer: delta = 0.1 can be certified up to n = 9 "
        "(30 trials).>"
    )


def test_too_few_rows_and_wrong_arguments() -> None:
    few = poise.advise(X[:10], Y[:10])
    assert few.menu.largest is None
    assert "no n at which delta = 0.1 can be certified" in few.summary()
    with pytest.raises(ArgumentError, match="delta must be above 0"):
        poise.advise(X, Y, delta=0)
    with pytest.raises(ArgumentError, match="remove must be a whole number >= 1"):
        poise.advise(X, Y, remove=0)
