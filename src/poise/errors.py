"""All exceptions and warnings of poise, as a tree.

::

    PoiseError
    ├── ArgumentError (ValueError)      an argument is out of range: name, value, remedy
    │   ├── DataError                   the rows cannot be used
    │   └── AlgorithmError (TypeError)  this object cannot be used as an algorithm
    ├── TrialError (RuntimeError)       user code failed; names the trial, keeps the cause
    │   └── BudgetError                 a procedure asked for more than it was granted
    ├── ClusterError (RuntimeError)     a cluster has no workers left
    └── RecordError                     a saved file cannot be read, or belongs to another run

    PoiseWarning (UserWarning)
    ├── PowerWarning                    the data cannot answer this question
    └── ValidityWarning                 the error level may not hold; part of the result
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

__all__ = [
    "AlgorithmError",
    "ArgumentError",
    "BudgetError",
    "ClusterError",
    "DataError",
    "PoiseError",
    "PoiseWarning",
    "PowerWarning",
    "RecordError",
    "TrialError",
    "ValidityWarning",
    "collected_validity_warnings",
    "in_one_line",
    "printable",
    "warn_of_validity",
]

# All but line feed and tab: the C0 and C1 controls, marks that turn the direction of text,
# separators of lines and paragraphs, and halves of characters, which no terminal can show.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb]"
)


def printable(text: str) -> str:
    r"""Write control characters as escapes, for whatever shows text that others have written.

    A name in a file, a column, or the message of a failed fit could move the cursor of a
    terminal, change its title, or hide what follows.

    Examples
    --------
    >>> print(printable("a\x1b[2J\rb"))
    a\x1b[2J\rb
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class PoiseError(Exception):
    """Base of every exception that poise raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ArgumentError(PoiseError, ValueError):
    """An argument is out of range; the message holds its name, value and a remedy."""


class DataError(ArgumentError):
    """The rows cannot be used as given: lengths differ, values are missing, nothing is there."""


class AlgorithmError(ArgumentError, TypeError):
    """The object given as an algorithm cannot be used as one."""


class TrialError(PoiseError, RuntimeError):
    """User code failed inside one trial.

    Attributes
    ----------
    trial : int
        Index of the trial, counted from 0.
    partial : object or None
        What had been measured before the failure, where the caller can still use it.
    failures : tuple of str
        Messages of the trials before it that failed and were counted.
    kind : {"error", "death", "timeout"}
        Whether it failed, killed its worker, or took too long.
    """

    failures: tuple[str, ...] = ()

    def __init__(
        self,
        message: str,
        *,
        trial: int = -1,
        partial: object = None,
        kind: Literal["error", "death", "timeout"] = "error",
    ) -> None:
        super().__init__(message)
        self.trial = trial
        self.partial = partial
        self.kind = kind


class BudgetError(TrialError):
    """A procedure asked the oracle for more calls or rows than its budget grants."""


class ClusterError(PoiseError, RuntimeError):
    """A cluster that was to do the fits has no workers left."""


class RecordError(PoiseError):
    """A saved file cannot be read or written, or belongs to another run.

    Attributes
    ----------
    partial : object or None
        What had been measured when a record could not be written any more.
    failures : tuple of str
        Messages of the trials among them that failed and were counted.
    """

    failures: tuple[str, ...] = ()

    def __init__(self, message: str, *, partial: object = None) -> None:
        super().__init__(message)
        self.partial = partial


class PoiseWarning(UserWarning):
    """Base of every warning that poise issues."""

    def __str__(self) -> str:
        return printable(super().__str__())


class PowerWarning(PoiseWarning):
    """The question asked cannot be answered with useful probability from these data."""


class ValidityWarning(PoiseWarning):
    """Something was noticed that may make the error level of a verdict wrong.

    What is warned of in this way is also written on the result (``result.warnings``), and
    the command line prints it however quiet it is told to be.
    """


_collected: ContextVar[list[str] | None] = ContextVar("_collected", default=None)


def warn_of_validity(message: str, stacklevel: int = 2) -> None:
    """Warn that the error level may not hold, and note it for the result of this run."""
    noted = _collected.get()
    if noted is not None and message not in noted:
        noted.append(message)
    warnings.warn(message, ValidityWarning, stacklevel=stacklevel + 1)


@contextmanager
def collected_validity_warnings() -> Iterator[list[str]]:
    """Collect what :func:`warn_of_validity` says meanwhile, whether it is shown or not.

    Examples
    --------
    >>> with warnings.catch_warnings(), collected_validity_warnings() as noted:
    ...     warnings.simplefilter("ignore")
    ...     warn_of_validity("12 rows occur twice")
    >>> noted
    ['12 rows occur twice']
    """
    noted: list[str] = []
    token = _collected.set(noted)
    try:
        yield noted
    finally:
        _collected.reset(token)


def in_one_line(error: BaseException) -> str:
    r"""Return the name and the message of an exception, also if the message cannot be read.

    Exceptions of user code may fail, or end the program, when they are turned into text.

    Examples
    --------
    >>> in_one_line(ValueError("first\nsecond")), in_one_line(SystemExit())
    ('ValueError: first second', 'SystemExit: no message')
    """
    try:
        words = " ".join(str(error).split())
    except KeyboardInterrupt:
        raise
    except BaseException:
        words = "its message cannot be written"
    return printable(f"{type(error).__name__}: {words or 'no message'}")
