"""``poise plan`` and ``poise advise``: what rows can answer, before anything is tested."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import click

from poise.cli import options
from poise.cli.algorithms import algorithm_of
from poise.cli.errors import Exit, spelling
from poise.cli.output import print_answer
from poise.cli.rows import Source
from poise.settings import Setting, says

NOTIONS = ["new", "deployed", "add-one", "jackknife"]
NOTION = "All but new are about one training set; --rows then counts fresh rows."
STAR = "True probability of a larger change for which the power is stated.  [default: 0]"


def _number(
    name: str, option: str, help: str, kind: type = int, first: bool = True
) -> options.Decorator:
    return options.setting(Setting(name, (kind,), (), True, says(help, option=option, first=first)))


@options.command(
    _number("n_labeled", "--rows", "Labelled rows."),
    _number("n", "--n", "Training size."),
    options.setting("delta"),
    options.setting("alpha"),
    _number("power", "--power", 'Probability of the verdict "stable".  [default: 0.8]', float),
    _number("n_unlabeled", "--unlabeled-rows", "Rows without a response.", int, False),
    _number("delta_star", "--delta-star", STAR, float, False),
    options.setting("randomized"),
    options.setting("remove"),
    options.setting("replace"),
    options.rare("--notion", type=click.Choice(NOTIONS), help=NOTION),
    _number("update", "--update", "New rows that are added at once.", int, False),
    options.form,
)
def plan(ctx: click.Context, /, **values: Any) -> int:
    """Compute what is left out of --rows, --n, --delta, --alpha and --power.

    With --rows alone: a list of training sizes, and what the rows can answer at each.

    For example:
      poise plan --n 100 --delta 0.1               # how many rows?
      poise plan --rows 5000 --delta 0.1           # how large may n be?
      poise plan --rows 5000 --n 100 --delta 0.1   # how likely is "stable"?
      poise plan --rows 3000                       # what can these rows answer?
      poise plan --notion deployed --delta 0.05    # how many fresh rows for one training set?
    """
    import poise

    asked = {k: v for k, v in values.items() if v is not None and k not in ("as_json", "quiet")}
    given = asked.get("notion", "new") != "new" or "update" in asked
    if len(asked.keys() & {"n_labeled", "n", "delta"}) < 2 - given:
        return _menu(asked)
    found = poise.plan(**asked)
    print_answer(found.to_dict(), str(found), str(getattr(found, found.solved_for)))
    return Exit.STABLE


def _menu(asked: dict[str, Any]) -> int:
    """List training sizes and what rows can answer at each of them."""
    from poise.results.planning import menu_table
    from poise.theory.planning import menu

    levels = {name: asked[name] for name in ("alpha", "power") if name in asked}
    if "n_labeled" not in asked or asked.keys() - {"n_labeled", "n_unlabeled", *levels}:
        raise click.UsageError("Give two of --rows, --n and --delta, or --rows alone.")
    rows = menu(asked["n_labeled"], asked.get("n_unlabeled", 0), **levels)
    table = menu_table(rows, **levels)
    print_answer([r._asdict() for r in rows], str(table), str(rows[0].n if rows else "none"))
    return Exit.STABLE


@options.command(
    options.run,
    options.setting("delta", 0.1),
    options.setting("alpha"),
    options.setting("X_unlabeled"),
    options.setting("groups"),
    options.setting("response"),
    options.as_json,
)
def advise(ctx: click.Context, /, data: str, **values: Any) -> int:
    """List training sizes N, what the rows of DATA can answer at each, and commands to copy.

    With --algorithm, it is also fitted once. Nothing is tested.

    For example:
      poise advise data.csv --target y --algorithm Ridge
    """
    import poise

    if values["target"] is None and not data.endswith(".npz"):
        raise click.UsageError("Missing --target, the column that is predicted.", ctx)
    source = Source(data, values)
    asked = options.given(ctx) | source.read()
    if values["algorithm"] or values["program"]:
        asked["algorithm"] = algorithm_of(values)
    found = poise.advise(**asked)
    found = replace(found, remarks=[source.in_lines(each) for each in found.remarks])
    print_answer(found.to_dict(), "\n".join(found.lines(_typed(ctx))))
    return Exit.STABLE


def _typed(ctx: click.Context) -> Callable[[str, Mapping[str, object]], str]:
    """Return how a call of the library is typed here."""
    from poise.cli.ask import test

    spell, data = spelling(click.Context(test)), shlex.quote(ctx.params["data"])
    others = ("data", "as_json", "delta", "alpha")
    typed = {n: v for n, v in ctx.params.items() if n not in others and options.is_typed(ctx, n)}
    if not ctx.params["program"]:
        typed.setdefault("algorithm", "ALGORITHM")

    def call(function: str, asked: Mapping[str, object]) -> str:
        words = ["poise", {"stability_test": "test"}.get(function, function), data]
        for name, value in {**typed, **asked}.items():
            words += [spell(name, each) for each in (value if type(value) is tuple else [value])]
        return " ".join(words)

    return call
