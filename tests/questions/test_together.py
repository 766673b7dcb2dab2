"""Several algorithms or sizes under one error level: Holm's method, races, curves, files.

Probabilities are enumerated where counts are few, and simulated with fixed seeds elsewhere.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import poise
from poise.errors import ArgumentError, DataError, PowerWarning, RecordError, TrialError
from poise.results.question import Question, until
from poise.results.together import Comparison, Curve

X = np.random.default_rng(5).normal(size=(460, 3))
Y = X[:, 0] + 0.5 * np.random.default_rng(6).normal(size=460)


def counted(moved, m, n=5):
    """Trials of which so many changed by 1, and the others not at all."""
    return poise.Trials.from_changes([1.0] * moved + [0.0] * (m - moved), n=n)


def together(*moved, m, **asked):
    trials = {str(k): counted(each, m) for k, each in enumerate(moved)}
    return Comparison(trials, Question(0.5, **asked))


LAW = ([0.0, 0.1, 0.3, 1.0], [0.3, 0.4, 0.2, 0.1])  # of shares: their mean is 0.2


# Holm's method


def test_verdicts_are_those_of_the_closed_test():
    """Rejecting H_i needs every set of hypotheses that holds it rejected by Bonferroni."""
    rng = np.random.default_rng(1)
    for _ in range(150):
        k, m = int(rng.integers(1, 5)), int(rng.integers(5, 60))
        asked = {"delta": float(rng.uniform(0.05, 0.5)), "alpha": float(rng.choice([0.05, 0.3]))}
        moved = rng.binomial(m, rng.uniform(0, 0.7, size=k)).tolist()
        found = together(*moved, m=m, **asked)
        p = binom.cdf(moved, m, asked["delta"])
        q = binom.sf(np.array(moved) - 1, m, asked["delta"])
        for i, result in enumerate(found.values()):
            sets = [s for r in range(1, k + 1) for s in itertools.combinations(range(k), r)]
            stable, unstable = (
                all(min(side[j] for j in s) * len(s) <= asked["alpha"] for s in sets if i in s)
                for side in (p, q)
            )
            assert (result.verdict == "stable") == stable
            assert (result.verdict == "unstable") == (unstable and not stable)
            assert (result.pvalue <= asked["alpha"]) == stable
            assert result.pvalue >= p[i] - 1e-12


def test_a_result_of_a_comparison_stands_by_itself(tmp_path):
    found = together(0, 3, 30, m=60, delta=0.2)
    calm, _, wild = found.values()
    assert (calm.verdict, wild.verdict) == ("stable", "unstable")
    assert calm.question.level == 0.05 / 3
    assert calm.delta_upper == counted(0, 60).delta_upper(0.5, 0.05 / 3)
    assert "(any of the 3 wrongly called stable: at most 0.05)" in str(calm)
    assert "98.333% confidence" in str(calm)
    assert "adjusted for 3" in str(wild)
    calm.save(tmp_path / "calm.json")
    again = poise.load(tmp_path / "calm.json")
    assert again == calm
    assert again.pvalue == calm.pvalue
    said = poise.verify(tmp_path / "calm.json")
    assert said.verified
    assert "the p-values of the 2 others that share alpha" in said.open


@pytest.mark.parametrize(("kind", "runs"), [("counts", 1200), ("shares", 120), ("coin", 120)])
def test_a_race_keeps_the_level(kind, runs):
    """Two algorithms at δ* = δ = 0.2, stopped by the rule; false alarms below 1e-6."""
    rng, m, wrong = np.random.default_rng(7), 30, 0
    values, law = ([0, 1], [0.8, 0.2]) if kind == "counts" else LAW
    for table in rng.choice(values, p=law, size=(runs, 2, m)):
        trials = {}
        for k, shares in enumerate(table):
            columns = 1 if kind == "counts" else 10
            larger = np.arange(columns) < np.round(columns * shares)[:, None]
            cells = larger.astype(float)[:, None, :]
            whole = poise.Trials.from_changes(cells, n=5)
            design = replace(whole.design, randomized=kind == "coin")
            stop = until(Question(0.5, 0.2, 0.1, stop_early=True), design, rivals=2)
            seen = next((t for t, each in enumerate(cells, 1) if stop(each)), m)
            trials[str(k)] = poise.Trials(cells[:seen], design)
        wrong += bool(Comparison(trials, Question(0.5, 0.2, 0.2)).stable_names)
    assert 0.04 * runs < wrong <= binom.ppf(1 - 1e-6, runs, 0.2)


# comparing


def test_a_race_finds_the_same_winners_with_half_of_the_fits():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(2000, 3)), rng.normal(size=2000)

    def shaky(share):
        def fit(X, y, seed):
            moved = float(len(y) == 12 and X[-1, 0] > np.quantile(rows[:, 0], 1 - share))
            return lambda points: np.full(len(points), moved)

        return fit

    shares = [0.0, 0.01, *np.linspace(0.15, 0.6, 8)]
    named = {f"{share:.2f}": shaky(share) for share in shares}
    asked = {"n": 12, "epsilon": 0.5, "delta": 0.1, "check": False}
    every, raced = (poise.compare(named, rows, y, race=race, **asked) for race in (False, True))
    assert raced.stable_names == every.stable_names == ["0.00", "0.01"]
    fits = [sum(each.n_fits for each in found.values()) for found in (every, raced)]
    assert fits[1] <= fits[0] / 2
    assert '("stable" was out of reach after ' in str(raced["0.60"])
    assert "Runs ended early" in str(raced)
    assert "Runs ended early" not in str(every)


def test_each_is_measured_on_the_trials_of_a_test_alone_and_beside_the_best_constant():
    named = {"ridge": Ridge(), "tree": DecisionTreeRegressor()}
    asked = {"n": 12, "epsilon": 0.3, "delta": 0.2, "random_state": 3}
    found = poise.compare(named, X, Y, **asked)
    for name, algorithm in named.items():
        alone = poise.stability_test(algorithm, X, Y, removals_per_trial=1, **asked)
        assert np.array_equal(found[name].trials.changes, alone.trials.changes)
        assert found[name].asked == "before"
        assert found[name].design.title == name
    trials, by_hand, constant = found.trials["ridge"], [], []
    for k in range(trials.n_trials):
        rows = trials.rows(k)
        assert rows == found.trials["tree"].rows(k)
        trained, tested = rows["trained"], rows["tested"]
        model = Ridge().fit(X[trained], Y[trained])
        by_hand.append(np.abs(model.predict(X[tested]) - Y[tested]).mean())
        constant.append(np.abs(np.median(Y[trained]) - Y[tested]).mean())
    assert trials.error == pytest.approx(np.mean(by_hand))
    assert found.constant_error == pytest.approx(np.mean(constant))
    assert found.table().rows[-1][0] == "constant"
    assert list(found) == list(found.to_frame().index) == ["ridge", "tree"]
    labels = np.where(Y > 0.5, "high", "low")
    tree = poise.compare([DecisionTreeClassifier()], X, labels, n=12, delta=0.3)
    assert 0.1 < tree.constant_error < 0.5


def never(X, y, seed):
    raise AssertionError("fitted")


REFUSED = {
    "one": (Ridge(), {}, "algorithms must be a list"),
    "twins": ([Ridge(), Ridge()], {}, "must have different names"),
    "name": ({"a": never}, {"name": "b"}, "name is not an argument of compare"),
    "race": ({"a": never}, {"race": "no"}, "race must be True or False"),
    "epsilon": ({"a": never}, {"epsilon": None}, "epsilon is missing"),
    "second": ({"a": never, "b": 7}, {}, "algorithm"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused_before_the_first_fit(case):
    algorithms, more, words = REFUSED[case]
    asked = {"n": 12, "epsilon": 0.3, "delta": 0.2, **more}
    with pytest.raises((ArgumentError, poise.errors.AlgorithmError), match=words):
        poise.compare(algorithms, X, Y, **asked)


def test_a_failed_fit_names_its_algorithm():
    with pytest.raises(TrialError) as caught:
        poise.compare({"good": Ridge(), "bad": never}, X, Y, n=12, epsilon=0.3, delta=0.2)
    assert caught.value.__notes__ == ["This is about bad"]
    with pytest.raises(TypeError, match="stable_names"):
        bool(together(0, m=30, delta=0.2))
    calm = poise.Trials.from_changes([0.0] * 30, n=5)
    with pytest.raises(KeyError, match="did you mean 'ridge'"):
        Comparison({"ridge": calm}, Question(1.0, 0.1))["rige"]


NAMED = {"ridge": Ridge(), "Tree / 2": DecisionTreeRegressor(max_depth=2)}
KEPT = {
    "compared": partial(poise.compare, NAMED, n=12, epsilon=0.3),
    "curve": partial(poise.stability_curve, Ridge(), n=[6, 12], epsilon=0.5),
    "limits": partial(poise.stability_curve, Ridge(), n=[6, 12]),
}


@pytest.mark.parametrize("name", KEPT)
def test_folders_of_files_and_of_journals_are_read_again(tmp_path, name):
    journals, files = tmp_path / "journals", tmp_path / "files"
    run = partial(KEPT[name], X, Y, delta=0.2, random_state=None, check=False, journal=journals)
    found = run()
    assert run().trials == found.trials  # with the seed that was drawn
    found.save(files)
    found.save(files)  # the same files again
    assert str(poise.load(files)) == str(found)  # also the constant's error
    for folder in (journals, files):
        read = poise.load(folder)
        assert type(read) is type(found)
        assert (read.trials, read.question) == (found.trials, found.question)
        assert dict(read) == dict(found)
        next(folder.glob("1-*")).unlink()
        if dict(found):  # each answer says among how many it was
            with pytest.raises(RecordError, match="holds 1 of 2 files"):
                poise.load(folder)
    assert len(found.plot().png()) > 5000
    with pytest.raises(RecordError, match="give a folder of its own"):
        together(0, m=30, delta=0.2).save(files)
    with pytest.raises(RecordError, match="holds no answers"):
        poise.load(tmp_path)


# curves


def test_the_limits_of_a_curve_share_the_level():
    curve = poise.stability_curve(
        LinearRegression(), X, Y, n=[10, 0.03, 6, 10], epsilon=0.5, delta=0.2
    )
    assert curve.n == [6, 10, 13]
    assert curve.level == 0.05 / 6
    for name, trials in curve.trials.items():
        size = trials.design.n
        assert name == str(size)
        assert curve.epsilon_upper[size] == trials.epsilon_upper(0.2, 0.05 / 6)
        assert curve.delta_upper[size] == trials.delta_upper(0.5, 0.05 / 6, delta=0.2)
        assert curve[size].question.level == 0.05 / 3
    asked = {"n": [6, 10], "delta": 0.2, "test": "averaged"}
    limits = poise.stability_curve(LinearRegression(), X, Y, **asked)
    assert (limits.level, limits.question.test) == (0.025, "averaged")
    assert limits.delta_upper is None
    assert not dict(limits)
    assert "At most" not in str(limits)
    assert "at most 20% exceed" in str(limits)


def test_limits_are_carried_on_under_the_power_that_was_stated():
    trials = {str(n): poise.Trials.from_changes([1 / n] * 60, n=n) for n in (5, 10)}
    curve = Curve(trials, Question(0.15, 0.1))
    carried = curve.extrapolate([10, 40], power=1.0)
    assert carried["epsilon_upper"].tolist() == pytest.approx([0.1, 0.025])
    share = 0.05 / 8
    assert carried["delta_upper"][1] == trials["10"].delta_upper(0.15 * 4, share)
    assert not carried["certified"].any()
    for wrong in ({"n": 4}, {"n": []}, {"n": 20, "power": -1}):
        with pytest.raises(ArgumentError):
            curve.extrapolate(**wrong)
    labels = poise.stability_curve(DecisionTreeClassifier(), X, Y > 0, n=[6, 12], delta=0.2)
    assert labels.extrapolate(40)["delta_upper"][0] < 1
    with pytest.raises(ArgumentError, match="power must be 0: a change of the label has no size"):
        labels.extrapolate(40, power=0.5)


def test_a_size_with_too_few_trials_is_told_before_the_first_fit():
    def fit(X, y, seed):
        raise ValueError("first fit")

    with pytest.warns(PowerWarning, match="n = 200") as heard, pytest.raises(TrialError):
        poise.stability_curve(fit, X, Y, n=[10, 200], epsilon=0.3)
    assert len(heard) == 1
    trials = {str(n): poise.Trials.from_changes([0.0] * m, n=n) for n, m in ((5, 90), (9, 29))}
    assert Curve(trials, Question(0.5, 0.1)).stable_names == ["5", "9"]  # 29 trials: by Holm
    for sizes in ([], 20, [10, 500], [1]):
        with pytest.raises((ArgumentError, DataError)):
            poise.stability_curve(fit, X, Y, n=sizes)
