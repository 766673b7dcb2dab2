"""``poise combine``: the evidence of several records together."""

from __future__ import annotations

from pathlib import Path

import click

from poise.cli.options import FILE, Output, output_options
from poise.cli.run_and_print import tell_result

__all__ = ["command"]

EXAMPLE = """\b
Example:
  poise combine oslo.record rome.record
"""


@click.command("combine", epilog=EXAMPLE)
@click.argument("records", type=FILE, nargs=-1, required=True)
@click.option(
    "--different",
    is_flag=True,
    help="The rows come from different distributions: is it stable on all of them?",
)
@click.option(
    "--disjoint",
    is_flag=True,
    help="I declare that no row is in two records; needed if their keys differ.",
)
@click.option("--alpha", type=float, help="Error level, in (0, 1). Default: that of the records.")
@output_options()
def command(
    records: tuple[Path, ...], different: bool, disjoint: bool, alpha: float | None, output: Output
) -> int:
    """Put the evidence of several RECORDS of one question together.

    On disjoint rows from one distribution e-values multiply. Records that were begun with
    the same --key-file are compared row by row, and refused if they share rows; for others
    --disjoint is needed. With --different the smallest e-value decides whether the
    algorithm is stable on every one of the distributions.

    Exit status: 0 stable, 1 any other verdict, 2 usage or records that do not fit.
    """
    from poise.questions.combine_records import combine

    evidence = combine(records, different=different, disjoint=disjoint, alpha=alpha)
    return tell_result(evidence, output)
