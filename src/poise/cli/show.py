"""``poise show``, ``verify`` and ``judge``: what was saved, or made elsewhere, is judged."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from poise.cli import options
from poise.cli.algorithms import algorithm_of, loaded
from poise.cli.deployed import fresh_options
from poise.cli.errors import Exit
from poise.cli.output import Output, SideBySide, print_answer
from poise.cli.rows import Source
from poise.errors import ArgumentError, RecordError

EPSILON = "Allowed change, >= 0, in units of the prediction."
ASKED = ("epsilon", "delta", "alpha", "test", "randomized", "name")
OF_PREDICTIONS = ("distance", "groups", "max_trials", "random_state")
GROUPS = "Column of groups: one row of each group is a trial."
AS_BEFORE = {"X_unlabeled", "groups", "sample_weight", "ids", "distance", "coupling", "n_jobs"}
STATUS = {
    "verified": Exit.STABLE,
    "not what it claims": Exit.UNSTABLE,
    "could not be repeated": Exit.NOT_REPEATED,
}


@options.command(
    click.argument("file", metavar="FILE"),
    options.setting("epsilon", help=EPSILON),
    options.setting("delta", None),
    options.setting("alpha"),
    options.setting("test"),
    click.option("--exit-status", is_flag=True, help="Exit with the status of the verdict, not 0."),
    options.told,
)
def show(ctx: click.Context, /, file: str, exit_status: bool, **values: Any) -> int:
    """Show what --save FILE of a command kept, or the journal of a run; nothing is fitted.

    A folder of files makes a table. With --epsilon or --delta, the changes are asked that
    question. Its error level holds only if the question was chosen without looking at the
    changes.

    For example:
      poise show ridge.json
      poise show ridge.json --epsilon 5 --delta 0.1
      poise show results --latex
    """
    output = Output(ctx, folder=Path(file).is_dir())
    status = output.tell(_found(file, options.given(ctx)))
    return status if exit_status else Exit.STABLE


def _found(file: str, asked: dict[str, Any]) -> Any:
    """Return what a file holds, asked another question if there is one."""
    from poise.engine.log import kind_of
    from poise.questions.load import load
    from poise.results.together import Together

    kept: Any = load(file)
    if isinstance(kept, Together) and asked:
        raise click.UsageError(f"{file} holds answers that share a level: ask one of its files.")
    if isinstance(kept, dict):
        return SideBySide((name, _asked(each, asked)) for name, each in kept.items())
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

    For example:
      poise verify lasso.json
      poise verify lasso.json data.csv --target y --algorithm Lasso
    """
    import poise

    if (data is None) == bool(values["algorithm"] or values["program"]):
        raise click.UsageError("DATA and --algorithm are needed together, or neither.", ctx)
    if not Path(file).exists():
        raise RecordError(f"{file} does not exist")
    asked = options.given(ctx)
    if data is not None:
        source = Source(data, {**values, "random_state": _seed(file)})
        asked = loaded(asked | source.read() | {"algorithm": algorithm_of(values)})
    found = poise.verify(Path(file), trials=values["trials"], **asked)
    if data is not None:
        found.wrong = [source.in_lines(each) for each in found.wrong]
    print_answer({"outcome": found.outcome, **asdict(found)}, str(found), found.outcome)
    return STATUS[found.outcome]


def _seed(file: str) -> int:
    """Return the seed by which rows were held out; what is wrong with the file is told later."""
    from poise.results.file import read

    try:
        return read(file).design.seed
    except RecordError:
        return 0


@options.command(
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

    For example:
      poise judge predictions.csv --columns old,new --epsilon 5 --delta 0.1
      poise judge changes.csv --n 40 --epsilon 5 --delta 0.1
    """
    output, asked = Output(ctx), options.given(ctx)
    names = columns.split(",") if columns else []
    if (n is None) != (len(names) == 2):
        raise click.UsageError("Give --columns OLD,NEW for predictions, or --n for changes.", ctx)
    rows = (source := Source(file, ctx.params)).read()
    for name in names:
        source.require_column("columns", name)
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
