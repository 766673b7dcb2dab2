"""A line of a journal reads back as what was written, bit for bit, or is refused."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import RecordError
from poise.protocol.messages import Failure
from poise.storage.journal import complete_lines
from poise.storage.journal.trial_lines import as_answers, as_lines

CHANGES = st.floats(min_value=0.0, allow_nan=False, allow_infinity=True, width=64)
FAILURES = st.builds(
    Failure,
    trial=st.just(0),
    message=st.text(),
    kind=st.sampled_from(["error", "death", "timeout"]),
)


def written(answers: list) -> list[bytes]:
    content, trial = b"", 0
    for answer in answers:
        content += as_lines(trial, answer)
        trial += np.size(answer) if not isinstance(answer, Failure) else 1
    return content.splitlines()


@given(st.lists(st.one_of(CHANGES, FAILURES)))
def test_reads_back_bit_for_bit(answers) -> None:
    lines = written(answers)
    assert len(lines) == len(answers), "one line per trial"
    back = list(as_answers(lines))
    flat = [x for part in back for x in (part if isinstance(part, np.ndarray) else [part])]
    assert len(flat) == len(answers)
    for trial, (was, now) in enumerate(zip(answers, flat, strict=True)):
        if isinstance(was, Failure):
            assert (now.trial, now.message, now.kind) == (trial, was.message, was.kind)
        else:
            assert np.float64(was).tobytes() == np.float64(now).tobytes()


@given(st.lists(CHANGES, min_size=1))
def test_a_block_is_written_like_its_trials_one_by_one(changes) -> None:
    block = as_lines(5, np.array(changes))
    assert block == b"".join(as_lines(5 + i, change) for i, change in enumerate(changes))


def test_lines_are_strict_json_whatever_the_change() -> None:
    for change in (0.0, 5e-324, 1e16, 1.7976931348623157e308, math.inf):
        entry = json.loads(as_lines(3, change), parse_constant=pytest.fail)
        assert entry["trial"] == 3


def test_more_lines_than_are_parsed_at_once() -> None:
    changes = np.random.default_rng(0).exponential(size=25_000)
    back = list(as_answers(as_lines(0, changes).splitlines()))
    assert np.array_equal(np.concatenate(back), changes)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"trial": 1, "change": 0.5', "line 3 .* is not JSON"),
        (b'{"trial": 2, "change": 0.5}', "line 3 .* should hold trial 1"),
        (b'{"trial": 1, "change": -0.5}', "line 3 .* holds no change"),
        (b'{"trial": 1, "change": NaN}', "line 3 .* holds no change"),
        (b'{"trial": 1, "change": "much"}', "line 3 .* holds no change"),
        (b'{"trial": 1, "failure": 3, "kind": "error"}', "line 3 .* holds no change"),
        (b'{"trial": 1, "failure": "x", "kind": "whim"}', "line 3 .* holds no change"),
        (b"[1]", "line 3 .* should hold trial 1"),
        (b'{"trial": 1, "change": 1.0}, {"trial": 2, "change": 1.0}', "not one trial each"),
        (b"", "line 3 .* is not JSON"),
    ],
)
def test_a_damaged_line_is_named(line, complaint) -> None:
    with pytest.raises(RecordError, match=complaint):
        list(as_answers([b'{"trial": 0, "change": 0.5}', line]))


@given(
    lines=st.lists(st.binary(max_size=9).map(lambda b: b.replace(b"\n", b"")), max_size=9),
    torn=st.binary(max_size=9).map(lambda b: b.replace(b"\n", b"")),
    block=st.integers(1, 12),
)
def test_whole_lines_are_those_that_end(lines, torn, block) -> None:
    """However the file is cut into blocks, and without reading more than one of them at once."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(complete_lines, "_BYTES_AT_ONCE", block),
    ):
        path = Path(folder) / "run.jsonl"
        path.write_bytes(b'{"format": "poise journal 1"}\n' + b"".join(k + b"\n" for k in lines))
        size = path.stat().st_size
        with path.open("ab") as end:
            end.write(torn)
        found = complete_lines.CompleteLines(path)
        assert (found.count, found.size) == (len(lines) + 1, size)
        assert [line.rstrip(b"\n") for line in found][1:] == lines


def test_lines_appended_later_do_not_count(tmp_path) -> None:
    path = tmp_path / "run.jsonl"
    first = b'{"format": "poise journal 1"}\n'
    path.write_bytes(first + b"second\nto")
    found = complete_lines.CompleteLines(path)
    with path.open("ab") as end:
        end.write(b"rn\nfourth\n")
    assert list(found) == [first, b"second\n"]
