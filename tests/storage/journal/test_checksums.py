"""Every line of a journal has a checksum, and no flipped bit goes unnoticed."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from poise.errors import RecordError
from poise.results import Design
from poise.storage.journal import Journal, read_journal
from shared.journals import edit_header

CHANGES = np.array([0.5, 0.1, np.inf, 1 / 3])
OLDER = Path(__file__).parents[1] / "written_by_0_1_0" / "run.journal"


def write(journal: Path, *blocks: object) -> None:
    with Journal(journal, {"arguments": ["test"], "folder": "/"}) as log:
        log.describe(Design("mean", n=5, n_labeled=60, seed=3), data="00ff")
        list(log.begin("fit by fit", (0.0,)))
        for block in blocks:
            log.append(block)


def test_every_line_ends_with_the_crc_32_of_what_is_before_it(journal) -> None:
    write(journal, CHANGES, 0.25, np.array([[[0.1, np.nan]]]))
    lines = journal.read_bytes().splitlines()
    assert len(lines) == 1 + 4 + 1 + 1
    for line in lines:
        entry = json.loads(line)
        found = entry.pop("crc32")
        assert line.endswith(f', "crc32": "{found}"}}'.encode())
        assert f"{zlib.crc32(json.dumps(entry).encode()):08x}" == found


@contextmanager
def flipped(journal: Path, place: int) -> Iterator[None]:
    """One bit of a file is flipped in its place: to write the file anew takes ten times as long."""
    with journal.open("r+b", buffering=0) as file:
        file.seek(place // 8)
        [byte] = file.read(1)
        file.seek(place // 8)
        file.write(bytes([byte ^ 1 << place % 8]))
        try:
            yield
        finally:
            file.seek(place // 8)
            file.write(bytes([byte]))


def test_every_flipped_bit_is_noticed(journal) -> None:
    """Also those of the header, and of the ends of lines."""
    write(journal, CHANGES)
    whole = journal.read_bytes()
    header = read_journal(journal).header
    found = Counter()
    for place in range(8 * len(whole)):
        try:
            with flipped(journal, place):
                content = read_journal(journal)
        except RecordError:
            found["refused"] += 1
            continue
        # It was the last line, or the end of the line before it: they are measured again.
        found["torn"] += 1
        assert content.header == header
        assert content.trials.n_observed < len(CHANGES)
        assert content.trials.changes.tolist() == CHANGES[: content.trials.n_observed].tolist()
    assert journal.read_bytes() == whole
    last = len(whole.splitlines()[-1]) + 1
    assert found["torn"] <= 8 * (last + 1)
    assert found["refused"] >= 8 * (len(whole) - last - 1)


@pytest.mark.parametrize("number", [1, 2, 6, 10])
def test_a_line_that_does_not_match_is_refused_by_its_number(
    number, measure, cut_short, journal
) -> None:
    cut_short(journal, 20)
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(b"0", b"1", 1)
    journal.write_bytes(b"".join(lines) + b'{"trial": 10, "cha')
    before = journal.read_bytes()
    for read in (read_journal, lambda path: measure(journal=path)):
        with pytest.raises(RecordError, match=f"line {number} of .* does not match its checksum"):
            read(journal)
    assert journal.read_bytes() == before, "the torn line is left where it is, too"


def test_a_last_line_that_does_not_match_is_torn(measure, cut_short, journal) -> None:
    cut_short(journal, 20)
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-3] + b"!!\n")
    assert read_journal(journal).trials.n_observed == 9
    assert measure(journal=journal).changes.tobytes() == measure().changes.tobytes()
    assert journal.read_bytes().startswith(whole), "it was measured again"


def test_a_line_without_a_checksum_is_no_line_of_a_journal(measure, cut_short, journal) -> None:
    cut_short(journal, 20)
    plain = b'{"trial": 10, "change": 0.5}\n{"trial": 11, "change": 0.5}\n'
    journal.write_bytes(journal.read_bytes() + plain)
    with pytest.raises(RecordError, match=r"line 12 of .* does not match"):
        read_journal(journal)


def test_an_older_journal_has_none_and_is_continued_without(measure, journal) -> None:
    assert read_journal(OLDER).trials.n_observed == 20
    assert b"crc32" not in OLDER.read_bytes()
    measure(journal=journal)
    whole = [json.loads(line) for line in journal.read_text().splitlines()]
    older = [{k: v for k, v in entry.items() if k != "crc32"} for entry in whole]
    older[0]["format"] = "poise journal 1"
    text = "".join(json.dumps(entry) + "\n" for entry in older)
    journal.write_text("".join(text.splitlines(keepends=True)[:9]) + '{"tri')
    assert measure(journal=journal).changes.tobytes() == measure().changes.tobytes()
    assert journal.read_text() == text


def test_a_format_without_checksums_is_two_bits_away_from_the_one_with_them() -> None:
    """Or else one flipped bit would turn the checksums off."""
    assert (ord("1") ^ ord("2")).bit_count() == 2


@pytest.mark.parametrize(
    ("block", "shape"), [(np.array([[[0.5, 0.25]]]), "1 × 2"), (np.array([[[0.5]]]), "1 × 1")]
)
def test_a_table_where_one_change_belongs_is_refused(block, shape, measure, journal) -> None:
    measure(journal=journal)
    header = journal.read_bytes().splitlines(keepends=True)[0]
    journal.write_bytes(header)
    with Journal(journal) as log:
        log.append(block)
    for read in (read_journal, lambda path: measure(journal=path)):
        with pytest.raises(RecordError, match=f"line 2 of .* {shape} changes"):
            read(journal)


def test_a_header_with_a_field_of_the_wrong_kind_is_refused(measure, journal) -> None:
    measure(journal=journal)
    edit_header(journal, lambda header: header.update(command="rm"))
    with pytest.raises(RecordError, match="command is 'rm'"):
        read_journal(journal)


def test_a_damaged_header_is_named_and_what_to_do(journal) -> None:
    """It is not taken for a line that was torn while it was written, and so for an empty file."""
    write(journal)
    journal.write_bytes(journal.read_bytes().replace(b"mean", b"meen"))
    remedy = "Take an undamaged copy of the file, or begin a new journal"
    with pytest.raises(RecordError, match=f"line 1 of .* does not match its checksum.*{remedy}"):
        read_journal(journal)


def test_a_warning_beside_the_first_trial_is_read(journal) -> None:
    noted: list[str] = []
    with Journal(journal) as log:
        log.describe(Design("mean", n=5, n_labeled=60, seed=3), data="00ff", warnings=noted)
        list(log.begin("fit by fit", (0.0,)))
        noted.append("the rows are copies")
        log.append(CHANGES)
    assert read_journal(journal).trials.warnings == ("the rows are copies",)
