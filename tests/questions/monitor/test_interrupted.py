"""Calls that were interrupted, restarts, and two processes at one record."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from poise.errors import DataError, RecordError, TrialError, ValidityWarning
from poise.storage.monitor_record import RecordFile, read_record
from shared.monitors import last_row, last_row_or_wait, rows


def cut(record, lines: int) -> None:
    """Leave the first lines and half of the next one, as a killed process does."""
    kept = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(kept[:lines]) + kept[lines][:9])


@pytest.mark.parametrize("settings", [{}, {"points": 2, "removals": 2}])
def test_the_same_call_finishes_it_with_the_same_result(begin, record, settings) -> None:
    whole = begin(**settings).add(*rows(34))
    key = read_record(record).header.key
    cut(record, 2 + 3)
    later = begin(**settings)
    assert later.status.n_unfinished == whole.n_trials - 3
    assert "interrupted" in later.summary()
    finished = later.add(*rows(34))
    assert finished.shares == whole.shares
    assert finished.n_leftover == whole.n_leftover
    assert read_record(record).header.key == key
    assert later.add(*rows(30, 1)).n_trials > whole.n_trials


def test_it_must_be_finished_first_or_abandoned(begin, record) -> None:
    begin().add(*rows(30))
    cut(record, 2 + 2)
    later = begin()
    with pytest.raises(RecordError, match=r"4 of its 6 trials are missing in .*30 of its 30 rows"):
        later.add(*rows(30, 1))
    status = later.abandon()
    assert (status.n_trials, status.n_failures, status.n_unfinished) == (6, 4, 0)
    assert status.shares[2:] == (1.0,) * 4
    assert status.shares_unstable[2:] == (0.0,) * 4
    assert begin().add(*rows(30, 1)).n_trials == 12
    with pytest.raises(RecordError, match="nothing to abandon"):
        later.abandon()


def test_a_failed_fit_ends_the_call_and_can_be_counted_by_the_same_call(begin) -> None:
    def fails(X, y, seed):
        if y[0] > 1.2:
            raise ZeroDivisionError("singular")
        return last_row(X, y, seed)

    with pytest.raises(TrialError, match="singular") as caught:
        begin(fails).add(*rows(40))
    assert "the same call, with all of its rows, finishes it" in caught.value.__notes__[-1]
    left = begin(fails).status.n_unfinished
    assert 0 < left <= 8
    status = begin(fails, on_error="unstable").add(*rows(40))
    assert (status.n_trials, status.n_unfinished) == (8, 0)
    assert 0 < status.n_failures < 8
    failed = [s for s, t in zip(status.shares, status.shares_unstable, strict=True) if s != t]
    assert len(failed) == status.n_failures


def test_a_restart_counts_from_new_and_keeps_rows_used(begin) -> None:
    monitor = begin()
    monitor.add(*rows(100))
    status = monitor.restart()
    assert (status.epoch, status.n_trials, status.e_value) == (2, 0, 1.0)
    with pytest.raises(DataError, match="20 of the 20 rows"):
        monitor.add(*(part[:20] for part in rows(100)))
    assert monitor.add(*rows(30, 1)).n_trials == 6
    assert "verdicts is wrong has probability at most 0.1" in monitor.summary()
    assert begin().status.epoch == 2


def test_an_interrupted_call_ends_with_its_epoch(begin, record) -> None:
    begin().add(*rows(30))
    cut(record, 2 + 2)
    monitor = begin()
    monitor.restart()
    assert monitor.add(*rows(30, 1)).n_trials == 6
    assert [batch.first for batch in read_record(record).batches] == [0, 6]


def test_drift_between_calls_shows_as_a_contradiction(begin) -> None:
    X, y = rows(250)
    monitor = begin()
    monitor.add(X, y * 0.1)
    assert monitor.verdict == "stable"
    X, y = rows(500, 1)
    monitor.add(X, y * 20)
    assert monitor.verdict == "stable"
    assert monitor.status.contradicted
    assert "suspect drift" in monitor.summary()


def test_only_one_process_writes(begin, record) -> None:
    monitor = begin()
    monitor.add(*rows(10))
    with RecordFile(record), pytest.raises(RecordError, match="being written by another process"):
        monitor.add(*rows(10, 1))
    assert monitor.add(*rows(10, 1)).n_trials == 4


CHILD = """
import sys
import poise
from shared.monitors import last_row_or_wait, rows

asked = {"n": 4, "epsilon": 1.5, "delta": 0.2, "random_state": 7, "progress": False}
poise.Monitor(sys.argv[1], last_row_or_wait, **asked).add(*rows(34))
"""


def test_a_killed_process_loses_nothing_and_drops_nothing(begin, record) -> None:
    whole = begin(last_row_or_wait).add(*rows(34))
    record.unlink()
    found = os.pathsep.join(path for path in sys.path if path)
    waiting = {"PYTHONPATH": found, "WAIT_FOR_TWO_TRIALS_IN": str(record)}
    command = [sys.executable, "-c", CHILD, str(record)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=os.environ | waiting, **pipes) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"waiting\n"
        with pytest.raises(RecordError, match="being written by another process"):
            begin(last_row_or_wait).add(*rows(34))
        child.send_signal(signal.SIGKILL)
    assert len(read_record(record).answers) == 2
    assert begin(last_row_or_wait).add(*rows(34)).shares == whole.shares


def test_rows_are_on_the_disk_as_used_before_the_first_fit(begin, record) -> None:
    seen = []

    def look(X, y, seed):
        seen.append(len(read_record(record).used_rows()))
        return last_row(X, y, seed)

    begin(look, check=False).add(*rows(20))
    assert set(seen) == {20}


def test_other_versions_are_noted_in_the_record(begin, record, monkeypatch) -> None:
    from poise.storage.monitor_record import record_header

    begin().add(*rows(10))
    now = record_header.current_versions()
    monkeypatch.setattr(record_header, "current_versions", lambda: {**now, "numpy": "99.1"})
    with pytest.warns(ValidityWarning, match=r"was begun with numpy .* \(now 99.1\)"):
        status = begin().add(*rows(10, 1))
    assert "now 99.1" in status.warnings[0]
    assert "Warning: " in begin().summary()
