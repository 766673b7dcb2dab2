"""Missing and infinite values that an estimator is certain to refuse.

One such value among 200,000 makes one trial fail in the middle of a run, a different one
for every seed. The tags of scikit-learn's estimators say whether they accept such values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.numbers_of_any_type import is_missing
from poise.algorithms.seeds_and_threads import plain_parameters
from poise.data.on_disk import StoredTable
from poise.data.sample import Sample
from poise.data.tables import is_sparse

__all__ = ["wants_complete_rows"]

# Steps of a pipeline that pass a missing value on unchanged.
_HAND_ON = (
    "StandardScaler",
    "MinMaxScaler",
    "MaxAbsScaler",
    "RobustScaler",
    "PowerTransformer",
    "QuantileTransformer",
)


def wants_complete_rows(estimator: Any, tags: object, sample: Sample) -> str | None:
    """Find the first missing or infinite feature, if the estimator accepts none.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.utils import get_tags
    >>> sample = Sample(np.array([[0.0, 1.0], [2.0, np.nan]]), [1.0, 2.0])
    >>> wants_complete_rows(Ridge(), get_tags(Ridge()), sample)
    'it takes no missing or infinite values, and column 1 of X holds nan in row 1 (counting ...'
    """
    if sample.all_finite or not _refuses_missing_values(estimator):
        return None
    for name, table in (("X", sample.X), ("X_unlabeled", sample.X_unlabeled)):
        found = None if table is None else _first_not_finite(table.native)
        if found is not None:
            column, row, value = found
            return (
                f"it takes no missing or infinite values, and column {column!r} of {name} holds "
                f"{value} in row {row} (counting from 0); fill it in with an imputer in a "
                "pipeline, or remove the row"
            )
    return None


def _refuses_missing_values(estimator: Any) -> bool:
    """Tell whether a missing value reaches a step of a pipeline that certainly refuses it."""
    for part in _way_in(estimator):
        if plain_parameters(part) is None:
            return False
        if type(part).__name__ not in _HAND_ON:
            return _takes_none(part)
    return False


def _way_in(estimator: Any) -> Iterator[Any]:
    """Yield the parts of a composite in the order in which they get the features."""
    steps = getattr(estimator, "steps", None)
    inner = getattr(estimator, "estimator", None)
    if steps:
        for _, step in steps:
            if step not in ("passthrough", None):
                yield from _way_in(step)
    elif inner is not None and hasattr(inner, "fit"):
        yield from _way_in(inner)
    else:
        yield estimator


def _takes_none(part: object) -> bool:
    import sklearn
    from sklearn.utils import get_tags

    try:
        tags = get_tags(part)
    except AttributeError:  # a composite of something without tags
        return False
    unchecked = tags.no_validation or sklearn.get_config()["assume_finite"]
    return not (tags.input_tags.allow_nan or unchecked)


def _first_not_finite(native: Any) -> tuple[Any, int, Any] | None:
    """Return the column, row and value of the first entry that is not a finite number."""
    if isinstance(native, StoredTable):
        return None  # a large file is not read to its end for this
    if is_sparse(native):
        return _first_in_sparse(native)
    if isinstance(native, (list, tuple)):
        native = np.asarray(native, dtype=object) if _even(native) else np.empty((0, 0))
    if isinstance(native, np.ndarray):
        return _first_in_array(native)
    return _first_in_frame(native)


def _even(rows: Any) -> bool:
    lengths = {len(row) if hasattr(row, "__len__") else None for row in rows}
    return len(lengths) == 1


def _first_in_array(array: NDArray[Any]) -> tuple[Any, int, Any] | None:
    if array.ndim != 2:
        return None
    rows, columns = np.nonzero(_not_finite(array))
    if not len(rows):
        return None
    value = array[rows[0], columns[0]]
    return int(columns[0]), int(rows[0]), value


def _not_finite(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(~np.isfinite(values))
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=np.bool_)
    bad = [is_missing(value) or value in (math.inf, -math.inf) for value in values.flat]
    return np.array(bad, dtype=np.bool_).reshape(values.shape)


def _first_in_sparse(native: Any) -> tuple[Any, int, Any] | None:
    places = np.flatnonzero(_not_finite(native.data))
    if not len(places):
        return None
    row = int(np.searchsorted(native.indptr, places[0], side="right")) - 1
    return int(native.indices[places[0]]), row, native.data[places[0]]


def _first_in_frame(native: Any) -> tuple[Any, int, Any] | None:
    import narwhals as nw

    frame: Any = nw.from_native(native, eager_only=True, allow_series=True)
    found = []
    for column in frame.iter_columns() if hasattr(frame, "iter_columns") else [frame]:
        bad = column.is_null().to_numpy()
        if column.dtype.is_float():
            bad = bad | ~np.isfinite(column.to_numpy().astype(np.float64))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            found.append((row, column.name, column[row]))
    if not found:
        return None
    row, name, value = min(found, key=lambda place: place[0])
    return name, row, value
