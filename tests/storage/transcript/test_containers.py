"""Containers of rows in files: what comes back is what went in, by type and by bit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import poise
from poise.errors import RecordError
from poise.protocol.messages import Batch, Query
from poise.storage.transcript import Transcript, replay
from poise.storage.transcript.array_pool import ArrayPool
from poise.storage.transcript.containers import read_container, write_container
from poise.storage.transcript.replay import identical
from shared.algorithms import mean


def kept(native):
    pool = ArrayPool()
    note = write_container(native, pool)
    return read_container(note, ArrayPool.from_columns(pool.columns()))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint16", "bool", "<U3"])
def test_arrays_keep_their_type(dtype) -> None:
    array = np.array([[0, 1], [2, 3], [4, 5]]).astype(dtype)
    found = kept(array)
    assert found.dtype == array.dtype
    assert found.shape == (3, 2)
    assert found.tolist() == array.tolist()


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "csc_array", "coo_array"])
def test_sparse_rows_keep_their_shape_and_values(kind) -> None:
    rows = getattr(scipy.sparse, kind)(
        np.array([[0.0, 1.5, 0.0], [0.0, 0.0, 0.0], [2.5, 0.0, -1.0]])
    )
    found = kept(rows)
    assert found.shape == (3, 3)
    assert found.nnz == 3
    np.testing.assert_array_equal(found.toarray(), rows.toarray())


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_and_columns_come_back_as_what_they_were(library) -> None:
    frame = library.DataFrame({"size": [1.5, 2.5], "town": ["Bern", "Ulm"], "new": [True, False]})
    found = kept(frame)
    assert type(found) is type(frame)
    assert found.equals(frame)
    column = frame["size"]
    again = kept(column)
    assert type(again) is type(column)
    assert again.to_list() == [1.5, 2.5]
    assert again.name == "size"


def test_arrow_tables() -> None:
    table = pa.table({"size": [1.0, 2.0], "count": [3, 4]})
    assert kept(table).equals(table)


def test_lists_of_plain_values() -> None:
    assert kept([[1, 2.5], ["a", None]]) == [[1, 2.5], ["a", None]]
    assert kept((1.0, 2.0)) == [1.0, 2.0]
    for bad in ([[float("nan")]], [(1, 2)], [np.float32(1.0)], [{1: 2}]):
        with pytest.raises(RecordError, match="cannot save a list of rows that are not lists of"):
            kept(bad)


def test_columns_that_a_file_cannot_hold() -> None:
    dates = pd.DataFrame({"when": pd.to_datetime(["2024-01-01", "2024-01-02"])})
    with pytest.raises(RecordError, match="cannot save column 'when' of type Datetime"):
        kept(dates)
    holes = pl.DataFrame({"town": ["Bern", None]})
    with pytest.raises(RecordError, match="cannot save column 'town' of type String"):
        kept(holes)


# --- replays --------------------------------------------------------------------------


class AsksMadeUpRows:
    """Asks about three rows of its own making, in a number type of its own choice."""

    def __init__(self, dtype="float64", container=np.asarray) -> None:
        self.dtype, self.container = dtype, container

    def ask(self, sample, randomness):
        rows = self.container(np.array([[0.0], [1.0], [2.0]], dtype=self.dtype))
        y = np.array([0.0, 2.0, 4.0])
        answers = yield Batch([Query(poise.Made(rows, y), poise.Made(rows[:1]), 0)])
        return bool(np.isfinite(answers.predictions[0]).all())


@pytest.fixture
def transcript():
    ran = poise.run(AsksMadeUpRows(), mean, np.zeros((4, 1)), np.zeros(4), random_state=0)
    return ran.transcript


@pytest.mark.parametrize("other", ["float32", "int64", "complex128", "object"])
def test_made_up_rows_of_another_type_are_other_rows(transcript, other) -> None:
    assert replay(transcript) is True
    with pytest.raises(RecordError, match="training rows differ: recorded 3 made-up rows, now 3"):
        replay(transcript, AsksMadeUpRows(other))


def test_made_up_responses_are_compared_too(transcript) -> None:
    stage = transcript.stages[0]
    [query] = stage.tasks
    other = dataclasses.replace(query.train, y=query.train.y + 1)
    changed = dataclasses.replace(stage, tasks=(dataclasses.replace(query, train=other),))
    with pytest.raises(RecordError, match="training rows differ"):
        replay(dataclasses.replace(transcript, stages=(changed,)))


def test_rows_in_another_container_are_other_rows(transcript) -> None:
    with pytest.raises(RecordError, match="training rows differ"):
        replay(transcript, AsksMadeUpRows(container=pd.DataFrame))


def test_a_saved_transcript_keeps_the_type_of_made_up_rows(tmp_path) -> None:
    test = AsksMadeUpRows("float32")
    ran = poise.run(test, mean, np.zeros((4, 1)), np.zeros(4), random_state=0)
    ran.transcript.save(tmp_path / "run.npz")
    loaded = Transcript.load(tmp_path / "run.npz")
    assert loaded.stages[0].tasks[0].train.X.dtype == np.float32
    assert replay(loaded, test) is True
    with pytest.raises(RecordError, match="training rows differ"):
        replay(loaded, AsksMadeUpRows("float64"))


def test_what_is_identical() -> None:
    assert identical(np.array([1, "a"], dtype=object), np.array([1, "a"], dtype=object))
    assert not identical(np.array([1], dtype=object), np.array([2], dtype=object))
    assert not identical(np.zeros(2), np.zeros((2, 1)))
    assert not identical(np.zeros(2), np.zeros(2, dtype=np.int64))  # the same bytes
    assert not identical(np.zeros(2), None)
    assert identical(None, None)
    assert identical([1.0, 2.0], [1.0, 2.0])
    assert not identical([1.0], [2.0])
    assert not identical([1.0], np.array([1.0]))
    assert not identical(pd.Series([1.0]), pl.Series([1.0]))
    assert not identical(pd.DataFrame({"a": [1.0]}), pl.DataFrame({"a": [1.0]}))
    assert identical(pd.Series([1.0]), pd.Series([1.0]))
