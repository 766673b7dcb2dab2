"""What a monitor refuses, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.errors import ArgumentError, DataError, RecordError
from shared.monitors import last_row, other, rows


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"algorithm": other}, "algorithm: last_row in the record, other now"),
        ({"n": 5}, "n: 4 in the record, 5 now"),
        ({"epsilon": 1.0}, "epsilon: 1.5 in the record, 1.0 now"),
        ({"delta": 0.1}, "delta: 0.2 in the record, 0.1 now"),
        ({"alpha": 0.1}, "alpha: 0.05 in the record, 0.1 now"),
        ({"removals": 2}, "removals: 1 in the record, 2 now"),
        ({"points": 2}, "points: 1 in the record, 2 now"),
        ({"coupling": "independent"}, "coupling: shared in the record, independent now"),
        ({"distance": "absolute"}, "distance: auto in the record, absolute now"),
        ({"random_state": 8}, "seed: 7 in the record, 8 now"),
        ({"key": "a key of sixteen bytes"}, "was begun with another key"),
    ],
)
def test_another_question_is_refused(begin, changed, said) -> None:
    begin().add(*rows(10))
    with pytest.raises(RecordError, match=said):
        begin(**changed)


def test_edited_code_is_refused(begin) -> None:
    def made(level):
        code = f"def drawn(X, y, seed):\n    return lambda rows: [{level}] * len(rows)\n"
        space: dict[str, object] = {}
        exec(code, space)
        return space["drawn"]

    begin(made("0.0")).add(*rows(10))
    begin(made("0.0"))
    with pytest.raises(RecordError, match="algorithm: the code of drawn is not what it was"):
        begin(made("seed"))


def test_rows_already_used_are_refused_and_counted(begin) -> None:
    X, y = rows(23)
    monitor = begin()
    monitor.add(X[:20], y[:20])
    before = monitor.status
    with pytest.raises(DataError, match=r"5 of the 8 rows given are already in .*: row 0 \(count"):
        monitor.add(X[15:], y[15:])
    assert monitor.status == before
    skipped = monitor.add(X[15:], y[15:], skip_used=True)
    assert (skipped.n_trials, skipped.n_leftover) == (4, 3)


def test_a_point_is_known_again_when_it_gets_its_response(begin) -> None:
    X, y = rows(30)
    monitor = begin()
    monitor.add(X[:8], y[:8], X[8:10])
    with pytest.raises(DataError, match="2 of the 10 rows"):
        monitor.add(X[8:18], y[8:18])
    with pytest.raises(DataError, match=r"1 of the 9 rows .*unlabelled row 0"):
        monitor.add(X[20:28], y[20:28], X[:1])


def test_equal_rows_are_told_apart_by_ids(begin) -> None:
    X, y = np.zeros((20, 1)), np.linspace(0, 2, 20)
    monitor = begin(alpha=0.1)
    monitor.add(X[:10], y[:10], ids=list(range(10)))
    with pytest.raises(DataError, match="10 of the 10 rows"):
        monitor.add(X[10:], y[10:], ids=list(range(10)))
    status = monitor.add(X[10:], y[:10], ids=np.arange(10, 20))
    assert status.n_trials == 4
    with pytest.raises(DataError, match=r"ids must hold one name per row \(10\), got 9"):
        monitor.add(X[10:], y[:10], ids=list(range(9)))
    with pytest.raises(DataError, match="ids must hold a different name for each row"):
        monitor.add(X[10:], y[:10], ids=[1] * 10)


def test_wrong_arguments(begin, record) -> None:
    for wrong, said in (
        ({"points": "spare"}, "points must be a whole number >= 1 here, got 'spare'"),
        ({"epsilon": -1}, "epsilon must be"),
        ({"delta": 1.0}, "delta must be"),
        ({"n": 1}, "n must be"),
        ({"key": "short"}, "key must be bytes or text of at least 16 bytes"),
        ({"keep_leftovers": "yes"}, "keep_leftovers must be"),
        ({"distance": "loss:squared", "points": 2}, "removals and points must be 1 for losses"),
        ({"removals": 5}, "removals must be"),
    ):
        with pytest.raises(ArgumentError, match=said):
            begin(**wrong)
    with pytest.raises(ArgumentError, match="record must be the path of a file, got 3"):
        poise.Monitor(3, last_row, n=4, epsilon=1, delta=0.1)
    assert not record.exists()


def test_bad_rows_leave_the_evidence_as_it_was(begin, record) -> None:
    monitor = begin()
    monitor.add(*rows(10))
    size = record.stat().st_size
    X, y = rows(10, 1)
    with pytest.raises(DataError, match="same number of rows"):
        monitor.add(X, y[:5])
    monitor.add(*rows(3, 2))
    with pytest.raises(DataError, match="cannot be joined"):
        monitor.add([list(row) for row in X], list(y))
    assert record.stat().st_size == size


def test_a_response_of_another_kind_is_refused(begin) -> None:
    def largest(X, y, seed):
        return lambda points: [max(list(y))] * len(points)

    monitor = begin(largest, epsilon=0.5)
    monitor.add(*rows(10))
    X, _ = rows(10, 1)
    with pytest.raises(RecordError, match="compares predictions by euclidean, and for these rows"):
        monitor.add(X, np.array(["a", "b"] * 5))


def test_another_file_is_not_touched(begin, record) -> None:
    for content in ("x,y\n1,2\n", "x,y", '{"format": "poise journal 1"}\n'):
        record.write_text(content)
        with pytest.raises(RecordError, match="is not a record written by poise"):
            begin()
        assert record.read_text() == content


def test_your_own_key_is_not_in_the_record(begin, record) -> None:
    secret = "a key of sixteen bytes"
    begin(key=secret).add(*rows(10))
    assert secret not in record.read_text()
    assert secret.encode().hex() not in record.read_text()
    with pytest.raises(RecordError, match="was begun with a key of yours"):
        begin()
    with pytest.raises(DataError, match="10 of the 10 rows"):
        begin(key=secret.encode()).add(*rows(10))


def test_no_row_is_in_the_record(begin, record) -> None:
    X, y = rows(12)
    begin().add(X, y)
    text = record.read_text()
    assert not any(repr(float(value)) in text for value in X.ravel())
    assert not (record.parent / "last.record.leftovers.npz").exists()
