"""Nobody without the token, no other host or page, no path outside, no code in a name."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from poise.cli.ui.security import Access
from shared.ui import ACCESS, ADDRESS, HOSTILE, site_client

PLACES = ["/", "/rows", "/events", "/run/0", "/static/ui.js", "/nowhere"]


@pytest.fixture
def stranger(client: TestClient) -> TestClient:
    return TestClient(client.app, base_url=ADDRESS, follow_redirects=False)


@pytest.mark.parametrize("place", PLACES)
def test_without_the_token_nothing_is_shown(stranger, place) -> None:
    assert stranger.get(place).status_code == 403
    assert stranger.get(f"{place}?token=guessed").status_code == 403
    assert stranger.get(place, headers={"Cookie": f"{ACCESS.cookie}=guessed"}).status_code == 403
    assert stranger.get(place, headers={"Cookie": "poise-ui-8001=secret"}).status_code == 403
    assert stranger.get(place, headers={"Authorization": "token guessed"}).status_code == 403


def test_the_token_moves_from_the_address_to_a_cookie(stranger) -> None:
    answer = stranger.get("/run/abc?token=secret&epsilon=2")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/run/abc?epsilon=2"
    kept = answer.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "samesite=lax" in kept.lower()
    assert stranger.get("/").status_code == 200  # by the cookie
    moved = stranger.get(f"{ADDRESS}//evil.test/?token=secret").headers["location"]
    assert moved == "/evil.test/"


@pytest.mark.parametrize("host", ["evil.test:8000", "127.0.0.1:8001", "127.0.0.1", "", "[::1"])
def test_another_host_name_is_refused(client, host) -> None:
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 403
    assert "host" in answer.text


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_own_names_are_answered(client, host) -> None:
    assert client.get("/static/ui.css", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "https://127.0.0.1:8000", "http://127.0.0.1:9", "null"]
)
def test_another_page_may_not_ask(client, origin) -> None:
    assert client.get("/", headers={"Origin": origin}).status_code == 403
    assert client.post("/new/start", headers={"Origin": origin}).status_code == 403


def test_what_changes_something_needs_an_origin_or_the_token_in_a_header(client) -> None:
    assert client.post("/").status_code == 403
    assert client.post("/", headers={"Origin": ADDRESS}).status_code == 405
    assert client.post("/", headers={"Authorization": "token secret"}).status_code == 405
    long = {"Origin": ADDRESS, "Content-Length": "9999999"}
    assert client.post("/", headers=long).status_code == 413


def test_a_server_for_other_machines_answers_to_addresses_and_its_own_name() -> None:
    access = Access("t", "0.0.0.0", 80)
    assert access.knows_host("192.168.0.7")
    assert access.knows_host(f"{os.uname().nodename}:80")
    assert not access.knows_host("evil.test")
    assert access.address == "http://127.0.0.1:80/?token=t"
    assert not Access("t", "127.0.0.1", 80).knows_host("192.168.0.7")


@pytest.mark.parametrize("place", ["/", "/nowhere", "/static/ui.js", "/run/0"])
def test_every_answer_forbids_inline_code_and_frames(client, place) -> None:
    policy = client.get(place).headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert client.get(place).headers["x-content-type-options"] == "nosniff"


class Tags(HTMLParser):
    """Collects what a page would run, and where it loads from."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.loaded: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.inline += [name for name in given if name.startswith("on") or name == "style"]
        self.inline += [tag] * (tag == "style" or (tag == "script" and "src" not in given))
        self.loaded += [given[name] or "" for name in ("src", "href", "action") if name in given]


def test_pages_hold_no_inline_code_and_load_nothing_from_elsewhere(client, keys) -> None:
    for place in ["/", *(f"/run/{key}" for key in keys.values())]:
        tags = Tags(client.get(place).text)
        assert tags.inline == []
        assert all(re.match(r"[/#](?!/)", loaded) for loaded in tags.loaded)
        assert any(loaded.startswith("/static/ui.js") for loaded in tags.loaded)


def test_hostile_names_are_escaped(client, keys, results) -> None:
    page = client.get("/").text
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img" not in client.get(f"/run/{keys[HOSTILE]}").text
    report = client.get(f"/run/{keys[HOSTILE]}/as.html")
    assert report.headers["content-disposition"].startswith("attachment; filename=")
    assert "sandbox" in report.headers["content-security-policy"]
    assert re.fullmatch(
        r'attachment; filename="[\w-]+\.html"', report.headers["content-disposition"]
    )


def test_links_out_of_the_folder_are_as_if_they_were_not_there(results, tmp_path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (outside / name).write_bytes((results / "mean10.jsonl").read_bytes())
    (inside / "linked.jsonl").symlink_to(outside / "a.jsonl")
    (inside / "folder").symlink_to(outside)
    (inside / "circle.jsonl").symlink_to(inside / "circle.jsonl")
    (inside / "real.jsonl").write_bytes((results / "mean10.jsonl").read_bytes())
    (inside / "near.jsonl").symlink_to(inside / "real.jsonl")
    os.mkfifo(inside / "pipe.jsonl")
    page = site_client(inside).get("/").text
    assert set(re.findall(r"(\w+)\.jsonl</td>", page)) == {"real", "near"}


def test_addresses_name_no_paths(client) -> None:
    for place in ("/run/..%2f..%2fetc%2fpasswd", "/static/..%2fapp.py", "/static/../app.py"):
        assert client.get(place).status_code == 404


def test_a_name_that_is_not_unicode_is_shown(results, tmp_path) -> None:
    name = os.fsdecode(b"caf\xe9.jsonl")
    (tmp_path / name).write_bytes((results / "mean10.jsonl").read_bytes())
    client = site_client(tmp_path)
    (key,) = re.findall(r'data-key="(\w+)"', client.get("/").text)
    assert client.get(f"/run/{key}").status_code == 200
    assert client.get(f"/run/{key}/judge").status_code == 200
