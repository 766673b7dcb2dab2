"""Budgets: how much a procedure may ask, and how much it has asked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol, runtime_checkable

from poise import arguments
from poise.arguments.field_rules import WholeNumber
from poise.data.synthetic_rows import n_rows
from poise.errors import BudgetError
from poise.protocol.messages import Tasks, queries_of

__all__ = ["Budget", "Counts", "cost"]


@dataclass(frozen=True)
class Counts:
    """Calls of the algorithm, rows it was trained on, points it was evaluated at.

    Examples
    --------
    >>> Counts(2, 39, 2) + Counts(2, 39, 2)
    Counts(calls=4, training_rows=78, evaluation_rows=4)
    """

    calls: WholeNumber = 0
    training_rows: WholeNumber = 0
    evaluation_rows: WholeNumber = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.calls + other.calls,
            self.training_rows + other.training_rows,
            self.evaluation_rows + other.evaluation_rows,
        )


@runtime_checkable
class _KnowsItsCost(Protocol):
    """Tasks that need not be made to be counted."""

    def cost(self, stop: int) -> Counts: ...


def cost(tasks: Tasks, stop: int) -> Counts:
    """Add up the calls and rows of the first ``stop`` tasks.

    A sequence that knows its own cost has a method ``cost(stop)``: a million trials that
    are made on demand need not be made to be counted.

    Examples
    --------
    >>> from poise.protocol.messages import Query
    >>> cost([Query(slice(0, 5), slice(5, 8), xi=1)], 1)
    Counts(calls=1, training_rows=5, evaluation_rows=3)
    """
    if isinstance(tasks, _KnowsItsCost):
        return tasks.cost(stop)
    total = Counts()
    for index in range(stop):
        for query in queries_of(tasks[index]):
            total += Counts(1, n_rows(query.train), n_rows(query.evaluate))
    return total


@dataclass(frozen=True)
class Budget:
    """Limits on what a procedure may ask in all; None is no limit.

    A batch that would go beyond a limit is refused as a whole, before any of it
    is computed. ``training_rows`` and ``evaluation_rows`` are the B_train and
    B_eval of the ceilings for finite spaces.

    Examples
    --------
    >>> Budget(calls=10).check(Counts(calls=8), Counts(calls=2))
    >>> Budget(calls=10).check(Counts(calls=8), Counts(calls=4))
    Traceback (most recent call last):
    poise.errors.BudgetError: the procedure asks for 4 calls after 8, but ... grants 10 ...
    """

    calls: int | None = None
    training_rows: int | None = None
    evaluation_rows: int | None = None

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) is not None:
                arguments.count(limit.name, getattr(self, limit.name))

    @property
    def limited(self) -> bool:
        """Whether there is any limit at all."""
        return any(getattr(self, limit.name) is not None for limit in fields(self))

    def check(self, spent: Counts, wanted: Counts) -> None:
        """Refuse what would go beyond a limit."""
        for name in (limit.name for limit in fields(self)):
            limit = getattr(self, name)
            before, more = getattr(spent, name), getattr(wanted, name)
            if limit is not None and before + more > limit:
                what = name.replace("_", " ")
                raise BudgetError(
                    f"the procedure asks for {more} {what} after {before}, but the budget grants "
                    f"{limit} in all; nothing of this batch was computed. Grant at least "
                    f"{before + more}, or ask for less",
                    partial=[],
                )
