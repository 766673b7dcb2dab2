"""Random comparisons that find the rows and regions of large changes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.protocol.messages import Answers, Batch, Comparison
from poise.protocol.randomness import Randomness

__all__ = ["Explored", "Explorer", "neighbourhood"]

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Explored:
    """Comparisons already made: which row was removed, where the prediction was read, the change.

    Examples
    --------
    >>> seen = Explored(np.array([4, 7, 4]), np.array([1, 1, 2]), np.array([0.5, 0.1, 0.3]))
    >>> seen.worst("removed", 0.5).tolist()
    [4]
    """

    removed: Indices
    points: Indices
    changes: NDArray[np.float64]
    n_failures: int = 0

    def __add__(self, other: Explored) -> Explored:
        return Explored(
            np.concatenate([self.removed, other.removed]),
            np.concatenate([self.points, other.points]),
            np.concatenate([self.changes, other.changes]),
            self.n_failures + other.n_failures,
        )

    def means(self, which: str) -> tuple[Indices, NDArray[np.float64]]:
        """Return the distinct rows and the mean change seen with each, largest first."""
        rows, place = np.unique(getattr(self, which), return_inverse=True)
        totals = np.bincount(place, weights=self.changes)
        means = totals / np.bincount(place)
        order = np.argsort(-means, kind="stable")
        return rows[order], means[order]

    def worst(self, which: str, share: float) -> Indices:
        """Return the given share of the rows, those with the largest mean changes."""
        rows, _ = self.means(which)
        return rows[: max(1, int(share * len(rows)))]

    def report(self, limit: int = 10) -> dict[str, Any]:
        """Return the worst rows with their mean changes, as plain values."""
        found = {}
        for name, which in (("worst_rows", "removed"), ("worst_points", "points")):
            rows, means = self.means(which)
            pairs = zip(rows[:limit].tolist(), means[:limit].tolist(), strict=True)
            found[name] = [[row, mean] for row, mean in pairs]
        return found


@dataclass
class Explorer:
    """Makes comparisons on subsets of some labelled rows, drawn without replacement.

    Parameters
    ----------
    n : int
        Training size.
    labeled : ndarray of int
        Rows to train on.
    points : ndarray of int
        Rows to evaluate at; may overlap with ``labeled``.
    randomness : Randomness
        Where subsets and ξ come from.
    """

    n: int
    labeled: Indices
    points: Indices
    randomness: Randomness
    stage: int = 0

    def __post_init__(self) -> None:
        needed = self.n + int(np.isin(self.points, self.labeled).any())
        if len(self.labeled) < needed:
            raise ArgumentError(
                f"exploring at n = {self.n} needs {needed} labelled rows, got "
                f"{len(self.labeled)}; ask about a smaller n"
            )

    def explore(
        self, count: int, removed: Indices | None = None, points: Indices | None = None
    ) -> Generator[Batch, Answers, Explored]:
        """Yield comparisons that remove one of these rows and read at one of those points."""
        rng = self.randomness.generator("exploration", self.stage)
        words = self.randomness.block(f"xi of exploration {self.stage}", 0, count)[:, 0]
        self.stage += 1
        rows = self.labeled if removed is None else removed
        where = self.points if points is None else points
        drawn = [self._draw(rng, rows, where) for _ in range(count)]
        answers = yield Batch(
            [
                Comparison.without_last(train, np.array([point]), int(xi), int(xi))
                for (train, point), xi in zip(drawn, words, strict=True)
            ]
        )
        last = np.array([train[-1] for train, _ in drawn])
        read_at = np.array([point for _, point in drawn])
        return Explored(last, read_at, answers.changes, len(answers.failures))

    def _draw(
        self, rng: np.random.Generator, removed: Indices, points: Indices
    ) -> tuple[Indices, int]:
        """Return a training set, the row to remove last, and a test point outside it."""
        point = int(rng.choice(points))
        candidates = removed[removed != point]
        last = rng.choice(candidates if len(candidates) else self.labeled[self.labeled != point])
        others = self.labeled[(self.labeled != point) & (self.labeled != last)]
        return np.append(rng.choice(others, self.n - 1, replace=False), last), point


def neighbourhood(sample: Sample, rows: Indices, candidates: Indices, size: int) -> Indices:
    """Return the candidates nearest to each of these rows, in standardised features.

    If features are not plain numbers, nobody knows which rows are near, and the rows
    themselves are returned.
    """
    if not sample.all_finite:
        return rows
    features = np.asarray(sample.points(candidates), dtype=np.float64).reshape(len(candidates), -1)
    centres = np.asarray(sample.points(rows), dtype=np.float64).reshape(len(rows), -1)
    scale = features.std(axis=0)
    scale[scale == 0] = 1.0
    near = set(rows.tolist())
    for centre in centres:
        distance = np.square((features - centre) / scale).sum(axis=1)
        near.update(candidates[np.argsort(distance, kind="stable")[:size]].tolist())
    return np.array(sorted(near))
