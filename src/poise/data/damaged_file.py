"""Turn any error in reading a damaged file into one that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from poise.errors import RecordError

__all__ = ["naming_file"]


@contextmanager
def naming_file(path: str | PathLike[str], complaint: str) -> Iterator[None]:
    """Turn errors of reading into a RecordError with the name of the file.

    The fields of a file are checked against their types. What they describe (tables,
    procedures, samples) is rebuilt by other libraries, which have errors of their own.

    Examples
    --------
    >>> with naming_file("a.npz", "is no transcript"):
    ...     {}["seed"]
    Traceback (most recent call last):
    poise.errors.RecordError: a.npz is no transcript: KeyError: 'seed'
    """
    try:
        yield
    except RecordError as error:
        raise RecordError(f"{path} {complaint}: {error}") from None
    except Exception as error:
        reason = " ".join(str(error).split()) or "no message"
        raise RecordError(f"{path} {complaint}: {type(error).__name__}: {reason}") from error
