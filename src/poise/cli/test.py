"""``poise test``: a verdict on the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poise.cli.fit_options import Measurement, measurement_options
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


@click.command("test", epilog=EXAMPLE)
@measurement_options
@question_options(required=True)
@output_options("save", "plot", "report")
def command(
    measurement: Measurement,
    output: Output,
    epsilon: float,
    delta: float,
    alpha: float,
    randomized: bool,
) -> int:
    """Test whether an algorithm is stable on the rows of DATA.

    Removing one of N training rows may move a prediction by more than EPSILON
    with probability at most DELTA: is that so? "stable" and "unstable" are each
    wrong with probability at most ALPHA; "inconclusive" is neither.

    DATA is a text file (.csv, .tsv, .txt, also packed), Parquet, Feather, npz or
    npy; - is text from standard input. With --save, --plot or --report every trial
    is run; otherwise no more than the verdict needs.

    Exit status: 0 stable, 1 unstable or inconclusive, 2 usage or data, 3 a fit failed.
    """
    check_files(output)
    asked = {"epsilon": epsilon, "delta": delta, "alpha": alpha, "randomized": randomized}
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        result = _judged(measurement, output, asked)
    return tell_result(result, output)


def _judged(measurement: Measurement, output: Output, asked: dict[str, Any]) -> StabilityResult:
    from poise.questions.stability_test import stability_test

    if not output.needs_changes:
        arguments = measurement.arguments(output.progress)
        with saying_where_it_stands(asked):
            return stability_test(**arguments, **asked)
    trials = measured(measurement, output, asked)
    result = trials.test(**asked)
    write_files(output, trials, result, alpha=asked["alpha"])
    return result
