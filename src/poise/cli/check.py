"""``poise check``: whether an algorithm is what a stability test takes it for."""

from __future__ import annotations

from typing import Any

import click

from poise.cli.errors import Exit, Warned
from poise.cli.measure import OF_A_TEST
from poise.cli.options import (
    Command,
    algorithm_options,
    form_options,
    options,
    rows_options,
)
from poise.cli.output import Output
from poise.cli.screen import paragraphs, print_json
from poise.cli.test import answer

EXAMPLE = """\b
Example:
  poise check data.csv --target y --algorithm train.py:model
"""
OF_A_RUN = ("delta", "journal", "max_trials", "removals_per_trial", "fast", "check", "name")


@click.command("check", cls=Command, epilog=EXAMPLE)
@click.argument("data", metavar="DATA")
@rows_options
@algorithm_options
@options(leave=(*OF_A_TEST, *OF_A_RUN), n=0.5)
@form_options
@click.pass_context
def command(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Check whether an algorithm is what a stability test takes it for, in some eight fits.

    It must accept N rows and one less, give the same predictions for the same rows and seed, keep
    nothing between fits, and learn. What only narrows the question is a remark.
    """
    return answer(ctx, "check", data, _tell)


def _tell(found: Any, output: Output, warned: Warned) -> Exit:
    if output.as_json:
        print_json(found.to_dict())
    else:
        paragraphs(("ok" if found.ok else "failed") if output.quiet else str(found))
    return Exit.STABLE if found.ok else Exit.UNSTABLE
