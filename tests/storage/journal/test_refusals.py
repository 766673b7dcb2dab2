"""Journals that are torn, foreign, taken, or cannot be written."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import poise
from poise.errors import ArgumentError, RecordError
from poise.storage.journal import Journal, read_journal
from poise.storage.line_checksums import with_checksums


@pytest.mark.parametrize("cut", [1, 2, 10, 25])
def test_a_torn_last_line_is_cut_off(cut, measure, cut_short, journal) -> None:
    cut_short(journal, 20)
    content = journal.read_bytes()
    journal.write_bytes(content[:-cut])
    assert read_journal(journal).trials.n_observed == 9
    assert journal.read_bytes() == content[:-cut], "reading changes nothing"
    assert measure(journal=journal).changes.tobytes() == measure().changes.tobytes()
    assert read_journal(journal).trials.n_observed == 30


@pytest.mark.parametrize("kept", [0, 1, 12, 40, 200])
def test_a_torn_header_is_begun_again(kept, measure, cut_short, journal) -> None:
    cut_short(journal, 20)
    journal.write_bytes(journal.read_bytes()[:kept])
    assert measure(journal=journal).changes.tobytes() == measure().changes.tobytes()


def test_zeros_at_the_end_are_a_torn_line(measure, cut_short, journal) -> None:
    # What some file systems leave after a power cut.
    cut_short(journal, 20)
    with journal.open("ab") as file:
        file.write(bytes(500))
    assert measure(journal=journal).changes.tobytes() == measure().changes.tobytes()


@pytest.mark.parametrize(
    "content",
    [
        b"a,b,target\n1,2,3\n",
        b"my only copy of a poem",
        b'{"some": "json"}\n',
        b"[1, 2]\n",
        b"{}",
        b"\n",
    ],
)
def test_a_foreign_file_is_left_alone(content, measure, journal) -> None:
    journal.write_bytes(content)
    with pytest.raises(RecordError, match="not a journal written by poise"):
        measure(journal=journal)
    assert journal.read_bytes() == content
    with pytest.raises(RecordError, match="not a journal written by poise"):
        read_journal(journal)


@pytest.mark.parametrize(
    ("written", "instead", "complaint"),
    [
        (b"poise journal 2", b"poise journal 9", "has format 'poise journal 9'"),
        (b'"trial": 4', b'"trial": 5', "line 6 of .* does not match its checksum"),
    ],
    ids=["of the future", "damaged"],
)
def test_a_journal_that_says_something_else_is_named_and_left_alone(
    written, instead, complaint, measure, cut_short, journal
) -> None:
    cut_short(journal, 20)
    content = journal.read_bytes().replace(written, instead)
    journal.write_bytes(content)
    with pytest.raises(RecordError, match=complaint):
        measure(journal=journal)
    assert journal.read_bytes() == content


def test_more_trials_than_there_are(measure, journal) -> None:
    measure(journal=journal)
    with journal.open("ab") as file:
        file.write(with_checksums(b'{"trial": 30, "change": 0.5}\n'))
    with pytest.raises(RecordError, match="holds 31 trials, and only 30 exist"):
        measure(journal=journal)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"n": 11}, "n: 10 in the journal, 11 now"),
        ({"random_state": 6}, "seed: 5 in the journal, 6 now"),
        ({"coupling": "independent"}, "coupling: shared in the journal, independent now"),
        ({"distance": "label"}, "distance: euclidean in the journal, label now"),
        ({"shuffle": False}, "shuffle: True in the journal, False now"),
        ({"algorithm": lambda A, b, s: None}, "algorithm: noisy_mean in the journal, <lambda> now"),
        ({"X_unlabeled": np.arange(10.0).reshape(5, 2)}, "n_unlabeled: 0 in the journal, 5 now"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_another_run_is_refused_and_the_difference_shown(
    other, difference, measure, cut_short, journal
) -> None:
    cut_short(journal, 20)
    before = journal.read_bytes()
    with pytest.raises(RecordError) as caught:
        measure(**other, journal=journal)
    assert difference in str(caught.value)
    assert journal.read_bytes() == before


class Shrunken:
    """An estimator that does not say what it is."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def get_params(self, deep=True):
        return {"factor": self.factor}

    def set_params(self, **parameters):
        vars(self).update(parameters)
        return self

    def fit(self, A, b):
        self.level = self.factor * float(np.mean(b))
        return self

    def predict(self, rows):
        return np.full(len(rows), self.level)


def test_other_parameters_are_refused_though_the_estimator_keeps_quiet(measure, journal) -> None:
    measure(Shrunken(0.5), journal=journal)
    assert read_journal(journal).header.design.algorithm == "Shrunken(factor=0.5)"
    with pytest.raises(
        RecordError, match=r"Shrunken\(factor=0.5\) in the journal, Shrunken\(factor=2"
    ):
        measure(Shrunken(2.0), journal=journal)


def test_other_data_are_refused(journal) -> None:
    def mean(A, b, seed):
        return lambda rows: [0.0]

    rows = np.random.default_rng(0).normal(size=(330, 2))
    poise.measure(mean, rows, rows[:, 0], n=10, random_state=5, journal=journal)
    rows[17, 1] = np.nextafter(rows[17, 1], 9)
    with pytest.raises(RecordError, match="data: "):
        poise.measure(mean, rows, rows[:, 0], n=10, random_state=5, journal=journal)


def test_two_at_once(measure, journal) -> None:
    seen = []

    def mean(A, b, seed):
        if not seen:
            seen.append(1)
            with pytest.raises(RecordError, match="being written by another process"):
                measure(journal=journal)
            assert read_journal(journal).trials.n_observed == 0, "looking is always allowed"
        return lambda rows: [0.0]

    measure(mean, journal=journal)


def test_two_processes_at_once(measure, journal) -> None:
    code = textwrap.dedent(f"""
        import fcntl, os, sys
        file = os.open({str(journal)!r}, os.O_RDWR | os.O_CREAT)
        fcntl.flock(file, fcntl.LOCK_EX)
        print("locked", flush=True)
        sys.stdin.read()
    """)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(RecordError, match="being written by another process"):
            measure(journal=journal)
        other.kill()
    assert measure(journal=journal).n_observed == 30, "the lock ends with its process"


def test_a_full_disk_loses_nothing(measure, journal) -> None:
    """The kernel refuses to let the file grow, in the middle of a line."""
    whole = measure()
    measure(journal=journal)
    room = len(b"".join(journal.read_bytes().splitlines(keepends=True)[:12])) + 5
    journal.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(RecordError, match=r"cannot write the journal .*File too large") as full:
            measure(journal=journal)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    partial = full.value.partial
    assert isinstance(partial, poise.Trials)
    assert partial.changes.tolist() == whole.changes[:12].tolist(), "also the one not written"
    assert read_journal(journal).trials.changes.tolist() == whole.changes[:11].tolist()
    assert measure(journal=journal).changes.tobytes() == whole.changes.tobytes()


def test_a_read_only_file(measure, cut_short, journal, monkeypatch) -> None:
    cut_short(journal, 20)
    real = os.open

    def refuse(path, *args, **kwargs):
        if str(path) == str(journal):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(RecordError, match=r"cannot write the journal .*Read-only file system"):
        measure(journal=journal)


@pytest.mark.parametrize(
    ("place", "complaint"),
    [(".", "Is a directory"), ("no/such/run.jsonl", "there is no folder"), ("pipe", "ordinary")],
)
def test_a_place_where_no_file_can_be(place, complaint, measure, tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordError, match=complaint):
        measure(journal=tmp_path / place)


def test_a_journal_is_a_path(measure) -> None:
    with pytest.raises(ArgumentError, match="journal must be the path of a file, got 3"):
        measure(journal=3)


def test_a_mistake_leaves_no_empty_file(measure, journal) -> None:
    with pytest.raises(ArgumentError):
        measure(journal=journal, n=1000)
    assert not journal.exists()


def test_reading_what_is_not_there(journal) -> None:
    with pytest.raises(RecordError, match=r"cannot read .*No such file"):
        read_journal(journal)
    journal.touch()
    with pytest.raises(RecordError, match="is empty"):
        read_journal(journal)


def test_the_disk_is_asked_at_most_once_a_second(journal, monkeypatch) -> None:
    syncs = []
    monkeypatch.setattr(os, "fsync", syncs.append)
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    design = poise.Design("mean", n=2, n_labeled=90_000)
    with Journal(journal) as log:
        log.describe(design, data="")
        list(log.begin("fit by fit", (0.0,)))
        begun = len(syncs)
        for _ in range(1000):
            clock[0] += 0.01
            log.append(0.5)
        assert len(syncs) - begun in (9, 10)
        assert len(journal.read_bytes().splitlines()) == 1001, "but the system has every line"
    assert len(syncs) - begun in (10, 11)


def test_pipelines_that_differ_where_scikit_learn_leaves_words_out(journal) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))

    def pipeline(middle: int):
        words = ["w" * 60] * 12
        words[6] += str(middle)
        steps = [FunctionTransformer(inv_kw_args={word: 0}) for word in words]
        return make_pipeline(*steps, Ridge())

    def run(middle: int) -> poise.Trials:
        return poise.measure(
            pipeline(middle), X, X[:, 0], n=5, random_state=0, progress=False, journal=journal
        )

    assert repr(pipeline(1)) == repr(pipeline(2)), "its middle is left out"
    first = run(1)
    assert run(1).changes.tobytes() == first.changes.tobytes()
    with pytest.raises(RecordError, match="belongs to another run:\n  algorithm: Pipeline"):
        run(2)
