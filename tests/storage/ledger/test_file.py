"""A ledger on disk: damaged, torn, merged, killed, and written by many processes at once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise.data.sample import Sample
from poise.errors import ArgumentError, RecordError
from poise.storage.ledger import AskedQuestion, Ledger, LedgerAnswer, RowSet
from poise.storage.ledger.entries import LedgerHeader
from poise.storage.ledger.ledger_content import LedgerContent
from poise.storage.ledger.ledger_file import entries_of
from shared.ledgers import asked_questions

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 2)), RNG.normal(size=40)


def ask(ledger: Ledger, name: str, pvalue: float | None = 0.01, rows=slice(None)) -> str:
    """Put a question and answer it."""
    found = RowSet.of(ledger.key(), Sample(X[rows], Y[rows]))
    asked = AskedQuestion.of(found.digest, name, {"name": name}, {"seed": 0})
    ledger.ask(found, [asked])
    if pvalue is not None:
        ledger.answer([LedgerAnswer(asked.id, "stable", pvalue, 1.0)])
    return asked.id


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    made = Ledger(tmp_path / "a.ledger")
    ask(made, "ridge")
    ask(made, "tree", 0.3)
    return made


def _lines(ledger: Ledger) -> list[bytes]:
    return ledger.path.read_bytes().splitlines(keepends=True)


def _said(ledger: Ledger) -> list[tuple]:
    return [(each["question"], each["verdict"], each["holds"]) for each in asked_questions(ledger)]


def test_it_only_grows(ledger) -> None:
    before = ledger.path.read_bytes()
    ask(ledger, "forest")
    assert ledger.path.read_bytes().startswith(before)
    assert b"hashes" not in ledger.path.read_bytes()[len(before) :]  # the rows are there already


def test_it_holds_no_rows(ledger) -> None:
    for value in (*X[:3, 0], *Y[:3]):
        assert str(value).encode() not in ledger.path.read_bytes()


def test_the_same_question_is_written_once(ledger) -> None:
    before = ledger.path.read_bytes()
    ask(ledger, "ridge")
    ask(ledger, "tree", 0.3)  # also one that failed: it is the same run
    assert ledger.path.read_bytes() == before


def test_of_two_answers_the_larger_p_value_counts(ledger) -> None:
    ask(ledger, "ridge", 0.04)
    (ridge, _) = asked_questions(ledger)
    assert (ridge["pvalue"], ridge["said"], ridge["verdict"]) == (0.04, "stable", "stable")


@pytest.mark.parametrize("number", range(6))
def test_a_damaged_line_is_refused_by_its_number(ledger, number) -> None:
    lines = _lines(ledger)
    assert len(lines) == 6
    changed = bytearray(lines[number])
    changed[len(changed) // 2] ^= 4
    ledger.path.write_bytes(b"".join([*lines[:number], bytes(changed), *lines[number + 1 :]]))
    if number == 5:  # the last one may be torn: it is left out
        assert _said(ledger)[-1] == ("tree", "unanswered", None)
        return
    with pytest.raises(RecordError, match=f"line {number + 1} of .*a.ledger"):
        ledger.table()


def test_every_place_at_which_a_writer_can_be_killed_is_survived(ledger) -> None:
    whole = ledger.path.read_bytes()
    header = whole.index(b"\n") + 1
    last = whole.rindex(b"{")
    for end in [*range(header, last, 197), *range(last, len(whole), 7)]:
        ledger.path.write_bytes(whole[:end])
        ask(ledger, "ridge")
        ask(ledger, "tree", 0.3)
        assert _said(ledger) == [("ridge", "stable", True), ("tree", "inconclusive", None)]


def test_a_header_that_was_cut_is_begun_again(tmp_path) -> None:
    ledger = Ledger(tmp_path / "a.ledger")
    ledger.begin()
    ledger.path.write_bytes(ledger.path.read_bytes()[:30])
    ask(ledger, "ridge")
    assert _said(ledger) == [("ridge", "stable", True)]


@pytest.mark.parametrize("content", [b"name,price\n", b"name", b'{"format": "poise journal 2"}\n'])
def test_a_foreign_file_is_left_alone(tmp_path, content) -> None:
    path = tmp_path / "prices.csv"
    path.write_bytes(content)
    with pytest.raises(RecordError, match="is not a ledger written by poise"):
        ask(Ledger(path), "ridge")
    assert path.read_bytes() == content


def test_lines_that_do_not_belong_together_are_refused(ledger) -> None:
    lines = _lines(ledger)
    for missing, message in ((1, "not in it: the rows of ridge"), (2, "a question with an answer")):
        ledger.path.write_bytes(b"".join(lines[:missing] + lines[missing + 1 :]))
        with pytest.raises(RecordError, match=message):
            ledger.table()


def test_what_is_decided_at_the_beginning_stays(ledger) -> None:
    with pytest.raises(RecordError, match=r"begun with rule = holm.* got rule = spending"):
        Ledger(ledger.path, rule="spending").begin()
    with pytest.raises(RecordError, match=r"begun with alpha = 0.05.* got alpha = 0.1"):
        Ledger(ledger.path, alpha=0.1).begin()
    Ledger(ledger.path, rule="holm", alpha=0.05).begin()
    with pytest.raises(ArgumentError, match="rule must be one of"):
        Ledger(ledger.path, rule="bonferroni")
    with pytest.raises(ArgumentError, match="alpha must be"):
        Ledger(ledger.path, alpha=2)
    with pytest.raises(ArgumentError, match="path of a file"):
        Ledger(7)


def test_a_missing_or_empty_file_is_named(tmp_path) -> None:
    with pytest.raises(RecordError, match=r"cannot read .*nowhere"):
        Ledger(tmp_path / "nowhere").table()
    (tmp_path / "empty").touch()
    with pytest.raises(RecordError, match="no question was put"):
        Ledger(tmp_path / "empty").table()


# Merging ------------------------------------------------------------------------------------


@pytest.fixture
def branches(tmp_path) -> list[Ledger]:
    """Three copies of a ledger that have grown apart, on overlapping and on other rows."""
    base = Ledger(tmp_path / "base", alpha=0.05)
    ask(base, "ridge", rows=slice(0, 20))
    copies = []
    for name in ("one", "two", "three"):
        shutil.copy(base.path, tmp_path / name)
        copies.append(Ledger(tmp_path / name))
    ask(copies[0], "tree", 0.02, rows=slice(10, 30))
    ask(copies[1], "forest", 0.03, rows=slice(0, 20))
    ask(copies[1], "tree", 0.02, rows=slice(10, 30))  # the same question on both branches
    ask(copies[2], "net", 0.001, rows=slice(30, 40))
    return copies


def test_the_order_of_merges_does_not_matter(branches, tmp_path) -> None:
    seen = []
    for order in permutations(branches):
        merged = Ledger(tmp_path / "merged")
        merged.path.unlink(missing_ok=True)
        merged.merge(*order)
        assert merged.merge(*order) == 0  # nothing is left
        seen.append(merged.to_dict())
    assert all(each == seen[0] for each in seen)
    data_sets = [{each["question"] for each in some} for some in seen[0]["data_sets"]]
    assert data_sets == [{"ridge", "tree", "forest"}, {"net"}]


def test_lines_joined_by_git_are_a_merge(branches, tmp_path) -> None:
    """What ``merge=union`` leaves: the lines of both, some of them twice, in any order."""
    first, *lines = dict.fromkeys(line for each in branches for line in _lines(each))
    joined, merged = Ledger(tmp_path / "joined"), Ledger(tmp_path / "merged")
    joined.path.write_bytes(b"".join([first, *reversed(lines), first, *lines]))
    merged.merge(*branches)
    assert joined.to_dict() | {"file": ""} == merged.to_dict() | {"file": ""}


def test_git_itself_merges_two_branches(branches, tmp_path) -> None:
    ours, base, theirs = (str(tmp_path / name) for name in ("one", "base", "two"))
    command = ["git", "merge-file", "--union", ours, base, theirs]
    assert subprocess.run(command, check=False).returncode == 0
    assert {each["question"] for each in asked_questions(branches[0])} == {
        "ridge",
        "tree",
        "forest",
    }


def test_a_ledger_that_was_begun_by_itself_is_no_copy(ledger, tmp_path) -> None:
    other = Ledger(tmp_path / "other")
    ask(other, "net")
    before = ledger.path.read_bytes()
    with pytest.raises(RecordError, match="is no copy of"):
        ledger.merge(other)
    assert ledger.path.read_bytes() == before
    ledger.path.write_bytes(before + other.path.read_bytes())
    with pytest.raises(RecordError, match=r"line 7 of .* the beginning of another ledger"):
        ledger.table()


# Several processes --------------------------------------------------------------------------

WRITER = textwrap.dedent("""
    import sys
    from test_file import ask
    from poise.storage.ledger import Ledger
    for k in range(12):
        ask(Ledger(sys.argv[1]), f"{sys.argv[2]} {k}")
        print(k, flush=True)
""")


def _writer(path, name) -> subprocess.Popen:
    folder = os.path.dirname(__file__)
    place = os.pathsep.join([folder, os.path.join(folder, "..", ".."), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name],
        env=os.environ | {"PYTHONPATH": place},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_processes_write_at_once_and_one_is_killed(tmp_path) -> None:
    path = tmp_path / "a.ledger"
    several = [_writer(path, name) for name in ("one", "two", "killed")]
    assert several[2].stdout is not None
    several[2].stdout.readline()
    several[2].send_signal(signal.SIGKILL)
    assert [each.wait(120) for each in several] == [0, 0, -signal.SIGKILL]
    for each in several:
        each.communicate()
    found = [each["question"] for each in asked_questions(Ledger(path))]
    assert len(set(found)) == len(found)
    assert [each for each in found if each.startswith("one")] == [f"one {k}" for k in range(12)]
    assert [each for each in found if each.startswith("two")] == [f"two {k}" for k in range(12)]
    assert "killed 0" in found
    assert sum("format" in entry for entry in entries_of(path)) == 1


# The format of lines ------------------------------------------------------------------------

texts = st.text(max_size=30)
values = st.one_of(texts, st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.booleans())


@settings(max_examples=30, deadline=None)
@given(
    title=texts,
    about=st.dictionaries(texts, values.filter(lambda v: v not in (np.inf, -np.inf)), max_size=5),
    pvalues=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_lines_are_read_back_exactly(title, about, pvalues) -> None:
    asked = AskedQuestion.of("rows", title, about, {})
    answer = LedgerAnswer(asked.id, "stable", *pvalues)
    for each in (asked, answer):
        assert type(each).from_entry(json.loads(json.dumps(each.to_entry()))) == each


KEYS = (
    "answer question rows labeled whole verdict pvalue pvalue_unstable time title about format key"
)
nested = st.recursive(st.none() | values, st.lists, max_leaves=3)


@settings(max_examples=100, deadline=None)
@given(entry=st.dictionaries(st.sampled_from(KEYS.split()), nested, max_size=8))
def test_no_line_raises_anything_but_an_error_of_poise(entry) -> None:
    content = LedgerContent(LedgerHeader("0" * 32))
    try:
        content.take(entry)
    except RecordError:
        return
    assert content.rows or content.answers or content.questions


def test_a_ledger_can_be_printed(ledger) -> None:
    assert str(ledger).startswith("a.ledger: 2 questions put to 1 data set")
    assert "Ledger(" in repr(ledger)
    assert Ledger.of(None) is None
    assert Ledger.of(ledger) is ledger
    assert isinstance(poise.Ledger.of("x"), Ledger)
