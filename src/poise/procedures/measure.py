"""Measure the changes of independent trials: the plain black-box test, without its verdict."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping

import numpy as np

from poise.data.split import Split
from poise.engine.messages import Answer, Answers, Batch, Floats, Planned, Query, Trial


class MeasuredTrials(Planned):
    """The trials of a split."""

    def __init__(self, split: Split) -> None:
        super().__init__(self._trial, range(len(split)))
        self.split = split

    @property
    def shape(self) -> tuple[int, int]:
        """Number of removals, and of points, of each trial."""
        return self.split.removals, self.split.n_points

    @property
    def n_fits(self) -> int:
        """Number of fits of each trial."""
        return self.split.full_fits + self.split.removals

    def on(self, split: Split) -> MeasuredTrials:
        """Return the same trials on other rows."""
        return MeasuredTrials(split)

    def _trial(self, k: int) -> Trial:
        """Return a trial."""
        split = self.split
        (xi, xi_reduced), points = split.terms(k), split.points(k)
        rows = [split.rows(k, j) for j in range(split.removals)]
        return Trial(
            tuple(Query(full, points, xi, place=k) for full, _ in rows[: split.full_fits]),
            tuple(Query(reduced, points, xi_reduced, place=k) for _, reduced in rows),
        )


def measure(
    split: Split,
    until: Callable[[Floats], bool] | None = None,
    known: Mapping[int, Answer] | None = None,
) -> Generator[Batch, Answers, Answers]:
    """Ask for every trial of a split, or as many as ``until`` lets pass; ``known`` is known."""
    trials = MeasuredTrials(split)
    if not len(trials):
        return Answers(np.empty((0, split.removals, split.n_points)), np.empty(0))
    return (yield Batch(trials, until, known=known or {}, places=split.block))
