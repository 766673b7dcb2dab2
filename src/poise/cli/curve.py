"""``poise curve``: stability at several training sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import FitOptions, fit_options, journal_folder
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import (
    AllowedChange,
    Output,
    alpha_option,
    choice_of_test,
    journals_option,
    output_options,
)
from poise.cli.output_files import check_files
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.results import StabilityCurve

__all__ = ["command"]

EXAMPLE = """\b
Example:
  poise curve patients.csv --target progression \\
      --algorithm sklearn.linear_model:Ridge \\
      --n 5 --n 10 --n 20 --n 0.1 --epsilon 15 --delta 0.3
"""


@click.command("curve", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(without=("n", "journal"))
@click.option(
    "--n",
    "sizes",
    type=float,
    multiple=True,
    required=True,
    help="A training size, or a share of the rows below 1. Repeatable.",
)
@journals_option
@click.option(
    "--epsilon",
    type=AllowedChange(),
    help="Ask for the limit for the probability of a larger change.",
)
@click.option(
    "--delta",
    type=float,
    help="Ask for the limit for the change that is exceeded with this probability.",
)
@alpha_option
@choice_of_test
@output_options("plot")
def command(
    fit: FitOptions,
    output: Output,
    sizes: tuple[float, ...],
    journal: Path | None,
    test: str,
    **asked: Any,
) -> int:
    """Measure stability on the rows of DATA at several training sizes N.

    With --delta, it gives an upper limit for the change that is exceeded with
    probability DELTA. With --epsilon, it gives an upper limit for the probability of
    a change larger than EPSILON. All limits hold at once, with probability 1 - ALPHA.
    With both, it certifies the sizes at which it is stable; the chance that any of them
    is wrong is at most ALPHA (Holm's method). Nothing is certified at other sizes.

    Exit status: 0 certified stable at one size at least, or no verdict was asked for;
    1 certified at none; 2 usage or data, 3 a fit failed.
    """
    from poise.questions.stability_curve import check_curve_question, stability_curve
    from poise.results.ledger_note import holds

    if asked["epsilon"] is None and asked["delta"] is None:
        raise click.UsageError("give --epsilon, --delta or both.", click.get_current_context())
    check_files(output)
    check_curve_question(sizes, **asked)
    read = fit.rows_for_trials()
    algorithm = fit.algorithm()
    rows = read.given_to(algorithm)
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        settings = asked | {"test": test} | fit.settings() | {"progress": output.progress}
        settings |= {"journal": journal_folder(journal), "ledger": fit.ledger()}
        curve = stability_curve(algorithm, **rows, n=sizes, **settings)
    _tell(curve, output)
    both = curve.epsilon is not None and curve.delta is not None
    return ExitStatus.of_result((bool(curve.certified) and holds(curve)) or not both)


def _tell(curve: StabilityCurve, output: Output) -> None:
    if output.plot is not None:
        from poise.results.plots import save_figure

        save_figure(curve.plot(), output.plot)
    if output.as_json:
        print_json(curve.to_dict())
    elif output.quiet:
        for row in curve.table().rows:
            click.echo("\t".join(row))
    else:
        from poise.cli.screen import print_table
        from poise.cli.terminal_tables import print_presented

        print_presented(curve, print_table)
