"""Data for workers of this machine: nothing is lost on the way, nothing is copied twice."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import poise
from poise.data.on_disk import StoredTable
from poise.data.sample import Sample
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.randomness import Randomness, Shared
from poise.running.transport.memmap import Rearranged, release_pages, write_mapped
from poise.running.transport.row_order import RangesOfFile, arranged

ROWS = np.random.default_rng(0).normal(size=(6000, 100))  # 4.8 MB


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "rows.npy"
    np.save(path, ROWS)
    return path


@pytest.fixture
def folder(tmp_path) -> Path:
    place = tmp_path / "run"
    place.mkdir()
    return place


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.mark.parametrize(
    "view",
    [
        lambda m: m,
        lambda m: m[500:],
        lambda m: m[::3],
        lambda m: m[100:5900:2, 10:90],
        lambda m: m.T,
        lambda m: np.asarray(m)[7:],
        lambda m: m[1:][1:],
    ],
    ids=["whole", "tail", "every third", "block", "transposed", "plain view", "twice"],
)
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_what_lies_in_a_file_stays_there(view, mode, file, folder) -> None:
    array = view(np.load(file, mmap_mode=mode))
    back = write_mapped(array, folder).open()
    assert np.array_equal(back, array)
    assert back.strides == array.strides
    assert size(folder) < 1000, "only a note where it is"
    assert not back.flags.writeable
    assert type(back) is np.ndarray


def test_changes_that_are_not_in_the_file_travel_too(file, folder) -> None:
    array = np.load(file, mmap_mode="c")
    array[0, 0] = 99.0
    assert write_mapped(array, folder).open()[0, 0] == 99.0


def test_a_file_that_is_gone_or_shorter(file, folder) -> None:
    array = np.load(file, mmap_mode="r")
    file.unlink()
    assert np.array_equal(write_mapped(array, folder).open(), ROWS)
    file.write_bytes(b"something else")
    assert np.array_equal(write_mapped(array, folder).open(), ROWS)


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        np.asfortranarray(ROWS),
        ROWS[::-1],
        ROWS.astype("f4"),
        np.array(["text of some length"] * 100_000),
    ],
    ids=["C", "F", "reversed", "single", "text"],
)
def test_arrays(content, folder) -> None:
    back = write_mapped({"a": content, "again": content}, folder).open()
    assert np.array_equal(back["a"], content)
    assert back["a"].dtype == content.dtype
    assert size(folder) < 1.1 * content.nbytes, "once, although it is there twice"


def test_containers_stay_what_they_are(folder) -> None:
    frame = pd.DataFrame(ROWS, columns=[f"c{i}" for i in range(100)]).assign(city="Basel")
    content = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "sparse": scipy.sparse.csr_array(ROWS),
        "list": [[1, "a"], [2, None]],
        "objects": np.array([None, {"a": 1}], dtype=object),
    }
    back = write_mapped(content, folder).open()
    pd.testing.assert_frame_equal(back["pandas"], frame)
    assert back["polars"].equals(content["polars"])
    assert back["arrow"].equals(content["arrow"])
    assert (back["sparse"] != content["sparse"]).nnz == 0
    assert back["list"] == content["list"]
    assert back["objects"].tolist() == content["objects"].tolist()


def test_a_worker_opens_the_data_once(folder) -> None:
    data = pickle.loads(pickle.dumps(write_mapped(ROWS, folder)))
    assert data.open() is data.open()


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells")
@pytest.mark.parametrize("table", [False, True], ids=["array", "table"])
def test_a_worker_lets_go_of_what_is_much(table, folder, monkeypatch) -> None:
    def held() -> int:
        """Bytes of the file that this process has mapped and read."""
        lines = iter(Path("/proc/self/smaps").read_text().splitlines())
        return sum(
            int(next(line for line in lines if line.startswith("Rss:")).split()[1]) << 10
            for line in lines
            if str(folder) in line
        )

    content = pa.table({"c": ROWS[:, 0].repeat(100)}) if table else ROWS
    data = write_mapped(content, folder)
    opened = data.open()
    total = np.asarray(opened["c"] if table else opened).sum()
    assert held() > 4_000_000
    data.release()
    assert held() > 4_000_000, "little is kept"
    monkeypatch.setattr("poise.running.transport.memmap._LARGE_BYTES", -(1 << 40))
    data.release()
    assert held() < 100_000
    assert np.asarray(opened["c"] if table else opened).sum() == total, "and read again"


def test_letting_go_of_ranges_loses_nothing(folder, monkeypatch) -> None:
    monkeypatch.setattr("poise.running.transport.row_order._BYTES_HELD", 0)
    order = np.random.default_rng(0).permutation(len(ROWS))
    table = write_mapped(RangesOfFile(Rearranged(ROWS, order)), folder).open()
    for rows in (slice(10, 900), np.array([5999, 0, 3]), slice(0, 6000)):
        assert np.array_equal(table.take(rows), ROWS[order][rows])
    release_pages(ROWS)  # which lies in no file, and stays
    assert len(table) == 6000


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_memory_map_as_x(n_jobs, file) -> None:
    def fit(A, b, seed):
        level = A.mean() * len(b)
        return lambda rows: [level + rows[0, 0]]

    mapped = np.load(file, mmap_mode="r")
    trials = poise.measure(fit, mapped, ROWS[:, 0], n=20, random_state=0, n_jobs=n_jobs)
    expected = poise.measure(fit, ROWS, ROWS[:, 0], n=20, random_state=0)
    assert trials.changes.tobytes() == expected.changes.tobytes()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_arrow_file_as_x(n_jobs, tmp_path) -> None:
    """Mapped into memory by pyarrow: rows are read when a trial needs them."""
    import pyarrow.feather

    path = str(tmp_path / "rows.feather")
    names = [f"c{i}" for i in range(100)]
    pyarrow.feather.write_feather(
        pd.DataFrame(ROWS, columns=names), path, compression="uncompressed"
    )
    table = pyarrow.feather.read_table(path, memory_map=True)

    def fit(A, b, seed):
        level = float(np.mean(A["c3"].to_numpy())) * len(b)
        return lambda rows: [level + rows["c0"][0].as_py()]

    def plain(A, b, seed):
        level = float(np.mean(A[:, 3])) * len(b)
        return lambda rows: [level + rows[0, 0]]

    trials = poise.measure(fit, table, ROWS[:, 0], n=20, random_state=0, n_jobs=n_jobs)
    expected = poise.measure(plain, ROWS, ROWS[:, 0], n=20, random_state=0)
    assert trials.changes.tobytes() == expected.changes.tobytes()


def test_a_table_that_stays_on_disk_travels_as_its_place(tmp_path, folder, monkeypatch) -> None:
    monkeypatch.setattr("poise.running.transport.memmap._LARGE_BYTES", 0)
    path = tmp_path / "rows.parquet"
    frame = pd.DataFrame(ROWS, columns=[f"c{i}" for i in range(100)])
    frame.to_parquet(path)
    table = StoredTable(path, ["c3", "c5"])
    data = write_mapped({"a": table, "again": table}, folder)
    assert size(folder) < 1500, "only a note where it is"
    back = data.open()
    for _ in range(2):
        pd.testing.assert_frame_equal(back["a"].take(slice(0, 6000)), frame[["c3", "c5"]])
        data.release()


def weigher(A, b, seed, weight=None):
    level = (A[:, 0] * b).sum() + A[:, 1:].mean() + (0 if weight is None else (weight * b).sum())
    return lambda rows: [level + rows[0, 0]]


@pytest.mark.parametrize("extra", [{}, {"groups": 3}, {"replace": True}, {"unlabeled": 1}])
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_arrays_are_sent_in_reading_order(extra, order, monkeypatch, folder) -> None:
    """Rows are moved, trials are not: the same changes, from ranges instead of scattered rows."""
    monkeypatch.setattr("poise.running.transport.memmap._LARGE_BYTES", 0)
    written = []
    blocks = Rearranged.blocks

    def counted(self):
        for block in blocks(self):
            written.append(len(block))
            yield block

    monkeypatch.setattr("poise.running.transport.memmap._BYTES_AT_ONCE", 1 << 19)
    monkeypatch.setattr(Rearranged, "blocks", counted)
    X, y = np.asarray(ROWS[:2000], order=order), ROWS[:2000, 7].copy()
    asked = {"n": 20, "random_state": 4, "fit_params": {"weight": ROWS[:2000, 9].tolist()}}
    if "groups" in extra:
        asked |= {"groups": np.random.default_rng(0).integers(0, 600, 2000), "n": 7}
    if "replace" in extra:
        asked |= {"replace": True, "remove": 2}
    if "unlabeled" in extra:
        asked |= {"X_unlabeled": ROWS[2000:2400]}
    expected = poise.measure(weigher, X, y, **asked)
    assert written == []
    got = poise.measure(weigher, X, y, n_jobs=2, backend="loky", **asked)
    assert got.changes.tobytes() == expected.changes.tobytes()
    assert sum(written) == 2 * 2000, "X and y, once each"
    assert max(written[:-1]) <= 655, "some rows at a time"


def test_shortcuts_read_ranges_too(monkeypatch) -> None:
    from sklearn.linear_model import Ridge

    X, y = ROWS[:3000, :5].copy(), ROWS[:3000, 7].copy()
    asked = {"n": 20, "random_state": 4, "X_unlabeled": ROWS[3000:3200, :5].copy()}
    expected = poise.measure(Ridge(), X, y, **asked)
    monkeypatch.setattr("poise.running.transport.memmap._LARGE_BYTES", 0)
    got = poise.measure(Ridge(), X, y, n_jobs=2, backend="loky", **asked)
    assert got.changes.tobytes() == expected.changes.tobytes()


def test_memory_maps_and_frames_stay_as_they_are(file, monkeypatch) -> None:
    monkeypatch.setattr("poise.running.transport.memmap._LARGE_BYTES", 0)
    tasks = Split(TrialSizes(20, 10, 6000, 0), Randomness(0), Shared())
    for X in (np.load(file, mmap_mode="r"), pd.DataFrame(ROWS)):
        sample = Sample(X, ROWS[:, 0])
        assert arranged(sample, tasks) == (sample, tasks)
    in_order = Split(TrialSizes(20, 10, 6000, 0), Randomness(0), Shared(), shuffle=False)
    sample = Sample(ROWS, ROWS[:, 0])
    assert arranged(sample, in_order) == (sample, in_order)
    moved, split = arranged(sample, tasks)
    assert (moved, split) != (sample, tasks)
    assert split[3].full.train == slice(60, 80)
