"""``poise resume``: continue a run that was interrupted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from poise.errors import RecordError

__all__ = ["command"]


@click.command("resume")
@click.argument("journal", type=click.Path(path_type=Path))
@click.pass_context
def command(ctx: click.Context, /, journal: Path) -> int:
    """Continue the run that wrote JOURNAL, as if it had never been interrupted.

    JOURNAL is a file, or the folder of a run with several journals. The command in it
    is run again in the folder where it was first run: the data and the algorithm
    must still be there.

    Exit status: that of the command.
    """
    from poise.storage.journal import journals_of, read_journal

    begun = read_journal(journals_of(journal)[0]).header.command
    if not begun:
        raise RecordError(
            f"{journal} was not begun from the command line: call the same Python function with "
            f"the same arguments and journal={str(journal)!r} to go on with it"
        )
    arguments = _with_journal(begun["arguments"], journal.resolve())
    try:
        os.chdir(begun["folder"])
    except OSError as error:
        raise RecordError(
            f"{journal} was begun in {begun['folder']}, which cannot be entered: {error.strerror}"
        ) from None
    group: Any = ctx.find_root().command
    status: int = group.main(arguments, standalone_mode=False)
    return status


def _with_journal(arguments: list[str], journal: Path) -> list[str]:
    """Add the present path of the journal; the last of several --journal counts."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:end], "--journal", str(journal), *arguments[end:]]
