"""The progress of a run: a bar in a terminal or notebook, a line a minute in a log."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from importlib.util import find_spec
from typing import Self

_PATIENCE = 1.0  # seconds before a bar appears: short work needs none
_REDRAWN = 0.1
_LINES = 60.0


class Progress(AbstractContextManager["Progress"]):
    """Counts what is done; a thread shows it, also while the first fit still runs."""

    def __init__(self, total: int, shown: bool | None, label: str = "") -> None:
        self.total, self.label, self.done = total, label, 0
        self._began, self._over = time.monotonic(), threading.Event()
        self._thread = None if shown is False else threading.Thread(target=self._show, daemon=True)

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def advance_to(self, done: int) -> None:
        """Set how many are done."""
        self.done = done

    def line(self) -> str:
        """Say how far it is, and how long the rest takes, if it goes on like this."""
        said = f"{self.done:,} of {self.total:,} {self.label}".strip()
        if not self.done:
            return said
        seconds = (time.monotonic() - self._began) / self.done * (self.total - self.done)
        return f"{said}, {timedelta(seconds=round(seconds))} left"

    def _show(self) -> None:
        with suppress(OSError, ValueError):  # nobody reads stderr any more
            # In a notebook without ipywidgets rich would warn each time instead of drawing.
            notebook = "ipykernel" in sys.modules and find_spec("ipywidgets") is not None
            if sys.stderr is not None and (notebook or sys.stderr.isatty()):
                self._draw()
            while not self._over.wait(_LINES):
                print(f"poise: {self.line()}", file=sys.stderr, flush=True)

    def _draw(self) -> None:
        if self._over.wait(_PATIENCE):
            return
        from rich.console import Console
        from rich.progress import BarColumn
        from rich.progress import Progress as Bar

        parts, place = ("{task.description}", BarColumn()), Console(stderr=True)
        with Bar(*parts, console=place, transient=True) as bar:
            task = bar.add_task(self.label, total=self.total)
            while not self._over.wait(_REDRAWN):
                bar.update(task, completed=self.done, description=self.line())

    def __exit__(self, *error: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
