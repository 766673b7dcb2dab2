"""From options to trials, and from a result to an exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poise.arguments import counted
from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import Measurement
from poise.cli.options import Output
from poise.cli.partial_verdict import saying_where_it_stands
from poise.cli.stderr import say
from poise.errors import TrialError

if TYPE_CHECKING:
    from poise.results import StabilityResult, Trials

__all__ = ["measured", "tell_result"]


def measured(
    measurement: Measurement, output: Output, asked: dict[str, Any] | None = None
) -> Trials:
    """Run every trial; if one fails, keep the trials before it where they were to be kept.

    ``asked`` is the question that will be put to the trials. It is checked
    before the first fit, and a hopeless one is called so.
    """
    from poise.questions.stability_test import measure
    from poise.results import Trials

    arguments = measurement.arguments(output.progress)
    if asked is not None:
        _check_question(arguments, asked)
    try:
        with saying_where_it_stands(asked):
            return measure(**arguments)
    except TrialError as error:
        if output.save is not None and isinstance(error.partial, Trials):
            error.partial.save(output.save)
            known = counted(error.partial.n_observed, "trial")
            say(f"what was measured before the failed trial ({known}) is in {output.save}")
        raise


def _check_question(arguments: dict[str, Any], asked: dict[str, Any]) -> None:
    import numpy as np

    from poise.questions.compare import design_of
    from poise.questions.stability_test import warn_if_hopeless
    from poise.results import Trials

    design = design_of(arguments["X"], arguments["y"], arguments["n"], arguments)
    Trials(np.empty(0), design).test(**asked)  # judging no trial at all checks every argument
    warn_if_hopeless(design, asked["delta"], asked["alpha"], asked["randomized"])


def tell_result(result: StabilityResult, output: Output) -> int:
    """Print a verdict the way it was asked for; return the exit status that stands for it."""
    if output.as_json:
        click.echo(result.to_json())
    elif output.quiet:
        click.echo(result.verdict.value)
    else:
        from poise.cli.screen import print_result

        print_result(result)
    return ExitStatus.of_result(result.stable)
