"""``poise show``: read a saved answer, or put another question to its changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from poise.cli.compare import tell_together
from poise.cli.errors import Exit, Warned
from poise.cli.options import (
    SETTINGS,
    Command,
    form_options,
    given,
    option_of,
    save_options,
    verdict_options,
)
from poise.cli.output import Output
from poise.cli.screen import tell

EXAMPLES = """\b
Examples:
  poise show ridge.json
  poise show ridge.json --epsilon 5 --delta 0.1
"""
EPSILON = (
    "Allowed change, >= 0, in units of the prediction. Left out where a change is yes or no, or a "
    "share."
)


@click.command("show", cls=Command, epilog=EXAMPLES)
@click.argument("file", metavar="FILE")
@option_of(SETTINGS["epsilon"], help=EPSILON)
@option_of(SETTINGS["delta"], None)
@option_of(SETTINGS["alpha"])
@option_of(SETTINGS["test"])
@click.option("--exit-status", is_flag=True, help="End with the status of the verdict, not with 0.")
@save_options
@verdict_options
@form_options
@click.pass_context
def command(ctx: click.Context, /, file: str, exit_status: bool, **values: Any) -> int:
    """Show what --save FILE of a command kept; nothing is fitted.

    With --epsilon or --delta, its changes are asked that question. Its error level holds only
    if the question was chosen without looking at the changes.
    """
    output, asked = Output.of(ctx), given(ctx)
    output.check([Path(file)])
    with Warned(output.quiet).listening() as warned:
        if Path(file).is_dir():
            if asked:
                raise click.UsageError(f"{file} holds several answers: ask one of its files.", ctx)
            return tell_together(None, _found(file, asked), output, warned)
        status = tell(_found(file, asked), output, warned)
    return status if exit_status else Exit.STABLE


def _found(file: str, asked: dict[str, Any]) -> Any:
    """Return what a file holds, asked another question if there is one."""
    from poise.engine.log import kind_of
    from poise.questions.load import load

    kept: Any = load(file)
    trials = getattr(kept, "trials", kept)
    if not asked:
        begun_with = kept.asked if kind_of(file) == "journal" else None
        return kept if begun_with is None else kept.judge(begun_with)
    if asked.keys() == {"delta"} and trials is kept:
        return replace(kept, delta=asked["delta"])
    before = {name: getattr(kept, name, None) for name in ("epsilon", "delta", "alpha")}
    return trials.test(**{k: v for k, v in {**before, **asked}.items() if v is not None})
