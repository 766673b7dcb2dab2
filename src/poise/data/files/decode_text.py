"""The text of a file or of standard input: decompressed, its encoding guessed."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from poise.arguments import listed
from poise.errors import DataError

__all__ = ["COMPRESSED", "STDIN", "decoded"]

STDIN = Path("-")

_BYTE_ORDER_MARKS = {  # the longer ones first: the mark of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def decoded(path: Path, encoding: str | None = None) -> str:
    """Return the text of a file, or of standard input if the path is ``-``."""
    content = sys.stdin.buffer.read() if path == STDIN else _decompressed(path)
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


def _from_zip(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        # Folders, and the extra entries of macOS, are not the user's files.
        names = [n for n in archive.namelist() if not n.endswith("/") and "__MACOSX" not in n]
        if len(names) != 1:
            raise ValueError(f"it holds {len(names)} files ({listed(names)}), and must hold one")
        return archive.read(names[0])


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zip": _from_zip,
}
# RuntimeError: a zip file with a password, or compressed in a way that Python does not know.
_GENERAL = (OSError, EOFError, ValueError, RuntimeError)
_DAMAGED = (*_GENERAL, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def _decompressed(path: Path) -> bytes:
    content, ending = path.read_bytes(), path.suffix.lower()
    if ending not in COMPRESSED:
        return content
    try:
        return COMPRESSED[ending](content)
    except _DAMAGED as error:
        kind = {".gz": "gzip", ".bz2": "bzip2"}.get(ending, ending[1:])
        raise DataError(f"{path} cannot be read as a {kind} file: {error}") from None
