"""Files made to do harm: pipes, devices, endless ones, archives that unpack to anything."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from click.testing import CliRunner

import poise
from poise.cli import main
from poise.data.files.parquet import refuse_too_many
from poise.data.files.read_table import read_table
from poise.errors import ArgumentError, DataError, PoiseError, RecordError
from poise.questions.toml_file import read_config
from poise.storage.journal import read_journal
from poise.storage.line_checksums import entry_of, with_checksums
from poise.storage.monitor_record import read_record
from poise.storage.monitor_record.leftovers_file import load_leftovers
from poise.storage.transcript.array_pool import ArrayPool
from poise.storage.transcript.containers import read_container, write_container
from shared.fuzzing.formats import formats
from shared.memory import little_memory
from shared.zip_files import zipped

READERS = {
    "trials": poise.Trials.load,
    "conditional trials": poise.ConditionalTrials.load,
    "transcript": poise.Transcript.load,
    "journal": read_journal,
    "record": read_record,
    "leftovers": load_leftovers,
    "toml": read_config,
    "table": read_table,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["pipe", "folder", "zeros", "link to zeros"])
def test_what_is_no_ordinary_file_is_refused_at_once(name, kind, tmp_path) -> None:
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "zeros":
        path = Path("/dev/zero")
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(PoiseError, match=r"pipe|folder|device|ordinary"):
        READERS[name](path)


@pytest.mark.parametrize("ending", [".csv", ".npz", ".npy", ".parquet", ".feather", ".csv.gz"])
def test_a_pipe_with_any_ending_is_refused(ending, tmp_path) -> None:
    path = tmp_path / f"rows{ending}"
    os.mkfifo(path)
    with pytest.raises(DataError, match="is a named pipe, not an ordinary file"):
        read_table(path, "y")


def test_a_text_file_of_zeros_is_refused_after_its_first_piece(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # it takes no room on the disk
    with little_memory(), pytest.raises(DataError, match="zero bytes"):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("gz", gzip.compress),
        ("xz", lzma.compress),
        ("zip", lambda content: zipped(content, "rows.csv")),
    ],
)
def test_packed_text_that_unpacks_to_too_much_is_refused(
    ending, pack, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("poise.data.files.unpacked_size._FLOOR", 1 << 20)
    path = tmp_path / f"rows.csv.{ending}"
    path.write_bytes(pack(b"a,y\n" + b"1,2\n" * 400_000))
    with pytest.raises(DataError, match="unpacks to more than"):
        read_table(path, "y")
    path.write_bytes(pack(b"a,y\n" + b"1,2\n" * 200_000))  # just as repetitive, but small
    assert len(read_table(path, "y")[1]) == 200_000


def test_arrays_that_unpack_to_too_much_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("poise.data.files.unpacked_size._FLOOR", 1 << 20)
    np.savez_compressed(tmp_path / "rows.npz", X=np.zeros((1 << 17, 2)), y=np.zeros(1 << 17))
    for read in (read_table, poise.Trials.load, poise.Transcript.load, load_leftovers):
        with pytest.raises(PoiseError, match="would unpack to 3,145,984 bytes"):
            read(tmp_path / "rows.npz")


@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_a_header_that_asks_for_more_than_the_file_holds(ending, tmp_path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((4, 2)))
    npy = buffer.getvalue().replace(b"(4, 2), }" + b" " * 12, b"(400000000000, 2), }" + b" ")
    path = tmp_path / f"rows{ending}"
    path.write_bytes(npy)
    if ending == ".npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", npy)
    with little_memory(), pytest.raises(DataError, match=r"cannot be read as np[yz]"):
        read_table(path, "2")


def test_a_table_that_says_it_has_too_many_rows(tmp_path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1 << 16, np.int32)), pa.array([1.0]))
    table = pa.table({"y": column})
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(pa.concat_tables([table] * 256))
    # 16 million rows in a few kilobytes are fine; a billion of them are not.
    refuse_too_many(1 << 24, 1, path)
    with pytest.raises(DataError, match="says that it holds 1,073,741,824 rows"):
        refuse_too_many(1 << 30, 1, path)


def test_damaged_offsets_of_texts_do_not_end_the_process(tmp_path) -> None:
    path = tmp_path / "rows.feather"
    frame = pd.DataFrame({"a": ["north", "south"] * 20, "y": np.arange(40.0)})
    frame.to_feather(path, compression="uncompressed")
    content = path.read_bytes()
    # 64-bit offsets 0, 5, 10, …: the second becomes huge.
    offsets = np.arange(0, 15, 5, dtype=np.int64).tobytes()
    if offsets not in content:
        offsets = np.arange(0, 15, 5, dtype=np.int32).tobytes()
    width = len(offsets) // 3
    at = content.index(offsets) + width
    path.write_bytes(content[:at] + b"\xff\xff\xff\x7f" + content[at + 4 :])
    for on_disk in (False, True):
        with pytest.raises(DataError, match="cannot be read as Feather"):
            read_table(path, "y", on_disk=on_disk)[0].take(slice(0, 40))


@pytest.mark.parametrize(
    ("part", "value"), [(2, 10**6), (2, -1), (1, 10**6), (1, -1), (2, 0)], ids=str
)
def test_sparse_matrices_are_checked_in_full(part, value) -> None:
    pool = ArrayPool()
    note = write_container(scipy.sparse.csr_array(np.eye(4)), pool)
    restored = ArrayPool.from_columns(pool.columns())
    column, start, _ = note["parts"][part]
    restored._columns[column][start + 2] = value
    with pytest.raises((RecordError, ValueError)):
        read_container(note, restored)


@pytest.mark.parametrize("name", ["n_labeled", "n_unlabeled", "n", "points", "removals"])
def test_huge_counts_cost_nothing(name) -> None:
    content = poise.Trials.from_changes([0.5] * 20, n=5).to_dict()
    for value in (10**18, 10**15, 10**12):
        content["design"][name] = value
        with little_memory():
            try:
                trials = poise.Trials.from_json(json.dumps(content))
            except RecordError:
                continue
            trials.test(0.1, 0.2).summary()
            with suppress(ArgumentError):
                trials.profile()


def test_a_profile_of_too_many_trials_is_refused_before_it_takes_memory() -> None:
    content = poise.Trials.from_changes([0.5] * 20, n=5).to_dict()
    content["design"]["n_labeled"] = 10**15
    trials = poise.Trials.from_json(json.dumps(content))
    with little_memory(), pytest.raises(ArgumentError, match="does not fit into memory"):
        trials.profile()


def test_a_csv_with_an_open_quote_is_a_usage_error(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    words = ["--target", "y", "--algorithm", "sklearn.dummy:DummyRegressor", "--n", "2"]
    for text in ('a,y\n"1,2\n3,4\n', 'a,y\n1,2\n3,"4\n', 'a,y\n1,2"\n"3', '"a,y\n1,2\n'):
        path.write_text(text)
        done = CliRunner().invoke(main, ["profile", str(path), *words], prog_name="poise")
        assert done.exit_code == 2, done.output
        assert len(done.stderr.splitlines()) == 1
        assert str(path) in done.stderr


def test_endless_standard_input_is_refused() -> None:
    words = ["--target", "y", "--algorithm", "sklearn.dummy:DummyRegressor", "--n", "2"]
    done = CliRunner().invoke(main, ["profile", "-", *words], input=bytes(1 << 21))
    assert done.exit_code == 2
    assert "zero bytes" in done.stderr


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("question", {"epsilon": 0.5, "delta": 0.3, "alpha": 0.1, "colour": 3}),
        ("question", {"epsilon": "x", "delta": 0.3, "alpha": 0.1}),
        ("question", {"epsilon": 0.5}),
        ("siblings", {"count": "many"}),
    ],
)
def test_the_question_of_a_journal_is_checked(part, value, tmp_path) -> None:
    lines = formats()["journal"].samples[0].splitlines(keepends=True)
    header = entry_of(lines[0]) | {part: value}
    path = tmp_path / "run.jsonl"
    lines[0] = with_checksums(json.dumps(header).encode() + b"\n")
    path.write_bytes(b"".join(lines))
    done = CliRunner().invoke(main, ["status", str(path)])
    assert done.exit_code == 2
    assert "run.jsonl" in done.stderr


def test_a_record_cannot_announce_more_trials_than_its_rows_allow(tmp_path) -> None:
    lines = formats()["monitor record"].samples[0].splitlines(keepends=True)
    entry = entry_of(lines[1])
    entry["trials"] = 10**12
    path = tmp_path / "a.record"
    path.write_bytes(lines[0] + with_checksums(json.dumps(entry).encode() + b"\n"))
    with little_memory(), pytest.raises(RecordError, match=r"a\.record cannot be used"):
        read_record(path)


def transcript_with(path, arrays=None, **parameters) -> None:
    """Write a transcript whose procedure has other parameters."""
    path.write_bytes(formats()["transcript"].samples[2])
    with np.load(path) as content:
        kept = dict(content) | (arrays or {})
    header = json.loads(str(kept["header"]))
    header["procedure"].update(parameters)
    with path.open("wb") as file:
        np.savez_compressed(file, **kept | {"header": np.array(json.dumps(header))})


@pytest.mark.parametrize("value", [10_001, 10**6, 1e300, float("inf")])
def test_a_transcript_cannot_ask_for_more_repetitions_than_it_shows(value, tmp_path) -> None:
    path = tmp_path / "run.npz"
    transcript_with(path)
    assert poise.replay(poise.Transcript.load(path)).verdict
    transcript_with(path, resamples=value)
    with pytest.raises(RecordError, match=r"resamples = .* is too large for what was asked"):
        poise.Transcript.load(path)


def test_bounds_of_responses_in_a_transcript_may_be_large(tmp_path) -> None:
    path = tmp_path / "run.npz"
    y = np.linspace(0.0, 5e6, 24)
    test = poise.procedures.LinearSmootherTest(n=5, epsilon=4e6, delta=0.4, low=0.0, high=5e6)
    run = poise.run(test, lambda A, b, xi: lambda rows: [np.mean(b)], y[:, None], y, random_state=0)
    run.transcript.save(path)
    assert poise.replay(poise.Transcript.load(path)) == run.result


def test_rows_without_columns_are_not_more_than_the_bytes_of_a_file(tmp_path) -> None:
    np.savez(tmp_path / "rows.npz", X=np.zeros((10**9, 0)), y=np.zeros(4))
    with little_memory(), pytest.raises(DataError, match=r"too few bytes for the shape"):
        read_table(tmp_path / "rows.npz")


def test_errors_name_the_file(tmp_path) -> None:
    trials = poise.Trials.from_changes([0.5] * 20, n=5)
    path = tmp_path / "a.trials"
    trials.save(path)
    with np.load(path) as content:
        header = json.loads(str(content["header"]))
    header["design"]["n"] = 1
    with path.open("wb") as file:
        np.savez(file, changes=trials.changes, header=np.array(json.dumps(header)))
    with pytest.raises(RecordError, match=r"a\.trials.*n is 1"):
        poise.Trials.load(path)
