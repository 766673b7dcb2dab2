"""``poise deployed``: the model of exactly the rows of a file, asked by fresh rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import click

from poise.cli import options
from poise.cli.ask import answer
from poise.cli.errors import Exit, Running
from poise.cli.output import Output
from poise.cli.rows import Source
from poise.numbers import exactly, number, rounded_down
from poise.settings import COMMAND, Everything

FRESH = "Fresh rows, used neither to train nor to choose the model."
WITHOUT = "Rows that leave together: lines of DATA, or a value of a column."
NEW_SETS = ("n", "X_unlabeled", "coupling", "position", "remove", "replace")  # are of no use here
_LISTED = 3  # rows that matter most

fresh_options = options.all_of(
    click.option("--fresh", "X_fresh", metavar="FILE", help=FRESH),
    click.option("--hold-out", type=float, metavar="SHARE", help="Or this share of DATA."),
)


@options.command(
    options.data,
    fresh_options,
    options.rows,
    options.algorithm,
    options.setting("without", help=WITHOUT),
    options.settings(leave=(*NEW_SETS, "without"), declared=Everything),
    options.told,
)
def deployed(ctx: click.Context, /, data: str, **values: Any) -> int:
    r"""Ask about the model that is trained on exactly the rows of DATA.

    Would it predict otherwise without one of them, without named rows, or with new ones? Each
    fresh row is a trial. Without --epsilon and --delta the changes are measured. The verdict is
    about this training set: it says nothing of others.

    --without names rows by their lines in DATA ("lines 12, 15-20") or by a value of a column
    ("customer == 1234").

    For example:
      poise deployed data.csv --fresh new.csv --target y --algorithm Ridge
      poise deployed data.csv --fresh new.csv --target y --algorithm Ridge \
          --epsilon 5 --delta 0.1
      poise deployed data.csv --hold-out 0.2 --target y --algorithm Ridge \
          --epsilon 5 --delta 0.1 --ids customer --without 'customer == 1234'
    """
    if ctx.args or (values["X_fresh"] is None) == (values["hold_out"] is None):
        raise click.UsageError("Give fresh rows: --fresh FILE, or --hold-out SHARE of DATA.", ctx)
    judged = values["delta"] is not None or values["epsilon"] is not None
    return answer(ctx, "deployed_test" if judged else "measure_deployed", data, [], _tell)


deployed.allow_extra_args = True  # a second file is told to be given by --fresh


def _tell(output: Output, found: Any) -> Exit:
    """Tell the answer and, where every row left in turn, which of them matter most."""
    rows = list(_influential(found, Running.now().source))
    after = "\n".join(["", *_table(rows)]) if rows else ""
    return output.tell(found, {"influence": rows} if rows else {}, after)


def _influential(found: Any, source: Source) -> Iterator[dict[str, Any]]:
    """Yield the rows, or groups, that change most predictions, and how to ask about each."""
    trials = getattr(found, "trials", found)
    if not trials.design.all_leave or trials.design.notion != "deployed":
        return
    epsilon = getattr(found, "epsilon", None)
    if trials.design.sized and epsilon is None:
        epsilon = rounded_down(trials.epsilon_upper(trials.delta))
    for row in trials.influence(epsilon).head(_LISTED).to_dict("records"):
        if not row["moved"]:
            return
        which = _named(source, row["row"])
        asks = f"--without {shlex.quote(which)} --chosen-from {trials.design.n}"
        yield {**row, "row": which, "epsilon": epsilon, "command": f"{COMMAND.get()} {asks}"}


def _named(source: Source, label: Any) -> str:
    """Name a row by its group, its id or its line."""
    frame, ids = source.tables["X"].frame, source.columns.get("ids")
    first = label[0] if isinstance(label, list) else label
    places = frame.index == first if ids is None else frame[ids] == first
    place = int(places.argmax())
    column = source.columns.get("groups") or ids
    if column is not None:
        return f"{column} == {frame[column].iloc[place]}"
    line = source.line_of(place)
    return f"row {first}" if line is None else f"line {line}"


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "Most influential (this describes, and certifies nothing):"
    for row in rows:
        moved = f"{number(100 * row['moved'], 3)}% of predictions change"
        beyond = "" if row["epsilon"] is None else f" by more than {exactly(row['epsilon'])}"
        yield f"  {row['row']}: without it {moved}{beyond}. {row['command']}"
