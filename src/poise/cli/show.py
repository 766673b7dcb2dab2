"""``poise show``: read a saved answer, or put another question to its changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from poise.cli import options
from poise.cli.errors import Exit, Warned, worst
from poise.cli.output import Output
from poise.cli.screen import tell

EXAMPLES = """\
  poise show ridge.json
  poise show ridge.json --epsilon 5 --delta 0.1
  poise show ridge.json lasso.json --latex
"""
EPSILON = (
    "Allowed change, >= 0, in units of the prediction. Left out where a change is yes or no, or a "
    "share."
)


@options.command(
    "show",
    EXAMPLES,
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
def command(ctx: click.Context, /, files: tuple[str, ...], exit_status: bool, **values: Any) -> int:
    """Show what --save FILE of a command kept, or the journal of a run; nothing is fitted.

    Several files, or a folder of them, make a table. With --epsilon or --delta, the changes are
    asked that question. Its error level holds only if the question was chosen without looking
    at the changes.
    """
    several = len(files) > 1 or Path(files[0]).is_dir()
    output, asked = Output.of(ctx, folder=several), options.given(ctx)
    output.check(map(Path, files))
    with Warned(output.quiet).listening() as warned:
        for file in files:
            if len(files) > 1 and Path(file).is_dir():
                raise click.UsageError(f"{file} is a folder: show it alone.", ctx)
        found = {file.removesuffix(".json"): _found(file, asked) for file in files}
        answer = found if len(files) > 1 else next(iter(found.values()))
        status = tell(answer, output, warned)
    if not exit_status:
        return Exit.STABLE
    each = answer.values() if isinstance(answer, Mapping) else ()
    judged = [one.verdict for one in each if hasattr(one, "verdict")]
    return worst([status, *map(Exit.of_verdict, judged)])


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
    trials = getattr(kept, "trials", kept)
    if not asked or isinstance(kept, Mapping):
        return kept
    if asked.keys() == {"delta"} and trials is kept:
        return replace(kept, delta=asked["delta"])
    before = {name: getattr(kept, name, None) for name in ("epsilon", "delta", "alpha")}
    return trials.test(**{k: v for k, v in {**before, **asked}.items() if v is not None})
