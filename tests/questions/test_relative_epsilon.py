"""ε as a share of the spread: found from rows that no trial uses, and valid all the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text
from scipy import stats
from sklearn.linear_model import LogisticRegression, Ridge

import poise
from poise import StabilityResult, Trials
from poise.arguments.printed_numbers import at_most
from poise.errors import ArgumentError
from poise.results.relative_epsilon import in_units, read_epsilon

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = X @ [1.0, 2.0] + RNG.normal(size=400)
ASKED: dict[str, Any] = {"n": 10, "delta": 0.2, "random_state": 0}


def _test(epsilon: Any, **settings: Any) -> StabilityResult:
    return poise.stability_test(Ridge(), X, Y, epsilon=epsilon, **{**ASKED, **settings})


def test_rows_set_aside_are_used_in_no_trial_and_give_the_spread() -> None:
    seen: set[float] = set()

    def watched(rows: Any, responses: Any, seed: int) -> Any:
        seen.update(responses)

        def predict(points: Any) -> Any:
            seen.update(Y[np.flatnonzero((points == X).all(axis=1))])
            return np.zeros(len(points))

        return predict

    result = poise.stability_test(watched, X, Y, epsilon=poise.relative(0.5), **ASKED)
    assert result.design.set_aside == 30
    assert result.design.n_labeled == 370
    assert result.epsilon == pytest.approx(0.5 * result.design.spread)
    chosen = np.sort(np.random.default_rng(0).permutation(400)[:30])
    assert result.design.spread == pytest.approx(np.std(Y[chosen], ddof=1))
    assert seen
    assert not seen & set(Y[chosen])


def test_the_level_holds_for_the_epsilon_that_comes_out() -> None:
    """The prediction is the last response, so a change is |Y − Y'| of two normal variables.

    The share is such that δ* = δ at the true spread: for half of the samples the ε found is
    too small, and "stable" would be wrong. At level 0.2 that may happen in a fifth of these;
    more than the bound below has probability 1e-6. So have numbers of such samples outside
    theirs: the variance of 20 rows is below the true one with the probability of χ²₁₉ < 19.
    """
    wrong = asked = right = 0
    share = np.sqrt(2) * stats.norm.isf(0.3 / 2)

    def last(rows: Any, responses: Any, seed: int) -> Any:
        return lambda points: np.full(len(points), responses[-1])

    for seed in range(200):
        y = np.random.default_rng(seed).normal(size=200)
        result = poise.stability_test(
            last,
            np.zeros((200, 1)) + np.arange(200)[:, None],
            y,
            n=2,
            epsilon=poise.relative(share, rows=20),
            delta=0.3,
            alpha=0.2,
            random_state=seed,
            stop_early=False,
            check=False,
        )
        truth = 2 * stats.norm.sf(result.epsilon / np.sqrt(2))
        asked += truth > 0.3
        wrong += bool(result.stable and truth > 0.3)
        right += bool(result.stable and truth <= 0.3)
    below = stats.chi2.cdf(19, 19)
    assert stats.binom.ppf(5e-7, 200, below) <= asked <= stats.binom.isf(5e-7, 200, below)
    assert wrong <= stats.binom.isf(1e-6, asked, 0.2)
    assert right > wrong


def test_every_way_to_say_it_is_the_same(tmp_path: Path) -> None:
    first = _test(poise.relative(0.4))
    assert _test("40% of spread") == _test("0.4 of the spread") == first
    journal = tmp_path / "run.journal"
    assert _test("40% of spread", journal=journal) == first
    assert _test("40% of spread", journal=journal) == first
    compared = poise.compare({"ridge": Ridge()}, X, Y, epsilon="40% of spread", **ASKED)
    assert compared.epsilon == first.epsilon
    assert " = 40% of spread, 0.2)-stability at n = 10: 1 stable" in compared.headline()
    assert poise.testing.assert_stable(Ridge(), X, Y, epsilon="40% of spread", **ASKED) == first
    assert StabilityResult.from_json(first.to_json()) == first


def test_summaries_print_both_figures() -> None:
    result = _test(poise.relative(0.4))
    text = result.summary()
    assert f"({at_most(result.epsilon)} = 40% of spread, 0.2)-stable" in text
    assert "by more than 40% of spread" in text
    assert f"spread {result.design.spread:.4g} of the responses" in text
    assert "of spread" not in _test(1.0).summary()


def test_no_summary_table_or_picture_prints_all_digits_of_it_but_json_does() -> None:
    settings = {"epsilon": "40% of spread", **ASKED}
    result = _test("40% of spread")
    assert len(repr(result.epsilon)) > 12
    compared = poise.compare({"ridge": Ridge()}, X, Y, **settings)
    curve = poise.stability_curve(Ridge(), X, Y, **settings | {"n": [5, 10]})
    averaged = _test("40% of spread", test="averaged", points=3)
    for each in (result, compared, curve, averaged):
        words = [each.summary(), each._repr_html_(), *_words_of_picture(each.plot())]
        assert any("40% of spread" in text for text in words[2:])
        assert f"{each.epsilon:.6g}" not in "".join(words)  # four digits, not six or sixteen
        assert json.loads(each.to_json())["epsilon"] == each.epsilon


def _words_of_picture(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.parametrize(("spread", "verdict"), [(1.00006, "unstable"), (1.00004, "stable")])
def test_a_verdict_rounds_it_to_the_safe_side(spread: float, verdict: str) -> None:
    design = replace(Trials.from_changes([0.0], n=5).design, n_labeled=1000, spread=spread)
    change = 0.0 if verdict == "stable" else 9.0
    result = Trials(np.full(design.n_trials, change), design).test(spread, 0.2)
    assert result.verdict.value == verdict
    rounded = {"stable": "1.001", "unstable": "1"}[verdict]
    assert f"({rounded} = 100% of spread, 0.2)" in result.describe().headline


def test_groups_are_set_aside_whole_and_weights_follow() -> None:
    groups = np.repeat(np.arange(100), 4)
    result = _test(
        poise.relative(0.4), groups=groups, n=5, fit_params={"sample_weight": np.ones(400)}
    )
    assert result.design.set_aside == 32
    assert result.design.n_groups == 92


def test_trials_that_know_their_spread_can_be_asked_again() -> None:
    trials = Trials.from_changes([0.1] * 30, n=10)
    with pytest.raises(ArgumentError, match="no rows were set aside"):
        in_units("5% of spread", trials.design)
    assert in_units(0.5, trials.design) == 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"response": "decision_function"}, "in other units"),
        ({"distance": poise.LossChange("squared")}, "in other units"),
        ({"epsilon": poise.relative(0.1, rows=300)}, "leaves too few"),
        ({"epsilon": "5 of"}, "or a share as in '5% of spread'"),
        ({"epsilon": "5% of width"}, "of must be one of 'spread'"),
        ({"epsilon": "-5% of spread"}, "share must be a finite number >= 0"),
    ],
)
def test_what_has_no_spread_is_refused(settings: dict[str, Any], message: str) -> None:
    model = LogisticRegression() if "response" in settings else Ridge()
    y = (Y > 0).astype(int) if "response" in settings else Y
    with pytest.raises(ArgumentError, match=message):
        poise.stability_test(model, X, y, **{**ASKED, "epsilon": poise.relative(0.1), **settings})


def test_labels_and_constants_have_no_spread() -> None:
    for y, message in [(np.where(Y > 0, "a", "b"), "use epsilon=0"), (0 * Y, "the spread is 0")]:
        model = LogisticRegression() if y.dtype.kind == "U" else Ridge()
        with pytest.raises(ArgumentError, match=message):
            poise.stability_test(model, X, y, epsilon=poise.relative(0.1), **ASKED)


def test_text_is_read_as_it_is_meant() -> None:
    assert read_epsilon(" 5 % of spread ") == poise.relative(0.05)
    assert read_epsilon("1e-3") == 1e-3
