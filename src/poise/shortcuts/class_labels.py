"""Class labels as numbers, and the decision among classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.shortcut import Floats, Pairs, Tables

__all__ = ["Classes", "choose", "encode", "label_pairs", "label_tables"]


class Classes(NamedTuple):
    """The classes that occur in a stack of trials, and the rows of each."""

    names: NDArray[Any]  # sorted
    member: NDArray[np.bool_]  # (trials, classes, n)

    @property
    def are_labels(self) -> bool:
        """Whether scikit-learn accepts these as classes: fractions, infinities and NaN are none."""
        kind = self.names.dtype.kind
        return kind in "biuUSO" or bool(np.all(np.equal(np.mod(self.names, 1), 0)))

    @property
    def survive(self) -> NDArray[np.bool_]:
        """Whether there are at least two classes, and the same ones without the last row."""
        present, left = self.member.any(axis=2), self.member[:, :, :-1].any(axis=2)
        return np.asarray((present == left).all(axis=1) & (np.count_nonzero(left, axis=1) > 1))


def encode(y: NDArray[Any]) -> Classes:
    """Find the classes and mark the members of each.

    Most trials hold every class, so those of the first few rows are tried before
    everything is sorted.
    """
    names = np.unique(y[: 1 + 64 // y.shape[1]])
    member = y[:, None, :] == names[:, None]
    if np.count_nonzero(member) == y.size:
        return Classes(names, member)
    names = np.unique(y)
    return Classes(names, y[:, None, :] == names[:, None])


def choose(scores: Floats, error: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Choose the class with the highest score; tell whether it leads by more than the error.

    Parameters
    ----------
    scores : array of shape (trials, classes)
        −inf for classes that a trial does not hold.
    error : array of shape (trials,)
        Bound on the error of each score.
    """
    best = np.argmax(scores, axis=1)
    if scores.shape[1] == 1:
        return best, np.isfinite(scores[:, 0])
    top = np.partition(scores, -2, axis=1)[:, -2:]
    return best, np.isfinite(top[:, 1]) & (top[:, 1] - top[:, 0] > 2 * error)


def label_pairs(
    classes: Classes,
    full: NDArray[np.intp],
    reduced: NDArray[np.intp],
    trusted: NDArray[np.bool_],
) -> Pairs:
    """Turn the numbers of the classes back into their names."""
    believed = trusted & classes.are_labels
    return Pairs(classes.names[full], classes.names[reduced], believed)


def label_tables(
    classes: Classes,
    full: Floats,
    reduced: Floats,
    error: Floats,
    reduced_error: Floats | None = None,
) -> Tables:
    """Decide among classes, with all rows and without each of the last.

    A class whose only row is removed is no class of that fit. Where fewer than two are left,
    the trial is left to the fits.

    Parameters
    ----------
    full : array of shape (trials, classes, points)
        Scores, of which the highest wins.
    reduced : array of shape (trials, classes, removals, points)
    error : array of shape (trials, points)
        Bound on the error of each score.
    reduced_error : array of shape (trials, removals, points), optional
        The same for the reduced fits, if it is another.
    """
    of_reduced = error[:, None, :] if reduced_error is None else reduced_error
    removals = reduced.shape[2]
    sizes = np.count_nonzero(classes.member, axis=2)
    left = sizes[..., None] - classes.member[..., : -removals - 1 : -1] > 0
    held = np.where((sizes > 0)[..., None], full, -np.inf)
    best, leads = _decided(held[:, :, None, :], error[:, None, :])
    others, still_lead = _decided(np.where(left[..., None], reduced, -np.inf), of_reduced)
    trusted = leads & still_lead & (np.count_nonzero(left, axis=1) > 1).all(axis=1)
    names = classes.names
    slack = np.zeros(error.shape)
    return Tables(names[best[:, 0]], names[others], slack, trusted & classes.are_labels)


def _decided(scores: Floats, error: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Choose a class for every removal and point; tell in which trials all choices are certain."""
    trials, classes, removals, points = scores.shape
    errors = np.broadcast_to(error, (trials, removals, points))
    best, leads = choose(np.moveaxis(scores, 1, -1).reshape(-1, classes), errors.reshape(-1))
    certain = np.asarray(leads.reshape(trials, -1).all(axis=1))
    return best.reshape(trials, removals, points), certain
