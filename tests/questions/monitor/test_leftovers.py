"""Rows that are too few for a trial: in memory, beside the record, or given again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from poise.errors import DataError, RecordError
from poise.storage.monitor_record.leftovers_file import leftovers_path, save_leftovers
from shared.monitors import rows


def test_they_are_carried_to_the_next_call(begin) -> None:
    X, y = rows(16)
    monitor = begin()
    for start in range(0, 16, 4):  # five rows make a trial
        monitor.add(X[start : start + 4], y[start : start + 4])
    assert (monitor.status.n_trials, monitor.status.n_leftover) == (3, 1)


def test_a_new_process_gets_them_again_or_not_at_all(begin, record) -> None:
    X, y = rows(10)
    begin().add(X[:7], y[:7])
    later = begin()
    assert (later.status.n_trials, later.status.n_leftover) == (1, 0)
    status = later.add(X, y, skip_used=True)
    assert (status.n_trials, status.n_leftover) == (2, 0)
    assert list(record.parent.iterdir()) == [record]


def test_given_again_they_count_once(begin) -> None:
    X, y = rows(10)
    monitor = begin()
    monitor.add(X[:7], y[:7])
    with pytest.raises(DataError, match="2 of the rows given waited for a trial already"):
        monitor.add(*_unused(monitor, X, y))
    assert monitor.add(X, y, skip_used=True).n_trials == 2


def _unused(monitor, X, y):
    waiting = monitor._leftovers.load()
    return np.vstack([waiting.X, X[7:]]), np.append(waiting.y, y[7:])


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"a": X[:, 0], "town": ["Ely", "Bath"] * (len(X) // 2)})


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_beside_the_record_they_wait_for_another_process(begin, record, kind) -> None:
    X, y = rows(14)
    table = X if kind == "array" else _frame(X)
    begin(keep_leftovers=True).add(table[:7], y[:7])
    assert leftovers_path(record).exists()
    later = begin(keep_leftovers=True)
    assert later.status.n_leftover == 2
    assert later.add(table[7:], y[7:]).n_trials == 2
    assert later.status.n_leftover == 4
    more, responses = rows(6, 5)
    last = begin(keep_leftovers=True)
    assert last.add(more if kind == "array" else _frame(more), responses).n_trials == 4
    assert not leftovers_path(record).exists()


def test_ids_wait_with_their_rows(begin) -> None:
    X, y = np.zeros((7, 1)), np.linspace(0, 1, 7)
    begin(keep_leftovers=True).add(X, y, ids=list("abcdefg"))
    later = begin(keep_leftovers=True)
    with pytest.raises(DataError, match="5 of the 7 rows"):
        later.add(X, y, ids=list("abcdefg"))
    assert later.add(X[:3], y[:3], ids=list("hij")).n_trials == 2


def test_a_restart_drops_them(begin, record) -> None:
    monitor = begin(keep_leftovers=True)
    monitor.add(*rows(7))
    monitor.restart()
    assert monitor.status.n_leftover == 0
    assert not leftovers_path(record).exists()


def test_what_cannot_be_kept_is_said(begin, record) -> None:
    monitor = begin(keep_leftovers=True)
    X = np.array([[object()]] * 3, dtype=object)
    with pytest.raises(RecordError, match="numbers and words only"):
        save_leftovers(Path("x"), {"X": X})
    leftovers_path(record).write_bytes(b"nothing of the kind")
    with pytest.raises(RecordError, match="does not hold leftover rows"):
        monitor.add(*rows(7))
