"""``poise verify``: check a certificate, also by computing trials again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import DATA_OPTIONS, FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import FILE, ROWS, Output, WholeNumberOr, output_options
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.questions.measurement import Measurement

__all__ = ["command"]

EXAMPLE = """\b
Example:
  poise verify ridge.json --data patients.csv --target progression \\
      --algorithm sklearn.linear_model:Ridge --param alpha=2.0
"""

# Everything else is in the certificate.
_GIVEN = (
    *DATA_OPTIONS,
    "groups",
    "algorithm",
    "param",
    "program",
    "serving",
    "distance",
    "n_jobs",
    "backend",
    "timeout",
)
_HERE = {
    "data": click.option("--data", metavar="DATA", type=ROWS, help="The rows of the test."),
    "distance": click.option(
        "--distance",
        metavar="PLACE:NAME",
        help="The distance of the test, if it was a function of its own.",
    ),
}


@click.command("verify", cls=SectionedCommand, epilog=EXAMPLE)
@click.argument("file", type=FILE)
@fit_options(_GIVEN, instead=_HERE)
@click.option(
    "--trials",
    type=WholeNumberOr("all"),
    default=20,
    show_default=True,
    help="How many trials to compute again, chosen at random; or all.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed of that choice, to repeat a verification. Default: fresh, and printed.",
)
@click.option("--key", metavar="PUBLIC", type=FILE, help="Public key that must have signed it.")
@output_options()
def command(
    file: Path,
    fit: FitOptions,
    trials: int | str,
    seed: int | None,
    key: Path | None,
    output: Output,
) -> int:
    """Check the certificate in FILE, without trusting whoever made it.

    The verdict, its limits and its words are computed again from the changes in FILE.
    With --data and --algorithm, some trials are computed again and compared bit for
    bit. If a share f of the trials had been altered, the chance to miss it is at
    most (1 - f)^20.

    Exit status: 0 verified, 1 not what it claims, 2 unreadable, 4 could not be
    repeated (it was made with other versions).
    """
    from poise.questions.certificates.verify import Verifier
    from poise.results.certificate_file import CertificateFile

    certificate = CertificateFile.load(file)
    _refuse_half(fit)

    def measurement(settings: dict[str, Any]) -> Measurement:
        return FitOptions(_completed(fit.given, settings)).measurement(output.progress)

    given = None if fit.given["data"] is None else measurement
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        found = Verifier(certificate, given, trials, seed, key).verification()
    if output.as_json:
        print_json(found.to_dict())
    elif output.quiet:
        click.echo(found.outcome)
    else:
        click.echo(found.summary())
    return ExitStatus.of_verification(found.verified, bool(found.wrong))


def _refuse_half(fit: FitOptions) -> None:
    """Refuse rows without an algorithm, and an algorithm without rows."""
    given = fit.given["algorithm"] is not None or fit.given["program"] is not None
    if given != (fit.given["data"] is not None):
        raise click.UsageError(
            "give --data and --algorithm (or --program) together, or neither.",
            click.get_current_context(),
        )


def _completed(given: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Add the settings of the certificate to the options."""
    from poise.questions.certificates.same_question import with_own_distance

    own = {"distance": given["distance"]} if given["distance"] is not None else {}
    return {**given, **with_own_distance({**settings, **own})}
