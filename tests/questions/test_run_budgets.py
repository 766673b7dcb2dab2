"""Budgets of ``poise.run``: what is asked is counted, and refused before the work."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import Batch, Budget, Comparison, Query
from poise.errors import ArgumentError, BudgetError
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.budget import Counts, cost
from poise.protocol.randomness import Randomness, Shared
from shared.algorithms import CountsFits, mean
from shared.data import linear_rows
from shared.procedures import Ask

X, y = linear_rows(40, [1.0, -2.0, 0.5])


def test_what_is_asked_is_counted() -> None:
    queries = Batch([Query(np.arange(10), np.arange(3), 0), Query(slice(0, 4), None, 0)])
    pair = Query(np.arange(7), np.array([8]), 0)
    run = poise.run(Ask(queries, Batch([Comparison(pair, pair)])), mean, X, y)
    assert run.counts == Counts(calls=4, training_rows=10 + 4 + 14, evaluation_rows=3 + 2)


@pytest.mark.parametrize(
    ("limit", "granted"),
    [("calls", 6), ("training_rows", 30), ("evaluation_rows", 12)],
)
def test_a_budget_is_enforced_before_the_work(limit: str, granted: int) -> None:
    batch = Batch([Query(np.arange(10), np.arange(4), 0)] * 3)
    spent = cost(batch.tasks, 3)
    assert spent == Counts(3, 30, 12)
    once, twice = getattr(spent, limit), 2 * getattr(spent, limit)
    spy = CountsFits()
    poise.run(Ask(batch, batch), spy, X, y, budget=Budget(**{limit: twice}))
    assert spy.fits == 6
    spy = CountsFits()
    with pytest.raises(BudgetError, match=f"asks for {once} .* after {once}, .* {twice - 1} in"):
        poise.run(Ask(batch, batch), spy, X, y, budget=Budget(**{limit: twice - 1}))
    assert spy.fits == 3  # the second batch was refused as a whole


def test_a_budget_holds_for_the_binomial_test_before_its_first_fit() -> None:
    spy = CountsFits()
    test = poise.procedures.BinomialTest(n=3, epsilon=0.1, delta=0.5)
    with pytest.raises(BudgetError) as error:
        poise.run(test, spy, X, y, budget=Budget(calls=19))
    assert spy.fits == 0
    assert error.value.partial.n_observed == 0


def test_a_procedure_may_adapt_to_its_budget() -> None:
    class Modest:
        def ask(self, sample, randomness):
            for size in (100, 10):
                try:
                    answers = yield Batch([Query(np.arange(5), np.array([0]), 0)] * size)
                except BudgetError:
                    continue
                return len(answers.predictions)

    run = poise.run(Modest(), mean, X, y, budget=Budget(calls=50))
    assert run.result == 10
    assert poise.replay(run.transcript) == 10


def test_a_split_knows_its_cost_without_being_made() -> None:
    split = Split(TrialSizes(5, 6, 33, 4), Randomness(0), Shared())
    assert split.cost(6) == cost(list(split), 6)
    assert split.cost(2) == cost(list(split), 2)


@pytest.mark.parametrize("value", [-1, 2.5, "ten"])
def test_budgets_are_whole_numbers(value) -> None:
    with pytest.raises(ArgumentError, match="calls must be"):
        Budget(calls=value)
