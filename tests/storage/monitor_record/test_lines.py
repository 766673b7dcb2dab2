"""A record on disk: checksums, torn and flipped lines, and lines that do not follow."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

import poise
from poise.errors import RecordError
from poise.storage.line_checksums import with_checksums
from poise.storage.monitor_record import RecordFile, RecordHeader, read_record
from shared.monitors import last_row, rows


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "a.record"
    monitor = poise.Monitor(path, last_row, n=4, epsilon=1.5, delta=0.2, random_state=1)
    monitor.add(*rows(20))
    return path


def _checked(entry: dict) -> bytes:
    return with_checksums(json.dumps(entry).encode() + b"\n")


def _lines(path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_every_line_has_the_checksum_of_its_content(record) -> None:
    lines = _lines(record)
    assert len(lines) == 2 + 4
    for line in lines:
        entry = json.loads(line)
        found = entry.pop("crc32")
        assert list(json.loads(line))[-1] == "crc32"
        assert zlib.crc32(json.dumps(entry).encode()) == int(found, 16)


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_a_flipped_line_is_refused_by_its_number(record, number) -> None:
    lines = _lines(record)
    line = bytearray(lines[number - 1])
    line[len(line) // 2] ^= 1
    lines[number - 1] = bytes(line)
    record.write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=f"line {number} of .* does not match its checksum"):
        read_record(record)


@pytest.mark.parametrize("tear", [b'{"trial": 3, "cha', b'{"trial": 3, "change": 0.5}\n'])
def test_a_torn_last_line_is_cut_off(record, tear) -> None:
    whole = record.read_bytes()
    trials = len(read_record(record).answers)
    record.write_bytes(b"".join(_lines(record)[:-1]) + tear)
    assert len(read_record(record).answers) == trials - 1
    with RecordFile(record) as file:
        assert file.content.unfinished is not None
        last = file.content.unfinished
        file.append(json.loads(whole.splitlines()[-1]) | {"trial": last.first + 3})
    assert len(read_record(record).answers) == trials


@pytest.mark.parametrize(
    "line",
    [
        {"trial": 9, "change": 0.5},
        {"batch": 99, "trials": 1, "epoch": 1, "rows": [], "features": [], "distance": "x"},
        {"restart": 5},
        {"abandoned": 1},
        {"something": "else"},
    ],
)
def test_lines_that_do_not_follow_are_refused(record, line) -> None:
    with record.open("ab") as file:
        file.write(_checked(line) + _checked({"restart": 2}))
    with pytest.raises(RecordError, match=r"line 7 of .* cannot be used"):
        read_record(record)


def test_changes_are_read_back_bit_for_bit(tmp_path) -> None:
    def odd(X, y, seed):
        level = {0: np.inf, 1: 0.1, 2: 1 / 3}[int(y[-1] * 1000) % 3]
        return lambda points: np.full(len(points), level * len(y))

    path = tmp_path / "odd.record"
    monitor = poise.Monitor(path, odd, n=3, epsilon=0.2, delta=0.5, random_state=0, check=False)
    monitor.add(*rows(120))
    written = [float(change[0]) for change in read_record(path).changes]
    assert written == [float(c[0]) for c in monitor._content.changes]
    assert np.isinf(written).any()


def test_missing_and_empty_files(tmp_path) -> None:
    with pytest.raises(RecordError, match=r"cannot read .*No such file"):
        read_record(tmp_path / "nothing")
    (tmp_path / "empty").write_text("")
    with pytest.raises(RecordError, match="holds no record"):
        read_record(tmp_path / "empty")
    with pytest.raises(RecordError, match="there is no folder"):
        RecordFile(tmp_path / "no" / "folder").__enter__()


def test_another_version_is_refused(tmp_path) -> None:
    entry = RecordHeader({"n": 4}, seed=1).to_entry()
    path = tmp_path / "later.record"
    path.write_bytes(_checked(entry | {"format": "poise monitor 12"}))
    with pytest.raises(RecordError, match=r"has format 'poise monitor 12'|not a record"):
        read_record(path)
