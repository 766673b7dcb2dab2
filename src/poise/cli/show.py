"""``poise show`` and ``poise verify``: what was saved, judged again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from poise.cli import options
from poise.cli.algorithms import algorithm_of, loaded
from poise.cli.deployed import fresh_options
from poise.cli.errors import SOURCE, Exit, stdout_is_for_the_answer, worst
from poise.cli.output import Output, paragraphs, print_json
from poise.cli.rows import Source
from poise.errors import RecordError

SHOW = """\
  poise show ridge.json
  poise show ridge.json --epsilon 5 --delta 0.1
  poise show ridge.json lasso.json --latex
"""
EPSILON = (
    "Allowed change, >= 0, in units of the prediction. Left out where a change is yes or no, or a "
    "share."
)
VERIFY = """\
  poise verify lasso.json
  poise verify lasso.json data.csv --target y --algorithm Lasso
"""
AS_BEFORE = {"X_unlabeled", "groups", "sample_weight", "ids", "distance", "coupling", "n_jobs"}
STATUS = {
    "verified": Exit.STABLE,
    "not what it claims": Exit.UNSTABLE,
    "could not be repeated": Exit.NOT_REPEATED,
}


@options.command(
    SHOW,
    click.argument("files", metavar="FILE...", nargs=-1, required=True),
    options.setting("epsilon", help=EPSILON),
    options.setting("delta", None),
    options.setting("alpha"),
    options.setting("test"),
    click.option(
        "--exit-status", is_flag=True, help="Exit with the status of the verdict instead of 0."
    ),
    options.told,
)
def show(ctx: click.Context, /, files: tuple[str, ...], exit_status: bool, **values: Any) -> int:
    """Show what --save FILE of a command kept, or the journal of a run; nothing is fitted.

    Several files, or a folder of them, make a table. With --epsilon or --delta, the changes are
    asked that question. Its error level holds only if the question was chosen without looking
    at the changes.
    """
    several = len(files) > 1 or Path(files[0]).is_dir()
    output, asked = Output.of(ctx, folder=several), options.given(ctx)
    found = {file.removesuffix(".json"): _found(file, asked) for file in files}
    answer = found if len(files) > 1 else next(iter(found.values()))
    if len(files) > 1 and any(isinstance(each, Mapping) for each in found.values()):
        raise click.UsageError("Show a folder alone.", ctx)
    status = output.tell(answer)
    each = answer.values() if isinstance(answer, Mapping) else ()
    statuses = [Exit[one.verdict.upper()] for one in each if hasattr(one, "verdict")]
    return worst([status, *statuses]) if exit_status else Exit.STABLE


def _found(file: str, asked: dict[str, Any]) -> Any:
    """Return what a file holds, asked another question if there is one."""
    from poise.engine.log import kind_of
    from poise.questions.load import load
    from poise.results.together import Together

    kept: Any = load(file)
    if isinstance(kept, Together) and asked:
        raise click.UsageError(f"{file} holds answers that share a level: ask one of its files.")
    if isinstance(kept, dict):
        return {name: _asked(each, asked) for name, each in kept.items()}
    if not asked and kind_of(file) == "journal" and kept.asked is not None:
        return kept.judge(kept.asked)
    return _asked(kept, asked)


def _asked(kept: Any, asked: dict[str, Any]) -> Any:
    """Put another question to changes; what it does not say is as before."""
    if not asked:
        return kept
    trials = getattr(kept, "trials", kept)
    if asked.keys() == {"delta"} and trials is kept:
        return replace(kept, delta=asked["delta"])
    before = {name: getattr(kept, name, None) for name in ("epsilon", "delta", "alpha")}
    return trials.test(**{k: v for k, v in {**before, **asked}.items() if v is not None})


@options.command(
    VERIFY,
    click.argument("file", metavar="FILE"),
    click.argument("data", metavar="[DATA]", required=False),
    options.rows,
    options.algorithm,
    fresh_options,
    click.option("--trials", type=int, default=20, show_default=True, help="Trials to repeat."),
    options.settings(leave=options.SETTINGS.keys() - AS_BEFORE),
    options.form,
)
def verify(ctx: click.Context, /, file: str, data: str | None, **values: Any) -> Exit:
    """Judge a saved result again, and repeat some of its trials on the rows of DATA.

    Without DATA and the algorithm only what is inside the file can be checked. Rows, distance
    and coupling are given as they were to the command that made it.
    """
    import poise

    if (data is None) == bool(values["algorithm"] or values["program"]):
        raise click.UsageError("DATA and --algorithm are needed together, or neither.", ctx)
    asked = options.given(ctx)
    with stdout_is_for_the_answer():
        if data is not None:
            source = Source(data, {**values, "random_state": _seed(file)})
            ctx.meta[SOURCE] = source
            asked = loaded(asked | source.read() | {"algorithm": algorithm_of(values)})
        found = poise.verify(Path(file), trials=values["trials"], **asked)
    if values["as_json"]:
        print_json({"outcome": found.outcome, **asdict(found)})
    else:
        paragraphs(found.outcome if values["quiet"] else str(found))
    return STATUS[found.outcome]


def _seed(file: str) -> int:
    """Return the seed by which rows were held out; what is wrong with the file is told later."""
    from poise.results.file import read

    try:
        return read(file).design.seed
    except RecordError:
        return 0
