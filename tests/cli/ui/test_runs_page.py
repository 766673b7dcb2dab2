"""The list of runs: complete, searched, sorted, live, quick, and unmoved by bad files."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.cli.ui.results_folder import Folder
from poise.cli.ui.run_index import RunIndex
from poise.data.file_lock import lock
from shared.ui import HOSTILE, site_client


def _names(page: str) -> list[str]:
    return [html.unescape(name) for name in re.findall(r'<td class="file"[^>]*>(.+?)</td>', page)]


def _line(page: str, name: str) -> str:
    rows = re.findall(r"<tr[ >].*?</tr>", page, flags=re.DOTALL)
    (row,) = [row for row in rows if f">{html.escape(name)}</td>" in row]
    return " ".join(re.sub(r"<[^>]+>", " ", row).split())


def test_every_kind_of_file_is_listed_and_nothing_else(client) -> None:
    page = client.get("/").text
    assert set(_names(page)) == {
        "mean5.jsonl",
        "mean10.jsonl",
        "mean20.jsonl",
        "stopped.jsonl",
        HOSTILE,
        "mean.trials",
        "result.json",
        "certificate.json",
        "checkable.json",
        "forged.json",
        "run.npz",
        "damaged.trials",
        "damaged.jsonl",
        "half.json",
        "grows.record",
        "mine.ledger",
        "deployed.jsonl",
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mean10.jsonl", "mean journal 630 rows 10 57 stable"),
        ("stopped.jsonl", "mean journal 630 rows 10 7 of 57 stopped open"),
        ("mean.trials", "mean trials 630 rows 10 57 not judged"),
        ("result.json", "mean result 630 rows 10 57 stable"),
        ("certificate.json", "certificate certificate 10 stable"),
        ("checkable.json", "mean certificate with its changes 630 rows 10 57 stable"),
        ("forged.json", "Cannot be read : it is not what it claims"),
        ("run.npz", "DummyRegressor() transcript 90 rows 5 stable"),
        ("grows.record", "mean monitor 627 rows 10 57 stable grows.record"),
        ("mine.ledger", "Ledger mine.ledger ledger 1 question"),
        ("deployed.jsonl", "mean journal 15 rows 15 15 not judged"),
        ("damaged.jsonl", "Cannot be read : line 2 of damaged.jsonl"),
        ("damaged.trials", "Cannot be read : it is damaged: an archive without an end"),
        ("half.json", "Cannot be read : it is not complete JSON"),
    ],
)
def test_a_line_says_what_the_file_holds(client, name, words) -> None:
    assert words in _line(client.get("/").text, name)


def test_the_verdict_is_the_librarys(client, results) -> None:
    from poise.cli.partial_verdict import verdict_so_far
    from poise.storage.journal import read_journal

    for n in (5, 10, 20):
        content = read_journal(results / f"mean{n}.jsonl")
        said = verdict_so_far(content.trials, content.header.question)
        assert _line(client.get("/").text, f"mean{n}.jsonl").split()[-4] == said


def test_search_and_sort(client) -> None:
    assert _names(client.get("/rows?q=dummy").text) == ["run.npz"]
    assert _names(client.get("/rows?q=MEAN+n%3D20").text) == ["mean20.jsonl"]
    assert _names(client.get("/rows?q=<script>").text) == []
    by_name = _names(client.get("/rows?sort=file").text)
    assert by_name == sorted(by_name, key=str.lower)
    assert _names(client.get("/rows?sort=-file").text) == by_name[::-1]
    sizes = re.findall(r'data-label="n">(\d*)<', client.get("/rows?sort=-n").text)
    assert sizes[0] == "20"
    assert 'aria-sort="descending"' in client.get("/rows?sort=-n").text
    assert client.get("/rows?sort=nonsense").status_code == 200


def test_an_empty_folder_says_how_to_begin(tmp_path) -> None:
    assert "poise test rows.csv" in site_client(tmp_path).get("/").text


def test_the_page_of_a_bad_file_gives_the_reason(client, keys) -> None:
    page = client.get(f"/run/{keys['damaged.jsonl']}")
    assert page.status_code == 200
    assert "line 2" in page.text
    assert client.get(f"/run/{keys['damaged.jsonl']}/judge").status_code == 404
    assert client.get("/run/0").status_code == 404


@contextmanager
def _written_by_a_process(path: Path) -> Iterator[None]:
    with path.open("ab") as file:
        assert lock(file.fileno())
        yield


def test_a_run_appears_grows_and_ends_by_itself(results, tmp_path, monkeypatch) -> None:
    index = RunIndex(Folder(tmp_path))
    clock = iter(np.arange(0.0, 100.0))
    monkeypatch.setattr("poise.cli.ui.run_index.time.monotonic", lambda: next(clock))
    begun = index.refresh()
    (tmp_path / "all").write_bytes((results / "mean10.jsonl").read_bytes())
    (tmp_path / "all").rename(tmp_path / ".all")
    lines = (tmp_path / ".all").read_bytes().splitlines(keepends=True)
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines[:11]))
    with _written_by_a_process(path):
        (line,) = index.lines()
        assert (line.done, line.planned, line.running, line.verdict) == (10, 57, True, "open")
        assert line.seconds_left is None
        assert index.refresh() > begun
        time.sleep(0.05)
        with path.open("ab") as file:
            file.write(b"".join(lines[11:21]))
        (line,) = index.lines()
        assert (line.done, line.running) == (20, True)
        # Ten trials came while it was watched, and 37 are to come; 77 would be planned and done.
        (since, done) = index._watched[line.file.key]
        each = (line.file.changed - since) / (line.done - done)
        assert line.seconds_left == pytest.approx(37 * each)
    (line,) = index.lines()
    assert (line.done, line.running, line.unfinished) == (20, False, True)
    path.write_bytes(b"".join(lines))
    (line,) = index.lines()
    assert (line.done, line.running, line.verdict) == (57, False, "stable")
    still = index.refresh()
    assert index.refresh() == still
    path.unlink()
    assert index.lines() == []


def test_a_large_journal_that_grows_is_only_counted(results, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("poise.cli.ui.run_index._LARGE_JOURNAL", 100)
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join((results / "mean10.jsonl").read_bytes().splitlines(True)[:30]))
    with _written_by_a_process(path):
        monkeypatch.setattr("poise.cli.ui.run_index.open_result_file", None)
        (line,) = RunIndex(Folder(tmp_path)).lines()
        assert (line.done, line.planned, line.title) == (29, 57, "mean")


def test_an_archive_that_unpacks_to_more_than_memory_is_not_opened(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("poise.cli.ui.file_kind._MOST_BYTES", 1000)
    poise.Trials.from_changes(np.zeros(10_000), n=5).save(tmp_path / "large.trials")
    (line,) = RunIndex(Folder(tmp_path)).lines()
    assert "too many to show" in line.reason


def test_files_are_read_once(results, monkeypatch) -> None:
    index = RunIndex(Folder(results))
    before = index.lines()
    monkeypatch.setattr("poise.cli.ui.run_index._read_line", None)
    index._scanned = float("-inf")
    assert index.lines() == before


def test_events_tell_the_version(client) -> None:
    with client.stream("GET", "/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        first = next(answer.iter_lines())
        assert first == "event: runs"
