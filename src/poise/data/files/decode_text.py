"""The text of a file or of standard input: decompressed, its encoding guessed."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from poise.arguments import listed
from poise.data.files.unpacked_size import most_unpacked
from poise.data.ordinary_files import open_ordinary
from poise.errors import DataError

__all__ = ["COMPRESSED", "STDIN", "decoded"]

STDIN = Path("-")

_FIRST_PIECE = 1 << 20  # bytes
_MOST_TEXT = 1 << 34  # bytes; in memory a table takes several times as much
_ZEROS = bytes(64)

_BYTE_ORDER_MARKS = {  # the longer ones first: the mark of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def decoded(path: Path, encoding: str | None = None) -> str:
    """Return the text of a file, or of standard input if the path is ``-``."""
    content = _all_of(sys.stdin.buffer, path) if path == STDIN else _content(path)
    marked = next(
        (name for mark, name in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), ""
    )
    used = encoding or marked or "utf-8"
    try:
        text = content.decode(used)
    except UnicodeError as error:
        raise _undecodable(path, content, used, error) from None
    if "\0" in text[:1000] and not encoding:
        raise DataError(
            f"{path} holds zero bytes: it is no text, or text in UTF-16 without a mark; "
            "then set encoding to 'utf-16-le' or 'utf-16-be'"
        )
    return text.removeprefix("\ufeff")


def _undecodable(path: Path, content: bytes, encoding: str, error: UnicodeError) -> DataError:
    remedy = "; save it again as UTF-8, or set encoding to its own, such as 'latin-1'"
    if not isinstance(error, UnicodeDecodeError):
        return DataError(f"{path} is not {encoding} text: {error}{remedy}")
    line = content.count(b"\n", 0, error.start) + 1
    name = "UTF-8" if encoding.startswith("utf-8") else encoding
    byte = f"byte 0x{content[error.start]:02x} in line {line}"
    return DataError(f"{path} is not {name} text: {byte}{remedy}")


def _from_zip(file: BinaryIO) -> BinaryIO:
    archive = zipfile.ZipFile(file)
    # Folders, and the extra entries of macOS, are not the user's files.
    names = [n for n in archive.namelist() if not n.endswith("/") and "__MACOSX" not in n]
    if len(names) != 1:
        raise ValueError(f"it holds {len(names)} files ({listed(names)}), and must hold one")
    return cast(BinaryIO, archive.open(names[0]))


COMPRESSED: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _from_zip,
}
# RuntimeError: a zip file with a password, or compressed in a way that Python does not know.
_GENERAL = (OSError, EOFError, ValueError, RuntimeError)
_DAMAGED = (*_GENERAL, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def _content(path: Path) -> bytes:
    """Return the bytes of a file; no more is unpacked than a file of its size should hold."""
    ending = path.suffix.lower()
    with open_ordinary(path, DataError) as file:
        if ending not in COMPRESSED:
            return _all_of(file, path)
        most = most_unpacked(os.fstat(file.fileno()).st_size)
        try:
            with COMPRESSED[ending](file) as stream:
                content: bytes = stream.read(most + 1)
        except _DAMAGED as error:
            kind = {".gz": "gzip", ".bz2": "bzip2"}.get(ending, ending[1:])
            raise DataError(f"{path} cannot be read as a {kind} file: {error}") from None
    if len(content) > most:
        raise DataError(
            f"{path} unpacks to more than {most:,} bytes, which no table of its size does; if this "
            "is right, unpack it and give the unpacked file"
        )
    return content


def _all_of(stream: BinaryIO, path: Path) -> bytes:
    """Read to the end; what cannot be text is refused after its first piece, as it may be endless.

    Text in UTF-16 and UTF-32 has zero bytes too, but not in long runs.
    """
    first = stream.read(_FIRST_PIECE)
    if _ZEROS in first:
        raise DataError(f"{path} holds zero bytes: it is no text")
    content = first + stream.read(_MOST_TEXT) if len(first) == _FIRST_PIECE else first
    if len(content) > _MOST_TEXT:
        raise DataError(
            f"{path} has more than {_MOST_TEXT:,} bytes of text; write it as Parquet, which can "
            "stay on disk"
        )
    return content
