"""``poise judge``: predictions of two models, or changes, that were made elsewhere."""

from __future__ import annotations

from typing import Any

import click

from poise.checks import did_you_mean
from poise.cli import options
from poise.cli.algorithms import loaded
from poise.cli.errors import SOURCE, Exit, stdout_is_for_the_answer
from poise.cli.output import Output
from poise.cli.rows import Source
from poise.errors import ArgumentError

EXAMPLES = """\
  poise judge predictions.csv --columns old,new --epsilon 5 --delta 0.1
  poise judge changes.csv --n 40 --epsilon 5 --delta 0.1
"""
ASKED = ("epsilon", "delta", "alpha", "test", "randomized", "name")
OF_PREDICTIONS = ("distance", "groups", "max_trials", "random_state")
GROUPS = "Column of groups: one row of each group is a trial."


@options.command(
    EXAMPLES,
    click.argument("file", metavar="FILE"),
    click.option("--columns", metavar="OLD,NEW", help="Columns of predictions, or one of changes."),
    click.option("--n", type=int, help="FILE holds changes for this training size."),
    options.rows,
    options.settings(leave=options.SETTINGS.keys() - {*ASKED, *OF_PREDICTIONS} | {"groups"}),
    options.setting("groups", help=GROUPS),
    options.told,
)
def judge(
    ctx: click.Context, /, file: str, columns: str | None, n: int | None, **values: Any
) -> Exit:
    """Judge what was fitted elsewhere: each line of FILE is a trial, and nothing is fitted.

    With --columns OLD,NEW it holds predictions of two models for fresh rows, which trained, tuned
    or chose neither model: how often do they differ? With --n it holds changes: by how much a
    prediction changed when the last of N training rows was left out (poise.trial_rows says which
    rows make a trial). An empty value is a trial that failed.
    """
    output, asked = Output.of(ctx), options.given(ctx)
    names = columns.split(",") if columns else []
    if (n is None) != (len(names) == 2):
        raise click.UsageError("Give --columns OLD,NEW for predictions, or --n for changes.", ctx)
    if values["delta"] is None:
        raise click.UsageError("Missing --delta: how often a change may be larger.", ctx)
    source = ctx.meta[SOURCE] = Source(file, ctx.params)
    rows = source.read()
    known = list(map(str, rows["X"].columns))
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ArgumentError(f"{file} has no column {name!r}, only {', '.join(known)}{hint}")
    return output.tell((_predictions if n is None else _changes)(rows, names, asked))


def _predictions(rows: dict[str, Any], names: list[str], asked: dict[str, Any]) -> Any:
    """Compare two columns; the predictions are looked up, row by row."""
    import poise
    from poise.data.rows import as_rows
    from poise.data.suitable import holds_labels

    frame = rows["X"]
    y, groups = (name and frame[name] for name in (rows["y"], asked.pop("groups", None)))
    labels = any(holds_labels(as_rows(frame[name], name)) for name in names)
    numbered = frame[names].assign(**{" ": range(len(frame))})  # equal predictions are not copies
    old, new = (_Column(name) for name in names)
    asked = {"distance": "label" if labels else "auto", **asked, "on_error": "record"}
    with stdout_is_for_the_answer():
        return poise.changed(old, new, numbered, y, groups_fresh=groups, **loaded(asked))


class _Column:
    """A model whose predictions are known."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, rows: Any) -> Any:
        return rows[self.__name__].to_numpy()


def _changes(rows: dict[str, Any], names: list[str], asked: dict[str, Any]) -> Any:
    """Take one column as changes."""
    import poise

    for other in OF_PREDICTIONS:
        if other in asked:
            raise ArgumentError("is for predictions: changes are compared already", argument=other)
    frame, called = rows["X"], {"algorithm": asked.pop("name")} if "name" in asked else {}
    if not names and len(frame.columns) > 1:
        raise click.UsageError("Which column holds the changes? Say --columns NAME.")
    values = frame[names[0] if names else frame.columns[0]].to_numpy()
    return poise.Trials.from_changes(values, n=asked.pop("n"), **called).test(**asked)
