"""An npz file with one array altered, or one value of its JSON header."""

from __future__ import annotations

import io
import zipfile
from random import Random
from typing import Any

import numpy as np

from shared.fuzzing.byte_damage import damage_bytes
from shared.fuzzing.json_damage import damage_json

_TYPES = ["<f8", "<f4", "<i8", "<u1", "|b1", "<U3", "<c16", "|S4", "<M8[s]", ">f8"]
_NUMBERS = [0, 1, -1, 2**31, 2**62, -(2**62), np.nan, np.inf, 0.5]


def damage_arrays(content: bytes, chance: Random) -> bytes:
    """Alter, drop, double or add one array of an npz file; or damage its header."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays: dict[str, Any] = dict(file)
    if "header" in arrays and chance.random() < 0.6:
        header = damage_json(str(arrays["header"]).encode(), chance).decode()
        arrays["header"] = np.array(header)
        return _written(arrays)
    name = chance.choice(list(arrays))
    act = chance.randrange(10)
    if act == 0:
        del arrays[name]
    elif act == 1:
        arrays[chance.choice(["x", "column 9", "header", "changes"])] = arrays[name]
    elif act == 2:
        return _with_member(arrays, name, damage_bytes(_npy(arrays[name]), chance))
    elif act == 3:
        return _with_member(arrays, name, _npy(arrays[name]).replace(b"(", b"(9999999999, ", 1))
    else:
        arrays[name] = _altered(arrays[name], chance)
    return _written(arrays)


def damage_array(content: bytes, chance: Random) -> bytes:
    """Alter the array of an npy file."""
    return _npy(_altered(np.load(io.BytesIO(content), allow_pickle=False), chance))


def _altered(array: Any, chance: Random) -> Any:
    act = chance.randrange(7)
    with np.errstate(all="ignore"):
        if act == 0:
            return array[: chance.randrange(len(array) + 1)] if array.ndim else array
        if act == 1:
            return np.concatenate([array, array]) if array.ndim else array[None]
        if act == 2:
            return array[..., None] if chance.random() < 0.5 else array.ravel()
        if act == 3:
            return np.zeros(chance.choice([(), (0,), (0, 0), (3, 2), (2, 3, 4)]))
        if act == 4:
            raw = array.astype("<f8") if array.dtype.kind in "iuf" else np.zeros(array.shape)
            return raw.astype(chance.choice(_TYPES))
        if array.size and array.dtype.kind in "iuf":
            altered = array.astype("<f8").copy()
            altered.flat[chance.randrange(altered.size)] = chance.choice(_NUMBERS)
            return altered.astype(array.dtype)
    return array


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _written(arrays: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _with_member(arrays: dict[str, Any], name: str, member: bytes) -> bytes:
    """Write an npz file by hand, so that one member may hold anything."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for each, array in arrays.items():
            archive.writestr(f"{each}.npy", member if each == name else _npy(array))
    return buffer.getvalue()
