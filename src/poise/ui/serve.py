"""The server of the page: this machine only, a token in the address, no foreign page.

Plain ``streamlit run`` listens on every network interface, without a password, and lets pages of
other local ports connect. So the page is served here: on 127.0.0.1, behind a guard.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import click

from poise.errors import ArgumentError

FOLDER = "POISE_UI_FOLDER"  # an environment variable: streamlit runs the page as a script
Message = MutableMapping[str, Any]
App = Callable[[Any, Any, Any], Awaitable[None]]

_TOKEN = "token"
_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}"
)


class Guard:
    """Refuses a request whose Host, Origin or token is not ours; a cookie replaces the token."""

    def __init__(self, app: App, token: str, port: int) -> None:
        self.app, self.token, self.cookie = app, token, f"poise-ui-{port}"
        self.hosts = {f"{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]")}
        self.policy = [
            (b"content-security-policy", _POLICY.format(port=port).encode()),
            (b"referrer-policy", b"no-referrer"),
        ]

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers = {n.decode("latin-1"): text.decode("latin-1") for n, text in scope["headers"]}
        given = parse_qs(scope["query_string"].decode("latin-1")).get(_TOKEN, [""])[0]
        if not (self._is_ours(headers) and self._knows_token(given, headers.get("cookie", ""))):
            return await _refuse(scope, receive, send)
        if given and scope["type"] == "http":  # the secret must not stay in the address
            cookie = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
            found = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *self.policy]
            return await _answer(send, 303, found)

        async def with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.policy]
            await send(message)

        return await self.app(scope, receive, with_policy)

    def _is_ours(self, headers: dict[str, str]) -> bool:
        origin = headers.get("origin")
        own_page = origin is None or urlsplit(origin).netloc in self.hosts
        return own_page and headers.get("host", "") in self.hosts

    def _knows_token(self, given: str, cookies: str) -> bool:
        found = SimpleCookie(cookies).get(self.cookie)
        known = (given, found.value if found else "")
        return any(hmac.compare_digest(each.encode(), self.token.encode()) for each in known)


async def _refuse(scope: Message, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    text = b"Refused: open the address that `poise ui` printed.\n"
    await _answer(send, 403, [(b"content-type", b"text/plain")], text)


async def _answer(send: Any, status: int, headers: list[Any], body: bytes = b"") -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@click.command("ui")
@click.argument("folder", metavar="[FOLDER]", default=".")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="By default any free one.")
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
def ui(folder: str, port: int, no_open: bool) -> int:
    """Show the results in FOLDER on a page: judge them again, compare, plan, start new ones.

    The page is for this machine alone, and only for who has its address. It ends with Ctrl-C.
    """
    try:
        import streamlit as st
        import uvicorn
        from starlette.middleware import Middleware
    except ImportError as error:
        why = f"the page needs streamlit: pip install 'poise[ui]' ({error})"
        raise ArgumentError(why) from None
    if not Path(folder).is_dir():
        raise ArgumentError(f"{folder} is not a folder")
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise ArgumentError(f"--port cannot be used: {error.strerror}", got=port) from error
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
    os.environ[FOLDER] = str(Path(folder).resolve())
    guard = Middleware(Guard, token=token, port=port)
    app = st.App(Path(__file__).with_name("page.py"), middleware=[guard])
    address = f"http://127.0.0.1:{port}/?{_TOKEN}={token}"
    click.echo(address)
    if not no_open:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    quiet = uvicorn.Config(app, log_level="warning", server_header=False)
    quiet.timeout_graceful_shutdown = 2
    uvicorn.Server(quiet).run(sockets=[listening])
    return 0
