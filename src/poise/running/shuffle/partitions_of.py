"""A Dask frame, a Ray dataset or parts of files as partitions."""

from __future__ import annotations

import sys
from typing import Any

from poise.data.partitioned.partitions import Partitions
from poise.running.shuffle.dask_partitions import DaskPartitions
from poise.running.shuffle.ray_partitions import RayPartitions

__all__ = ["partitions_of"]


def partitions_of(rows: Any, address: str | None = None) -> Partitions | None:
    """Return the partitions of rows that lie elsewhere; None of rows that are here.

    Examples
    --------
    >>> partitions_of([[1.0], [2.0]]) is None
    True
    """
    if isinstance(rows, DaskPartitions | RayPartitions):  # parts of files
        return rows
    dask, ray = sys.modules.get("dask.dataframe"), sys.modules.get("ray.data")
    if dask is not None and isinstance(rows, dask.DataFrame):
        return DaskPartitions(rows, address)
    if ray is not None and isinstance(rows, ray.Dataset):
        return RayPartitions(rows)
    return None
