"""``poise ledger``: the questions that were put to a data set, and which verdicts hold together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.json_output import print_json
from poise.cli.options import FILE, Output, output_options

if TYPE_CHECKING:
    from poise.storage.ledger import Ledger

__all__ = ["command"]

EXAMPLE = """\b
Examples:
  poise ledger stability.ledger --begin --rule spending --alpha 0.05
  poise test patients.csv --target progression --ledger stability.ledger \\
      --algorithm sklearn.linear_model:Ridge --n 40 --epsilon 5 --delta 0.1
  poise ledger stability.ledger
  poise ledger stability.ledger --merge copy.ledger
  poise ledger fresh_rows.ledger --begin --rule investing
"""


@click.command("ledger", epilog=EXAMPLE)
@click.argument("file", metavar="FILE", type=FILE)
@click.option("--begin", is_flag=True, help="Begin FILE, before the first question.")
@click.option(
    "--rule",
    type=click.Choice(["holm", "spending", "investing"]),
    help="With --begin: holm (default); spending, to go on until a verdict holds; or investing, "
    "with fresh rows for each question.",
)
@click.option(
    "--alpha",
    type=float,
    help="With --begin: error level of all verdicts together (with investing, rate of false ones), "
    "in (0, 1). Default: 0.05.",
)
@click.option(
    "--merge",
    metavar="OTHER",
    type=FILE,
    multiple=True,
    help="Append the lines of a copy that has grown apart. Repeatable.",
)
@output_options()
def command(
    file: Path,
    begin: bool,
    rule: str | None,
    alpha: float | None,
    merge: tuple[Path, ...],
    output: Output,
) -> int:
    """Tell which questions were put to the rows of a data set, and which verdicts hold.

    FILE is what --ledger of `poise test`, `compare`, `curve` and `run` has written. Rows
    that overlap are one data set. Of its verdicts, those that hold together are right
    at the error level of the ledger, all at once. holm is for questions that were
    chosen without looking at the answers; with spending, it may be decided after each
    answer whether to ask again.

    With investing, each question has rows that no other one has used, and a verdict
    that holds pays for further questions. It promises less: of the verdicts "stable"
    that hold, the expected number of false ones is at most ALPHA times (the expected
    number of all + 1 - ALPHA). The chance that any is wrong can be larger.

    Exit status: 0; 2 if FILE is damaged, or is no copy of OTHER.
    """
    from poise.storage.ledger import Ledger

    if (rule is not None or alpha is not None) and not begin:
        raise click.UsageError("--rule and --alpha are decided at the beginning: give --begin.")
    ledger = Ledger(file, rule=rule, alpha=alpha)
    if begin:
        ledger.begin()
    if merge:
        ledger.merge(*merge)
    _tell(ledger, output)
    return ExitStatus.DONE


def _tell(ledger: Ledger, output: Output) -> None:
    if output.as_json:
        print_json(ledger.to_dict())
    elif output.quiet:
        for row in ledger.table().rows:
            click.echo("\t".join(row))
    else:
        from poise.cli.terminal_tables import print_presented

        print_presented(ledger)
