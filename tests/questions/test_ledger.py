"""A ledger beside the public functions: what is written, refused, and said with each verdict."""

from __future__ import annotations

import functools
import json
import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import poise
from poise.errors import ArgumentError, RecordError, ValidityWarning
from poise.results import StabilityResult
from poise.results.ledger_note import LedgerNote, LedgerVerdict, holds, passes
from poise.results.report.html_report import Section, render_report
from poise.testing import assert_stable
from shared.ledgers import asked_questions
from shared.monitors import last_row

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(800, 2)), RNG.uniform(0, 2, size=800)
# |y - y'| > epsilon has probability (2 - epsilon)^2 / 4
EASY = {"n": 4, "epsilon": 1.9, "delta": 0.1, "test": "binomial", "random_state": 0}
HARD = EASY | {"epsilon": 1.37}


def middle(X, y, seed):
    """Predict the middle response: another algorithm with changes."""
    level = float(np.median(np.asarray(y)))
    return lambda rows: np.full(rows.shape[0], level)


@pytest.fixture
def ledger(tmp_path) -> poise.Ledger:
    return poise.Ledger(tmp_path / "stability.ledger")


def test_the_verdict_is_that_of_the_question_by_itself(ledger) -> None:
    alone = poise.stability_test(last_row, X, Y, **EASY, stop_early=False)
    noted = poise.stability_test(last_row, X, Y, **EASY, ledger=ledger)
    assert noted.to_dict() | {"ledger": None} == alone.to_dict()
    assert noted.n_observed == noted.n_trials  # a stopped run has a p-value for one question only
    assert noted.ledger == LedgerNote(
        "stability.ledger",
        0.05,
        "holm",
        (LedgerVerdict("last_row: (1.9, 0.1)-stability at n = 4", "stable", True, True),),
    )
    assert noted.tested_rows is not None
    assert StabilityResult.from_json(noted.to_json()) == noted


def test_the_same_call_is_the_same_question(ledger) -> None:
    first = poise.stability_test(last_row, X, Y, **HARD, ledger=ledger)
    before = ledger.path.read_bytes()
    again = poise.stability_test(last_row, X, Y, **HARD, ledger=str(ledger.path))
    assert not first.stable
    assert again.to_dict() == first.to_dict()
    assert ledger.path.read_bytes() == before


def test_the_note_is_in_words_numbers_and_on_the_report(ledger) -> None:
    poise.stability_test(last_row, X, Y, **EASY, ledger=ledger)
    result = poise.stability_test(middle, X, Y, **EASY, ledger=ledger)
    sentence = "These rows have answered 2 questions (stability.ledger)."
    assert sentence in result.summary()
    assert "Together at error level 0.05 (Holm) 2 verdicts hold" in result.summary()
    assert result.facts()["ledger"] == "2 questions put to these rows; holds together"
    content = json.loads(result.to_json())["ledger"]
    assert (content["n_questions"], content["holds"], content["rule"]) == (2, True, "holm")
    page = render_report([Section(result)])
    assert sentence in page
    assert "2 questions put to these rows" in page
    assert "2 questions put to these rows" in result.to_html()


@pytest.mark.parametrize(
    ("rows", "change"),
    [
        (slice(0, 800), {"random_state": 1}),  # another seed
        (slice(0, 800), {"alpha": 0.2}),
        (slice(0, 400), {}),  # some of the rows
        (slice(390, 800), {}),
        (slice(0, 800), {"test": "averaged", "points": 2}),
        (slice(0, 800), {"randomized": True}),
    ],
)
def test_a_question_that_failed_is_not_asked_again(ledger, rows, change) -> None:
    failed = poise.stability_test(last_row, X[:400], Y[:400], **HARD, ledger=ledger)
    assert not failed.stable
    before = ledger.path.read_bytes()

    if rows == slice(0, 400) and not change:
        rows = slice(100, 300)
    with pytest.raises(RecordError, match=r"was put to .*answer was [iu]n") as refused:
        poise.stability_test(last_row, X[rows], Y[rows], **HARD | change, ledger=ledger)
    for word in ("fresh rows only", "poise.Monitor", "0.139 instead of 0.05"):
        assert word in str(refused.value)
    assert ledger.path.read_bytes() == before


def test_it_is_asked_of_fresh_rows_and_other_questions_of_the_same(ledger) -> None:
    poise.stability_test(last_row, X[:400], Y[:400], **HARD, ledger=ledger)
    fresh = poise.stability_test(last_row, X[400:], Y[400:], **HARD, ledger=ledger)
    assert fresh.ledger.n_questions == 1
    other = poise.stability_test(last_row, X[:400], Y[:400], **EASY, ledger=ledger)
    assert other.ledger.n_questions == 2
    code = poise.stability_test(middle, X[:400], Y[:400], **HARD, ledger=ledger)
    assert code.ledger.n_questions == 3
    both = poise.stability_test(middle, X, Y, **EASY, ledger=ledger)  # connects the two
    assert both.ledger.n_questions == 5


def test_a_share_of_the_spread_is_the_same_question_on_more_rows(ledger) -> None:
    asked = HARD | {"epsilon": "150% of spread"}
    poise.stability_test(last_row, X[:400], Y[:400], **asked, ledger=ledger)
    with pytest.raises(RecordError, match="answer was"):
        poise.stability_test(last_row, X, Y, **asked, ledger=ledger)


def test_five_looks_at_twice_the_rows_are_one_look(tmp_path) -> None:
    """delta* = delta: the level .05 becomes .139 without a ledger; with it, the first look is all.

    60 data sets. The level with the ledger is exactly that of the first look, which
    ``repeated_looks`` computes; the simulation shows that no later look is answered.
    """
    rng, sizes = np.random.default_rng(4), [46 * 2**i for i in range(5)]
    for number in range(60):
        changes = rng.uniform(size=(sizes[-1], 1)) < 0.1
        answered = []
        for size in sizes:
            trials = poise.Trials.from_changes(changes[:size, 0].astype(float), n=5)
            result = trials.test(epsilon=0.5, delta=0.1)
            rows = rng_rows(number, size)
            ledger = poise.Ledger(tmp_path / f"{number}.ledger")
            try:
                answered.append(ledger.record(result, trials, *rows))
            except RecordError:
                break
        assert len(answered) <= 1 or all(each.stable for each in answered[:-1])


def rng_rows(number: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first rows of a data set."""
    rows = np.random.default_rng(number).normal(size=(736, 2))[:size]
    return rows, rows[:, 0]


def test_a_verdict_that_does_not_hold_together_does_not_pass(tmp_path) -> None:
    path = tmp_path / "a.ledger"
    ledger = poise.Ledger(path, rule="spending", alpha=0.05)
    small = {"n": 4, "epsilon": 1.9, "delta": 0.1, "test": "binomial"}
    rows = X[:150], Y[:150]  # 30 trials: the smallest p-value is 0.9^30 = 0.042
    assert_stable(last_row, *rows, **small)
    with (
        pytest.warns(ValidityWarning, match="does not hold at error level 0.05 together"),
        pytest.raises(AssertionError, match="does not hold"),
    ):
        assert_stable(last_row, *rows, **small, ledger=ledger)
    with pytest.warns(ValidityWarning, match="does not hold"):
        result = poise.stability_test(last_row, *rows, **small, random_state=0, ledger=path)
    assert result.stable
    assert not passes(result)
    assert "does not hold" in result.warnings[0]
    assert "Warning: " in result.summary()
    assert_stable(last_row, X, Y, **EASY, ledger=tmp_path / "b.ledger")


def test_a_comparison_is_as_many_questions_as_algorithms(ledger) -> None:
    asked = EASY | {"test": "auto"}
    result = poise.compare({"last": last_row, "middle": middle}, X, Y, **asked, ledger=ledger)
    assert result.stable == ("last", "middle")
    assert result.ledger.n_questions == 2
    assert holds(result)
    assert "2 verdicts hold: last: (1.9, 0.1)-stability" in result.summary()
    assert result.to_dict()["ledger"]["n_questions"] == 2
    more = {"last": last_row, "middle": middle, "ridge": Ridge()}
    again = poise.compare(more, X, Y, **asked, ledger=ledger)
    assert again.ledger.n_questions == 3  # two of them were there
    with pytest.warns(ValidityWarning, match="unstable.* does not hold"):
        poise.compare({"last": last_row}, X, Y, **HARD, ledger=ledger)
    with pytest.raises(RecordError, match=r"last: .* was put to"):
        poise.compare({"last": last_row}, X, Y, **HARD | {"random_state": 5}, ledger=ledger)


def test_a_curve_is_as_many_questions_as_sizes(ledger) -> None:
    asked = {"epsilon": 1.9, "delta": 0.1, "random_state": 0, "ledger": ledger}
    curve = poise.stability_curve(last_row, X, Y, n=[4, 6, 12], **asked)
    found = asked_questions(ledger)
    assert [each["asked"]["n"] for each in found] == [4, 6, 12]
    assert [each["said"] for each in found] == [
        "stable" if n in curve.certified else "inconclusive" for n in curve.n
    ]
    assert ledger.to_dict()["alpha"] == 0.05
    assert curve.to_dict()["ledger"]["n_questions"] == 3
    assert "These rows have answered 3 questions" in curve.summary()
    with pytest.raises(ArgumentError, match="a ledger is for verdicts"):
        poise.stability_curve(last_row, X, Y, n=[4], delta=0.1, ledger=ledger)


def test_a_run_that_fails_has_put_its_question(ledger) -> None:
    def failing(X, y, seed):
        raise ZeroDivisionError

    with pytest.raises(poise.errors.TrialError):
        poise.stability_test(failing, X, Y, **EASY, ledger=ledger)
    assert [each["verdict"] for each in asked_questions(ledger)] == ["unanswered"]
    noted = poise.stability_test(last_row, X, Y, **EASY, ledger=ledger)
    assert noted.ledger.n_questions == 2


def test_an_interrupted_run_goes_on_from_its_journal(ledger, tmp_path) -> None:
    asked = {**EASY, "random_state": None, "journal": tmp_path / "run.jsonl", "ledger": ledger}
    first = poise.stability_test(last_row, X, Y, **asked)
    again = poise.stability_test(last_row, X, Y, **asked)
    assert again.ledger.n_questions == first.ledger.n_questions == 1


def test_measured_trials_are_judged_and_recorded(ledger) -> None:
    trials = poise.measure(last_row, X, Y, n=4, random_state=0)
    result = ledger.record(trials.test(epsilon=1.9, delta=0.1), trials, X, Y)
    assert (result.stable, result.ledger.n_questions) == (True, 1)
    assert poise.stability_test(last_row, X, Y, **EASY, ledger=ledger).ledger.n_questions >= 1


# P-values for any level ---------------------------------------------------------------------


def test_no_warning_is_given_for_nothing(ledger) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        poise.stability_test(last_row, X, Y, **EASY, ledger=ledger)


# Alpha-investing ----------------------------------------------------------------------------


@pytest.fixture
def investing(tmp_path) -> poise.Ledger:
    return poise.Ledger(tmp_path / "fresh.ledger", rule="investing")


FRESH = EASY | {"n": 3}
PARTS = [slice(start, start + 200) for start in range(0, 800, 200)]


def test_each_result_says_its_level_and_what_is_promised(investing) -> None:
    parts = iter(enumerate(PARTS))
    for level in ("0.02319", "0.04648"):  # 0.02375 / 1.02375, and 0.04875 / 1.04875 after a success
        seed, part = next(parts)
        asked = FRESH | {"random_state": seed, "ledger": investing}
        result = poise.stability_test(last_row, X[part], Y[part], **asked)
        assert result.stable
        said = result.ledger.sentence()
        assert f'gave this question the level {level} for "stable" before its first fit' in said
        assert "divided by the expected number" in said
        assert "plus 0.95, is at most 0.05 (marginal false discovery rate" in said
        assert "not the chance that any of them is wrong" in said
        assert said in result.summary()
        assert "error level 0.05 together" not in said
    assert result.facts()["ledger"] == (
        '2 questions of fresh rows; holds at the level 0.04648 for "stable"'
    )
    assert StabilityResult.from_json(result.to_json()) == result
    assert f"the level {level} for" in result.to_html()
    again = poise.stability_test(last_row, X[part], Y[part], **asked)  # the same question
    assert again.ledger == result.ledger


def test_a_verdict_above_its_level_does_not_hold(investing) -> None:
    """One large change in 50 trials: (1 - d)^50 + 50 d (1 - d)^49 = 0.0338 at d = 0.1."""
    measured = poise.measure(last_row, X[:200], Y[:200], n=3, random_state=0)
    epsilon = float(np.sort(measured.changes)[-2])
    asked = FRESH | {"epsilon": epsilon, "ledger": investing}
    with pytest.warns(ValidityWarning, match=r"above the level 0\.02319 that alpha-investing"):
        result = poise.stability_test(last_row, X[:200], Y[:200], **asked)
    assert result.stable
    assert result.pvalue == pytest.approx(0.0338, abs=1e-4)
    assert not passes(result)
    (noted,) = asked_questions(investing)
    assert noted["holds"] is False


def test_fits_are_not_started_for_what_is_refused(investing) -> None:
    fits = []

    def counting(X, y, seed):
        fits.append(seed)
        return last_row(X, y, seed)

    ask = functools.partial(poise.stability_test, counting, ledger=investing)
    ask(X[:200], Y[:200], **FRESH)
    used, before = len(fits), investing.path.read_bytes()
    assert used > 0
    refused = [
        (slice(150, 400), {"random_state": 1}, "50 of these 250 rows"),
        (slice(0, 200), {"random_state": 1}, "was put to these rows"),
        (slice(200, 400), {}, "Give another random_state"),
        (slice(200, 316), {"random_state": 1}, '"stable" could not hold'),  # 29 trials, p >= 0.047
    ]
    for part, change, message in refused:
        with pytest.raises(RecordError, match=message):
            ask(X[part], Y[part], **FRESH | change)
    with pytest.raises(RecordError, match="puts 2 questions to the same rows"):
        poise.compare({"a": counting, "b": middle}, X[400:], Y[400:], **FRESH, ledger=investing)
    about = {"n": [3, 4], "epsilon": 1.9, "delta": 0.1, "ledger": investing}
    with pytest.raises(RecordError, match="puts 2 questions to the same rows"):
        poise.stability_curve(counting, X[400:], Y[400:], **about)
    assert len(fits) == used
    assert investing.path.read_bytes() == before


def test_rows_set_aside_for_the_spread_are_used_up(investing) -> None:
    asked = FRESH | {"epsilon": "200% of spread", "ledger": investing}
    first = poise.stability_test(last_row, X[:200], Y[:200], **asked)
    assert first.design.set_aside == 30
    aside = np.random.default_rng(0).permutation(200)[:30]  # as poise.questions.set_aside chooses
    rows = np.concatenate([aside, np.arange(400, 700)])
    with pytest.raises(RecordError, match="30 of these 330 rows"):
        poise.stability_test(
            last_row, X[rows], Y[rows], **FRESH | {"random_state": 1}, ledger=investing
        )


def test_trials_that_were_measured_before_are_refused(investing, tmp_path) -> None:
    trials = poise.measure(last_row, X, Y, n=4, random_state=0)
    with pytest.raises(RecordError, match="before its first fit, and these trials are measured"):
        investing.record(trials.test(epsilon=1.9, delta=0.1), trials, X, Y)
    log = tmp_path / "run.jsonl"
    poise.stability_test(last_row, X[:200], Y[:200], **FRESH, journal=log)
    with pytest.raises(RecordError, match="was begun before the question was put"):
        poise.stability_test(last_row, X[:200], Y[:200], **FRESH, journal=log, ledger=investing)
    assert asked_questions(investing) == []


def test_a_run_that_fails_has_spent_its_level_and_may_be_repeated(investing) -> None:
    failures = iter([True, False])

    def failing_once(X, y, seed):
        if next(failures, False):
            raise ZeroDivisionError
        return last_row(X, y, seed)

    with pytest.raises(poise.errors.TrialError):
        poise.stability_test(failing_once, X[:200], Y[:200], **FRESH, ledger=investing)
    assert investing.to_dict()["wealth"]["stable"] == pytest.approx(0.0475 / 2)
    again = poise.stability_test(failing_once, X[:200], Y[:200], **FRESH, ledger=investing)
    assert again.ledger.n_questions == 1
    assert investing.to_dict()["wealth"]["stable"] == pytest.approx(0.0975)


def test_an_inconclusive_verdict_does_not_hold_anything(ledger) -> None:
    measured = poise.measure(last_row, X[:200], Y[:200], n=3, random_state=0)
    few = FRESH | {"epsilon": float(np.sort(measured.changes)[-6])}  # 5 of 50 moved by more
    result = poise.stability_test(last_row, X[:200], Y[:200], **few, ledger=ledger)
    assert result.verdict.value == "inconclusive"
    assert result.facts()["ledger"] == "1 question put to these rows; no verdict together"


def test_a_note_of_another_rule_has_no_levels(ledger, investing) -> None:
    """So certificates that were made before there were levels still say what they said."""
    holm = poise.stability_test(last_row, X[:200], Y[:200], **FRESH, ledger=ledger)
    (verdict,) = holm.ledger.to_dict()["verdicts"]
    assert set(verdict) == {"title", "verdict", "holds", "own"}
    invested = poise.stability_test(last_row, X[:200], Y[:200], **FRESH, ledger=investing)
    (verdict,) = invested.ledger.to_dict()["verdicts"]
    assert verdict["level"] == pytest.approx(0.0231990, abs=1e-6)
    assert poise.verify(invested.certificate(), last_row, X[:200], Y[:200], trials=2).verified
