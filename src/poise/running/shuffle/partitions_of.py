"""A Dask frame, a Ray dataset or parts of files as partitions."""

from __future__ import annotations

import sys
from typing import Any

from poise.data.partitioned.partitions import Partitions

__all__ = ["partitions_of"]


def partitions_of(rows: Any, address: str | None = None) -> Partitions | None:
    """Return the partitions of rows that lie elsewhere; None of rows that are here.

    Examples
    --------
    >>> partitions_of([[1.0], [2.0]]) is None
    True
    """
    dask, ray = sys.modules.get("dask.dataframe"), sys.modules.get("ray.data")
    if dask is not None and isinstance(rows, dask.DataFrame):
        from poise.running.shuffle.dask_partitions import DaskPartitions

        return DaskPartitions(rows, address)
    if ray is not None and isinstance(rows, ray.Dataset):
        from poise.running.shuffle.ray_partitions import RayPartitions

        return RayPartitions(rows)
    if hasattr(rows, "engine") and hasattr(rows, "map"):  # as parts of files have
        found: Partitions = rows
        return found
    return None
