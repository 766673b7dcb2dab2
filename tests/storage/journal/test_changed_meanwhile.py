"""A journal that somebody deletes, replaces, cuts or closes while a run writes to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import poise
from poise.errors import PoiseWarning, RecordError
from poise.results import Design
from poise.storage.journal import Journal, read_journal
from shared.monitors import last_row, rows


def delete(journal: Path) -> None:
    journal.unlink()


def rename(journal: Path) -> None:
    journal.rename(journal.with_name("elsewhere"))


def replace_by_a_copy(journal: Path) -> None:
    copy = journal.with_name("copy")
    copy.write_bytes(journal.read_bytes())
    copy.replace(journal)


def replace_by_a_folder(journal: Path) -> None:
    journal.unlink()
    journal.mkdir()


def cut(journal: Path) -> None:
    os.truncate(journal, journal.stat().st_size - 1)


def empty(journal: Path) -> None:
    journal.write_bytes(b"")


def append(journal: Path) -> None:
    with journal.open("ab") as file:
        file.write(b"I was here\n")


def descriptor_of(journal: Path) -> int:
    links = {int(link.name): link for link in Path("/proc/self/fd").iterdir()}
    return next(fd for fd, link in links.items() if os.path.realpath(link) == str(journal))


def close(journal: Path) -> None:
    os.close(descriptor_of(journal))


def close_and_reuse(journal: Path) -> None:
    """What a fit does that closes all descriptors and then opens a file of its own."""
    number = descriptor_of(journal)
    os.close(number)
    other = os.open(journal.with_name("mine"), os.O_RDWR | os.O_CREAT)
    if other != number:
        os.dup2(other, number)
        os.close(other)


HAPPENED = {
    delete: "was deleted, moved or replaced",
    rename: "was deleted, moved or replaced",
    replace_by_a_copy: "was deleted, moved or replaced",
    replace_by_a_folder: "was deleted, moved or replaced",
    cut: "was cut off",
    empty: "was cut off",
    append: "was written by something else",
    close: "other code in this process closed it",
    close_and_reuse: "other code in this process closed it",
}


def during(meddle, journal: Path, fit: int):
    """Return an algorithm that does something to the journal in one of its fits."""
    fits = []

    def mean(A, b, seed):
        fits.append(seed)
        if len(fits) == fit:
            meddle(journal)
        return lambda points: [float(seed % 97) * len(b)]

    return mean


def free_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("meddle", HAPPENED, ids=lambda meddle: meddle.__name__)
def test_it_is_noticed_before_the_next_line(meddle, measure, journal) -> None:
    whole = measure(during(lambda path: None, journal, 0))
    with pytest.raises(RecordError, match=f"the journal .* {HAPPENED[meddle]}") as caught:
        measure(during(meddle, journal, 21), journal=journal)  # the first fit of trial 10
    partial = caught.value.partial
    assert isinstance(partial, poise.Trials)
    assert partial.changes.tolist() == whole.changes[:11].tolist(), "also the one not written"
    notes = " ".join(caught.value.__notes__)
    assert "goes on from there" not in notes or meddle in (append,)
    assert "11 trials" in notes
    if meddle is close_and_reuse:
        own = journal.with_name("mine")
        os.write(descriptor_of(own), b"still mine")
        assert own.read_bytes() == b"still mine"
        close(own)


def test_the_folder_may_be_left(measure, tmp_path, monkeypatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    leave = during(lambda path: os.chdir("below"), Path("run.jsonl"), 21)
    measure(leave, journal="run.jsonl")
    assert read_journal(tmp_path / "run.jsonl").trials.n_observed == 30


@pytest.mark.parametrize("meddle", [delete, cut, close], ids=lambda meddle: meddle.__name__)
def test_after_the_last_line_there_is_a_warning(meddle, measure, journal) -> None:
    said = pytest.warns(PoiseWarning, match=f"the journal .* {HAPPENED[meddle]}")
    with said, Journal(journal) as log:
        log.describe(Design("mean", n=5, n_labeled=60, seed=3), data="00ff")
        list(log.begin("fit by fit", (0.0,)))
        log.append(0.5)
        meddle(journal)


def test_no_descriptor_is_left(measure, journal) -> None:
    before = free_descriptors()
    with pytest.raises(RecordError):
        measure(during(delete, journal, 21), journal=journal)
    assert free_descriptors() == before


@pytest.mark.parametrize("meddle", [delete, cut, close], ids=lambda meddle: meddle.__name__)
def test_a_record_is_looked_at_too(meddle, tmp_path) -> None:
    record = tmp_path / "a.record"
    question = {"n": 4, "epsilon": 1.5, "delta": 0.2, "random_state": 1, "check": False}
    monitor = poise.Monitor(record, during(meddle, record, 5), **question)
    with pytest.raises(RecordError, match=f"the record .* {HAPPENED[meddle]}"):
        monitor.add(*rows(20))


FOREIGN = [
    b"a,b,target\n1,2,3\n4,5,6",
    b"my only copy of a poem",
    b'{"format": "something else"}\n{"x": 1}',
    b"\n\nx",
]


@pytest.mark.parametrize("content", FOREIGN)
def test_a_file_that_is_no_journal_is_not_changed(content, measure, journal) -> None:
    journal.write_bytes(content)
    with pytest.raises(RecordError, match="not a journal written by poise"):
        measure(journal=journal)
    with pytest.raises(RecordError, match="not a record written by poise"):
        poise.Monitor(journal, last_row, n=4, epsilon=1.5, delta=0.2).add(*rows(20))
    assert journal.read_bytes() == content


def test_an_empty_file_is_not_deleted(measure, journal) -> None:
    journal.touch()
    with pytest.raises(poise.errors.ArgumentError):
        measure(journal=journal, n=1000)
    assert journal.exists()
    assert measure(journal=journal).n_observed == 30, "it may become a journal"


def test_a_torn_line_is_not_cut_off_by_a_run_that_is_refused(measure, cut_short, journal) -> None:
    cut_short(journal, 20)
    journal.write_bytes(journal.read_bytes() + b'{"trial": 10, "ch')
    before = journal.read_bytes()
    with pytest.raises(RecordError, match="belongs to another run"):
        measure(journal=journal, n=11)
    assert journal.read_bytes() == before
