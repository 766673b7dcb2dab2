"""``poise compare`` and ``poise curve``: several algorithms, or several training sizes."""

from __future__ import annotations

from typing import Any

import click

from poise.cli.options import (
    SETTINGS,
    Command,
    Value,
    algorithm_options,
    form_options,
    options,
    rows_options,
    save_each_options,
    verdict_options,
)
from poise.cli.test import answer

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


@click.command("compare", cls=Command, epilog=COMPARE)
@click.argument("data", metavar="DATA")
@rows_options
@click.option(
    "--algorithm", metavar="PLACE", multiple=True, help="As for `poise test`; repeat it for each."
)
@click.option("--program", metavar="COMMAND", multiple=True, help="As for `poise test`.")
@options(leave=("name", "stop_early"))
@click.option("--race", is_flag=True, help="Fit no further what cannot become stable any more.")
@save_each_options
@verdict_options
@form_options
@click.pass_context
def command(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Test several algorithms on the same trials, with one error level for all verdicts.

    This is not a ranking: one called stable and another not does not show that the first
    is more stable.
    """
    return answer(ctx, "compare", data, folder=True, race=values["race"])


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
@save_each_options
@verdict_options
@form_options
@click.pass_context
def curve(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Measure how stability depends on the training size, by limits that all hold at once.

    With --epsilon each size gets a verdict. Nothing is said of other sizes.
    """
    return answer(ctx, "stability_curve", data, folder=True)
