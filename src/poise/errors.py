"""All exceptions and warnings of poise, as a tree.

::

    PoiseError
    ├── ArgumentError (ValueError)    an argument cannot be what was given
    ├── DataError (ValueError)        the rows cannot be used, or cannot answer
    ├── AlgorithmError (TypeError)    this object cannot be used as an algorithm
    ├── TrialError (RuntimeError)     user code failed in one trial
    └── RecordError                   a file cannot be read, or belongs to another run

    PoiseWarning (UserWarning)
    ├── PowerWarning                  the rows can hardly answer this question
    └── ValidityWarning               the error level may not hold; part of the result
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Spell = Callable[..., str]  # spell(name) or spell(name, value): how a face writes an argument

# All but line feed and tab: the C0 and C1 controls, marks that turn the direction of text,
# separators of lines and paragraphs, and halves of characters, which no terminal can show.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufff9-\ufffb]"
)
_ADDRESS = re.compile(" at 0x[0-9a-f]+")
_ABSENT = object()
_HERE = str(Path(__file__).parent)


def printable(text: str) -> str:
    r"""Write control characters as escapes: they could forge or hide what a terminal shows.

    Examples
    --------
    >>> print(printable("a\x1b[2J\rb"))
    a\x1b[2J\rb
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def in_one_line(error: BaseException) -> str:
    """Write an error as ``Type: message`` in one line, also if its own text fails."""
    text = safely(lambda: str(error), "(its message cannot be shown)")
    return printable(" ".join(f"{type(error).__name__}: {text}".removesuffix(": ").split()))


def as_keyword(name: str, value: object = _ABSENT) -> str:
    """Write an argument as Python does: ``name`` or ``name=value``."""
    return name if value is _ABSENT else f"{name}={value!r}"


class PoiseError(Exception):
    """Base of every exception that poise raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())

    def words(self, spell: Spell = as_keyword) -> str:
        """Return the message, with arguments written as a face writes them."""
        return str(self)


class _ArgumentedError(PoiseError, ValueError):
    """What is wrong with an argument, what it was, and what to do.

    Parameters
    ----------
    problem : str
        What is wrong, to be read after the argument's name: ``"must be in [0, 1)"``.
    argument : str
        Name of the argument in Python; "" if ``problem`` is a sentence of its own.
    got : object
        The value, shown by its repr.
    remedy : str or mapping
        What to do: a clause, or arguments to set (``{"position": "uniform"}``).
    """

    def __init__(
        self,
        problem: str,
        *,
        argument: str = "",
        got: object = _ABSENT,
        remedy: str | Mapping[str, object] = "",
    ) -> None:
        super().__init__(problem)
        self.problem, self.argument, self.remedy = problem, argument, remedy
        self.got = "" if got is _ABSENT else _shown(got)

    def __str__(self) -> str:
        return printable(self.words())

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.problem,), vars(self))

    def words(self, spell: Spell = as_keyword) -> str:
        """Return the message, with arguments written as a face writes them."""
        text = f"{spell(self.argument)} {self.problem}" if self.argument else self.problem
        text += f", got {self.got}" if self.got else ""
        remedy = self.remedy
        if isinstance(remedy, Mapping):
            remedy = "use " + " and ".join(spell(name, value) for name, value in remedy.items())
        return printable(f"{text}; {remedy}" if remedy else text)


class ArgumentError(_ArgumentedError):
    """An argument cannot be what was given; the message holds name, value and remedy."""


class DataError(_ArgumentedError):
    """The rows cannot be used as given, or cannot answer the question at all."""


class AlgorithmError(_ArgumentedError, TypeError):
    """The object given as an algorithm cannot be used as one."""


class TrialError(PoiseError, RuntimeError):
    """User code failed inside one trial.

    Attributes
    ----------
    trial : int
        Number of the trial, counted from 0.
    kind : {"error", "undefined", "death", "timeout"}
        Whether it failed, could not be compared, killed its worker, or took too long.
    partial : Trials or None
        What had been measured before the failure.
    """

    def __init__(self, message: str, *, trial: int = -1, kind: str = "error") -> None:
        super().__init__(message)
        self.trial, self.kind = trial, kind
        self.partial: object = None


class RecordError(PoiseError):
    """A saved file cannot be read or written, was altered, or belongs to another run.

    Attributes
    ----------
    partial : Trials or None
        What had been measured before a journal could not be written any more.
    """

    partial: object = None


class PoiseWarning(UserWarning):
    """Base of every warning of poise."""


class PowerWarning(PoiseWarning):
    """The rows can hardly answer this question."""


class ValidityWarning(PoiseWarning):
    """The error level may not hold, for the reason that the message gives."""


def note(kind: type[PoiseWarning], text: str) -> None:
    """Warn at the line of the caller's own code, however deep inside poise this is called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(printable(text), kind, stacklevel=level)


def safely(ask: Callable[[], T], instead: T) -> T:
    """Return what user code, which may do anything, says; something else where it fails."""
    try:
        return ask()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return instead


def _shown(value: object) -> str:
    """Return the repr of a value, shortened."""
    text = safely(lambda: repr(value), f"an object of type {type(value).__name__}")
    text = _ADDRESS.sub("", text)
    return text if len(text) <= 200 else f"{text[:160]} … {text[-30:]}"
