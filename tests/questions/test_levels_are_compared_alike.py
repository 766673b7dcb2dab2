"""A p-value a little above its level: every way to a verdict says the same about it.

A p-value of the Binomial test is compared exactly. A bet aims at its level, and the rounding of
a bet that reaches it is forgiven.
"""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.results import Trials
from poise.results.judged_together import judged_together
from poise.results.pvalues_any_level import pvalues_at_any_level
from poise.storage.ledger.entries import AskedQuestion, LedgerAnswer, LedgerHeader, Stake
from poise.storage.ledger.verdicts_that_hold import invested_standings, standings
from poise.theory.decision import declares
from shared.ledgers import asked_questions
from shared.monitors import last_row

DELTA, TRIALS = 0.1, 40
SMALL = poise.theory.pvalue(0, TRIALS, DELTA)  # no prediction moved
BELOW, ABOVE = SMALL / (1 + 5e-10), SMALL * (1 + 1e-12)  # levels, a little beside the p-value
X, Y = np.arange(400.0)[:, None], np.zeros(400)
ASKED = {"n": 9, "epsilon": 0.5, "delta": DELTA, "test": "binomial", "random_state": 0}
SAID = [(BELOW, "inconclusive"), (ABOVE, "stable")]


def last_but_zero(X, y, seed):
    """Predict zero: a second algorithm whose predictions never move."""
    return lambda rows: np.zeros(rows.shape[0])


@pytest.mark.filterwarnings("ignore::poise.errors.PowerWarning")
@pytest.mark.parametrize(("level", "said"), SAID)
def test_alone_and_in_a_ledger(tmp_path, level, said) -> None:
    ledger = poise.Ledger(tmp_path / "a.ledger")
    result = poise.stability_test(last_row, X, Y, **ASKED, alpha=level, ledger=ledger)
    assert (result.n_trials, result.pvalue) == (TRIALS, SMALL)
    assert result.verdict.value == said
    (asked,) = asked_questions(ledger)
    assert asked["verdict"] == said
    assert asked["holds"] == (True if said == "stable" else None)


@pytest.mark.filterwarnings("ignore::poise.errors.PowerWarning")
@pytest.mark.parametrize(("level", "said"), SAID)
def test_in_a_comparison_and_its_ledger(tmp_path, level, said) -> None:
    """Two algorithms: Holm's method doubles both p-values, and the level is twice as large."""
    ledger = poise.Ledger(tmp_path / "a.ledger")
    both = [last_row, last_but_zero]
    result = poise.compare(both, X, Y, **ASKED, alpha=2 * level, ledger=ledger)
    assert [row.verdict.value for row in result.rows] == [said, said]
    assert [each["holds"] for each in asked_questions(ledger)] == [said == "stable"] * 2


@pytest.mark.parametrize(("level", "said"), SAID)
@pytest.mark.parametrize("rule", ["holm", "spending", "investing"])
def test_by_every_rule_of_a_ledger(rule, level, said) -> None:
    asked = AskedQuestion.of("rows", "model", {}, {})
    # Holm gives one question all of its level, spending a half, and investing its stake.
    alpha = {"holm": level, "spending": 2 * level, "investing": 0.5}[rule]
    header = LedgerHeader("0" * 32, alpha, rule)
    if rule == "investing":
        asked = AskedQuestion("a", "rows", "", "model", {}, Stake(level, level, 0))
        found = invested_standings(header, [(asked, _answer(asked))], {"rows": "rows"})
    else:
        found = standings(header, [(asked, _answer(asked))])
    assert bool(found[0].holds) == (said == "stable")


def _answer(asked: AskedQuestion) -> LedgerAnswer:
    return LedgerAnswer(asked.id, "stable", SMALL, 1.0)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.3])
@pytest.mark.parametrize("moved", [0, 3])
def test_a_bet_that_is_won_holds_everywhere(alpha, moved) -> None:
    changes = np.zeros((120, 1, 4))
    changes[:moved, 0, 0] = 1.0
    trials = Trials.from_changes(changes, n=5)
    result = trials.test(0.5, 0.2, alpha)
    (together,) = judged_together([trials], 0.5, 0.2, alpha)
    found, _ = pvalues_at_any_level(trials, (0.5, 0.2), alpha)
    assert (result.test, result.verdict, together.verdict) == ("averaged", "stable", "stable")
    assert found <= alpha


def test_a_bet_is_granted_rounding_and_a_count_is_not() -> None:
    for level in (0.05, 1e-12, 0.7):
        assert declares(level, level)
        assert declares(level * (1 + 5e-10), level, bet=True)
        assert not declares(level * (1 + 5e-10), level)
        assert not declares(level * (1 + 2e-9), level, bet=True)
    assert not declares(float("nan"), 0.05)
    assert not declares(float("nan"), 0.05, bet=True)


def test_p_values_of_bets_are_at_most_the_level_that_was_reached() -> None:
    """A bet ends at 1 - 1e-16: its own p-value is above the level, and that for a ledger is not."""
    rounded = 0
    for m in range(30, 90):
        trials = Trials.from_changes(np.zeros((m, 1, 2)), n=5)
        for alpha in (0.05, 0.04, 0.03):
            result = trials.test(0.5, 0.1, alpha)
            rounded += result.stable and result.pvalue > alpha
            found = pvalues_at_any_level(trials, (0.5, 0.1), alpha)[0]
            assert declares(found, alpha) == result.stable
    assert rounded > 0
