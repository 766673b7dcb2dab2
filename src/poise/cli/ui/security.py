"""Who may use the server: a token, this host and this origin; and no foreign code in a page."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Access", "Guard"]

# Scripts, styles and data come from this server alone; nothing inline, nothing in a frame.
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MOST_BODY_BYTES = 1 << 20


@dataclass(frozen=True)
class Access:
    """What a request must have.

    Attributes
    ----------
    token : str
        The secret in the address; the browser keeps it in a cookie.
    host : str
        The address at which the server listens.
    port : int
        Its port, which is part of the name of the cookie.
    """

    token: str
    host: str
    port: int

    @property
    def cookie(self) -> str:
        """The name of the cookie: servers on other ports have others."""
        return f"poise-ui-{self.port}"

    @property
    def address(self) -> str:
        """The address to open, token included."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        shown = "127.0.0.1" if self.everywhere else name
        return f"http://{shown}:{self.port}/?token={self.token}"

    @property
    def everywhere(self) -> bool:
        """Whether the server listens at all addresses of this machine."""
        return self.host in ("0.0.0.0", "::", "")

    def knows_host(self, given: str) -> bool:
        """Tell whether a Host header names this server.

        A page elsewhere can make the browser call its own name at our address (DNS rebinding);
        then the name in the header is the foreign one.

        Examples
        --------
        >>> access = Access("secret", "127.0.0.1", 8000)
        >>> [access.knows_host(h) for h in ("localhost:8000", "evil.test:8000", "127.0.0.1:9")]
        [True, False, False]
        """
        try:
            parts = urlsplit(f"//{given}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        return port == self.port and self._is_own(name)

    def _is_own(self, name: str) -> bool:
        if name in ("localhost", "127.0.0.1", "::1", self.host):
            return True
        if not self.everywhere:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower() in (socket.gethostname().lower(), socket.getfqdn().lower())
        return True

    def knows_origin(self, origin: str) -> bool:
        """Tell whether a page of this server asks."""
        scheme, _, host = origin.partition("://")
        return scheme == "http" and self.knows_host(host)

    def is_token(self, given: str | None) -> bool:
        """Compare in constant time."""
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())


class Guard:
    """Middleware that refuses every request without token, Host or Origin, before any page.

    Parameters
    ----------
    app : ASGI application
        The pages.
    access : Access
        What a request must have.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or exchange the token in the address for a cookie."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        answer = self._refusal(Request(scope)) or self._entry(Request(scope))
        await (answer or self.app)(scope, receive, _with_headers(send))

    def _refusal(self, request: Request) -> Response | None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not self.access.knows_host(host):
            return _refused("this server does not answer to that host name")
        if origin is not None and not self.access.knows_origin(origin):
            return _refused("another page may not use this server")
        reads = request.method in ("GET", "HEAD")
        if not (reads or origin is not None or self._by_header(request)):
            return _refused("a request that changes something must come from a page of this server")
        if _body_size(request) > _MOST_BODY_BYTES:
            return PlainTextResponse("too long", 413)
        if self._allowed(request):
            return None
        return _refused(
            "open the address that `poise ui` printed: it ends in a token, without which nobody "
            "may look"
        )

    def _by_header(self, request: HTTPConnection) -> bool:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        return kind == "token" and self.access.is_token(token)

    def _allowed(self, request: HTTPConnection) -> bool:
        known = request.cookies.get(self.access.cookie), request.query_params.get("token")
        return any(map(self.access.is_token, known)) or self._by_header(request)

    def _entry(self, request: Request) -> Response | None:
        """Keep a token that came in the address in a cookie, and remove it from the address."""
        if "token" not in request.query_params or request.method != "GET":
            return None
        address = request.url.remove_query_params("token")
        inside = address.path + (f"?{address.query}" if address.query else "")
        answer = RedirectResponse("/" + inside.lstrip("/"), 303)
        secret = {"httponly": True, "samesite": "lax"}
        answer.set_cookie(self.access.cookie, self.access.token, **secret)  # type: ignore[arg-type]
        return answer


def _refused(why: str) -> Response:
    return PlainTextResponse(f"Refused: {why}.\n", 403)


def _body_size(request: Request) -> int:
    length = request.headers.get("content-length", "0")
    return int(length) if length.isdigit() else _MOST_BODY_BYTES + 1


def _with_headers(send: Send) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return marked
