"""Who is let in to the page: this machine, with the token, from the page itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from poise.ui.serve import Guard

HOST = "127.0.0.1:8123"


def asked(kind: str = "http", query: str = "", **headers: str) -> list[dict[str, Any]]:
    """Ask the guard, and return what it sends; the application behind it answers "inside"."""
    sent: list[dict[str, Any]] = []

    async def application(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"inside"})

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    pairs = [(name.encode(), text.encode()) for name, text in {"host": HOST, **headers}.items()]
    scope = {"type": kind, "headers": pairs, "query_string": query.encode()}
    asyncio.run(Guard(application, "secret", 8123)(scope, receive, send))
    return sent


def test_the_token_is_exchanged_for_a_cookie() -> None:
    [start, _] = asked(query="token=secret")
    headers = dict(start["headers"])
    assert (start["status"], headers[b"location"]) == (303, b"/")
    assert headers[b"set-cookie"] == b"poise-ui-8123=secret; HttpOnly; SameSite=Strict; Path=/"
    start, body = asked(cookie="other=1; poise-ui-8123=secret")
    assert (start["status"], body["body"]) == (200, b"inside")
    assert b"default-src 'self'" in dict(start["headers"])[b"content-security-policy"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"query": "token=wrong"},
        {"query": "token="},
        {"query": "token=s\u00e9cret"},
        {"cookie": "poise-ui-8123=wrong"},
        {"cookie": "poise-ui-8124=secret"},
        {"cookie": "=;;"},
        {"query": "token=secret", "host": "evil.example:8123"},  # a name that points here
        {"query": "token=secret", "host": "127.0.0.1:8124"},
        {"cookie": "poise-ui-8123=secret", "origin": "https://evil.example"},
        {"cookie": "poise-ui-8123=secret", "origin": "http://127.0.0.1:9999"},  # another local page
        {"cookie": "poise-ui-8123=secret", "origin": "null"},
    ],
)
def test_all_others_are_refused(given: dict[str, str]) -> None:
    start, body = asked(**given)
    assert (start["status"], b"inside" in body["body"]) == (403, False)
    assert asked("websocket", **given) == [{"type": "websocket.close", "code": 1008}]
