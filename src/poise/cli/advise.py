"""``poise advise``: what the rows of a file can answer, before anything is tested."""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import DATA_OPTIONS, FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import (
    Output,
    WholeNumber,
    algorithms_option,
    alpha_option,
    losses_option,
    output_options,
)
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.results.advice import Advice

__all__ = ["command"]


EXAMPLE = """\b
Example:
  poise advise patients.csv --target progression \\
      --algorithm sklearn.linear_model:Ridge
"""

_OPTIONS = "groups algorithm param program serving response remove replace random_state"


@click.command("advise", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(only=(*DATA_OPTIONS, *_OPTIONS.split()))
@click.option(
    "--n",
    type=WholeNumber(),
    metavar="N",
    multiple=True,
    help="A further training size to list. Repeatable.",
)
@click.option(
    "--delta",
    type=float,
    default=0.1,
    show_default=True,
    help="Allowed probability of a larger change; the power is stated for it.",
)
@alpha_option
@click.option("--power", type=float, default=0.8, show_default=True, help="The power to keep.")
@algorithms_option
@losses_option
@output_options()
def command(fit: FitOptions, output: Output, **goal: Any) -> int:
    """List what the rows of DATA can answer, before anything is tested.

    For a dozen training sizes N it lists how many trials there are, the smallest
    DELTA that can be certified, and how large the true probability may be for a test
    to succeed. It also prints the scale of the responses, rare classes, copies, and
    columns that look like identifiers or times. With --algorithm, one fit is timed.
    """
    from poise.questions.advise import advise

    read = fit.rows()
    given = any(fit.given[name] is not None for name in ("algorithm", "program"))
    algorithm = fit.algorithm() if given else None
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        # Tables, not plain arrays: remarks about columns need their names.
        advice = advise(**read.tables, algorithm=algorithm, **fit.settings(), **goal)
    _tell(advice, fit, output)
    return ExitStatus.DONE


def _tell(advice: Advice, fit: FitOptions, output: Output) -> None:
    from poise.questions.advise import labels_are_compared
    from poise.results.text.next_questions import CommandParts, as_commands

    given = fit.given
    epsilon = "0" if labels_are_compared(advice.scales, given["response"]) else "E"
    parts = CommandParts(_file(given), _algorithm(given), _fits(given), _trial(given), epsilon)
    advice = dataclasses.replace(advice, questions=as_commands(advice.menu, parts))
    if output.as_json:
        print_json(advice.to_dict())
    elif output.quiet:
        click.echo("none" if advice.menu.largest is None else advice.menu.largest.n)
    else:
        from poise.cli.terminal_tables import print_advice

        print_advice(advice)


def _file(given: dict[str, Any]) -> str:
    """Write the part of a command that names the file and the response."""
    words = [str(given["data"]), *_options(given, "target", "sep", "decimal", "encoding")]
    words += [word for column in given["drop"] for word in ("--drop", column)]
    return shlex.join(words if given["header"] else [*words, "--no-header"])


def _fits(given: dict[str, Any]) -> str:
    """Write the part of a command that belongs to every fit."""
    words = _options(given, "unlabeled", "groups", "weights")
    words += [word for pair in given["fit_param"] for word in ("--fit-param", pair)]
    return shlex.join(words + _options(given, "response") * (given["response"] != "predict"))


def _trial(given: dict[str, Any]) -> str:
    """Write the part of a command that says what a trial removes."""
    removed = _options(given, "remove") * (given["remove"] != 1)
    return shlex.join([*removed, *["--replace"] * given["replace"]])


def _options(given: dict[str, Any], *names: str) -> list[str]:
    pairs = ((f"--{name}", str(given[name])) for name in names if given[name] is not None)
    return [word for pair in pairs for word in pair]


def _algorithm(given: dict[str, Any]) -> str:
    """Write the part of a command that names the algorithm."""
    if given["program"] is not None:
        serving = ["--serving"] if given["serving"] else []
        return shlex.join(["--program", given["program"], *serving])
    words = ["--algorithm", given["algorithm"] or "PLACE:NAME"]
    return shlex.join([*words, *(word for pair in given["param"] for word in ("--param", pair))])
