"""Stability against n: limits that hold together, and guesses that say they are guesses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.errors import ArgumentError, PowerWarning, TrialError
from poise.results import StabilityCurve, Trials
from poise.results.extrapolation import Trend, upper_quantile

X, y = load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def curve() -> StabilityCurve:
    sizes = [20, 5, 10, 5]
    return poise.stability_curve(Ridge(), X, y, n=sizes, epsilon=15, delta=0.3, random_state=0)


def test_each_size_is_a_measurement_of_its_own(curve) -> None:
    assert curve.n == (5, 10, 20)
    for n, trials in zip(curve.n, curve.trials, strict=True):
        alone = poise.measure(Ridge(), X, y, n=n, random_state=0)
        assert trials.changes.tolist() == alone.changes.tolist()


def test_limits_share_out_alpha(curve) -> None:
    assert curve.level == 0.05 / 6
    for i, trials in enumerate(curve.trials):
        assert curve.epsilon_hat[i] == trials.epsilon_hat(0.3, 0.05 / 6)
        assert curve.delta_hat[i] == trials.delta_hat(15, 0.05 / 6)
    only = StabilityCurve(curve.trials, epsilon=None, delta=0.3)
    assert only.level == 0.05 / 3
    assert only.delta_hat is only.observed_delta is None


def test_certified_means_both_limits_agree_with_the_question(curve) -> None:
    by_epsilon = [n for n, e in zip(curve.n, curve.epsilon_hat, strict=True) if e <= 15]
    assert list(curve.certified) == by_epsilon == [10, 20]
    assert StabilityCurve(curve.trials, None, 0.3).certified == ()


def test_every_limit_holds_at_once() -> None:
    """P(any of six limits fails) ≤ α, for sizes whose changes are the same numbers.

    300 curves; a false-alarm rate below 1e-6. Uniform changes: ε*_δ = 1 − δ and
    δ*_ε = 1 − ε. With α for each limit instead of all together the chance of a
    failure is 0.2 or more: noticed.
    """
    rng = np.random.default_rng(1)
    failed = 0
    for _ in range(300):
        changes = rng.random((3, 60))
        trials = tuple(Trials.from_changes(c, n=n) for c, n in zip(changes, (5, 6, 7), strict=True))
        curve = StabilityCurve(trials, epsilon=0.8, delta=0.2, alpha=0.1)
        failed += min(curve.epsilon_hat) < 0.8 or min(curve.delta_hat) < 0.2
    assert failed <= stats.binom.isf(1e-6, 300, 0.1)


@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.9]),
)
def test_upper_quantile_is_the_smallest_change_exceeded_by_a_share_of_delta(changes, delta) -> None:
    found = upper_quantile(np.array(changes), delta)
    shares = {c: sum(x > c for x in changes) / len(changes) for c in changes}
    assert found == min(c for c, share in shares.items() if share <= delta + 1e-12)


def test_a_power_law_is_recovered_and_carried_on() -> None:
    """Changes that are c/n^1.5 in law: the guess at n = 100 is that law at n = 100."""
    base = np.linspace(0.01, 1, 40)
    trials = [Trials.from_changes(base * n**-1.5, n=n) for n in (4, 9, 25)]
    curve = StabilityCurve(tuple(trials), epsilon=0.5e-3, delta=0.25)
    guess = curve.extrapolate([100, 400])
    assert guess.exponent == pytest.approx(1.5)
    assert guess.epsilon == pytest.approx(
        [upper_quantile(base, 0.25) * n**-1.5 for n in (100, 400)]
    )
    assert guess.delta == pytest.approx([np.mean(base > 0.5), 0.0])
    assert guess.certified is False
    assert not guess.to_frame()["certified"].any()
    assert json.dumps(guess.to_dict())
    reached = curve.trend.size_for(0.5e-3, 0.25)
    assert curve.trend.epsilon_at(reached, 0.25) == pytest.approx(0.5e-3)
    assert f"reached near n = {math.ceil(reached)}" in curve.summary()


def test_where_there_is_no_trend() -> None:
    still = [Trials.from_changes(np.zeros(30), n=n) for n in (5, 10)]
    curve = StabilityCurve(tuple(still), epsilon=1.0, delta=0.2)
    assert curve.trend is None
    assert "show no trend" in curve.summary()
    with pytest.raises(ArgumentError, match="no trend to carry on"):
        curve.extrapolate(100)
    assert len(curve.plot().axes) == 2
    growing = [Trials.from_changes(np.ones(30) * n, n=n) for n in (5, 10)]
    curve = StabilityCurve(tuple(growing), epsilon=1.0, delta=0.2)
    assert "do not seem to shrink" in curve.summary()
    assert Trend.through(growing, 0.2).size_for(1.0, 0.2) == math.inf


def test_results_as_text_frame_json_html_and_picture(curve) -> None:
    text = str(curve)
    assert "Certified with confidence 0.95, all at once" in text
    assert "Certified to be stable at n = 10, 20." in text
    assert "Not certified: changes seem to shrink like n^-" in text
    frame = curve.to_frame()
    assert frame["n"].tolist() == [5, 10, 20]
    assert frame["epsilon_hat"].tolist() == list(curve.epsilon_hat)
    content = json.loads(curve.to_json())
    assert content["not_certified"]["exponent"] == curve.trend.exponent
    assert content["sizes"]["delta_hat"] == list(curve.delta_hat)
    assert "<td" in curve._repr_html_()
    left, right = curve.plot().axes
    labels = [line.get_label() for line in left.get_lines()]
    sure = "certified, all at once (confidence 0.95)"
    assert labels[:3] == [sure, "observed", "extrapolated, not certified"]
    drawn = right.get_lines()[0].get_xydata().tolist()
    assert drawn == [list(pair) for pair in zip(curve.n, curve.delta_hat, strict=True)]


def test_a_size_without_trials_certifies_nothing() -> None:
    asked = {"n": [4, 50], "epsilon": 1e9, "delta": 0.5, "random_state": 0}
    with pytest.warns(PowerWarning, match="no trial can be run: 50 labelled"):
        curve = poise.stability_curve(KNeighborsRegressor(2), X[:50], y[:50], **asked)
    assert curve.delta_hat[1] == 1.0
    assert curve.epsilon_hat[1] == math.inf
    assert curve.certified == (4,)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 10}, "n must be a list of training sizes"),
        ({"n": []}, "n must hold at least one training size"),
        ({"n": [10, 443]}, r"at most the number of labelled rows \(442\)"),
        ({"n": [1]}, "n must be a whole number >= 2"),
        ({"n": "ten"}, "n must be a whole number >= 2"),
        ({"epsilon": None, "delta": None}, "give epsilon .* delta .* or both"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"delta": 1.0}, "delta must be"),
        ({"alpha": 1.0}, "alpha must be"),
        ({"journal": 7}, "journal must be the path of a folder"),
    ],
)
def test_bad_arguments_are_refused_before_the_first_fit(wrong, message) -> None:
    def never(X, y, seed):
        raise AssertionError("fitted")

    arguments = {"n": [5, 10], "epsilon": 1.0, "delta": 0.1} | wrong
    with pytest.raises(ArgumentError, match=message):
        poise.stability_curve(never, X, y, **arguments)


def test_a_failed_fit_names_the_size() -> None:
    def fails_at_ten(X, y, seed):
        if len(X) == 10:
            raise ZeroDivisionError("singular")
        return lambda rows: [0.0] * len(rows)

    with pytest.raises(TrialError, match="singular") as caught:
        poise.stability_curve(fails_at_ten, X, y, n=[5, 10], delta=0.1)
    assert caught.value.__notes__ == ["The training size is n = 10."]
