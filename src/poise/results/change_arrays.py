"""Arrays of changes: what may stand in them, and how they are written."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import ArgumentError

__all__ = ["Steps", "as_change_table", "as_changes", "nan_to_none", "read_changes"]


def as_changes(values: ArrayLike, shape: tuple[int, ...] = ()) -> NDArray[np.float64]:
    """Return changes as numbers; refuse any other value, and name the first one."""
    if shape:
        return as_change_table(values, shape, "(trials, removals, points)")
    try:
        changes = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"changes must be a list of numbers >= 0, got {values!r}") from None
    if changes.ndim != 1:
        raise ArgumentError(f"changes must be a flat list of numbers, got shape {changes.shape}")
    if not changes.min(initial=0.0) >= 0:  # one is negative, or not a number
        first = np.flatnonzero(np.isnan(changes) | (changes < 0))[0]
        raise ArgumentError(
            f"changes must be numbers >= 0, got {changes[first]} at position {first}"
        )
    # A writable array is copied, because its owner may change it later; others are not.
    return changes.copy() if changes.flags.writeable else changes


def as_change_table(values: ArrayLike, shape: tuple[int, ...], axes: str) -> NDArray[np.float64]:
    """Return the changes of trials with several each, nan where one failed.

    Parameters
    ----------
    values : nested lists or an array
        Numbers >= 0 or nan; others are refused.
    shape : tuple of int
        The shape that every trial must have.
    axes : str
        What the axes are, for the message: "(trials, removals, points)".

    Examples
    --------
    >>> as_change_table([[0.5, float("nan")]], (2,), "(trials, points)").shape
    (1, 2)
    >>> as_change_table([[-1.0, float("nan")]], (2,), "(trials, points)")
    Traceback (most recent call last):
    poise.errors.ArgumentError: changes must be numbers >= 0 or nan, got -1.0
    """
    try:
        changes = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"changes must hold numbers >= 0 or nan, got {values!r}") from None
    changes = changes.reshape(0, *shape) if changes.size == 0 else changes
    if changes.shape[1:] != shape:
        sizes = ", ".join(map(str, ("m", *shape)))
        raise ArgumentError(f"changes must have shape {axes} = ({sizes}), got {changes.shape}")
    if (changes < 0).any():
        raise ArgumentError(f"changes must be numbers >= 0 or nan, got {np.nanmin(changes)}")
    return changes


def nan_to_none(changes: NDArray[np.float64]) -> list[Any]:
    """Return changes as lists, with None for nan, which JSON does not have."""
    if not np.isnan(changes).any():
        plain: list[Any] = changes.tolist()
        return plain
    known: list[Any] = np.where(np.isnan(changes), None, changes).tolist()  # type: ignore[call-overload]
    return known


def read_changes(values: ArrayLike) -> NDArray[np.float64]:
    """Return the changes that a file holds; refuse words, dates and whatever else is no number.

    Examples
    --------
    >>> read_changes([0.5, None])
    array([0.5, nan])
    >>> read_changes(["0.5"])
    Traceback (most recent call last):
    poise.errors.ArgumentError: changes must be numbers
    """
    try:
        array = np.asarray(values)
        numbers = array.dtype.kind in "iuf" or (array.dtype.kind == "O" and _all_known(array))
        changes = array.astype(np.float64) if numbers else None
    except (ArithmeticError, TypeError, ValueError):  # rows of different lengths, huge numbers
        changes = None
    if changes is None:
        raise ArgumentError("changes must be numbers")
    return changes


def _all_known(array: NDArray[np.object_]) -> bool:
    return all(value is None or type(value) in (int, float) for value in array.ravel().tolist())


class Steps(NamedTuple):
    """The steps of a profile: the first fields of :class:`poise.Profile`, and its failures."""

    epsilon: NDArray[np.float64]
    delta_hat: NDArray[np.float64]
    exceedances: NDArray[Any]
    band: str
    n_failures: int = 0
