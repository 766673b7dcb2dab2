"""What results say: every sentence is true of the numbers behind it."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom
from sklearn.linear_model import Ridge

import poise
from poise.arguments.printed_numbers import at_least, at_most, confidence, exactly
from shared.paths import DOCS


def judged(moved: int, m: int, *, failed: int = 0, seen: int | None = None, **question):
    """Judge trials of which some moved, some failed, and only the first ``seen`` were run."""
    changes = np.array([np.inf] * failed + [1.0] * moved + [0.0] * (m - moved - failed))
    trials = poise.Trials.from_changes(changes, n=7, failures=("singular",) * failed)
    trials = dataclasses.replace(trials, changes=changes[:seen])
    return trials.test(**({"epsilon": 0.5, "delta": 0.1} | question))


def test_failures_are_counted_apart_from_changes() -> None:
    result = judged(3, 60, failed=37)
    assert result.verdict == "inconclusive"
    text = result.summary()
    assert "moved by more than 0.5 or the trial failed: 3 moved, 37 failed" in text
    assert "repair 37 trials that failed" in text
    assert "and ask again of fresh rows" in text
    assert (result.facts()["larger changes"], result.facts()["failed trials"]) == ("3", "37")
    assert "failed" not in judged(3, 60).summary()


@pytest.mark.parametrize("m", [12, 60])
@pytest.mark.parametrize("delta", [0.1, 0.4])
def test_the_printed_sentence_is_false_with_probability_at_most_alpha(m, delta) -> None:
    """Exact enumeration over δ*: the interval that is printed, for every count."""
    said = []
    for count in range(m + 1):
        text = judged(count, m, delta=delta).summary()
        said.append([float(x) for x in re.search(r"between (\S+) and (\S+);", text).groups()])
    low, high = np.array(said).T
    for truth in np.concatenate([np.linspace(0, 1, 201), low + 1e-9, high - 1e-9]):
        missed = (truth < low) | (truth > high)
        assert stats.binom.pmf(np.arange(m + 1), m, truth)[missed].sum() <= 0.05


def test_two_statements_that_share_a_level_say_each() -> None:
    assert "Each at confidence 0.95: " in judged(3, 60).summary()
    assert "Each at confidence 0.99999: " in judged(3, 60, alpha=1e-5).summary()
    assert "confidence 1" not in judged(3, 60, alpha=1e-5).summary()


def test_a_limit_beyond_the_question_is_explained() -> None:
    stable = judged(0, 30)
    assert stable.stable
    assert stable.delta_hat < 0.1 < stable.delta_interval[1]
    assert f"one-sided limit of that confidence: at most {at_most(stable.delta_hat)}" in str(stable)
    unstable = judged(11, 60)
    assert unstable.verdict == "unstable"
    assert unstable.delta_interval[0] < 0.1 < unstable.delta_lower
    assert f"at least {at_least(unstable.delta_lower)}" in str(unstable)
    assert "one-sided" not in judged(3, 60).summary()


def test_the_question_is_written_to_the_letter() -> None:
    result = judged(0, 60, epsilon=0.123449, delta=1 / 3)
    assert "declared (0.123449, 0.3333333333333333)-stable" in result.summary()
    for value in np.random.default_rng(0).uniform(0, 2e4, size=200):
        assert float(exactly(value).replace(",", "")) == value


def test_more_rows_means_fresh_rows_alone() -> None:
    text = judged(6, 60).summary()
    assert "Next: fresh rows alone (these rows tested again together with fresh ones" in text
    hopeless = judged(0, 20)
    assert "fresh labelled rows" in hopeless.summary()


def test_limits_of_a_stopped_run_are_no_advice() -> None:
    cut = judged(0, 50, seen=41, delta=0.02, alpha=0.05)
    assert cut.stopped_early
    assert "would have passed" not in cut.summary()
    assert "would have passed" in judged(0, 50, delta=0.02, alpha=0.05).summary()


def test_why_trials_were_left_out() -> None:
    forced = judged(60, 100, seen=40)
    assert (forced.verdict, forced.settled) == ("unstable", True)
    assert "40 of 100 independent trials, stopped once the verdict was forced" in forced.summary()
    assert "counting every unseen trial as no change" in forced.summary()
    ruled_out = judged(8, 100, seen=8)
    assert ruled_out.verdict == "not certified stable"
    text = ruled_out.summary()
    assert text.startswith(
        "NOT CERTIFIED STABLE: the full run would not declare unknown (0.5, 0.1)"
    )
    assert 'stopped once "stable" was ruled out' in text
    assert "verdict was forced" not in text
    assert "counting every unseen trial as a larger change" in text
    assert json.loads(ruled_out.to_json())["verdict"] == "not certified stable"
    cut = judged(1, 100, seen=8)
    assert cut.verdict == "inconclusive"
    assert "cut short before the verdict was settled" in cut.summary()


def test_a_curve_with_infinite_changes_or_a_flat_trend_is_summed_up() -> None:
    flat = [poise.Trials.from_changes([2.0 - 1e-9 * n] * 60, n=n) for n in (10, 20, 40)]
    text = poise.StabilityCurve(tuple(flat), epsilon=1.0, delta=0.2).summary()
    assert "shrank like n^-b, b between" in text
    assert "would hold" not in text  # no assumption is offered that was seen to be false
    shrinking = [poise.Trials.from_changes([20 / n] * 60, n=n) for n in (10, 20)]
    text = poise.StabilityCurve(tuple(shrinking), epsilon=0.5, delta=0.2).summary()
    assert "from n = 40 on if changes shrink at least like 1/n" in text
    wild = [poise.Trials.from_changes([1.0] * 50 + [np.inf] * 10, n=n) for n in (10, 20)]
    assert "Certified to be stable at none of these sizes." in (
        poise.StabilityCurve(tuple(wild), epsilon=0.5, delta=0.2).summary()
    )


def test_tables_round_limits_up() -> None:
    changes = np.random.default_rng(1).exponential(size=200)
    curve = poise.StabilityCurve(
        tuple(poise.Trials.from_changes(changes / n, n=n) for n in (10, 30)), 0.123449, 0.2
    )
    table = curve.table()
    for heading, limits in (
        ("epsilon at most", curve.epsilon_hat),
        ("delta at most", curve.delta_hat),
    ):
        column = table.columns.index(heading)
        for row, limit in zip(table.rows, limits or (), strict=True):
            assert float(row[column].replace(",", "")) >= limit
    profile = poise.Trials.from_changes(changes, n=5).profile()
    for written, _, limit in profile.table().rows:
        assert float(profile.at(float(written.replace(",", "")))) <= float(limit)
    assert profile.table([0.123449]).rows[0][0] == "0.123449"
    result = judged(0, 20)
    assert result.power_bound is None or float(at_most(result.power_bound)) >= result.power_bound


def test_confidence_is_never_certainty() -> None:
    for alpha in (0.05, 1e-5, 1e-12, 0.05 / 3, 0.5):
        assert float(confidence(alpha)) < 1
        assert float(confidence(alpha)) <= 1 - alpha + 1e-15


def test_one_presentation_for_terminal_notebook_and_report() -> None:
    import click
    from click.testing import CliRunner

    from poise.cli.screen import print_result
    from poise.results.report.html_report import Section, render_report

    result = judged(3, 60, failed=2)
    page, notebook = render_report([Section(result)]), result.to_html()
    runner = CliRunner()
    shown = runner.invoke(click.command()(lambda: print_result(result)), env={"COLUMNS": "500"})
    for name, value in result.facts().items():
        for place in (page, notebook):
            assert f">{name}</" in place
            assert f">{value}</" in place
        line = rf"^{re.escape(name)} +{re.escape(value)} *$"
        assert re.search(line, shown.output, re.MULTILINE)
    for sentence in (result.describe().headline, *result.describe().paragraphs):
        assert sentence.replace('"', "&#34;") in page
        assert sentence in shown.output


def test_trials_are_short_in_print() -> None:
    trials = poise.Trials.from_changes(np.arange(1e6), n=5)
    assert len(str(trials)) < 400
    assert len(repr(trials)) < 200
    assert trials.summary() == str(trials)
    assert "nothing judged yet" in str(trials)


def test_lower_limits_are_attributes() -> None:
    changes = np.arange(60.0)
    trials = poise.Trials.from_changes(changes, n=5)
    result = trials.test(epsilon=30.5, delta=0.2)
    assert result.verdict == "unstable"
    assert result.delta_lower == trials.delta_lower(30.5) == poise.theory.delta_lower(29, 60, 0.05)
    assert result.epsilon_lower == trials.epsilon_lower(0.2) > 30.5
    assert result.delta_interval == trials.delta_interval(30.5)
    again = poise.StabilityResult.from_json(result.to_json())
    assert again == result
    assert json.loads(result.to_json())["delta_interval"] == list(result.delta_interval)


def test_compare_marks_a_limit_that_seems_to_contradict_its_verdict() -> None:
    trials = {"calm": 80, "border": 30}
    measured = {name: poise.Trials.from_changes([0.0] * m, n=5) for name, m in trials.items()}
    result = poise.CompareResult.judge(measured, epsilon=0.5, delta=0.1)
    rows = {row[0]: row for row in result.table().rows}
    assert result["border"].stable
    assert result["border"].delta_hat > 0.1
    assert rows["border"][4].endswith("*")
    assert not rows["calm"][4].endswith("*")
    assert '* A limit beyond the question beside a verdict "stable"' in result.meaning()
    alone = poise.CompareResult.judge({"a": measured["calm"]}, epsilon=0.5, delta=0.2)
    assert "*" not in alone.summary()


def test_no_advice_invites_to_test_old_rows_with_new_ones() -> None:
    """Also where a trial is a fresh row: five looks bring a level of .05 to .139."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(130, 2)), rng.normal(size=130)
    settings = {"epsilon": 0.04, "delta": 0.3}
    result = poise.conditional_test(Ridge(), X[:30], y[:30], X[30:], **settings)
    assert result.verdict.value == "inconclusive"
    assert "Next: ask it of other fresh rows alone" in result.summary()
    assert "would not keep the error level" in result.summary()


def test_averaging_can_have_several_times_the_power() -> None:
    """Every share is 0.05, delta 0.1: 58 trials pass for certain, and one time in five by counts.

    P(Bin(58, 0.05) <= 1) = 0.2069, and two changes are too many: P(Bin(58, 0.1) <= 2) = 0.056.
    """
    changes = np.zeros((58, 1, 20))
    changes[:, 0, 0] = 1.0
    assert poise.Trials.from_changes(changes, n=10).test(0.5, 0.1, test="averaged").stable
    assert binom.cdf(2, 58, 0.1) > 0.05 > binom.cdf(1, 58, 0.1)
    assert binom.cdf(1, 58, 0.05) == pytest.approx(0.2069, abs=1e-4)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.rst")), ids=lambda page: page.stem)
def test_a_level_is_a_bound(page) -> None:
    """Of twenty tests at 0.05, at most one is expected to be wrong: it may be fewer."""
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert text.count("one is expected") == text.count("at most one is expected")
    assert "rows prove" not in text
