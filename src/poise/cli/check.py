"""``poise check``: whether an algorithm meets the conditions of a stability test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import DATA_OPTIONS, FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import Output, output_options
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.questions.check import CheckReport

__all__ = ["command"]


EXAMPLE = """\b
Example:
  poise check patients.csv --target progression \\
      --algorithm sklearn.linear_model:Ridge --n 40
"""


_OPTIONS = "groups algorithm param program serving n response distance random_state"


@click.command("check", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(only=(*DATA_OPTIONS, *_OPTIONS.split()))
@click.option(
    "--max-seconds",
    type=float,
    default=60.0,
    show_default=True,
    help="Start no further fit after this time; skip the remaining checks.",
)
@output_options()
def command(fit: FitOptions, output: Output, max_seconds: float) -> int:
    """Check an algorithm before it is tested on the rows of DATA.

    Is it deterministic given its seed, does it remember earlier fits, does it learn
    from its rows, is it symmetric in them, does it accept N - 1 rows and training
    sets without a rare class, what are its predictions, does each depend on its own
    row only, does it write to its input, and how long will a test take?

    Exit status: 0 nothing failed, 1 a check failed, 2 usage or data.
    """
    from poise.questions.check import check_algorithm

    read = fit.rows()
    algorithm = fit.algorithm()
    rows = read.given_to(algorithm)
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        report = check_algorithm(algorithm, **rows, **fit.settings(), max_seconds=max_seconds)
    _tell(report, output)
    return ExitStatus.of_result(report.ok)


def _tell(report: CheckReport, output: Output) -> None:
    if output.as_json:
        print_json(report.to_dict())
    elif output.quiet:
        click.echo("ok" if report.ok else "fail")
    else:
        from poise.cli.terminal_tables import print_findings

        print_findings(report)
