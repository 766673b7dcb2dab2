"""Changes as text: base64 of zlib of little-endian float64, bit for bit."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.errors import RecordError

__all__ = ["PackedChanges"]

_ENCODING = "base64 of zlib of little-endian float64, last index fastest"
_BYTES = 8
_LARGEST_RATIO = 1032  # zlib cannot pack more bytes than this into one


@dataclass(frozen=True)
class PackedChanges:
    """An array of changes in a few words of text; nan stands for a failure in a table.

    Attributes
    ----------
    shape : tuple of int
        (trials,), or (trials, removals, points).
    data : str
        The packed numbers.
    encoding : str
        How they are packed.

    Examples
    --------
    >>> packed = PackedChanges.of(np.array([0.5, np.inf]))
    >>> packed.shape, packed.unpacked()
    ((2,), array([0.5, inf]))
    """

    shape: tuple[int, ...]
    data: str
    encoding: str

    @classmethod
    def of(cls, changes: NDArray[np.float64]) -> PackedChanges:
        """Pack an array."""
        plain = np.ascontiguousarray(changes, dtype="<f8")
        packed = base64.b64encode(zlib.compress(plain.tobytes(), level=9))
        return cls(tuple(map(int, plain.shape)), packed.decode("ascii"), _ENCODING)

    def unpacked(self) -> NDArray[np.float64]:
        """Return the array; refuse data of another size, before they fill the memory."""
        if self.encoding != _ENCODING:
            raise _refusal(f"their encoding is {self.encoding!r}")
        if len(self.shape) not in (1, 3) or min(self.shape) < 0:
            raise _refusal(f"their shape is {list(self.shape)}")
        try:
            packed = base64.b64decode(self.data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise _refusal(str(error)) from None
        values = np.frombuffer(_inflated(packed, _BYTES * math.prod(self.shape)), dtype="<f8")
        return values.astype(np.float64).reshape(self.shape)


def _inflated(packed: bytes, size: int) -> bytes:
    """Unpack exactly so many bytes."""
    if size > _LARGEST_RATIO * len(packed):
        raise _refusal("they are fewer than their shape says")
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(packed, size + 1)
    except zlib.error as error:
        raise _refusal(str(error)) from None
    if len(plain) != size or not unpacker.eof or unpacker.unused_data:
        raise _refusal("their number is not what their shape says")
    return plain


def _refusal(why: str) -> RecordError:
    return RecordError(f"the changes cannot be unpacked: {why}")
