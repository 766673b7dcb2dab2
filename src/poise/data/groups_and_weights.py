"""What belongs to the rows: their groups, their weights and other arguments of ``fit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.data.randomness import Ids
from poise.data.rows import Rows, as_rows
from poise.data.suitable import check_weights, is_missing
from poise.errors import ArgumentError, DataError

_PER_ROW = ("sample_weight", "groups")  # names that always mean one value per row


def one_per_row(values: Any, name: str, rows: Rows) -> Rows:
    """Take values that go with rows; refuse more or fewer than there are rows."""
    found = as_rows(values, name)
    if len(found) != len(rows):
        kind = "unlabelled" if name == "groups_unlabeled" else "labelled"
        rule = f"must hold one value per {kind} row ({len(rows)}), got {len(found)}"
        raise DataError(rule, argument=name)
    return found


def divided(
    values: Mapping[str, Any] | None, sample_weight: Any, rows: Rows
) -> tuple[dict[str, Rows], dict[str, Any]]:
    """Divide arguments of fit into those that follow the rows and all others.

    As in scikit-learn, those as long as the labelled rows follow them.

    Examples
    --------
    >>> rows = as_rows([[1.0], [2.0], [3.0]], "X")
    >>> per_row, constant = divided({"verbose": False}, [1.0, 2.0, 3.0], rows)
    >>> list(per_row), constant
    (['sample_weight'], {'verbose': False})
    """
    given: Any = {} if values is None else values
    if not isinstance(given, Mapping):
        rule = "must be a dict of arguments of fit, such as {'sample_weight': weights}"
        raise ArgumentError(rule, argument="fit_params", got=values)
    if sample_weight is not None:
        if "sample_weight" in given:
            raise ArgumentError("is given twice, also in fit_params", argument="sample_weight")
        given = {**given, "sample_weight": sample_weight}
    per_row, constant = {}, {}
    for name, value in given.items():
        kind, said = str(name).rpartition("__")[2], f"fit_params[{name!r}]"
        if (length := length_of(value)) is None or (length != len(rows) and kind not in _PER_ROW):
            constant[name] = value
        else:
            per_row[name] = one_per_row(value, said, rows)
        if name in per_row and kind == "sample_weight":
            check_weights(per_row[name], said)
    return per_row, constant


def length_of(value: Any) -> int | None:
    """Count the rows of a container; None if the value is none."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else None
    return len(value) if isinstance(value, (list, tuple)) or hasattr(value, "to_numpy") else None


def numbered_groups(
    groups: Any, groups_unlabeled: Any, rows: Rows, more: Rows | None
) -> tuple[Ids | None, Ids | None]:
    """Return the numbers of groups; -1 for unlabelled rows whose group has labelled rows."""
    if groups_unlabeled is not None and (groups is None or more is None):
        needs = "groups" if groups is None else "X_unlabeled"
        raise ArgumentError(f"needs {needs} as well", argument="groups_unlabeled")
    if groups is None:
        return None, None
    known: dict[Any, int] = {}
    codes = _codes(groups, "groups", rows, known)
    if more is None:
        return codes, None
    if groups_unlabeled is None:
        remedy = "a test point must not belong to a group that its trial was trained on"
        raise DataError("X_unlabeled needs groups_unlabeled where there are groups", remedy=remedy)
    here = len(known)
    return codes, np.maximum(_codes(groups_unlabeled, "groups_unlabeled", more, known) - here, -1)


def _codes(labels: Any, name: str, rows: Rows, known: dict[Any, int]) -> Ids:
    """Replace labels of any hashable type by numbers, in order of appearance."""
    found = one_per_row(labels, name, rows)
    plain = isinstance(found.native, (list, tuple))
    if not (found.single or plain):
        raise DataError("must be one column of labels", argument=name)
    values = found.native if plain else found.column(0).tolist()
    for row, label in enumerate(values):
        if is_missing(label):
            problem = f"must not be missing, got {label!r} in row {row} (counting from 0)"
            remedy = "give a row without a group a label of its own"
            raise DataError(problem, argument=name, remedy=remedy)
    try:
        return np.array([known.setdefault(label, len(known)) for label in values], dtype=np.int64)
    except TypeError:
        raise DataError("must hold numbers or text", argument=name) from None
