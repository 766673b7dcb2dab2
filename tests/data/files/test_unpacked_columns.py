"""Feather and Parquet files that unpack to more than they should are refused, not unpacked."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from poise.data.files.read_table import read_table
from poise.data.files.unpacked_feather import _BLOCK, _blocks, unpacked_feather
from poise.data.files.unpacked_parquet import repeated_text
from poise.errors import DataError
from shared.memory import little_memory

MANY = np.zeros(1 << 20)


def write_feather(path: Path, tables: list[pa.Table], compression: str | None) -> None:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(str(path), tables[0].schema, options=options) as file:
        for table in tables:
            file.write_table(table)


def every_kind() -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "zeros": np.zeros(600),
            "noise": rng.normal(size=600),  # stored as it is: compression does not help
            "text": ["a", None, "bcd"] * 200,
            "category": pa.array(["u", "v", "w"] * 200).dictionary_encode(),
            "view": pa.array(["longer than twelve letters"] * 600, pa.string_view()),
            "nested": [[1.0, 2.0]] * 600,
            "nothing": pa.nulls(600),
        }
    )


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_the_size_of_a_compressed_file_is_that_of_the_same_file_uncompressed(
    compression, tmp_path
) -> None:
    path = tmp_path / "rows.feather"
    write_feather(path, [every_kind()] * 3, None)
    assert unpacked_feather(path) == 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        bodies = sum(body for _, _, body in _blocks(content))
    write_feather(path, [every_kind()] * 3, compression)
    # Bodies are padded to multiples of 64 bytes; a stored buffer has its mark before it.
    buffers = 3 * 20
    assert bodies - 64 * buffers <= unpacked_feather(path) <= bodies + 8 * buffers


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_a_feather_file_of_a_gigabyte_of_zeros(compression, on_disk, tmp_path) -> None:
    path = tmp_path / "rows.feather"
    write_feather(path, [pa.table({"a": MANY, "y": MANY})] * 64, compression)
    with little_memory(100), pytest.raises(DataError, match="would unpack to 1,073,741,824 bytes"):
        read_table(path, "y", on_disk=on_disk)


def small_feather(path: Path) -> bytearray:
    frame = pd.DataFrame({"a": np.zeros(100), "y": np.zeros(100)})
    frame.to_feather(path, compression="zstd")
    assert len(read_table(path, "y")[1]) == 100
    return bytearray(path.read_bytes())


@pytest.mark.parametrize(
    ("length", "complaint"),
    [(1 << 40, "would unpack to 1,099,511,"), (-2, "negative length"), (1 << 62, "would unpack")],
)
def test_a_feather_file_that_says_it_holds_a_terabyte(length, complaint, tmp_path) -> None:
    path = tmp_path / "rows.feather"
    content = small_feather(path)
    at = content.index(struct.pack("<q", 800))  # before the bytes of the first column
    content[at : at + 8] = struct.pack("<q", length)
    path.write_bytes(content)
    with little_memory(100), pytest.raises(DataError, match=complaint):
        read_table(path, "y")


@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize("value", [1 << 30, -8])
def test_pieces_of_a_feather_file_that_lie_outside_of_it(part, value, tmp_path) -> None:
    path = tmp_path / "rows.feather"
    content = small_feather(path)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        (block,) = _blocks(mapped)
    changed = [value if index == part else number for index, number in enumerate(block)]
    path.write_bytes(bytes(content).replace(_BLOCK.pack(*block), _BLOCK.pack(*changed)))
    for on_disk in (False, True):
        with pytest.raises(DataError, match="cannot be read as Feather"):
            read_table(path, "y", on_disk=on_disk)
    with pytest.raises((ValueError, struct.error)):
        unpacked_feather(path)


def parquet(path: Path, name: str) -> None:
    long = "x" * (1 << 20)
    if name == "zeros":
        table = pa.table({"a": MANY, "y": MANY})
        with pq.ParquetWriter(
            path, table.schema, compression="zstd", use_dictionary=False
        ) as writer:
            for _ in range(20):
                writer.write_table(table)
    elif name == "one word":
        word = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), pa.array([long]))
        pq.write_table(pa.table({"a": word, "y": np.zeros(10_000)}), path, store_schema=False)
    else:
        table = pa.table({"a": [long] * 100, "y": np.zeros(100)})
        how = {"a": "DELTA_BYTE_ARRAY", "y": "PLAIN"}
        pq.write_table(table, path, use_dictionary=False, column_encoding=how, compression="zstd")


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("name", ["zeros", "one word", "repeated prefix"])
def test_a_small_parquet_file_that_unpacks_to_too_much(
    name, on_disk, tmp_path, monkeypatch
) -> None:
    path = tmp_path / "rows.parquet"
    parquet(path, name)
    assert path.stat().st_size < 1 << 20
    if name == "repeated prefix":  # 100 MB, which are fine, until the limit is lower
        monkeypatch.setattr("poise.data.files.parquet._MOST_BYTES", 1 << 20)
        monkeypatch.setattr("poise.data.files.unpacked_size._FLOOR", 1 << 20)
    with little_memory(100), pytest.raises(DataError, match=r"would unpack to [\d,]+ bytes"):
        read_table(path, "y", on_disk=on_disk)


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_texts_of_every_encoding_are_read(encoding, tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table({"a": ["north", None, "south"] * 10, "y": np.arange(30.0)})
    how = {"a": encoding, "y": "PLAIN"}
    pq.write_table(table, path, use_dictionary=False, column_encoding=how)
    assert list(read_table(path, "y")[0]["a"][:3].fillna("")) == ["north", "", "south"]


def test_texts_are_counted_as_often_as_they_are_repeated(tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": ["north", None, "and"] * 70_000, "n": [["x"]] * 210_000}), path)
    texts = 70_000 * 8
    assert texts < repeated_text(path, 10**9) <= texts + 210_000 * (1 + 4 + 4) + 3_300 * 16
    # Reading ends once it is too much.
    assert 100_000 < repeated_text(path, 100_000) < texts
