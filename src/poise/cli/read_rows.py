"""The rows of a question, read from its files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["read_rows"]


def read_rows(
    data: Path,
    target: str | None,
    drop: Iterable[str] = (),
    unlabeled: Path | None = None,
    groups: str | None = None,
    *,
    keep_names: bool = True,
) -> dict[str, Any]:
    """Return X, y and, where they are asked for, X_unlabeled and groups.

    Parameters
    ----------
    data, unlabeled : Path
        Files with labelled rows and, optionally, with more rows.
    target : str or None
        Column with the responses.
    drop : iterable of str
        Columns to leave out.
    groups : str, optional
        Column that says which rows belong together; it is no feature.
    keep_names : bool
        Hand over data frames. Otherwise arrays, if the files hold only numbers.

    A large Parquet or Feather file is left on disk, and with it the other one.
    """
    from poise.data.files.read_table import (
        as_numbers,
        read_features,
        read_labels,
        read_table,
        worth_leaving,
    )
    from poise.data.responses import check_responses
    from poise.data.tables import as_table

    on_disk = worth_leaving(data) or (unlabeled is not None and worth_leaving(unlabeled))
    left_out = [*drop] if groups is None else [*drop, groups]
    X, y = read_table(data, target, left_out, on_disk=on_disk)
    check_responses(as_table(y, "y"), f"column {target!r} of {data}" if target else "y", first=1)
    columns = as_table(X, "X").columns()
    rows = {"X": X, "y": y}
    if unlabeled is not None:
        names = columns if isinstance(columns, tuple) else None
        rows["X_unlabeled"] = read_features(unlabeled, names, on_disk=on_disk)
    if not keep_names:
        numbers = {name: as_numbers(table) for name, table in rows.items()}
        # Text in one of them keeps both as they are: X and X_unlabeled must be of one kind.
        alike = type(numbers["X"]) is type(numbers.get("X_unlabeled", numbers["X"]))
        rows = (numbers if alike else rows) | {"y": numbers["y"]}
    if groups is not None:
        rows["groups"] = read_labels(data, groups, on_disk=on_disk)
    return rows
