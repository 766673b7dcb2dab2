"""``poise monitor``: rows that come in over time, and a record that may always be looked at."""

from __future__ import annotations

from typing import Any

import click

from poise.cli import options
from poise.cli.algorithms import algorithm_of, loaded
from poise.cli.errors import Exit
from poise.cli.output import Output
from poise.cli.rows import READ, Source

_NOT_HERE = (
    *("test", "stop_early", "randomized", "sample_weight", "X_unlabeled", "groups"),
    *("journal", "fast"),
)
_KEPT = ("target", "algorithm", "program", "ids", "distance", "coupling", *READ)


@options.command(
    click.argument("record", metavar="RECORD"),
    click.argument("data", metavar="[DATA]", required=False),
    options.rows,
    options.algorithm,
    options.settings(leave=_NOT_HERE),
    click.option("--skip-used", is_flag=True, help="Skip used rows, as in a file that grows."),
    click.option("--restart", is_flag=True, help="Begin again without older evidence."),
    options.told,
)
def monitor(ctx: click.Context, /, record: str, data: str | None, **values: Any) -> Exit:
    r"""Add the rows of DATA to RECORD, and judge all trials so far; without DATA only judge.

    The first call asks the question; later ones need RECORD and DATA. The level holds for all
    looks together, however often rows are added. A row may be used once. A call that was
    interrupted is finished by the same call.

    For example:
      poise monitor ridge.record monday.csv --target y --algorithm Ridge --n 40 \
          --epsilon 5 --delta 0.1
      poise monitor ridge.record tuesday.csv
      poise monitor ridge.record
    """
    from poise.questions.monitor import Monitor

    output = Output(ctx)
    found = Monitor(record)
    if values["restart"]:
        found.restart()
    if data is not None:
        found = _added(ctx, found, data)
    beside = {"decided_now": found.decided_now, "outlook": found.outlook}
    return output.tell(found.result, beside, after=found.outlook)


def _added(ctx: click.Context, begun: Any, data: str) -> Any:
    """Add the rows of a file to a record; what began it need not be typed again."""
    kept = begun.kept | {n: ctx.params[n] for n in _KEPT if options.is_typed(ctx, n)}
    for name in ("target", "algorithm"):
        if not kept.get(name) and not (name == "algorithm" and kept.get("program")):
            raise click.UsageError(f"Missing --{name}: {begun.path} is begun by this call.", ctx)
    asked = options.given(ctx) | {n: kept[n] for n in ("distance", "coupling") if n in kept}
    asked.pop("ids", None)
    found = type(begun)(begun.path, algorithm_of(kept), **loaded(asked))
    found.kept = kept
    rows = Source(data, kept).read()
    found.add(rows["X"], rows["y"], ids=rows.get("ids"), skip_used=ctx.params["skip_used"])
    return found
