"""Which training rows matter: how many predictions move when a row is removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import exactly, number
from poise.errors import ArgumentError
from poise.results.text.table import TextTable

if TYPE_CHECKING:
    from poise.results.conditional_trials import ConditionalTrials

__all__ = ["Influence"]

_SHOWN = 10  # rows of the table as text


@dataclass(frozen=True, eq=False)
class Influence(ShownAsCard):
    """Training rows in order of the predictions that move when they are removed.

    These are results of actual refits, for one training set and some fresh points. They are
    descriptive: the first row is the largest of n, chosen after looking, and the same row need
    not be the first at other points. No error level belongs to any single row.

    Attributes
    ----------
    epsilon : float
        A prediction counts as moved if it changes by more than this.
    rows : ndarray of int
        Training rows, counting from 0; the most influential first.
    share : ndarray of float
        For each of these rows, the share of fresh points at which the prediction moved.
    mean_change, largest_change : ndarray of float
        Mean and largest change over the fresh points.
    failed : ndarray of int
        At how many points the change is not known.
    n_points : int
        Number of fresh points.

    Examples
    --------
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> from poise.results.conditional_trials import ConditionalTrials
    >>> design = ConditionalDesign("mean", "deployed", n=3, n_fresh=4)
    >>> changes = [[0.0, 0.5, 0.1], [0.0, 0.1, 0.3], [0.0, 0.4, 0.1], [0.0, 0.1, 0.1]]
    >>> influence = ConditionalTrials(np.array(changes), design).influence(epsilon=0.2)
    >>> influence.rows.tolist(), influence.share.tolist()
    ([1, 2, 0], [0.5, 0.25, 0.0])
    """

    epsilon: float
    rows: NDArray[np.int64]
    share: NDArray[np.float64]
    mean_change: NDArray[np.float64]
    largest_change: NDArray[np.float64]
    failed: NDArray[np.int64]
    n_points: int

    @classmethod
    def of(cls, record: ConditionalTrials, epsilon: float) -> Influence:
        """Order the rows by share, then by mean change, then as they are."""
        if record.design.notion != "deployed":
            raise ArgumentError(
                "influence is about removed training rows; measure notion='deployed', got "
                f"{record.design.notion!r}"
            )
        known = ~np.isnan(record.changes)
        changes = np.where(known, record.changes, 0.0)
        points = max(1, record.n_observed)
        share = np.count_nonzero(changes > epsilon, axis=0) / points
        mean = changes.sum(axis=0) / np.maximum(1, known.sum(axis=0))
        order = np.lexsort((np.arange(len(share)), -mean, -share))
        largest = changes.max(axis=0, initial=0.0)
        failed = record.n_observed - known.sum(axis=0)
        return cls(
            epsilon,
            rows=order,
            share=share[order],
            mean_change=mean[order],
            largest_change=largest[order],
            failed=failed[order],
            n_points=record.n_observed,
        )

    @property
    def multiplicity(self) -> str:
        """What this table does not say, in one sentence."""
        return (
            f"Descriptive, not certified: {len(self.rows):,} rows were compared at "
            f"{self.n_points:,} points, and the order was found by looking at all of them."
        )

    def table(self, rows: int = _SHOWN) -> TextTable:
        """Return the first rows as a table; rows are counted from 0."""
        columns = ["training row", "predictions moved", "mean change", "largest change"]
        numbers = zip(self.share, self.mean_change, self.largest_change, strict=True)
        each = zip(self.rows[:rows], numbers, strict=False)
        lines = [[f"{row:,}", *map(number, values)] for row, values in each]
        return TextTable(columns, lines, f"moved: by more than {exactly(self.epsilon)}")

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per training row."""
        import pandas as pd

        names = ("rows", "share", "mean_change", "largest_change", "failed")
        columns = {name: getattr(self, name) for name in names}
        return pd.DataFrame(columns).rename(columns={"rows": "training_row"})

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        names = ("rows", "share", "mean_change", "largest_change", "failed")
        lists = {name: getattr(self, name).tolist() for name in names}
        return {"epsilon": self.epsilon, "n_points": self.n_points} | lists

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the most influential rows; return the figure, or ``ax``."""
        from poise.results.plots.influence import plot_influence

        return plot_influence(self, ax, title=title, figsize=figsize)

    def __str__(self) -> str:
        return f"{self.table().text()}\n{self.multiplicity}"

    def _card(self) -> Card:
        return Card(self.multiplicity, "described", tables=[self.table()], draw=self.plot)
