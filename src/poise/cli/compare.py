"""``poise compare`` and ``poise curve``: several algorithms, or several training sizes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from poise.cli.errors import Exit, Warned
from poise.cli.options import (
    SETTINGS,
    Command,
    Value,
    algorithm_options,
    form_options,
    options,
    rare,
    rows_options,
)
from poise.cli.output import Output
from poise.cli.screen import as_dict, paragraphs, print_json
from poise.cli.test import answer
from poise.errors import ArgumentError

COMPARE = """\b
Example:
  poise compare data.csv --target y --algorithm Ridge --algorithm Lasso --n 40 \\
      --epsilon 5 --delta 0.1
"""
CURVE = """\b
Examples:
  poise curve data.csv --target y --algorithm Ridge --n 10 --n 20 --n 40
  poise curve data.csv --target y --algorithm Ridge --n 10 --n 20 --epsilon 5 --delta 0.1
"""
_kept = click.option("--save", "folder", metavar="FOLDER", help="Save one file for each.")
_page = click.option("--report", metavar="FILE", help="Write a page with pictures, FILE.html.")
_force = rare("--force", is_flag=True, help="Replace a file that poise did not write.")
_latex = rare("--latex", is_flag=True, help="Print a LaTeX table.")


@click.command("compare", cls=Command, epilog=COMPARE)
@click.argument("data", metavar="DATA")
@rows_options
@click.option(
    "--algorithm", metavar="PLACE", multiple=True, help="As for `poise test`; repeat it for each."
)
@click.option("--program", metavar="COMMAND", multiple=True, help="As for `poise test`.")
@options(leave=("name", "stop_early"))
@click.option("--race", is_flag=True, help="Fit no further what cannot become stable any more.")
@_kept
@_page
@_force
@_latex
@form_options
@click.pass_context
def command(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Test several algorithms on the same trials, with one error level for all verdicts.

    This is not a ranking: one called stable and another not does not show that the first
    is more stable.
    """
    return _answered(ctx, "compare", data, race=values["race"])


@click.command("curve", cls=Command, epilog=CURVE)
@click.argument("data", metavar="DATA")
@rows_options
@algorithm_options
@click.option(
    "--n",
    type=Value(SETTINGS["n"]),
    multiple=True,
    help="Training size, or a share of the rows; repeat it for each.",
)
@options(leave=("n", "stop_early"), delta=0.1)
@_kept
@_page
@_force
@_latex
@form_options
@click.pass_context
def curve(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Measure how stability depends on the training size, by limits that all hold at once.

    With --epsilon each size gets a verdict. Nothing is said of other sizes.
    """
    return _answered(ctx, "stability_curve", data)


def _answered(ctx: click.Context, function: str, data: str, **more: Any) -> Exit:
    folder = ctx.params["folder"]
    if folder is not None:
        _require_empty(Path(folder))
    return answer(ctx, function, data, partial(tell_together, folder), **more)


def _require_empty(folder: Path) -> None:
    """Refuse a place for the files before the first fit."""
    problem = ""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problem = "must be a new or empty folder"
    elif not folder.absolute().parent.is_dir():
        problem = f"cannot be made: there is no folder {folder.absolute().parent}"
    if problem:
        raise ArgumentError(problem, argument="folder", got=str(folder))


def tell_together(folder: str | None, found: Any, output: Output, warned: Warned) -> Exit:
    """Save and print all answers in the form that was asked for."""
    if folder is not None:
        found.save(folder, command=output.command)
    each = found.results or found.trials
    output.write(each)
    warned.doubts.extend(found.warnings)
    if not (output.quiet or output.latex):
        warned.shown(found.warnings)
    if output.as_json:
        print_json({name: as_dict(one, output) for name, one in each.items()})
    elif output.quiet:
        lines = [f"{getattr(one, 'verdict', 'measured')}\t{name}" for name, one in each.items()]
        paragraphs("\n".join(lines))
    else:
        paragraphs(found.to_latex() if output.latex else str(found))
    return Exit.STABLE
