"""A folder of a thousand runs: listed at once, and read by and by."""

from __future__ import annotations

from poise.cli.ui.file_kind import FileKind
from poise.cli.ui.results_folder import Folder
from poise.cli.ui.run_index import RunIndex
from shared.ui import site_client


def test_what_is_not_read_yet_is_listed_and_read_at_the_next_look(
    results, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("poise.cli.ui.run_index._READ_AT_ONCE", 2)
    monkeypatch.setattr("poise.cli.ui.run_index._SECONDS_OF_READING", 0.0)
    monkeypatch.setattr("poise.cli.ui.run_index._SECONDS_BETWEEN_SCANS", 0.0)
    for number in range(5):
        (tmp_path / f"{number}.jsonl").write_bytes((results / "mean10.jsonl").read_bytes())
    (tmp_path / "rows.csv").touch()
    index = RunIndex(Folder(tmp_path))
    unread = [sum(line.kind == FileKind.UNREAD for line in index.lines()) for _ in range(4)]
    assert unread == [3, 1, 0, 0]
    assert {line.verdict for line in index.lines()} == {"stable"}


def test_the_page_of_a_file_that_is_not_read_yet_says_so(results, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("poise.cli.ui.run_index._READ_AT_ONCE", 0)
    monkeypatch.setattr("poise.cli.ui.run_index._SECONDS_OF_READING", -1.0)
    (tmp_path / "a.jsonl").write_bytes((results / "mean10.jsonl").read_bytes())
    client = site_client(tmp_path)
    (file,) = Folder(tmp_path).files()
    assert "not read yet" in client.get("/").text
    assert client.get(f"/run/{file.key}").status_code == 503
