"""The progress of a run: a bar, a line per minute, or nothing.

Terminals and notebooks with ipywidgets get the bar, after one second. Logs, where
stderr is not a terminal, get a line per minute; a notebook without ipywidgets gets the
lines sooner. Both also appear while the first trial is still running.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Protocol, Self

__all__ = ["Progress"]

_SECONDS_BEFORE_BAR = 1.0  # seconds before a bar appears: short work needs none
_SECONDS_BETWEEN_REDRAWS = 0.1
_SECONDS_BETWEEN_LINES = 60.0
_SECONDS_BEFORE_FIRST_LINE = 2.0  # in a notebook
_SECONDS_BETWEEN_LOOKS = 0.2


class Progress(AbstractContextManager["Progress"]):
    """Counts trials, and shows from time to time how many are done and how long the rest takes.

    Parameters
    ----------
    total : int
        Number of trials planned.
    shown : bool or None
        False shows nothing.
    label : str
        What is counted.
    state : callable, optional
        Says in a few words how things stand; asked only when something is shown.
    done : int
        Trials that were done before.

    Examples
    --------
    >>> with Progress(3, shown=False) as progress:
    ...     progress.advance_to(1)
    >>> progress.done
    1
    """

    def __init__(
        self,
        total: int,
        shown: bool | None = None,
        label: str = "trials",
        *,
        state: Callable[[], str] | None = None,
        done: int = 0,
    ) -> None:
        self.total, self.done, self.start, self.label = total, done, done, label
        self.state = state or str
        self.began = time.monotonic()
        self._view = _view(shown)
        self._next = self.began + self._view.patience
        self._over = threading.Event()
        self._showing = threading.Lock()
        self._clock: threading.Thread | None = None

    def advance_to(self, done: int) -> None:
        """Set how many trials are done; show it if enough time has passed."""
        self.done = done
        if time.monotonic() >= self._next:
            with self._showing:
                self._view.show(self)
                self._next = time.monotonic() + self._view.interval

    def __enter__(self) -> Self:
        if math.isfinite(self._view.patience):
            self._clock = threading.Thread(target=self._watch, daemon=True)
            self._clock.start()
        return self

    def _watch(self) -> None:
        """Show the progress at its time, also if no trial has ended since."""
        with suppress(OSError, ValueError):  # nobody reads stderr any more
            while not self._over.wait(max(_SECONDS_BETWEEN_LOOKS, self._next - time.monotonic())):
                self.advance_to(self.done)

    @property
    def seconds_left(self) -> float | None:
        """Seconds that all remaining trials would take; None before the first has ended."""
        fresh = self.done - self.start
        if fresh == 0:
            return None
        return (time.monotonic() - self.began) / fresh * (self.total - self.done)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._clock is not None:
            self._clock.join()
        self._view.close()


class _View(Protocol):
    patience: float
    interval: float

    def show(self, progress: Progress) -> None: ...

    def close(self) -> None: ...


def _view(shown: bool | None) -> _View:
    if shown is False:
        return _Nothing()
    notebook = _in_notebook()
    # Without ipywidgets, rich warns each time instead of drawing.
    if sys.stderr.isatty() or (notebook and find_spec("ipywidgets")):
        return _Bar()
    return _RarerLines() if notebook else _Lines()


def _in_notebook() -> bool:
    """Tell whether this is a notebook; IPython is not imported if it was not."""
    if "ipykernel" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


class _Nothing:
    patience = interval = float("inf")

    def show(self, progress: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class _Lines:
    """A line per minute, for logs."""

    patience = interval = _SECONDS_BETWEEN_LINES

    def show(self, progress: Progress) -> None:
        left = progress.seconds_left
        parts = [
            f"{progress.done:,} of {progress.total:,} {progress.label}",
            progress.state(),
            "" if left is None else f"at most {_duration(left)} left",
        ]
        print("poise: " + ", ".join(filter(None, parts)), file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class _RarerLines(_Lines):
    """A line after two seconds, four, eight and so on, for notebooks that can show no bar."""

    patience = interval = _SECONDS_BEFORE_FIRST_LINE

    def show(self, progress: Progress) -> None:
        super().show(progress)
        self.interval = min(2 * self.interval, _SECONDS_BETWEEN_LINES)


class _Bar:
    """A bar with the time left, drawn by rich, removed when the work is done."""

    patience, interval = _SECONDS_BEFORE_BAR, _SECONDS_BETWEEN_REDRAWS

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None

    def show(self, progress: Progress) -> None:
        if self._bar is None:
            self._open(progress)
        left = progress.seconds_left
        remaining = "" if left is None else f"{_duration(left)} left"
        self._bar.update(
            self._task, completed=progress.done, state=progress.state(), left=remaining
        )

    def _open(self, progress: Progress) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[state]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(progress.label, total=progress.total, state="", left="")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _duration(seconds: float) -> str:
    """Say a duration in its two leading units.

    Examples
    --------
    >>> _duration(42.2), _duration(3700), _duration(200_000)
    ('42 s', '1 h 1 min', '2 d 7 h')
    """
    units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
    rest = round(seconds)
    parts: list[str] = []
    for name, size in units:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count} {name}" if count else "")
    return " ".join(filter(None, parts[:2])) or "0 s"
