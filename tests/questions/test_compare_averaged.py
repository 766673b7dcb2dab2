"""Comparisons and curves by the averaged test: one joint level, by Holm over e-values."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge

import poise
from poise.errors import ArgumentError
from poise.results import CompareResult, Design, StabilityCurve, Trials
from poise.theory import holm_e_values
from shared.algorithms import nearest

X, y = load_diabetes(return_X_y=True)
TWO = {"ridge": Ridge(), "ols": LinearRegression()}


def of_shares(shares: np.ndarray, points: int = 4, n: int = 5, zeta: float = 1.0) -> Trials:
    """Return trials whose shares of changes beyond 0.5 are these multiples of 1 / points."""
    m = len(shares)
    beyond = np.arange(points) < np.round(shares * points)[:, None]
    design = Design("", n, n * m, points * m, points=points, zeta=zeta)
    return Trials(beyond[:, None, :].astype(float), design)


def test_verdicts_are_holms_over_e_values_that_aim_at_their_part_of_the_level() -> None:
    rng = np.random.default_rng(0)
    means = [0.02, 0.06, 0.1, 0.2, 0.5]
    trials = {str(p): of_shares(rng.binomial(4, p, 80) / 4) for p in means}
    result = CompareResult.judge(trials, 0.5, 0.15)
    assert result.test == "averaged"
    alone = [t.test(0.5, 0.15, 0.05 / 5) for t in trials.values()]
    best = [max(r.trajectory) / 0.01 for r in alone]
    certified = holm_e_values(best, 0.05)
    assert [i for i, row in enumerate(result.rows) if row.stable] == certified
    assert 0 < len(certified) < 5
    for row, r in zip(result.rows, alone, strict=True):
        assert row.e_value == r.e_value
        assert row.pvalue == r.pvalue
        if r.stable:  # what passes at its own part of the level passes together
            assert row.stable
            assert row.delta_hat == 0.15
    assert result["0.5"].verdict == "unstable"


def test_the_chance_of_any_false_stable_is_at_most_alpha() -> None:
    """Four algorithms exactly at δ, with a coin, so that a test alone errs with 0.1.

    120 comparisons and a fixed seed; false-alarm rate below 1e-6. Without Holm the chance is
    0.34, and 29 of 120 are then exceeded with probability 0.99.
    """
    rng = np.random.default_rng(0)
    m, delta, alpha, wrong = 16, 0.25, 0.1, 0
    for _ in range(120):
        coin = float(rng.random())
        shares = rng.choice([0.0, 0.25, 0.5], size=(4, m), p=[0.25, 0.5, 0.25])
        trials = {str(i): of_shares(row, zeta=coin) for i, row in enumerate(shares)}
        wrong += bool(CompareResult.judge(trials, 0.5, delta, alpha, randomized=True).stable)
    assert 0 < wrong <= stats.binom.isf(1e-6, 120, alpha)


def test_the_test_is_chosen_once_for_all_before_the_first_fit() -> None:
    spare = {
        "X_unlabeled": np.random.default_rng(0).normal(size=(884, 10)),
        "n": 8,
        "epsilon": 60,
        "delta": 0.3,
    }
    result = poise.compare(TWO, X, y, **spare, random_state=0)
    assert {row.test for row in result.rows} == {"averaged"}
    assert {t.changes.shape for t in result.trials} == {(55, 1, 16)}
    assert "chosen before the first fit" in result.why
    for algorithm, trials in zip(TWO.values(), result.trials, strict=True):
        given = {"X_unlabeled": spare["X_unlabeled"], "n": 8, "points": 16, "random_state": 0}
        alone = poise.measure(algorithm, X, y, **given)
        assert alone.changes.tolist() == trials.changes.tolist()
    plain = poise.compare(TWO, X, y, **spare, random_state=0, test="binomial")
    assert {t.changes.shape for t in plain.trials} == {(55,)}
    with pytest.raises(ArgumentError, match="need test='averaged'"):
        poise.compare(TWO, X, y, **spare, test="binomial", points=2)
    with pytest.raises(ArgumentError, match="test must be one of"):
        poise.compare(TWO, X, y, **spare, test="other")


def test_journals_keep_the_trials_that_were_chosen(tmp_path) -> None:
    """One more algorithm or size lowers the level of each, and could change the choice."""
    fresh = np.random.default_rng(0).normal(size=(442, 10))
    asked = {"X_unlabeled": fresh, "epsilon": 60, "random_state": 0}
    one = {"n": 12, "delta": 0.2, "journal": tmp_path / "compared"}
    first = poise.compare({"ridge": Ridge()}, X, y, **asked, **one)
    many = {str(k): nearest for k in range(6)} | {"ridge": Ridge()}
    assert first.trials[0].design.points > 1
    assert poise.compare(many, X, y, **asked, n=12, delta=0.2).test == "binomial"
    again = poise.compare(many, X, y, **asked, **one)
    assert again.test == "averaged"
    assert again.trials[-1].changes.tolist() == first.trials[0].changes.tolist()
    sizes = {"delta": 0.2, "journal": tmp_path / "curve"}
    alone = poise.stability_curve(Ridge(), X, y, n=[12], **asked, **sizes)
    wider = poise.stability_curve(Ridge(), X, y, n=[8, 9, 10, 11, 12], **asked, **sizes)
    assert alone.tests == wider.tests[-1:] == ("averaged",)
    without = poise.stability_curve(Ridge(), X, y, n=[8, 9, 10, 11, 12], **asked, delta=0.2)
    assert without.tests[-1] == "binomial"


def test_without_spare_rows_the_default_is_the_binomial_test_bit_for_bit() -> None:
    asked = {"n": 12, "epsilon": 20, "delta": 0.2, "random_state": 0}
    usual, binomial = (poise.compare(TWO, X, y, **asked, **t) for t in ({}, {"test": "binomial"}))
    assert usual.rows == binomial.rows
    assert all(row.test == "binomial" and row.e_value is None for row in usual.rows)


def test_words_tables_and_pictures_speak_of_shares() -> None:
    rng = np.random.default_rng(1)
    trials = {p: of_shares(rng.binomial(4, float(p), 60) / 4) for p in ("0.01", "0.6")}
    result = CompareResult.judge(trials, 0.5, 0.2, why="It was chosen.")
    table = result.table()
    assert "mean share" in table.columns
    assert float(table.rows[1][2]) == pytest.approx(0.6, abs=0.1)
    text = str(result)
    assert "A trial answers with a fraction" in text
    assert "It was chosen." in text
    content = json.loads(result.to_json())
    assert (content["test"], content["algorithms"][0]["test"]) == ("averaged", "averaged")
    assert content["algorithms"][0]["e_value"] == result.rows[0].e_value
    assert len(result.plot().axes[0].get_yticklabels()) == 2


def test_certified_sizes_are_holms() -> None:
    """Plain Binomial trials: against the p-values of SciPy, adjusted by hand."""
    counts, m = [0, 2, 4, 20], 60
    trials = tuple(
        Trials.from_changes([1.0] * b + [0.0] * (m - b), n=n)
        for n, b in zip((5, 6, 7, 8), counts, strict=True)
    )
    curve = StabilityCurve(trials, epsilon=0.5, delta=0.17, alpha=0.05)
    p = stats.binom.cdf(counts, m, 0.17)
    assert curve.adjusted == pytest.approx(
        [min(1, max(4 * p[0], x)) for x in (4 * p[0], 3 * p[1], 2 * p[2], p[3])]
    )
    assert curve.certified == (5, 6, 7)
    assert 2 * p[2] <= 0.05 < 4 * p[2]  # Bonferroni would certify two of them
    assert "is wrong is at most 0.05 (Holm)" in curve.meaning()
    assert "no contradiction" in curve.meaning()
    assert curve.to_dict()["sizes"]["pvalue_adjusted"] == list(curve.adjusted)


def test_the_chance_of_any_false_size_is_at_most_alpha() -> None:
    """Four sizes exactly at δ: 38 trials with at most one exceedance have probability 0.0953.

    300 curves and a fixed seed; false-alarm rate below 1e-6. Without Holm 0.33 of them have a
    false size, more than 57 of 300 with probability above 0.999.
    """
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):
        changes = (rng.random((4, 38)) < 0.1).astype(float)
        trials = tuple(Trials.from_changes(row, n=5 + i) for i, row in enumerate(changes))
        wrong += bool(StabilityCurve(trials, epsilon=0.5, delta=0.1, alpha=0.1).certified)
    assert wrong <= stats.binom.isf(1e-6, 300, 0.1)


def test_a_curve_by_the_averaged_test() -> None:
    more = np.random.default_rng(0).normal(size=(884, 10))
    asked = {"n": [4, 8], "epsilon": 60, "delta": 0.3, "X_unlabeled": more, "random_state": 0}
    curve = poise.stability_curve(nearest, X, y, **asked)
    assert curve.tests == ("averaged", "averaged")
    assert [t.changes.shape for t in curve.trials] == [(110, 1, 8), (55, 1, 16)]
    for i, trials in enumerate(curve.trials):
        assert curve.delta_hat[i] == trials.delta_hat(60, 0.05 / 4)
    assert curve.to_dict()["sizes"]["test"] == ["averaged", "averaged"]
    assert "The averaged test was used at n = 4, 8" in curve.meaning()
    assert "averaged" in curve.table().rows[0]
    assert len(curve.plot().axes) == 2
    plain = poise.stability_curve(nearest, X, y, **asked, test="binomial")
    assert plain.tests == ("binomial", "binomial")
    assert "test" not in plain.columns()
    with pytest.raises(ArgumentError, match="need test='averaged'"):
        poise.stability_curve(Ridge(), X, y, **asked, test="binomial", points=2)
