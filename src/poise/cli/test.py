"""``poise test``: a verdict on the rows of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from poise.cli.fit_options import FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.options import Output, output_options, question_options
from poise.cli.output_files import check_files, write_files
from poise.cli.partial_verdict import saying_where_it_stands
from poise.cli.run_and_print import measured, tell_result
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.results import StabilityResult

__all__ = ["command"]


EXAMPLE = """\b
Example:
  poise test patients.csv --target progression \\
      --algorithm sklearn.linear_model:Ridge --param alpha=2.0 \\
      --n 40 --epsilon 5 --delta 0.1
"""


@click.command("test", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options()
@question_options(required=True, choice=True)
@click.option(
    "--stop-early/--no-stop-early",
    default=True,
    show_default=True,
    help="Stop once no trial can change the verdict and a tenth of them is saved; or run all.",
)
@output_options("save", "plot", "report", "certificate")
def command(fit: FitOptions, output: Output, asked: dict[str, Any], stop_early: bool) -> int:
    """Test whether an algorithm is stable on the rows of DATA.

    Stable means: removing one of N training rows moves a prediction by more than
    EPSILON with probability at most DELTA. "stable" and "unstable" are each wrong
    with probability at most ALPHA; "inconclusive" is neither.

    DATA is a text file (.csv, .tsv, .txt, also packed), Parquet, Feather, npz or
    npy; - is text from standard input. A folder, a pattern or an address stands for
    Parquet or Feather files that hold one table. With --save, --plot or --report every trial
    is run; otherwise a run may stop once no trial can change its verdict.
    With --ledger every trial is run too, and a verdict that does not hold together
    with the others on these rows has exit status 1.

    Exit status: 0 stable, 1 any other verdict, 2 usage or data, 3 a fit failed.
    """
    check_files(output)
    fit.check(asked)
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        result = _judged(fit, output, asked, stop_early)
    if output.certificate is not None:
        result.certificate().save(output.certificate)
    return tell_result(result, output)


def _judged(
    fit: FitOptions, output: Output, asked: dict[str, Any], stop_early: bool
) -> StabilityResult:
    from poise.procedures.checked_question import StabilityQuestion
    from poise.questions.set_aside import resolved

    wanted = replace(fit.measurement(output.progress), certified=output.certificate is not None)
    measurement, epsilon = resolved(wanted, asked["epsilon"])
    asked = asked | {"epsilon": epsilon}
    question = StabilityQuestion(measurement.setup.n, **asked, stop_early=stop_early)
    measurement.check(question)
    measurement = measurement.for_question(question, fit.journal())
    ledger = fit.ledger()
    with saying_where_it_stands(asked):
        if not output.needs_changes:
            return measurement.test(question, fit.journal(), ledger)
        put = measurement.put(question, ledger, fit.journal())
        trials = measured(measurement, output, fit.journal())
    if put is None:
        result = measurement.judge(trials, question)
    else:
        result = put.noted(put.judged(measurement, trials, question))
    write_files(output, trials, result, alpha=asked["alpha"])
    return result
