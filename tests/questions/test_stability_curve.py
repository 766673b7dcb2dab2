"""Stability against n: limits that hold together, and what holds beyond under an assumption."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.arguments.printed_numbers import at_least, at_most
from poise.errors import ArgumentError, PowerWarning, TrialError
from poise.results import StabilityCurve, Trials
from poise.results.curve_result import upper_quantile
from poise.results.extrapolation import CarriedOn, shrinkage_seen

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


@pytest.mark.parametrize(
    "settings", [{"remove": 3}, {"removals": 4}, {"remove": 5, "replace": True}]
)
def test_several_rows_can_be_removed_at_every_size(settings: dict[str, Any]) -> None:
    """Each size is checked with the other settings, not some size that nobody asked about."""
    asked: dict[str, Any] = {"random_state": 0, "check": False, **settings}
    curve = poise.stability_curve(Ridge(), X, y, n=[8, 20], epsilon=15, **asked)
    for n, trials in zip(curve.n, curve.trials, strict=True):
        alone = poise.measure(Ridge(), X, y, n=n, **asked)
        assert trials.changes.tolist() == alone.changes.tolist()
    with pytest.raises(ArgumentError, match="remove must be less than n = 8 "):
        poise.stability_curve(Ridge(), X, y, n=[8, 20], epsilon=15, remove=8)


def test_text_for_removals_is_refused_without_a_size_that_nobody_asked_about() -> None:
    with pytest.raises(ArgumentError) as caught:
        poise.stability_curve(Ridge(), X, y, n=[8, 20], epsilon=15, removals="x")
    assert str(caught.value) == "removals must be a whole number >= 1 or 'all', got 'x'"
    with pytest.raises(ArgumentError, match="removals must be a whole number from 1 to n = 8, or"):
        poise.stability_curve(Ridge(), X, y, n=[8, 20], epsilon=15, removals=9)


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


def test_limits_are_carried_on_by_the_assumed_power() -> None:
    """ε̂·(n₀/n)^β from the best of the sizes, and δ̂ at ε·(n/n₀)^β: by hand."""
    base = np.linspace(0.01, 1, 40)
    trials = tuple(Trials.from_changes(base * n**-1.5, n=n) for n in (4, 9, 25))
    curve = StabilityCurve(trials, epsilon=0.5e-3, delta=0.25)
    for exponent in (0.0, 0.5, 1.0, 1.5):
        further = curve.extrapolate([100, 400], exponent)
        for i, n in enumerate((100, 400)):
            carried = [
                limit * (size / n) ** exponent
                for limit, size in zip(curve.epsilon_hat, curve.n, strict=True)
            ]
            assert further.epsilon[i] == pytest.approx(min(carried))
            allowed = [0.5e-3 * (n / size) ** exponent for size in curve.n]
            limits = [t.delta_hat(e, curve.level / 2) for t, e in zip(trials, allowed, strict=True)]
            assert further.delta[i] == pytest.approx(min(limits))
            assert further.delta[i] > 0  # never a certainty that nobody has
        assert further.certified is False
    assert not further.to_frame()["certified"].any()
    assert json.dumps(further.to_dict())
    assert "Not certified: limits if changes shrink at least like n^-1.5." in str(further)
    assert "<td" in further._repr_html_()


def test_the_size_from_which_on_epsilon_would_hold() -> None:
    base = np.linspace(0.01, 1, 60)
    trials = tuple(Trials.from_changes(base / n, n=n) for n in (5, 10))
    curve = StabilityCurve(trials, epsilon=0.01, delta=0.25)
    assert curve.certified == ()
    for exponent, size in curve.sizes_needed.items():
        assert curve.extrapolate(math.ceil(size), exponent).epsilon[0] <= 0.01
        assert curve.extrapolate(math.floor(size) - 1, exponent).epsilon[0] > 0.01
    words = curve.summary()
    assert "Certified to be stable at none of these sizes." in words
    assert f"from n = {math.ceil(curve.sizes_needed[1.0]):,} on if changes shrink at least" in words
    assert CarriedOn(trials, 0.05, 0.0).size_for(0.01, 0.25) == math.inf
    assert CarriedOn(trials, 0.05, 1.0).size_for(0.0, 0.25) == math.inf
    assert StabilityCurve(trials, None, 0.25).sizes_needed == {}


def test_what_cannot_be_carried_on() -> None:
    curve = StabilityCurve((Trials.from_changes(np.ones(30), n=10),), epsilon=1.0, delta=0.2)
    with pytest.raises(ArgumentError, match="at least the smallest size measured \\(10\\), got 9"):
        curve.extrapolate(9)
    for wrong in (-0.5, math.inf, math.nan, "fast"):
        with pytest.raises(ArgumentError, match="exponent must be a number >= 0"):
            curve.extrapolate(20, wrong)
    assert curve.shrinkage_seen is None
    assert len(curve.plot().axes) == 2


def linear_changes(n: int, m: int, rng: np.random.Generator, penalty: float) -> np.ndarray:
    """Changes of ridge regression on six columns when its last row is removed; m trials."""
    rows = np.concatenate([rng.normal(size=(m, n, 5)), np.ones((m, n, 1))], axis=2)
    y, point = rows[:, :, 0] + rng.normal(size=(m, n)), rng.normal(size=(m, 6))
    gram = np.swapaxes(rows, 1, 2) @ rows + penalty * np.diag([1, 1, 1, 1, 1, 0])
    moments = np.einsum("mnd,mn->md", rows, y)
    last = rows[:, -1]
    less = gram - last[:, :, None] * last[:, None, :]
    fitted = np.linalg.solve(gram, moments[..., None])[..., 0]
    without = np.linalg.solve(less, (moments - last * y[:, -1:])[..., None])[..., 0]
    return np.abs(((fitted - without) * point).sum(axis=1))


def neighbour_changes(n: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Changes of the mean of five nearest neighbours when the last row is removed."""
    rows = rng.normal(size=(m, n, 2))
    y = rows[:, :, 0] + rng.normal(size=(m, n))
    nearest = np.argsort(((rows - rng.normal(size=(m, 1, 2))) ** 2).sum(axis=2), axis=1)
    is_near = (nearest[:, :5] == n - 1).any(axis=1)
    return np.where(is_near, np.abs(y[:, -1] - y[np.arange(m), nearest[:, 5]]) / 5, 0.0)


ALGORITHMS = {
    "least squares": partial(linear_changes, penalty=0.0),
    "ridge": partial(linear_changes, penalty=10.0),
    "neighbours": neighbour_changes,
}
MEASURED = {9: 60, 18: 40, 36: 30}  # trials at each n; asked is what holds at n = 144


def curves(changes: Any, count: int, rng: np.random.Generator) -> list[StabilityCurve]:
    pools = {n: np.split(changes(n, count * m, rng), count) for n, m in MEASURED.items()}
    return [
        StabilityCurve(
            tuple(Trials.from_changes(pool[i], n=n) for n, pool in pools.items()), 0.03, 0.2, 0.1
        )
        for i in range(count)
    ]


def missed(found: list[StabilityCurve], truth: np.ndarray, exponent: float) -> int:
    """Count the curves of which a limit carried on to n = 144 is below the truth there."""
    epsilon, delta = np.quantile(truth, 0.8), np.mean(truth > 0.03)
    further = [curve.extrapolate(144, exponent) for curve in found]
    return sum(f.epsilon[0] < epsilon or f.delta[0] < delta for f in further)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_limits_carried_on_hold_beyond_the_sizes_measured(name: str) -> None:
    """Coverage at four times the largest n, which is asked to be 0.9; false alarms below 1e-6.

    100 curves. These changes shrink at least like 1/sqrt(n), so the exponents 0 and 0.5
    are true. Those of a strong penalty shrink slower than 1/n while n is small: there
    the exponent 1 is false, and misses.
    """
    rng = np.random.default_rng(7)
    truth = ALGORITHMS[name](144, 6000, rng)
    found = curves(ALGORITHMS[name], 100, rng)
    allowed = stats.binom.isf(1e-6, 100, 0.1)
    assert missed(found, truth, 0.0) <= allowed
    assert missed(found, truth, 0.5) <= allowed
    assert (missed(found, truth, 1.0) <= 10) == (name != "ridge")


def test_why_no_line_is_fitted() -> None:
    """A line says less than 0.6 of the truth; a limit carried on says more, and not ten times."""
    rng = np.random.default_rng(8)
    truth = np.quantile(linear_changes(144, 6000, rng, 0.0), 0.8)
    found = curves(ALGORITHMS["least squares"], 40, rng)
    assert np.median([_fitted_line(curve, 144) for curve in found]) < 0.6 * truth
    limits = [curve.extrapolate(144, exponent=1.0).epsilon[0] for curve in found]
    assert truth < np.median(limits) < 4 * truth


def _fitted_line(curve: StabilityCurve, n: int) -> float:
    slope, height = np.polyfit(np.log(curve.n), np.log(curve.observed_epsilon), 1)
    return float(np.exp(height + slope * np.log(n)))


def test_limits_carried_on_share_out_alpha() -> None:
    """P(any carried limit fails) ≤ α where the assumed power is the true one.

    Uniform changes divided by n: 600 curves of three sizes, ε and δ at two larger
    sizes; a false-alarm rate below 1e-6. With α for each limit the chance would be
    0.4 or more: noticed.
    """
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(600):
        trials = tuple(Trials.from_changes(rng.random(60) / n, n=n) for n in (5, 10, 20))
        further = StabilityCurve(trials, epsilon=0.01, delta=0.2, alpha=0.1).extrapolate(
            [60, 80], exponent=1.0
        )
        truth = [(0.8 / n, 1 - 0.01 * n) for n in (60, 80)]
        pairs = zip(further.epsilon, further.delta, truth, strict=True)
        missed += any(e < true[0] or d < true[1] for e, d, true in pairs)
    assert missed <= stats.binom.isf(1e-6, 600, 0.1)


def test_the_shrinkage_that_was_seen_is_covered() -> None:
    """P(b outside its limits) ≤ α, for changes that shrink like n^-0.7; 400 pairs, 1e-6."""
    rng = np.random.default_rng(5)
    missed = known = 0
    for _ in range(400):
        trials = [Trials.from_changes(rng.exponential(size=80) * n**-0.7, n=n) for n in (10, 40)]
        found = shrinkage_seen(trials, delta=0.3, alpha=0.1)
        known += found is not None
        missed += found is not None and not found[0] <= 0.7 <= found[1]
    assert known == 400
    assert missed <= stats.binom.isf(1e-6, 400, 0.1)


def test_results_as_text_frame_json_html_and_picture(curve) -> None:
    text = str(curve)
    assert "Certified with confidence 0.95, all at once" in text
    assert "Certified to be stable at n = 10, 20." in text
    low, high = curve.shrinkage_seen
    assert (
        f"shrank like n^-b, b between {at_least(low)} and {at_most(high)} (confidence 0.95)" in text
    )
    frame = curve.to_frame()
    assert frame["n"].tolist() == [5, 10, 20]
    assert frame["epsilon_hat"].tolist() == list(curve.epsilon_hat)
    content = json.loads(curve.to_json())
    assert content["not_certified"]["shrinkage_seen"] == list(curve.shrinkage_seen)
    assert set(content["not_certified"]["sizes_needed"]) == {"n^-0.5", "n^-1"}
    assert content["sizes"]["delta_hat"] == list(curve.delta_hat)
    assert "<td" in curve._repr_html_()
    left, right = curve.plot().axes
    labels = [line.get_label() for line in left.get_lines()]
    assert labels[:2] == ["certified, all at once (confidence 0.95)", "observed"]
    assert labels[2:4] == [f"if they shrink at least like 1/{what}" for what in ("sqrt(n)", "n")]
    drawn = right.get_lines()[0].get_xydata().tolist()
    assert drawn == [list(pair) for pair in zip(curve.n, curve.delta_hat, strict=True)]


def test_a_size_without_trials_certifies_nothing() -> None:
    asked = {"n": [4, 50], "epsilon": 1e9, "delta": 0.5, "random_state": 0}
    with pytest.warns(PowerWarning, match="no trial can be run: 50 labelled"):
        curve = poise.stability_curve(KNeighborsRegressor(2), X[:50], y[:50], **asked)
    assert curve.delta_hat[1] == 1.0
    assert curve.epsilon_hat[1] == math.inf
    assert curve.certified == (4,)


def test_shares_are_of_the_labelled_rows() -> None:
    shares = poise.stability_curve(Ridge(), X, y, n=[0.01, 10, 0.05], delta=0.3, random_state=0)
    assert shares.n == (4, 10, 22)
    groups = np.repeat(np.arange(221), 2)
    by_group = poise.stability_curve(
        Ridge(), X, y, n=[0.05], delta=0.3, groups=groups, random_state=0
    )
    assert by_group.n == (11,)


def test_a_share_of_the_spread() -> None:
    """The same rows are set aside, and the same epsilon found, as by a test."""
    asked = {"epsilon": "20% of spread", "delta": 0.3, "random_state": 0}
    curve = poise.stability_curve(Ridge(), X, y, n=[5, 10], **asked)
    result = poise.stability_test(Ridge(), X, y, n=10, stop_early=False, **asked)
    assert curve.epsilon == result.epsilon
    assert curve.trials[1].n_trials == result.n_trials
    assert "% of spread" in curve.headline()
    with pytest.raises(ArgumentError, match="as in '5% of spread'"):
        poise.stability_curve(Ridge(), X, y, n=[5], epsilon="5%")


def test_sizes_with_too_few_trials_are_named() -> None:
    asked = {"n": [10, 40, 100], "random_state": 0}
    with pytest.warns(PowerWarning) as caught:
        curve = poise.stability_curve(Ridge(), X, y, delta=0.2, **asked)
    (message,) = [str(warning.message) for warning in caught]
    where = "n = 40 (10 trials), n = 100 (4 trials)"
    assert f"too few trials at {where}: no epsilon is certified" in message
    assert "(level 0.01667 for each limit); there are enough up to n = " in message
    assert [math.isfinite(limit) for limit in curve.epsilon_hat] == [True, False, False]
    largest = int(message.rpartition(" ")[2])
    enough, few = (442 // (n + 1) for n in (largest, largest + 1))
    assert 0.8**enough <= 0.05 / 3 < 0.8**few
    with pytest.warns(PowerWarning, match=r"n = 100 \(4 trials\): no delta below 0.5 is certified"):
        poise.stability_curve(Ridge(), X, y, epsilon=5.0, **asked)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 10}, "n must be a list of training sizes"),
        ({"n": []}, "n must hold at least one training size"),
        ({"n": [10, 443]}, r"at most the number of labelled rows \(442\)"),
        ({"n": [1]}, "n must be a whole number >= 2"),
        ({"n": [0.001]}, "n must be at least 2 .* 0.001 of 442 is less"),
        ({"n": [0.0]}, "n must be a whole number >= 2"),
        ({"n": [1.5]}, "n must be a whole number >= 2"),
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
