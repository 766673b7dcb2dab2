"""Data that scikit-learn's estimators cannot read: no numbers, or no table.

A fit would find out too, but as the failure of a trial, perhaps after hours. Only what
is certain is refused: for an estimator of scikit-learn with plain parameters it is known
what it does with its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from poise.algorithms.seeds_and_threads import plain_parameters
from poise.arguments import counted, listed, reads_as_number, shortened
from poise.data.on_disk import StoredTable
from poise.data.sample import Sample
from poise.data.tables import Table, is_sparse

__all__ = ["wants_numbers", "wants_numeric_responses", "wants_rows_and_columns"]

_FEW_COLUMNS = 4  # columns named in a message
_READ_FROM_DISK = 10_000  # rows: a large file is not read to its end for this


def wants_rows_and_columns(estimator: Any, tags: object, sample: Sample) -> str | None:
    """Find features in one dimension, in three, or in rows of different lengths.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.utils import get_tags
    >>> wants_rows_and_columns(Ridge(), get_tags(Ridge()), Sample([1.0, 2.0], [1.0, 2.0]))
    'it takes rows and columns, and X has one dimension; for one feature give X.reshape(-1, 1)'
    """
    if not _reads_rows_and_columns(_entrance(estimator)):
        return None
    native = sample.X.native
    if isinstance(native, (list, tuple)):
        return _uneven(native)
    dimensions = 1 if sample.X.columns() is None else getattr(native, "ndim", 2)
    return None if dimensions == 2 else _wrong_shape(dimensions)


def _wrong_shape(dimensions: int) -> str:
    if dimensions == 1:
        remedy = "has one dimension; for one feature give X.reshape(-1, 1)"
    else:
        remedy = f"has {dimensions} dimensions; for one row each give X.reshape(len(X), -1)"
    return f"it takes rows and columns, and X {remedy}"


def _uneven(rows: Any) -> str | None:
    """Compare the lengths of the rows of a list."""
    if isinstance(rows[0], str) or not all(hasattr(row, "__len__") for row in rows):
        return _wrong_shape(1)
    lengths = [len(row) for row in rows]
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            return f"row {row} of X has {counted(length, 'value')}, and row 0 has {lengths[0]}"
    return None


def _entrance(estimator: Any) -> Any:
    """Return the part of a composite that gets the features first."""
    steps = getattr(estimator, "steps", None)
    if steps:
        stages = [step for _, step in steps if step not in ("passthrough", None)]
        return _entrance(stages[0]) if stages else estimator
    inner = getattr(estimator, "estimator", None)
    return estimator if inner is None else _entrance(inner)


def _reads_rows_and_columns(part: object) -> bool:
    if plain_parameters(part) is None:
        return False
    from sklearn.utils import get_tags

    tags = get_tags(part)
    inputs = tags.input_tags
    return inputs.two_d_array and not (inputs.one_d_array or inputs.string or tags.no_validation)


def wants_numbers(estimator: Any, tags: Any, sample: Sample) -> str | None:
    """Find text and dates among the features of an estimator that needs numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.utils import get_tags
    >>> X = pd.DataFrame({"size": [30, 50], "town": ["Bath", "Ely"]})
    >>> wants_numbers(Ridge(), get_tags(Ridge()), Sample(X, [1.0, 2.0]))
    "it takes numbers, and column 'town' holds 'Bath' in row 0 (counting from 0); encode ..."
    >>> X["street"] = ["Mill Lane", "High Street"]
    >>> wants_numbers(Ridge(), get_tags(Ridge()), Sample(X, [1.0, 2.0]))
    "... (counting from 0), and so on in 1 more column: 'street'; encode them in a pipeline, ..."
    """
    inputs = tags.input_tags
    if plain_parameters(estimator) is None or tags.no_validation:
        return None
    if inputs.string or inputs.categorical or hasattr(estimator, "categorical_features"):
        return None
    looked_at = ((name, _unreadable(values)) for name, values in _columns(_in_memory(sample.X)))
    wrong = [(name, *found) for name, found in looked_at if found is not None]
    if not wrong:
        return None
    (name, row, value), *others = wrong
    first = f"column {name!r} holds {shortened(value)} in row {row} (counting from 0)"
    if not others:
        return f"it takes numbers, and {first}; encode it in a pipeline, or leave it out"
    names = listed((repr(name) for name, _, _ in others), _FEW_COLUMNS)
    return (
        f"it takes numbers, and {first}, and so on in {counted(len(others), 'more column')}: "
        f"{names}; encode them in a pipeline, or leave them out"
    )


def wants_numeric_responses(estimator: Any, tags: Any, sample: Sample) -> str | None:
    """Find text among the responses of a regressor."""
    if tags.estimator_type != "regressor" or plain_parameters(estimator) is None:
        return None
    found = _unreadable(np.asarray(sample.y.native).ravel())
    if found is None or tags.no_validation:
        return None
    return (
        f"it is a regressor, and y holds {found[1]} in row {found[0]} (counting from 0); make y "
        "numbers, or use a classifier"
    )


def _in_memory(table: Table) -> Any:
    """Return the rows; only the first ones if they stay in a file."""
    if isinstance(table, StoredTable):
        return table.take(slice(0, min(len(table), _READ_FROM_DISK)))
    return table.native


def _columns(native: Any) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Yield the columns that may hold other values than numbers, by name or number."""
    if isinstance(native, np.ndarray):
        if native.ndim == 2 and native.dtype.kind not in "biufc":
            yield from enumerate(native.T)
    elif isinstance(native, (list, tuple)):
        yield from enumerate(zip(*native, strict=True))
    elif not is_sparse(native):
        yield from _frame_columns(native)


def _frame_columns(native: Any) -> Iterator[tuple[str, Iterable[Any]]]:
    import narwhals as nw

    frame: Any = nw.from_native(native, eager_only=True)
    for column in frame.iter_columns():
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            yield column.name, column.to_list()


def _unreadable(values: Iterable[Any]) -> tuple[int, str] | None:
    """Return the first value that is not a number and cannot be read as one, and its row."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufc":
        return None
    for row, value in enumerate(values):
        if value is not None and not reads_as_number(value):
            return row, repr(value.item() if isinstance(value, np.generic) else value)
    return None
