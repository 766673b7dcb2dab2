"""Arguments of ``fit`` that belong to the rows, such as sample weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.deep_copies import own_copy
from poise.data.synthetic_rows import Rows, SyntheticRows
from poise.data.tables import Table, as_table
from poise.errors import ArgumentError, DataError

__all__ = ["FitParams", "require_names", "rows_of_value"]

_PER_ROW = ("sample_weight", "groups")  # names that always mean one value per row


class FitParams:
    """Keyword arguments of ``fit``; those with one value per labelled row follow the rows.

    As in scikit-learn, an array, column or list whose length is the number of
    labelled rows is sliced with them; anything else is passed as it is.

    Parameters
    ----------
    values : mapping of str to object
        The arguments by name.
    n_labeled : int
        Number of labelled rows.

    Examples
    --------
    >>> params = FitParams({"sample_weight": [1.0, 2.0, 3.0], "verbose": False}, 3)
    >>> params.of(slice(0, 2))
    {'verbose': False, 'sample_weight': [1.0, 2.0]}
    """

    def __init__(self, values: Mapping[str, Any], n_labeled: int) -> None:
        require_names(values)
        self.per_row: dict[str, Table] = {}
        self.constant: dict[str, Any] = {}
        for name, value in values.items():
            length = rows_of_value(value)
            if length == n_labeled:
                self.per_row[name] = as_table(value, f"fit_params[{name!r}]")
            elif length is not None and name.rpartition("__")[2] in _PER_ROW:
                raise DataError(
                    f"fit_params[{name!r}] must hold one value per labelled row ({n_labeled}), "
                    f"got {length}"
                )
            else:
                self.constant[name] = value

    def only(self, rows: NDArray[np.int64]) -> FitParams:
        """Return the arguments for these rows alone."""
        kept = FitParams({}, len(rows))
        kept.constant = self.constant
        kept.per_row = {name: as_table(t.take(rows), name) for name, t in self.per_row.items()}
        return kept

    @property
    def names(self) -> list[str]:
        """The names of all arguments."""
        return [*self.constant, *self.per_row]

    def require_rows(self, rows: Rows) -> None:
        """Refuse rows that are not those of the data."""
        if isinstance(rows, SyntheticRows) and self.per_row:
            raise ArgumentError(
                "fit_params belong to the rows of the data; a procedure that generates its own "
                f"rows has no {', '.join(self.per_row)} for them"
            )

    def of(self, rows: Rows) -> dict[str, Any]:
        """Return the arguments for a fit on these rows, as fresh copies."""
        self.require_rows(rows)
        constant = {name: own_copy(value) for name, value in self.constant.items()}
        if isinstance(rows, SyntheticRows):
            return constant
        return constant | {name: table.take(rows) for name, table in self.per_row.items()}


def require_names(values: Any) -> dict[str, Any]:
    """Return the arguments; refuse what is not a dict of arguments by name."""
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise ArgumentError(
            "fit_params must be a dict of arguments of fit by name, such as "
            f"{{'sample_weight': weights}}, got {values!r}"
        )
    return dict(values)


def rows_of_value(value: Any) -> int | None:
    """Count the rows of a container; None if the value is not a container of rows."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return int(shape[0]) if shape else None
    rows = isinstance(value, (list, tuple)) or hasattr(value, "to_numpy")
    return len(value) if rows else None
