from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from poise.engine.log import Log, kind_of, read
from poise.errors import RecordError

HEADER = {"seed": 3, "what": "é\n\x1b"}
ENTRIES = [{"trial": k, "changes": [k / 7, None, "inf"]} for k in range(4)]


@pytest.fixture
def path(tmp_path) -> Path:
    """A log of four entries."""
    place = tmp_path / "run.log"
    with Log(place, "journal") as log:
        log.begin(HEADER)
        for entry in ENTRIES:
            log.append(entry)
    return place


def content(path):
    with Log(path, "journal") as log:
        return log.header, list(log.entries())


def test_a_file_cut_anywhere_goes_on_from_its_last_whole_line(path):
    whole = path.read_bytes()
    ends = [k + 1 for k, byte in enumerate(whole) if byte == 10]
    for size in range(len('{"format":"poise journal 1"'), len(whole) + 1):
        for tail in (b"", b"\0" * 700):  # a power cut may leave zeros
            path.write_bytes(whole[:size] + tail)
            kept = sum(end <= size for end in ends)
            assert content(path) == ((HEADER, ENTRIES[: kept - 1]) if kept else (None, []))
            assert path.read_bytes() == whole[:size] + tail
    path.write_bytes(whole[:-9])
    with Log(path, "journal") as log:
        log.append(ENTRIES[3])
    assert path.read_bytes() == whole
    path.write_bytes(whole[:40])
    with Log(path, "journal") as log:
        log.begin(HEADER)
    assert path.read_bytes() == whole[: ends[0]]


def test_no_flipped_bit_goes_unnoticed(path):
    """Lines before the last are refused by their number, the last is computed again."""
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for place in range(len(whole)):
        for bit in range(8):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            if place >= len(whole) - len(lines[-1]) - 1:
                kept = 4 if place >= len(whole) - len(lines[-1]) else 3
                assert content(path)[1] == ENTRIES[: kept - 1]
                continue
            number = 1 + whole[:place].count(b"\n")
            with pytest.raises(RecordError, match=rf"line {number} of|run\.log is not a journal"):
                content(path)


@pytest.mark.parametrize(
    "foreign",
    [b"a,b\n1,2\n", b"Roses are red", b"[1, 2]\n", b"{", b"\n", b'{"format":"poise record 1"}\n'],
)
def test_a_foreign_file_stays_as_it_is(foreign, tmp_path):
    place = tmp_path / "mine"
    place.write_bytes(foreign)
    before = place.stat().st_mtime_ns
    with pytest.raises(RecordError, match="mine is not a journal written by poise"):
        Log(place, "journal")
    assert (place.read_bytes(), place.stat().st_mtime_ns) == (foreign, before)


def test_where_no_log_can_be_and_what_becomes_of_empty_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(RecordError, match="not a regular file"):
            Log(place, "journal")
    for place in (tmp_path / "none" / "a.log", tmp_path / ("x" * 300), tmp_path / "\0"):
        with pytest.raises(RecordError, match="cannot be written"):
            Log(place, "journal")
    with pytest.raises(RecordError, match="does not exist"):
        read(tmp_path / "none", "journal")
    os.remove(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for name in ("empty", "new"):
        Log(tmp_path / name, "journal").close()
    assert os.listdir(tmp_path) == ["empty"]


def test_a_fit_may_change_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("here.log").touch()  # an empty file may become a log
    with Log("here.log", "journal") as log:
        assert log.header is None
        monkeypatch.chdir("/")
        log.begin(HEADER)
    assert content(tmp_path / "here.log") == (HEADER, [])


OTHER = """
import sys, time; from poise.engine.log import Log; log = Log(sys.argv[1], 'journal')
log.append({'trial': 5}); print('open', flush=True); time.sleep(60)
"""


def test_one_goes_on_while_others_read(path):
    assert kind_of(path) == "journal"
    with Log(path, "journal") as log:
        with pytest.raises(RecordError, match=r"run\.log is being written by another process"):
            Log(path, "journal")
        assert (log.header, list(log.entries())) == (HEADER, ENTRIES)
        log.append({"trial": 4})
        assert list(read(path, "journal"))[1:] == [*ENTRIES, {"trial": 4}] == list(log.entries())
    with subprocess.Popen([sys.executable, "-c", OTHER, path], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline()
        with pytest.raises(RecordError, match="another process"):
            Log(path, "journal")
        other.send_signal(signal.SIGKILL)
    assert content(path)[1] == [*ENTRIES, {"trial": 4}, {"trial": 5}]


def reused(path, log):
    """A fit that closes every descriptor, and opens a file of its own."""
    os.close(log._file.fileno())
    opened = os.open(path.with_suffix(".txt"), os.O_RDWR | os.O_CREAT)
    assert opened == log._file.fileno()


MEANWHILE = {
    "deleted": lambda path, log: path.unlink(),
    "moved": lambda path, log: path.rename(path.with_suffix(".bak")),
    "replaced by a copy": lambda path, log: shutil.copy(path, path.with_suffix(".new")).replace(
        path
    ),
    "a folder": lambda path, log: (path.unlink(), path.mkdir()),
    "cut": lambda path, log: os.truncate(path, 100),
    "written by others": lambda path, log: path.write_bytes(path.read_bytes() + b"x"),
    "closed": lambda path, log: log._file.close(),
    "reused": reused,
}


@pytest.mark.parametrize("how", MEANWHILE)
def test_what_happens_to_the_file_meanwhile_is_noticed_before_the_next_line(how, path):
    with Log(path, "journal") as log:
        MEANWHILE[how](path, log)
        left = {each: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}
        with pytest.raises(RecordError, match=r"run\.log was deleted, replaced or changed"):
            log.append({"trial": 4})
        assert {each: each.read_bytes() for each in left} == left


def test_a_full_disk_leaves_whole_lines(path):
    size, before = path.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    with Log(path, "journal") as log:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))
            with pytest.raises(RecordError, match=r"cannot be written: .*the same call goes on"):
                log.append({"trial": 4})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert path.stat().st_size == size
        log.append({"trial": 4})
    assert content(path)[1] == [*ENTRIES, {"trial": 4}]
