"""Files of rows: text, archives of arrays, Parquet and Feather."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from poise.data.files.read_table import read_table
from poise.data.sample import Sample
from shared.fuzzing.array_damage import damage_array, damage_arrays
from shared.fuzzing.byte_damage import damage_bytes
from shared.fuzzing.one_format import Format, file_written

__all__ = ["table_formats"]


def table_formats() -> list[Format]:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=8).round(3),
            "b": range(8),
            "c": list("uvwxuvwx"),
            "y": rng.normal(size=8),
        }
    )
    numbers = frame[["a", "b", "y"]].to_numpy()
    text = frame.to_csv(index=False).encode()
    quoted = frame.to_csv(index=False, sep=";", quoting=2, lineterminator="\r\n").encode()
    buffer, npy = io.BytesIO(), io.BytesIO()
    np.savez(buffer, X=numbers[:, :2], y=numbers[:, 2])
    np.save(npy, numbers)
    read = partial(_table, target="y")
    arrays = (damage_arrays, damage_bytes)
    packed = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zip": _zipped}
    return [
        Format("csv", ".csv", (text, quoted, text.replace(b",", b"\t")), read, (damage_bytes,)),
        *(
            Format(
                f"csv{ending}",
                f".csv{ending}",
                (pack(text),),
                read,
                (damage_bytes, partial(_inside, pack=pack, text=text)),
            )
            for ending, pack in packed.items()
        ),
        Format("npz", ".npz", (buffer.getvalue(),), read, arrays),
        Format(
            "npy",
            ".npy",
            (npy.getvalue(),),
            partial(_table, target="3"),
            (damage_array, damage_bytes),
        ),
        *_columnar(frame, read),
    ]


def _columnar(frame: pd.DataFrame, read: Any) -> list[Format]:
    kept = frame.assign(c=frame["c"].astype("category"), d=frame["c"])
    written = {".parquet": frame.to_parquet, ".feather": frame.to_feather}
    plain = {
        ".parquet": partial(kept.to_parquet, compression=None),
        ".feather": partial(kept.to_feather, compression="uncompressed"),
    }
    found = []
    for ending in written:
        samples = tuple(file_written(each[ending], ending) for each in (written, plain))
        name = ending.removeprefix(".")
        found.append(Format(name, ending, samples, read, (damage_bytes,)))
        on_disk = partial(_table, target="y", on_disk=True)
        found.append(Format(f"{name} on disk", ending, samples, on_disk, (damage_bytes,)))
    return found


def _table(path: Path, target: str, on_disk: bool = False) -> Any:
    X, y = read_table(path, target, on_disk=on_disk)
    rows = X.take(slice(0, len(X))) if on_disk else X
    return Sample(rows, y).digest() if len(y) > 1 else None


def _zipped(text: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", text)
    return buffer.getvalue()


def _inside(content: bytes, chance: Random, pack: Callable[[bytes], bytes], text: bytes) -> bytes:
    """Damage the text, and pack it again."""
    return pack(damage_bytes(text, chance))
