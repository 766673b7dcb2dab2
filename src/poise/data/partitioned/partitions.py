"""The interface of rows in partitions that workers read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

__all__ = ["Partitions"]

Found = TypeVar("Found")


class Partitions(Protocol):
    """Data frames of pandas that lie elsewhere: one after the other the rows of one table.

    Row i of the table is found by counting: the rows of the first partition come first.
    """

    @property
    def engine(self) -> str:
        """The cluster whose workers read them: ``"dask"`` or ``"ray"``."""
        ...

    @property
    def remedy(self) -> str:
        """What somebody writes to have all rows here, such as ``"X.compute()"``."""
        ...

    def columns(self) -> list[Any]:
        """Return the names of the columns."""
        ...

    def map(
        self, function: Callable[[Any, int], Found], firsts: Sequence[int] | None = None
    ) -> list[Found]:
        """Call a function where each partition lies; return what it found, in order.

        The function gets the partition as a data frame, and how many rows come before it:
        ``firsts``, or 0 while nobody has counted.
        """
        ...

    def spread(
        self, function: Callable[[int, int], Found], spans: Sequence[tuple[int, int]]
    ) -> Iterable[Found]:
        """Call a function on ranges of rows in workers, which read no row for that."""
        ...
