"""Arguments of ``fit`` that belong to the rows, such as sample weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poise.data.rows import Rows, as_rows
from poise.data.suitable import check_weights
from poise.errors import ArgumentError, DataError

_PER_ROW = ("sample_weight", "groups")  # names that always mean one value per row


def divided(
    values: Mapping[str, Any] | None, sample_weight: Any, n_labeled: int
) -> tuple[dict[str, Rows], dict[str, Any]]:
    """Divide arguments of fit into those that follow the rows and all others.

    As in scikit-learn, those as long as the labelled rows follow them.

    Examples
    --------
    >>> per_row, constant = divided({"verbose": False}, [1.0, 2.0, 3.0], 3)
    >>> list(per_row), constant
    (['sample_weight'], {'verbose': False})
    """
    if values is None and sample_weight is None:
        return {}, {}
    if values is not None and not (
        isinstance(values, Mapping) and all(isinstance(name, str) for name in values)
    ):
        rule = "must be a dict of arguments of fit, such as {'sample_weight': weights}"
        raise ArgumentError(rule, argument="fit_params", got=values)
    given = dict(values or {})
    if sample_weight is not None:
        if "sample_weight" in given:
            raise ArgumentError("is given twice, also in fit_params", argument="sample_weight")
        given["sample_weight"] = sample_weight
    per_row, constant = {}, {}
    for name, value in given.items():
        length, argument = _length(value), f"fit_params[{name!r}]"
        kind = name.rpartition("__")[2]
        if length is None or (length != n_labeled and kind not in _PER_ROW):
            constant[name] = value
        elif length != n_labeled:
            raise other_length(argument, n_labeled, length)
        else:
            per_row[name] = as_rows(value, argument)
            if kind == "sample_weight":
                check_weights(per_row[name], argument)
    return per_row, constant


def _length(value: Any) -> int | None:
    """Count the rows of a container; None if the value is none."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else None
    return len(value) if isinstance(value, (list, tuple)) or hasattr(value, "to_numpy") else None


def other_length(name: str, rows: int, found: int) -> DataError:
    """Return the error about values that are not one for each row."""
    kind = "unlabelled" if name == "groups_unlabeled" else "labelled"
    return DataError(f"must hold one value per {kind} row ({rows}), got {found}", argument=name)
