"""Training rows and fresh rows, read from files, for questions about one training set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from poise.cli.read_rows import FileRows, note_places, read_rows
from poise.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poise.data.files.row_source import RowSource

__all__ = ["FreshRows", "Line"]

Line: TypeAlias = Callable[[int], str]
"""From the number of a training row to its line in the file."""


@dataclass(frozen=True)
class FreshRows:
    """Where fresh rows come from: a file of them, or a share of the rows that is held out.

    Parameters
    ----------
    file : Path, str or None
        A file of rows that were not used for training.
    hold_out : float or None
        Share of the rows that is left out at random, in (0, 1).
    labelled : bool
        Whether the responses of fresh rows are needed; then the file must hold them.

    Examples
    --------
    >>> FreshRows(None, 1.5)
    Traceback (most recent call last):
    poise.errors.ArgumentError: --hold-out must be in (0, 1), got 1.5
    """

    file: Path | str | None
    hold_out: float | None
    labelled: bool = False

    def __post_init__(self) -> None:
        if (self.file is None) == (self.hold_out is None):
            raise ArgumentError("give either --fresh or --hold-out.")
        if self.hold_out is not None and not 0 < self.hold_out < 1:
            raise ArgumentError(f"--hold-out must be in (0, 1), got {self.hold_out}")

    def read(
        self, source: RowSource, algorithm: Any, seed: int | None
    ) -> tuple[dict[str, Any], Line]:
        """Read X, y, X_fresh and y_fresh, and how to name a training row."""
        if self.file is None:
            return self._read_all(source, algorithm, seed)
        answers = None
        if self.labelled:
            answers = read_rows(replace(source, file=self.file)).given_to(algorithm)["y"]
        file = read_rows(replace(source, unlabeled=self.file))
        read = file.given_to(algorithm)
        self._note_lines(file, len(read["y"]))
        rows = {"X": read["X"], "y": read["y"], "X_fresh": read["X_unlabeled"]}
        return rows | {"y_fresh": answers}, file.place

    def _read_all(
        self, source: RowSource, algorithm: Any, seed: int | None
    ) -> tuple[dict[str, Any], Line]:
        """Read one file and hold out some rows; the lines of both parts are those of the file."""
        file = read_rows(source)
        rows, kept, left = self._held_out(file.given_to(algorithm), seed)
        numbers = [*kept, *left]  # fresh rows that are added are numbered after the others

        def line(row: int) -> str:
            return file.place(int(numbers[row]))

        note_places(line, file.columns, lambda row: file.place(int(left[row])))
        return rows, line

    def _note_lines(self, file: FileRows, n: int) -> None:
        """Name the lines of both files; fresh rows that are added are numbered after the others."""

        def fresh(row: int) -> str:
            line = (file.unlabeled_place or file.place)(row)
            return line if " of " in line else f"{line} of {self.file}"  # one of several files

        note_places(lambda row: file.place(row) if row < n else fresh(row - n), file.columns, fresh)

    def _held_out(
        self, read: dict[str, Any], seed: int | None
    ) -> tuple[dict[str, Any], NDArray[np.int64], NDArray[np.int64]]:
        """Leave out a share of the rows at random, which are the fresh ones; number both parts."""
        import numpy as np

        from poise.data.tables import as_table
        from poise.protocol.randomness import Randomness

        X, y = as_table(read["X"], "X"), as_table(read["y"], "y")
        order = Randomness.from_state(seed).generator("hold out").permutation(len(X))
        out = round((self.hold_out or 0.0) * len(X))
        kept, left = np.sort(order[out:]), np.sort(order[:out])
        if not out or not len(kept):
            raise ArgumentError(
                f"--hold-out {self.hold_out} of {len(X)} rows leaves no row on one side"
            )
        fresh = {"X_fresh": X.take(left), "y_fresh": y.take(left)}
        return {"X": X.take(kept), "y": y.take(kept), **fresh}, kept, left
