"""``poise verify``: check what a result file claims."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from poise.cli import options
from poise.cli.deployed import fresh_options, read_fresh
from poise.cli.errors import SOURCE, Exit, Warned, stdout_is_for_the_answer
from poise.cli.inputs import Source, load_algorithm, load_named, parse_parameters
from poise.cli.screen import paragraphs, print_json
from poise.errors import RecordError

EXAMPLES = """\
  poise verify lasso.json
  poise verify lasso.json data.csv --target y --algorithm Lasso
"""
AS_BEFORE = {"X_unlabeled", "groups", "sample_weight", "ids", "distance", "coupling", "n_jobs"}
STATUS = {
    "verified": Exit.STABLE,
    "not what it claims": Exit.UNSTABLE,
    "could not be repeated": Exit.NOT_REPEATED,
}


def _seed(file: str) -> int:
    """Return the seed by which rows were held out; what is wrong with the file is told later."""
    from poise.results.file import read

    try:
        return read(file).design.seed
    except RecordError:
        return 0


@options.command(
    "verify",
    EXAMPLES,
    click.argument("file", metavar="FILE"),
    click.argument("data", metavar="[DATA]", required=False),
    options.rows,
    options.algorithm,
    fresh_options,
    click.option("--trials", type=int, default=20, show_default=True, help="Trials to repeat."),
    options.settings(leave=options.SETTINGS.keys() - AS_BEFORE),
    options.form,
)
def command(ctx: click.Context, /, file: str, data: str | None, **values: Any) -> Exit:
    """Judge a saved result again, and repeat some of its trials on the rows of DATA.

    Without DATA and the algorithm only what is inside the file can be checked. Rows, distance
    and coupling are given as they were to the command that made it.
    """
    if (data is None) != (values["algorithm"] is None):
        raise click.UsageError("DATA and --algorithm are needed together, or neither.", ctx)
    from poise.questions.verify import verify

    asked = options.given(ctx)
    with Warned(values["quiet"]).listening(), stdout_is_for_the_answer():
        if data is not None:
            unlabeled = asked.pop("X_unlabeled", None)
            source = ctx.meta[SOURCE] = Source(data, {**ctx.params, "unlabeled": unlabeled})
            asked |= read_fresh({**values, "without": None, "random_state": _seed(file)}, source)
            parameters = parse_parameters(values["params"])
            asked["algorithm"] = load_algorithm(values["algorithm"], parameters)
            asked |= {n: load_named(n, asked[n]) for n in ("distance", "coupling") if n in asked}
        found = verify(Path(file), trials=values["trials"], **asked)
    if values["as_json"]:
        print_json({"outcome": found.outcome, **asdict(found)})
    else:
        paragraphs(found.outcome if values["quiet"] else str(found))
    return STATUS[found.outcome]
