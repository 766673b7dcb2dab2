"""Trials of one size, read in blocks: what batched work asks of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poise.protocol.messages import Comparison, Task

__all__ = ["EqualTrials", "EqualTrialsOfPoints"]


@runtime_checkable
class EqualTrials(Protocol):
    """Trials of n rows each, one after the other, which can be read in blocks."""

    n: int

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Task: ...

    def rows(self, start: int, stop: int) -> tuple[NDArray[np.int64] | slice, NDArray[np.int64]]:
        """Return the training rows of a range of trials, end to end, and their test rows."""
        ...

    def terms(self, start: int, stop: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return (ξ, ξ′) for a range of trials."""
        ...


@runtime_checkable
class EqualTrialsOfPoints(EqualTrials, Protocol):
    """The same with several test points a trial, which are looked up one by one."""

    @property
    def removals(self) -> int:
        """How many removals a trial has."""
        ...

    @property
    def points(self) -> int:
        """At how many points a trial is evaluated."""
        ...

    def rows(
        self, start: int, stop: int, point: int = 0
    ) -> tuple[NDArray[np.int64] | slice, NDArray[np.int64]]:
        """Return the training rows of a range of trials, end to end, and one point of each."""
        ...

    def as_single_changes(self) -> Sequence[Comparison]:
        """Return the first removal at the first point of every trial."""
        ...
