"""Read the files that users name: only ordinary files, and at most as many bytes as asked for.

A named pipe waits for a writer for ever, and a device may have no end.
"""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from poise.errors import PoiseError, RecordError

__all__ = ["MOST_KEY_BYTES", "kind_of_file", "open_ordinary", "read_ordinary"]

MOST_KEY_BYTES = 1 << 16  # a longer file holds no key, of a signature or of row identities
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_ordinary(path: str | os.PathLike[str], error: type[PoiseError] = RecordError) -> BinaryIO:
    """Open a file for reading; refuse a folder, a pipe and a device at once.

    Parameters
    ----------
    path : path
        The file; a link to an ordinary file is one.
    error : type
        What to raise; its message names the file.

    Examples
    --------
    >>> open_ordinary("/dev/zero")
    Traceback (most recent call last):
    poise.errors.RecordError: /dev/zero is a device, not an ordinary file
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise error(f"no such file: {path}") from None
    except (OSError, ValueError) as problem:  # ValueError: a name with a zero byte
        why = getattr(problem, "strerror", None) or problem
        raise error(f"cannot read {path}: {why}") from None
    try:
        kind = kind_of_file(os.fstat(descriptor))
        if kind is not None:
            raise error(f"{path} is {kind}, not an ordinary file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def kind_of_file(facts: os.stat_result) -> str | None:
    """Say what a file is that is not an ordinary one; None for an ordinary one.

    Examples
    --------
    >>> kind_of_file(os.stat("."))
    'a folder'
    """
    if stat.S_ISREG(facts.st_mode):
        return None
    return _KINDS.get(stat.S_IFMT(facts.st_mode), "not a file")


def read_ordinary(
    path: str | os.PathLike[str], most: int, error: type[PoiseError] = RecordError
) -> bytes:
    """Read a whole file of at most so many bytes; refuse a larger one before it is read.

    Examples
    --------
    >>> read_ordinary(__file__, most=10)
    Traceback (most recent call last):
    poise.errors.RecordError: ... has more than 10 bytes
    """
    with open_ordinary(path, error) as file:
        too_large = os.fstat(file.fileno()).st_size > most
        content = b"" if too_large else file.read(most + 1)  # it may grow meanwhile
    if too_large or len(content) > most:
        raise error(f"{path} has more than {most:,} bytes")
    return content
