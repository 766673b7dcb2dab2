"""Rows stay in the container they came in, and no fit can write into the user's."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from poise.data.rows import as_rows
from poise.data.sample import Sample
from poise.errors import DataError, ValidityWarning

VALUES = np.random.default_rng(0).normal(size=(12, 3))
NAMES = ["a", "b", "c"]


def objects(rows: list[Any]) -> Any:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


ROWS, TOWNS = VALUES.tolist(), {"town": ["Rome", "Oslo"] * 6}
FRAME = pd.DataFrame(VALUES, columns=NAMES, index=range(100, 112))
CONTAINERS: dict[str, Any] = {
    "array": VALUES,
    "fortran array": np.asfortranarray(VALUES),
    "column": VALUES[:, 0],
    "images": VALUES.reshape(12, 3, 1),
    "list of lists": ROWS,
    "list of arrays": list(VALUES),
    "tuple of arrays": tuple(VALUES),
    "list of dicts": [{"a": a, "b": [b, c]} for a, b, c in ROWS],
    "list of nested lists": [[a, [b, c]] for a, b, c in ROWS],
    "list of tuples of lists": [([a], [b, c]) for a, b, c in ROWS],
    "list of texts": [f"text {row}" for row in range(12)],
    "array of lists": objects(ROWS),
    "table of arrays": np.stack([objects(list(VALUES))] * 2, axis=1),
    "sparse array": scipy.sparse.coo_array(VALUES * (VALUES > 0)),
    "sparse matrix": scipy.sparse.csc_matrix(VALUES * (VALUES > 0)),
    "pandas": FRAME,
    "pandas of mixed kinds": FRAME.assign(**TOWNS, k=pd.Categorical(["u", "v"] * 6)),
    "pandas with objects": FRAME.assign(d=[{"x": [value]} for value in VALUES[:, 1]]),
    "pandas column": FRAME["a"],
    "pandas column of lists": pd.Series(ROWS, index=range(100, 112)),
    "polars": pl.DataFrame(VALUES, schema=NAMES),
    "polars with lists": pl.DataFrame({"a": ROWS}),
    "polars column": pl.Series("a", VALUES[:, 0]),
    "pyarrow": pa.table({"a": VALUES[:, 0], **TOWNS}),
    "pyarrow column": pa.chunked_array([VALUES[:5, 0], VALUES[5:, 0]]),
}
ALSO = {tuple: list, scipy.sparse.coo_array: scipy.sparse.csr_array}
ALSO[scipy.sparse.csc_matrix] = scipy.sparse.csr_matrix


def spoil(rows: Any) -> None:
    """Overwrite every number in what a fit was given, however deep it lies."""
    if scipy.sparse.issparse(rows):
        rows = rows.data
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        rows[...] = 1e9
    elif isinstance(rows, pd.DataFrame):
        for name in rows:
            spoil(rows[name].to_list())
        rows["a"] = 1e9
    elif isinstance(rows, pd.Series):
        spoil(rows.to_list())
        rows.iloc[:] = 1e9
    elif isinstance(rows, list | tuple | dict | np.ndarray):
        for key, value in rows.items() if isinstance(rows, dict) else enumerate(rows):
            spoil(value)
            if isinstance(value, float) and not isinstance(rows, tuple):
                rows[key] = 1e9


def shown(rows: Any) -> str:
    for method in ("to_pylist", "to_dicts", "toarray"):
        rows = getattr(rows, method)() if hasattr(rows, method) else rows
    with np.printoptions(threshold=10**6), pl.Config(tbl_rows=-1):
        return repr(rows)


def chosen(X: Any, places: Any) -> Any:
    """Take rows as the library of the container does."""
    if isinstance(X, list | tuple):
        return [X[place] for place in places]
    if isinstance(X, pd.DataFrame | pd.Series):
        return X.iloc[places]
    if scipy.sparse.issparse(X):
        return X.tocsr()[places]
    return X.take(pa.array(places)) if hasattr(X, "to_pylist") else X[places]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_what_is_taken_is_a_copy_of_the_same_kind(kind) -> None:
    """So a fit that overwrites its rows reaches neither the user nor the next fit."""
    X, places = CONTAINERS[kind], np.array([8, 3, 5])
    before, rows = shown(copy.deepcopy(X)), pickle.loads(pickle.dumps(as_rows(X, "X")))
    wanted, taken = chosen(X, places), rows.take(places)
    assert type(taken) is ALSO.get(type(X), type(X))
    assert shown(taken) == shown(wanted)
    assert str(getattr(taken, "dtypes", "")) == str(getattr(wanted, "dtypes", ""))
    sample = Sample.of(X, VALUES[:, 0], X_unlabeled=rows.take(np.arange(6)))
    for order in ([13, 2, 12, 0], [1, 2], [14, 12], [12, 12, 3]):
        mixed = sample.points(np.array(order))
        assert shown(mixed) == shown(rows.take(np.array(order) % 12))
        spoil(mixed)
    rows = as_rows(X, "X")
    spoil(rows.take(places))
    assert shown(X) == before
    assert shown(rows.take(places)) == shown(wanted)


def test_points_of_both_kinds_lie_in_memory_alike() -> None:
    """Else last digits would depend on the blocks of a pandas frame, so on how it was made."""
    blocks = FRAME[["a"]].assign(b=FRAME["b"], c=FRAME["c"])
    samples = [Sample.of(X, VALUES[:, 0], X_unlabeled=X) for X in (FRAME, blocks)]
    one, other = (np.asarray(each.points(np.array([3, 15]))).flags for each in samples)
    assert one.f_contiguous == other.f_contiguous


def test_columns_and_numbers() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    names, both = ("a", "b"), [[1.0, 0.5], [2.0, 1.5]]
    for native, labels, numbers in [
        (np.zeros((2, 3)), range(3), [[0.0] * 3] * 2),
        *((frame, names, both), (pl.from_pandas(frame), names, both)),
        (frame["a"], range(1), [1.0, 2.0]),
        (frame.astype("float32"), names, None),
        (frame.assign(a=[True, False]), names, None),
        (frame.assign(a="x"), names, None),
        ([[1, 2], [3, 4]], range(2), None),
        ([[1, 2], [3]], range(1), None),
        (["x", "y"], range(1), None),
        (scipy.sparse.eye_array(2), range(2), None),
        (pd.array([1, 2]), range(1), [1, 2]),
        (pa.array([1, 2]), range(1), [1, 2]),
    ]:
        rows = as_rows(native, "X")
        assert rows.labels == labels
        assert rows.single == (labels == range(1))
        found = rows.numbers()
        assert numbers is None if found is None else found.tolist() == numbers


def test_rows_that_are_not_copied(tmp_path) -> None:
    np.save(tmp_path / "rows.npy", VALUES)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert np.shares_memory(as_rows(mapped, "X").native, mapped)
    lock = threading.Lock()
    with pytest.warns(ValidityWarning, match="a lock among the rows cannot be copied .*lock"):
        assert as_rows([lock], "X").take(np.array([0])) == [lock]


def test_what_is_no_container_of_rows() -> None:
    tensor = type("Tensor", (), {"__array__": None})()
    hidden = np.ma.array([[1.0]], mask=[[True]])
    for native, message in [
        ("rows.csv", "got str; read a file with poise.read_table"),
        (None, "got NoneType$"),
        (np.float64(3), "got float64; give numpy"),
        (pl.LazyFrame({"a": [1.0]}), r"got LazyFrame; give X\.collect\(\)"),
        (tensor, r"got Tensor; give numpy\.asarray\(X\)"),
        (hidden, "X has masked values; remove"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "X has two columns of one name.*'a'"),
        (pa.record_batch({"a": [1, 2]}), "got RecordBatch; give X.to_pandas"),
    ]:
        with pytest.raises(DataError, match=message):
            as_rows(native, "X")
