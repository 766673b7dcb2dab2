"""``poise ui``: the results of a folder, in the browser."""

from __future__ import annotations

import secrets
import socket
import threading
from pathlib import Path
from typing import Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.open_browser import open_browser
from poise.cli.stderr import say
from poise.errors import ArgumentError, PoiseError

__all__ = ["command"]

EXAMPLE = """\b
Example:
  poise ui results
"""
_SECONDS_BEFORE_ESTIMATORS = 5
_SECONDS_FOR_OPEN_PAGES = 2  # after that the server ends, whatever a browser still reads


@click.command("ui", epilog=EXAMPLE)
@click.argument(
    "folder", required=False, default=".", type=click.Path(path_type=Path, file_okay=False)
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.",
    show_default=True,
)  # fmt: skip
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address at which to listen. Any other than this lets other machines in.",
)
@click.option(
    "--open/--no-open",
    "opened",
    default=True,
    show_default=True,
    help="Open the browser, where there is a screen.",
)
def command(folder: Path, port: int, host: str, opened: bool) -> int:
    """Show the results under FOLDER in the browser.

    The first line on stdout is the address. It ends in a token: whoever has it can see
    the folder's results and start runs as you. Ctrl-C ends the server; runs that were
    started from the page go on.
    """
    try:
        import uvicorn

        from poise.cli.ui.app import make_app
        from poise.cli.ui.estimators import estimators
        from poise.cli.ui.results_folder import Folder
        from poise.cli.ui.security import Access
        from poise.cli.ui.site import Site
    except ImportError as error:
        raise PoiseError(f"poise ui needs {error.name}: pip install 'poise[ui]'") from None
    if not folder.is_dir():
        raise ArgumentError(f"{folder} is not a folder")
    listening = _listening(host, port)
    access = Access(secrets.token_urlsafe(24), host, listening.getsockname()[1])

    def closing() -> bool:
        return bool(server.should_exit)

    server = uvicorn.Server(_settings(make_app(Site.of(Folder(folder)), access, closing)))
    # The list of estimators imports all of scikit-learn: it is there when somebody asks for it,
    # and does not delay the first page.
    later = threading.Timer(_SECONDS_BEFORE_ESTIMATORS, estimators)
    later.daemon = True
    later.start()
    click.echo(access.address)
    if host != "127.0.0.1":
        say(f"other machines can reach {host}; the token in the address is all that keeps them out")
    if opened:
        open_browser(access.address)
    server.run(sockets=[listening])
    return ExitStatus.DONE


def _listening(host: str, port: int) -> socket.socket:
    """Open the port before the address is printed: whoever reads it can connect at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError as error:
        made.close()
        raise ArgumentError(f"cannot listen at {host}, port {port}: {error.strerror}") from None
    return made


def _settings(app: Any) -> Any:
    import uvicorn

    return uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=_SECONDS_FOR_OPEN_PAGES,
    )
