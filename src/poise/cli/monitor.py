"""``poise monitor``: rows that come in over time, and a record that may always be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from poise.cli import options
from poise.cli.errors import SOURCE, Exit, Warned, stdout_is_for_the_answer
from poise.cli.inputs import READ, Source, load_algorithm, load_named, parse_parameters
from poise.cli.output import Output
from poise.cli.screen import paragraphs, tell

EXAMPLES = """\
  poise monitor ridge.record monday.csv --target y --algorithm Ridge --n 40 \\
      --epsilon 5 --delta 0.1
  poise monitor ridge.record tuesday.csv
  poise monitor ridge.record
"""
ASKED = {
    *("n", "epsilon", "delta", "alpha", "response", "distance", "coupling", "position", "remove"),
    *("replace", "removals_per_trial", "points_per_trial", "max_trials", "shuffle", "name"),
    *("random_state", "n_jobs", "backend", "fit_timeout", "on_error", "check", "ids"),
}
_KEPT = ("target", "algorithm", "params", "ids", "distance", "coupling", *READ)


@options.command(
    "monitor",
    EXAMPLES,
    click.argument("record", metavar="RECORD"),
    click.argument("data", metavar="[DATA]", required=False),
    options.rows,
    options.algorithm,
    options.settings(leave=options.SETTINGS.keys() - ASKED),
    click.option(
        "--skip-used",
        is_flag=True,
        help="Skip rows that were used before, as in a file that grows.",
    ),
    click.option("--restart", is_flag=True, help="Begin again without older evidence."),
    options.told,
)
def command(ctx: click.Context, /, record: str, data: str | None, **values: Any) -> Exit:
    """Add the rows of DATA to RECORD, and judge all trials so far; without DATA only judge.

    The first call asks the question; later ones need RECORD and DATA. The level holds for all
    looks together, however often rows are added. A row may be used once. A call that was
    interrupted is finished by the same call.
    """
    from poise.questions.monitor import Monitor

    output, path = Output.of(ctx), Path(record)
    output.check([path, *([Path(data)] if data else [])])
    kept = Monitor(path).kept if path.exists() else {}
    with Warned(output.quiet).listening() as warned:
        with stdout_is_for_the_answer():
            monitor = Monitor(path)
            if values["restart"]:
                monitor.restart()
            if data is not None:
                monitor = _added(ctx, monitor, data, {**kept, **_typed(ctx)})
            result = monitor.result
        known = {"decided_now": monitor.decided_now, "outlook": monitor.outlook}
        status = tell(result, output, warned, known)
    if monitor.outlook and not (output.as_json or output.quiet or output.latex):
        paragraphs(monitor.outlook)
    return status


def _typed(ctx: click.Context) -> dict[str, Any]:
    """Return what a later call need not say again."""
    typed = ParameterSource.COMMANDLINE
    return {n: ctx.params[n] for n in _KEPT if ctx.get_parameter_source(n) is typed}


def _added(ctx: click.Context, monitor: Any, data: str, kept: Mapping[str, Any]) -> Any:
    """Add the rows of a file to a record, which is begun with what was typed."""
    for name in ("target", "algorithm"):
        if not kept.get(name):
            raise click.UsageError(f"Missing --{name}: {monitor.path} is begun by this call.", ctx)
    source = ctx.meta[SOURCE] = Source(data, kept)
    algorithm = load_algorithm(kept["algorithm"], parse_parameters(kept.get("params", ())))
    asked = options.given(ctx) | {n: kept[n] for n in ("distance", "coupling") if n in kept}
    asked = {n: load_named(n, value) for n, value in asked.items() if n != "ids"}
    found = type(monitor)(monitor.path, algorithm, **asked)
    found.kept = dict(kept)
    rows = source.read()
    found.add(rows["X"], rows["y"], ids=rows.get("ids"), skip_used=ctx.params["skip_used"])
    return found
