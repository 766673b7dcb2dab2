"""Nearest neighbours; each row is removed in turn.

A removal matters only at points that have the row among their k nearest. There the next
nearest row takes its place, so the k+1 nearest rows of a point say everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.class_labels import encode
from poise.shortcuts.nearest_rows import Neighborhood
from poise.shortcuts.rounding_bounds import (
    LARGEST,
    ROUNDING,
    SMALLEST,
    as_numbers,
    finite_trials,
    sums_are_exact,
)
from poise.shortcuts.shortcut import AGREEMENT, Floats, Tables

__all__ = ["mean_tables", "vote_tables"]


class _InLine(NamedTuple):
    """The k+1 nearest rows of one point in each trial, nearest first."""

    rows: NDArray[np.intp]  # (trials, k+1)
    clear: NDArray[np.bool_]  # which rows these are, and which of them is the last, is certain
    ordered: NDArray[np.bool_]  # and so is their order


class _Point(NamedTuple):
    """What the neighbours of one point predict: all of them, and without each."""

    full: NDArray[Any]  # (trials,)
    reduced: NDArray[Any]  # (trials, k): without the nearest, without the second, …
    slack: Floats
    trusted: NDArray[np.bool_]


@np.errstate(all="ignore")
def mean_tables(
    near: Neighborhood, X: Floats, y: NDArray[Any], points: Floats, removals: int
) -> Tables:
    """Average the responses of the nearest rows."""
    responses = as_numbers(y)
    exact = sums_are_exact(responses)

    def predict(line: _InLine) -> _Point:
        nearest = np.take_along_axis(responses, line.rows, axis=1)
        total = nearest[:, :-1].sum(axis=1)
        # The last in line takes the place of each: the same sum if it has the same response.
        reduced = (total[:, None] + (nearest[:, -1:] - nearest[:, :-1])) / near.k
        full = total / near.k
        sure = line.clear & (exact | (line.ordered & (reduced != full[:, None]).all(axis=1)))
        return _Point(full, reduced, ROUNDING * np.abs(nearest).sum(axis=1), sure)

    found = _tables(near, X, points, removals, predict)
    size = np.maximum(np.abs(found.full).max(axis=1), np.abs(found.reduced).max(axis=(1, 2)))
    ordinary = (size < LARGEST) & ((size > SMALLEST) | exact)
    sure = ordinary & (exact | (found.slack <= AGREEMENT * size[:, None]).all(axis=1))
    return found._replace(trusted=found.trusted & sure & finite_trials(responses))


@np.errstate(all="ignore")
def vote_tables(
    near: Neighborhood, X: Floats, y: NDArray[Any], points: Floats, removals: int
) -> Tables:
    """Let the nearest rows vote; equal numbers of votes go to the first class."""
    classes = encode(y)
    codes = classes.member.argmax(axis=1)
    numbers = np.arange(len(classes.names))

    def predict(line: _InLine) -> _Point:
        votes = np.take_along_axis(codes, line.rows, axis=1)[:, :, None] == numbers
        count = np.count_nonzero(votes[:, :-1], axis=1)
        without = count[:, None, :] + votes[:, -1:] - votes[:, :-1].astype(np.int64)
        slack = np.zeros(len(count))
        return _Point(count.argmax(axis=1), without.argmax(axis=2), slack, line.clear)

    found = _tables(near, X, points, removals, predict)
    names = classes.names
    trusted = found.trusted & classes.are_labels
    return found._replace(full=names[found.full], reduced=names[found.reduced], trusted=trusted)


def _tables(
    near: Neighborhood,
    X: Floats,
    points: Floats,
    removals: int,
    predict: Callable[[_InLine], _Point],
) -> Tables:
    """Ask one point after the other, and enter what the removal of each neighbour changes."""
    n = X.shape[1]
    found, slack = [], np.empty(points.shape[:2])
    trusted = finite_trials(X, points)
    for t in range(points.shape[1]):
        line = _in_line(near, X, np.ascontiguousarray(points[:, t]))
        here = predict(line)
        found.append((here.full, _spread(n - 1 - line.rows[:, :-1], here, removals)))
        slack[:, t] = here.slack
        trusted &= here.trusted
    full, reduced = zip(*found, strict=True)
    return Tables(np.stack(full, axis=1), np.stack(reduced, axis=2), slack, trusted)


def _in_line(near: Neighborhood, X: Floats, x: Floats) -> _InLine:
    distances = near.distances(X, x)
    first = np.argpartition(distances, near.k, axis=1)[:, : near.k + 1]
    nearest = np.take_along_axis(distances, first, axis=1)
    order = nearest.argsort(axis=1)
    rows = np.take_along_axis(first, order, axis=1)
    nearest = np.take_along_axis(nearest, order, axis=1)
    margin = 2.0 * near.slack(nearest, x)
    apart = np.diff(nearest, axis=1) > margin[:, 1:]
    alone = np.count_nonzero(distances <= nearest[:, -1:] + margin[:, -1:], axis=1) == near.k + 1
    clear = alone & apart[:, -1]
    return _InLine(rows, clear, clear & (apart.all(axis=1) | (near.k == 1)))


def _spread(removals_of: NDArray[np.intp], here: _Point, removals: int) -> NDArray[Any]:
    """Return the prediction after every removal: that of the full fit, but for the neighbours'."""
    reduced = np.repeat(here.full[:, None], removals, axis=1)
    trial, place = np.nonzero(removals_of < removals)
    reduced[trial, removals_of[trial, place]] = here.reduced[trial, place]
    return reduced
