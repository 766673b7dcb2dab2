"""``poise profile``: the probability of a larger change, for every ε."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poise import arguments
from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import (
    Output,
    alpha_option,
    output_options,
)
from poise.cli.output_files import check_files, write_files
from poise.cli.partial_verdict import saying_where_it_stands
from poise.cli.run_and_print import measured
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.results import Profile, Trials

__all__ = ["command"]


EXAMPLE = """\b
Example:
  poise profile patients.csv --target progression \\
      --algorithm sklearn.linear_model:Ridge --n 40
"""


@click.command("profile", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(without=("ledger",))  # a profile gives no verdict
@alpha_option
@click.option(
    "--band",
    type=click.Choice(["equal-local-levels", "ks", "dkw", "pointwise"]),
    default="equal-local-levels",
    show_default=True,
    help="The kind of limits; pointwise limits hold only for one ε chosen beforehand.",
)
@click.option(
    "--delta-max",
    type=float,
    help="Only limits up to this δ, chosen beforehand: they are sharper.",
)
@click.option("--epsilon", type=float, multiple=True, help="Print the limit at this ε. Repeatable.")
@output_options("save", "plot")
def command(
    fit: FitOptions,
    output: Output,
    alpha: float,
    band: str,
    delta_max: float | None,
    epsilon: tuple[float, ...],
) -> int:
    """Measure the changes on the rows of DATA and bound their distribution.

    For each EPSILON, it gives an upper confidence limit for the probability that
    removing one of N training rows moves a prediction by more than EPSILON. The
    limits hold for all EPSILON at once, so you may choose one after you saw them.
    """
    from poise.results.trials import Trials

    check_files(output)
    # Values that this band or the table cannot take are refused before the first fit.
    Trials.from_changes([0.0], n=2).profile(alpha, band, delta_max=delta_max)
    for asked in epsilon:
        arguments.epsilon(asked)
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        measurement = fit.measurement(output.progress)
        measurement.check()
        with saying_where_it_stands():
            trials = measured(measurement, output, fit.journal())
        profile = trials.profile(alpha, band, delta_max=delta_max)
        write_files(output, trials, alpha=alpha)
    _tell(profile, trials, output, epsilon)
    return ExitStatus.DONE


def _tell(profile: Profile, trials: Trials, output: Output, wanted: tuple[float, ...]) -> None:
    from poise.cli.screen import print_profile, print_steps, print_trials

    if output.as_json:
        print_json(profile.to_dict())
    elif output.quiet:
        print_steps(profile, wanted)
    else:
        print_trials(trials)
        print_profile(profile, wanted)
