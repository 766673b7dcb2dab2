"""``poise ui``: a page about the results in a folder."""

from __future__ import annotations

from pathlib import Path

import click

from poise.cli import options
from poise.cli.errors import Exit, say
from poise.errors import ArgumentError

EXAMPLES = """\
  poise ui
  poise ui results --port 8080 --no-open
"""


@options.command(
    "ui",
    EXAMPLES,
    click.argument("folder", metavar="[FOLDER]", default="."),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        help="Port of the page; 0 for any that is free.",
    ),
    click.option("--no-open", is_flag=True, help="Print the address without opening a browser."),
)
def command(ctx: click.Context, /, folder: str, port: int, no_open: bool) -> int:
    """Show the results in FOLDER on a page: judge them again, compare, plan, start new ones.

    The page is for this machine alone, and only for who has its address. It ends with Ctrl-C.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ArgumentError("must be a folder", argument="folder", got=folder)
    try:
        from poise.ui.serve import serve

        serve(place, port, click.echo, browse=not no_open)
    except ImportError as error:
        raise ArgumentError(
            f"the page needs streamlit: pip install 'poise[ui]' ({error})"
        ) from None
    except OSError as error:
        raise ArgumentError(
            f"cannot be used: {error.strerror}", argument="port", got=port
        ) from error
    say("the page has ended")
    return Exit.STABLE
