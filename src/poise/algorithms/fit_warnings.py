"""Warnings of fits: the caller's filters hold in every worker, and each warning is shown once."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from poise.arguments import counted

__all__ = [
    "FitWarnings",
    "WarningFilter",
    "add_fit_warnings",
    "counted_fit_warnings",
    "current_filters",
    "fit_begins",
    "fit_ends",
    "listening",
]

_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?", re.IGNORECASE)

Place = tuple[type[Warning], str, int, str]
"""Category, file, line, and text without its numbers: warnings that count as one."""


@dataclass
class _Warned:
    text: str
    module: str
    fits: int = 1


@dataclass
class FitWarnings:
    """What fits warned of, and in how many of them.

    Attributes
    ----------
    fits : int
        Fits that were begun.
    places : dict
        What was said where, and the number of fits that said it.
    """

    fits: int = 0
    places: dict[Place, _Warned] = field(default_factory=dict)

    def add(self, other: FitWarnings) -> None:
        """Count the warnings of other fits too."""
        self.fits += other.fits
        for place, warned in other.places.items():
            if place in self.places:
                self.places[place].fits += warned.fits
            else:
                self.places[place] = _Warned(warned.text, warned.module, warned.fits)

    def forget(self) -> None:
        """Count nothing of what there was."""
        self.fits, self.places = 0, {}

    def show(self) -> None:
        """Issue each warning once, with the number of fits: the caller's filters apply."""
        for (category, file, line, _), warned in self.places.items():
            text = warned.text
            if self.fits > 1:
                text += f" (in {warned.fits:,} of {counted(self.fits, 'fit')})"
            warnings.warn_explicit(
                _made(category, text), category, file, line, module=warned.module
            )


def _made(category: type[Warning], text: str) -> Warning:
    try:
        return category(text)
    except Exception:  # it wants other arguments than a text
        return UserWarning(f"{category.__name__}: {text}")


@dataclass(frozen=True)
class WarningFilter:
    """One of the caller's filters, in a form that can be sent to any worker."""

    action: Literal["error", "ignore", "always"]
    message: str
    category: tuple[str, str]
    module: str
    line: int

    def install(self) -> None:
        """Append it to the filters here; unless its category is unknown here."""
        home, name = self.category
        category = _loaded(home, name) if home in sys.modules else _Unloaded.named(home, name)
        if category is not None:
            warnings.filterwarnings(
                self.action, self.message, category, self.module, self.line, append=True
            )


def _loaded(home: str, name: str) -> type[Warning] | None:
    """Return a category if its module has been imported, and has it."""
    found: Any = sys.modules.get(home)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, Warning) else None


class _Unloaded(type):
    """The type of a category whose module has not been imported here; it need not be.

    Whoever warns of it has imported it. A parent that has imported SciPy or Ray has filters
    of theirs, and the workers would spend more time with imports than with fits.
    """

    @classmethod
    def named(cls, home: str, name: str) -> type[Warning]:
        """Return a class that stands for the category of this name."""
        last = name.rpartition(".")[2]
        stands_for = {"__module__": home, "__qualname__": name}
        return cast("type[Warning]", cls(last, (Warning,), stands_for))

    def __subclasscheck__(cls, category: type) -> bool:
        meant = _loaded(cls.__module__, cls.__qualname__)
        return meant is not None and issubclass(category, meant)


def current_filters() -> tuple[WarningFilter, ...]:
    """Return the filters that are in force, so that fits are counted by them.

    What would be shown is shown always here: it is counted, and shown once in the end.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.filterwarnings("once", "a lot", UserWarning)
    ...     current_filters()[0]
    WarningFilter(action='always', message='a lot', category=('builtins', 'UserWarning'), ...)
    """
    listed = [
        _portable(action, message, one, module, line)
        for action, message, category, module, line in warnings.filters
        for one in _categories(category)
    ]
    return (*listed, WarningFilter("always", "", ("builtins", "Warning"), "", 0))


def _categories(category: Any) -> tuple[Any, ...]:
    """Return the classes of a filter: Python allows several, though its documentation does not."""
    return category if isinstance(category, tuple) else (category,)


def _portable(action: str, message: Any, category: Any, module: Any, line: int) -> WarningFilter:
    kept: Literal["error", "ignore", "always"] = "always"  # shown: counted first
    if action == "error":
        kept = "error"
    elif action == "ignore":
        kept = "ignore"
    home = (str(category.__module__), str(category.__qualname__))
    return WarningFilter(kept, _pattern(message), home, _pattern(module), line)


def _pattern(text: Any) -> str:
    """Return the regular expression of a filter; what is plain text there must match whole."""
    if isinstance(text, str):
        return re.escape(text) + r"\Z"
    return "" if text is None else str(text.pattern)


class _Listener:
    """Puts itself in the place of ``warnings.showwarning``, while anybody collects warnings.

    Filters belong to the whole process: the first who listens sets them, the last restores
    them, whatever fits have done to them meanwhile.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.mine = threading.local()
        self.users = 0

    def enter(self, filters: tuple[WarningFilter, ...]) -> None:
        with self.lock:
            self.users += 1
            if self.users > 1:
                return
            self.caught = warnings.catch_warnings()
            self.caught.__enter__()
            self.before, self.filters = warnings.showwarning, filters
            self.install()

    def install(self) -> None:
        warnings.resetwarnings()
        for each in self.filters:
            each.install()
        warnings.showwarning = self.show
        self.installed = list(warnings.filters)

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.caught.__exit__(None, None, None)

    def restore(self) -> None:
        """Undo what a fit did to the filters; other threads may be in the middle of theirs."""
        with self.lock:
            changed = warnings.filters != self.installed or warnings.showwarning != self.show
            if changed and self.users == 1:
                self.install()

    def show(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        *rest: Any,
        **named: Any,
    ) -> None:
        """Count a warning of a fit; hand on any other."""
        seen = getattr(self.mine, "seen", None)
        if seen is None:
            self.before(message, category, filename, lineno, *rest, **named)
            return
        text = str(message)
        place = (category, filename, lineno, _NUMBER.sub("#", text))
        if place not in seen:
            seen.add(place)
            one = FitWarnings(0, {place: _Warned(text, _module_of(filename))})
            self.mine.heard.add(one)


_listener = _Listener()


def _module_of(filename: str) -> str:
    """Return the name of the module in a file, by which filters may know it; else the file's."""
    known = list(sys.modules.items())
    return next((name for name, m in known if getattr(m, "__file__", None) == filename), filename)


@contextmanager
def listening(filters: tuple[WarningFilter, ...] | None = None) -> Iterator[FitWarnings]:
    """Collect the warnings of the fits of this thread; whoever collects further out adds them.

    Parameters
    ----------
    filters : tuple of WarningFilter, optional
        Those of the process that asks; those that are in force here by default.
    """
    mine = _listener.mine
    outer, heard = getattr(mine, "heard", None), FitWarnings()
    _listener.enter(current_filters() if filters is None else filters)
    mine.heard, mine.seen = heard, None
    try:
        yield heard
    finally:
        mine.heard, mine.seen = outer, None
        _listener.leave()
        add_fit_warnings(heard)


@contextmanager
def counted_fit_warnings() -> Iterator[None]:
    """Show each warning of the fits in here once, at the end, with the number of fits.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("default")
    ...     with counted_fit_warnings():
    ...         for loss in (0.5, 0.25):
    ...             fit_begins()
    ...             warnings.warn(f"no convergence: {loss}")
    >>> [str(warning.message) for warning in caught]
    ['no convergence: 0.5 (in 2 of 2 fits)']
    """
    outermost = getattr(_listener.mine, "heard", None) is None
    heard = FitWarnings()
    try:
        with listening() as heard:
            yield
    finally:
        if outermost:
            heard.show()


def add_fit_warnings(heard: FitWarnings) -> None:
    """Add what was collected elsewhere to what is collected here, if anything is."""
    here = getattr(_listener.mine, "heard", None)
    if here is not None:
        here.add(heard)


def fit_begins() -> None:
    """Say that a fit begins in this thread; what follows is counted for it."""
    fit_ends()
    heard = getattr(_listener.mine, "heard", None)
    if heard is not None:
        heard.fits += 1
        _listener.mine.seen = set()


def fit_ends() -> None:
    """Say that the fit and its predictions are over; filters are as they were before it."""
    if getattr(_listener.mine, "seen", None) is not None:
        _listener.mine.seen = None
        _listener.restore()
