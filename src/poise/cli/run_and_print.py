"""Measure as the options say, print the result, return the exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poise.arguments import counted
from poise.cli.exit_status import ExitStatus
from poise.cli.json_output import print_json
from poise.cli.options import Output
from poise.cli.stderr import say, say_doubts
from poise.errors import TrialError

if TYPE_CHECKING:
    from poise.questions.measurement import Measurement
    from poise.results import Trials
    from poise.results.conditional_result import ConditionalResult
    from poise.results.judged_result import JudgedResult
    from poise.storage.journal import Journal

__all__ = ["measured", "tell_result"]


def measured(measurement: Measurement, output: Output, journal: Journal | None) -> Trials:
    """Run every trial; if one fails, save the trials before it if ``--save`` is given."""
    from poise.results import Trials

    try:
        return measurement.run(journal)
    except TrialError as error:
        if output.save is not None and isinstance(error.partial, Trials):
            error.partial.save(output.save)
            known = counted(error.partial.n_observed, "trial")
            say(f"what was measured before the failed trial ({known}) is in {output.save}")
        raise


def tell_result(result: JudgedResult | ConditionalResult, output: Output, **more: Any) -> int:
    """Print a verdict in the chosen form, as JSON with ``more``; return its exit status."""
    from poise.results.ledger_note import passes

    if output.as_json or output.quiet:
        say_doubts(result.warnings)
    if output.as_json:
        print_json({**result.to_dict(), **more})
    elif output.quiet:
        click.echo(result.verdict.value)
    else:
        from poise.cli.screen import print_result

        print_result(result)
    return ExitStatus.of_result(passes(result))
