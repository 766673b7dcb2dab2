"""Partitions that are data frames of this process: the interface without a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

__all__ = ["FramesHere"]


@dataclass(frozen=True)
class FramesHere:
    """Data frames of pandas in a list."""

    frames: list[pd.DataFrame]
    engine = "dask"
    remedy = "X.compute()"

    def columns(self) -> list[Any]:
        return list(self.frames[0].columns)

    def map(
        self, function: Callable[[Any, int], Any], firsts: Sequence[int] | None = None
    ) -> list[Any]:
        where = [0] * len(self.frames) if firsts is None else firsts
        return [function(frame, first) for frame, first in zip(self.frames, where, strict=True)]

    def spread(
        self, function: Callable[[int, int], Any], spans: Sequence[tuple[int, int]]
    ) -> list[Any]:
        return [function(*span) for span in spans]
