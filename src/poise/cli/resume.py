"""``poise resume``: continue a run that was interrupted.

A journal names a command, and a command names code: whoever can write a journal can choose what
is run. So the command is shown first, and only commands that measure are run.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.stderr import say
from poise.errors import RecordError

__all__ = ["command"]


@click.command("resume")
@click.argument("journal", type=click.Path(path_type=Path))
@click.option("--yes", "-y", is_flag=True, help="Run the command without asking.")
@click.pass_context
def command(ctx: click.Context, /, journal: Path, yes: bool) -> int:
    """Continue the run that wrote JOURNAL, as if it had never been interrupted.

    JOURNAL is a file, or the folder of a run with several journals. The command in it
    is run again in the folder where it was first run: the data and the algorithm
    must still be there.

    A journal names code to run, like a Makefile. The command is shown, and run if you
    say yes; where there is no terminal, --yes is needed. Look at a journal that somebody
    else gave you before you resume it.

    Exit status: that of the command; 2 if it is not run.
    """
    group: Any = ctx.find_root().command
    arguments, folder = _command_in(journal)
    _require_measuring(arguments, group, ctx, journal)
    if not yes:
        say(f"{journal} continues, in {folder}: {shlex.join(['poise', *arguments])}")
        if not _agreed(journal):
            say("nothing was run")
            return ExitStatus.USAGE
    arguments = _with_journal(arguments, journal.resolve())
    try:
        os.chdir(folder)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise RecordError(
            f"{journal} was begun in {folder}, which cannot be entered: {why}"
        ) from None
    ctx.obj[:] = arguments  # an error is told in the words of the command that is resumed
    status: int = group.main(arguments, standalone_mode=False)
    return status


def _command_in(journal: Path) -> tuple[list[str], str]:
    """Return the arguments and the folder of the run that began a journal."""
    from poise.storage.journal import journals_of, read_journal

    begun = read_journal(journals_of(journal)[0]).header.command
    if not begun:
        raise RecordError(
            f"{journal} was not begun from the command line: call the same Python function with "
            f"the same arguments and journal={str(journal)!r} to go on with it"
        )
    arguments, folder = begun.get("arguments"), begun.get("folder")
    words = [*arguments, folder] if isinstance(arguments, list) else [None]
    if not all(isinstance(word, str) for word in words):
        raise RecordError(f"{journal} names no command that poise can run: {begun!r}")
    return list(map(str, arguments or ())), str(folder)


def _require_measuring(arguments: list[str], group: Any, ctx: click.Context, journal: Path) -> None:
    """Refuse a command that writes no journal: such a journal was not written by poise."""
    name = next((word for word in arguments if word != "--traceback"), "")
    known = group.get_command(ctx, name)
    options = [] if known is None else [option for each in known.params for option in each.opts]
    if "--journal" not in options:
        raise RecordError(
            f"{journal} names the command {name!r}, and only a command that measures can be "
            "resumed; poise did not write this journal"
        )


def _agreed(journal: Path) -> bool:
    """Ask whether the command may be run; refuse where nobody can answer."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError(
            f"{journal} names the command to run, and there is no terminal to ask whether to: "
            "look at it, and give --yes."
        )
    return click.confirm("Run this command?", err=True)


def _with_journal(arguments: list[str], journal: Path) -> list[str]:
    """Add the present path of the journal; the last of several --journal counts."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:end], "--journal", str(journal), *arguments[end:]]
