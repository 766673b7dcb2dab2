"""``poise measure``: how large the changes are, without a verdict."""

from __future__ import annotations

from typing import Any

import click

from poise.cli.options import (
    Command,
    algorithm_options,
    form_options,
    options,
    rows_options,
    save_options,
)
from poise.cli.test import answer

EXAMPLE = """\b
Example:
  poise measure data.csv --target y --algorithm 'Ridge(alpha=2.0)' --n 40
"""
OF_A_TEST = ("epsilon", "alpha", "test", "stop_early", "randomized")


@click.command("measure", cls=Command, epilog=EXAMPLE)
@click.argument("data", metavar="DATA")
@rows_options
@algorithm_options
@options(leave=OF_A_TEST, delta=0.1)
@save_options
@form_options
@click.pass_context
def command(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Measure how much predictions change when one of N training rows is removed.

    Prints the change that at most a share DELTA of them exceeds, with 95% confidence: of
    epsilon and delta, it is delta that most people can name.
    """
    return answer(ctx, "measure", data)
