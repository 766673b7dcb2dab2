"""A progress bar on stderr for work of more than a second; silent when nobody looks."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

__all__ = ["Progress"]

_PATIENCE = 1.0  # seconds before a bar appears: short work needs none
_REFRESH = 0.1


class Progress(AbstractContextManager["Progress"]):
    """Counts trials; draws a bar with the time left once work has lasted a second.

    Parameters
    ----------
    total : int
        Number of trials planned.
    shown : bool or None
        None shows the bar if stderr is a terminal.
    label : str
        What is being done.

    Examples
    --------
    >>> with Progress(3, shown=False, label="trials") as progress:
    ...     progress.advance_to(1)
    >>> progress.done
    1
    """

    def __init__(self, total: int, shown: bool | None = None, label: str = "trials") -> None:
        self.total, self.label = total, label
        self.done = 0
        self.note = ""
        self.shown = sys.stderr.isatty() if shown is None else shown
        self._bar: Any = None
        self._task: Any = None
        self._next = time.monotonic() + _PATIENCE

    def advance_to(self, done: int, note: str = "") -> None:
        """Say how many trials are done; redraw now and then."""
        self.done = done
        if not self.shown:
            return
        self.note = note or self.note
        if time.monotonic() >= self._next:
            self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            self._open()
        self._next = time.monotonic() + _REFRESH
        self._bar.update(self._task, completed=self.done, note=self.note)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self.label, total=self.total, note="")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
