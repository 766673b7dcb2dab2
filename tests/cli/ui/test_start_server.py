"""The command: its first line is the address; it ends when it is told to, open pages or not."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from poise.cli.ui.results_folder import Folder
from shared.processes import POISE


@pytest.fixture
def server(results: Path):
    words = [*POISE, "ui", str(results), "--port", "0", "--no-open"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as made:
        yield made
        made.kill()


def test_the_address_is_the_first_line_and_an_open_page_does_not_keep_the_server(server) -> None:
    address = server.stdout.readline().strip()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{32})", address)
    assert found is not None
    port, token = int(found[1]), found[2]
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as page:
        page.request("GET", "/events", headers={"Authorization": f"token {token}"})
        with page.getresponse() as answer:
            assert answer.status == 200
            assert answer.readline() == b"event: runs\n"
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=30) == 130
    assert server.stderr.read().split("\n")[-2:] == ["poise: interrupted", ""]


def test_what_is_no_folder_is_refused(run) -> None:
    done = run("ui no-such-folder --no-open")
    assert done.exit_code == 2
    assert "no-such-folder is not a folder" in done.stderr


def test_a_port_that_is_taken_is_refused(run, tmp_path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run(f"ui {tmp_path} --no-open --port {taken.getsockname()[1]}")
    assert done.exit_code == 2
    assert "cannot listen at 127.0.0.1" in done.stderr


def test_without_the_extra_it_says_what_to_install(run, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run(f"ui {tmp_path} --no-open")
    assert done.exit_code != 0
    assert "pip install 'poise[ui]'" in done.stderr


def test_a_folder_that_was_given_by_mistake_is_not_read_to_its_end(tmp_path, monkeypatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").touch()
    monkeypatch.setattr("poise.cli.ui.results_folder._MOST_FILES", 3)
    assert len(list(Folder(tmp_path).files())) == 3
