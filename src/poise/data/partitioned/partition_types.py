"""The types of columns, the same for every partition.

A partition of whole numbers of which none is missing has another type than one with a gap, and
a partition knows only its own categories. In memory all rows have one type, and so do the rows
of a trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["common_types", "with_types"]


def common_types(empty: Sequence[Any]) -> dict[Any, Any]:
    """Return the type of each column that partitions have together.

    Parameters
    ----------
    empty : sequence of data frames
        A frame without rows for each partition, with its types.

    Examples
    --------
    >>> import pandas as pd
    >>> parts = [pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1.5]})]
    >>> common_types([part.iloc[:0] for part in parts])
    {'a': dtype('float64')}
    """
    return {name: _common([frame[name].dtype for frame in empty]) for name in empty[0].columns}


def _common(types: list[Any]) -> Any:
    import pandas as pd

    if all(kind == types[0] for kind in types):
        return types[0]
    if all(isinstance(kind, pd.CategoricalDtype) for kind in types):
        together = list(dict.fromkeys(value for kind in types for value in kind.categories))
        return pd.CategoricalDtype(together, types[0].ordered)
    distinct = list(dict.fromkeys(types))
    return pd.concat([pd.Series([], dtype=kind) for kind in distinct]).dtype


def with_types(frame: Any, types: dict[Any, Any]) -> Any:
    """Return these columns of a frame, in this order, with these types."""
    chosen = frame[list(types)]
    other = {name: kind for name, kind in types.items() if chosen[name].dtype != kind}
    return chosen.astype(other) if other else chosen
