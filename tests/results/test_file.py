"""A file is judged again when it is read, and any change of it is noticed."""

from __future__ import annotations

import hashlib
import json
import os
import random
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

import poise
from poise.errors import RecordError
from poise.results.design import Design
from poise.results.file import FORMAT, load, to_dict
from poise.results.question import Question
from poise.results.result import NUMBERS, Result
from poise.results.trials import Failed, Trials
from poise.settings import COMMAND

QUESTION = Question(1.5, 0.1, test="binomial")


# where changes come from, as a run hands it over
RUN = SimpleNamespace(
    data="blake2b:1234", code={"algorithm": "abcd"}, versions={"scikit-learn": "1.5"}
)


def measured(m: int = 30, shape: tuple[int, int] = (1, 2), **settings) -> Trials:
    changes = np.random.default_rng(0).exponential(size=(m, *shape)) / 3
    changes[0, 0, 0], changes[1, 0, 0], changes[2, 0, 0] = np.nan, np.inf, 0.1 + 0.2
    rows = {"n": 10, "n_labeled": 10 * m, "n_unlabeled": m * shape[1], "algorithm": "Ridge() ε"}
    design = Design(**rows, removals=shape[0], points=shape[1], **settings)
    told = (Failed(0, "timeout", 'slower than "1 s"\n\ud800'),)
    errors = np.r_[np.nan, np.linspace(1, 2, m - 1)]
    made = {"failures": told, "warnings": ("rows are copies",), "errors": errors}
    return Trials(changes, design, **made, asked=QUESTION, delta=0.2, origin=RUN)


CASES = {
    "trials": measured(),
    "empty": Trials.from_changes([], n=10),
    "result": measured().judge(QUESTION),
    "averaged": measured(60).test(1.0, 0.3),
    "coin": measured(randomized=True).test(1.0, 0.2),
    "packed": measured(3000, (1, 4)).test(1.5, 0.1, test="binomial"),
    "labels": Trials(
        np.zeros((40, 1, 1)), Design(algorithm="x", n=10, n_labeled=440, distance="label")
    ).test(delta=0.1),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_is_what_was_written(name, tmp_path):
    saved, path = CASES[name], tmp_path / "a.json"
    saved.save(path)
    found = load(path)
    assert type(found) is type(saved)
    assert found == saved
    assert str(found) == str(saved)
    again = tmp_path / "b.json"
    found.save(again)
    assert again.read_bytes() == path.read_bytes()  # also when and from what it was made
    if isinstance(saved, Result):
        written = json.loads(path.read_text())
        for number in NUMBERS:
            value = getattr(found, number)
            value = list(value) if isinstance(value, tuple) else value
            value = "inf" if value == np.inf else value
            assert written[number] == value, number
        assert written["asked"] == ("before" if saved.question == saved.trials.asked else "after")
        plain = to_dict(saved)
        assert set(written) - set(plain) == {"changes", "errors", "digest"}
        json.dumps(plain, allow_nan=False)


KEPT = Path(__file__).parent / "kept"
RELEASES = sorted({path.name.partition("-")[0] for path in KEPT.iterdir()})


@pytest.mark.parametrize("release", RELEASES)
def test_files_of_every_release_are_read(release):
    """They stay as their release wrote them; each says by which command."""
    files = sorted(KEPT.rglob(f"{release}-*.json")) + sorted(KEPT.glob(f"{release}-*/*.json"))
    assert len(files) == 5
    for file in files:
        assert poise.verify(file).wrong == []
    run, test = (poise.load(KEPT / f"{release}-{name}") for name in ("run.jsonl", "test.json"))
    assert (run, run.asked) == (test.trials, test.question)
    assert list(poise.load(KEPT / f"{release}-compare")) == ["Lasso()", "Ridge()"]


def test_files_are_for_people_too(tmp_path):
    path = tmp_path / "a.json"
    token = COMMAND.set("poise test x.csv")
    CASES["result"].save(path)
    COMMAND.reset(token)
    written = json.loads(path.read_text())
    told = {"format": FORMAT, "command": "poise test x.csv", "shape": [30, 1, 2], **vars(RUN)}
    assert {name: written[name] for name in told} == told
    assert [written["changes"][k] for k in (0, 2, 4)] == [None, "inf", 0.1 + 0.2]
    assert written["statement"] == str(CASES["result"]).splitlines()
    assert len(path.read_text().splitlines()) == len(written) + 2
    CASES["packed"].save(path)
    assert isinstance(json.loads(path.read_text())["changes"], str)


def test_layout_may_change_but_no_bit_and_no_line(tmp_path):
    path, bad = tmp_path / "a.json", tmp_path / "b.json"
    for name in ("result", "packed"):
        CASES[name].save(path)
        again = json.dumps(json.loads(path.read_text()), indent=3, ensure_ascii=False)
        bad.write_text(again)
        assert load(bad) == CASES[name]
        raw, draw = path.read_bytes(), random.Random(0)
        places = [(draw.randrange(min(len(raw), 6000)), draw.randrange(8)) for _ in range(400)]
        damaged = [raw[:k] + bytes([raw[k] ^ 1 << bit]) + raw[k + 1 :] for k, bit in places]
        lines = raw.splitlines()
        for k in range(1, len(lines) - 1):
            doubled = [*lines[:k], lines[k].rstrip(b",") + b",", *lines[k:]]
            damaged += [b"\n".join(doubled), b"\n".join(lines[:k] + lines[k + 1 :])]
        for content in damaged:
            bad.write_bytes(content)
            with pytest.raises(RecordError, match=r"b\.json"):
                load(bad)


def resealed(path: Path, **changed) -> None:
    """Alter a file and give it the digest of its new content."""
    content = json.loads(path.read_text())
    for name, value in changed.items():
        content[name] = value(content[name]) if callable(value) else value
    del content["digest"]
    sealed = msgspec.json.encode(content)[:-1]
    digest = hashlib.sha256(sealed).hexdigest()
    path.write_bytes(sealed + f',"digest":"sha256:{digest}"}}'.encode())


@pytest.mark.parametrize(
    "changed",
    [
        *({"shape": each} for each in ([31, 1, 2], [-30, 1, 2], [-1, 1, 2], [30, 1, -2])),
        *({"shape": each} for each in ([2**62, 2, 2], [15, 1, 4])),
        *({"changes": each} for each in ([], "AAAA", "not base64")),
        {"changes": lambda old: [-1.0, *old[1:]]},
        {"errors": [1.0]},
        {"zeta": 0.0},
        {"begun_delta": 1.0},
        {"design": lambda old: {**old, "n": 1}},
        {"design": lambda old: {**old, "n": 1000}},
        {"design": lambda old: {**old, "n_labeled": 2**63 - 1, "remove": 11}},
        {"question": lambda old: {**old, "epsilon": None}},
        {"question": lambda old: {**old, "alpha": 0.0}},
        {"format": "poise result 9"},
    ],
)
def test_damage_with_a_fitting_digest_is_an_error_with_a_name(changed, tmp_path):
    path = tmp_path / "a.json"
    CASES["result"].save(path)
    resealed(path, created="2026")
    assert load(path) == CASES["result"]
    resealed(path, **changed)
    with pytest.raises(RecordError, match=r"a\.json"):
        load(path)


def test_files_of_other_programs_and_no_files_are_refused(tmp_path):
    path = tmp_path / "a.json"
    started = b'{"format": "poise result 1"}'
    for content in (b"", b"{}", b"[]", b"null", b"\xff\xfe", started, b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(RecordError, match="not a result written by poise"):
            load(path)
    with pytest.raises(RecordError, match="does not exist"):
        load(tmp_path / "none.json")
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate((1 << 30) + 1)
    for path in (pipe, large, Path("/dev/zero")):
        with pytest.raises(RecordError, match="not a file of at most 1 GiB"):
            load(path)


def test_an_older_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(RecordError, match="No space left"):
            CASES["result"].save(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]
    CASES["result"].save(path)
    assert os.listdir(tmp_path) == ["a.json"]
    with pytest.raises(RecordError, match="cannot be written"):
        CASES["result"].save(tmp_path / "none" / "a.json")
