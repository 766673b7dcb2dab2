"""Budgets count calls and rows, and refuse a batch that would go beyond a limit."""

from __future__ import annotations

import numpy as np
import pytest

from poise.data.synthetic_rows import SyntheticRows
from poise.errors import ArgumentError, BudgetError
from poise.protocol.budget import Budget, Counts, cost
from poise.protocol.messages import (
    Comparison,
    Query,
    Removals,
    first_query,
    queries_of,
    with_queries,
)

NAMES = ("calls", "training_rows", "evaluation_rows")
LONG = Query(np.arange(5), np.array([7, 8]), xi=1)
SHORT = Query(slice(0, 3), None, xi=2)
MADE_UP = Query(SyntheticRows(np.zeros((4, 1)), np.zeros(4)), SyntheticRows(np.zeros((2, 1))), xi=3)


def test_costs_add_up() -> None:
    assert cost([LONG], 1) == Counts(1, 5, 2)
    assert cost([SHORT], 1) == Counts(1, 3, 0)
    assert cost([MADE_UP], 1) == Counts(1, 4, 2)
    tasks = [Comparison(LONG, SHORT), MADE_UP, Removals((LONG,), (SHORT, MADE_UP))]
    assert cost(tasks, 3) == Counts(6, 24, 8)
    assert cost(tasks, 2) == Counts(3, 12, 4)
    assert cost(tasks, 0) == Counts()


def test_a_sequence_that_knows_its_cost_is_asked() -> None:
    class Known(list):
        def cost(self, stop):
            return Counts(stop, 10 * stop, 0)

    assert cost(Known([LONG] * 9), 4) == Counts(4, 40, 0)


@pytest.mark.parametrize("name", NAMES)
def test_each_limit_is_its_own_and_may_be_reached(name) -> None:
    budget = Budget(**{name: 10})
    assert budget.limited
    budget.check(Counts(**{name: 7}), Counts(**{name: 3}))
    others = {other: 10**9 for other in NAMES if other != name}
    budget.check(Counts(**others), Counts(**others))
    message = f"asks for 4 {name.replace('_', ' ')} after 7, but the budget grants 10 in all"
    with pytest.raises(BudgetError, match=message) as refused:
        budget.check(Counts(**{name: 7}), Counts(**{name: 4}))
    assert "Grant at least 11, or ask for less" in str(refused.value)
    Budget(**{name: 0}).check(Counts(), Counts())
    for wrong in (-1, 1.5, "ten"):
        with pytest.raises(ArgumentError, match=f"{name} must be"):
            Budget(**{name: wrong})


def test_without_limits() -> None:
    assert not Budget().limited
    Budget().check(Counts(10**9, 10**9, 10**9), Counts(10**9, 10**9, 10**9))


# --- what tasks ask for ---------------------------------------------------------------


def test_tasks_and_their_queries() -> None:
    pair, several = Comparison(LONG, SHORT), Removals((LONG,), (SHORT, MADE_UP))
    assert queries_of(LONG) == (LONG,)
    assert queries_of(pair) == (LONG, SHORT)
    assert queries_of(several) == (LONG, SHORT, MADE_UP)
    assert first_query([pair, several]) is LONG
    assert with_queries(LONG, [SHORT]) is SHORT
    assert with_queries(pair, [SHORT, LONG]) == Comparison(SHORT, LONG)
    assert with_queries(several, [SHORT, LONG, LONG]) == Removals((SHORT,), (LONG, LONG))
    assert several.shape == (2, 2)
    assert Removals((SHORT,), (SHORT,)).shape == (1, 0)


def test_all_rows_but_the_last() -> None:
    found = Comparison.without_last(np.array([4, 2, 7]), np.array([9]), xi=1, xi_reduced=2)
    assert found.full.train.tolist() == [4, 2, 7]
    assert found.reduced.train.tolist() == [4, 2]
    assert (found.full.xi, found.reduced.xi) == (1, 2)
    rows = SyntheticRows(np.arange(3.0)[:, None], np.arange(3.0))
    made_up = Comparison.without_last(rows, SyntheticRows(np.ones((1, 1))), xi=1, xi_reduced=1)
    assert made_up.reduced.train.y.tolist() == [0.0, 1.0]
