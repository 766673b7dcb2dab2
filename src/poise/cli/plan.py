"""``poise plan``: how many rows a question needs, or what a number of rows can answer."""

from __future__ import annotations

from typing import Any

import click

from poise.cli import options
from poise.cli.errors import Exit
from poise.cli.output import Output
from poise.cli.screen import paragraphs, print_json
from poise.settings import Setting, says

EXAMPLES = """\
  poise plan --n 100 --delta 0.1               # how many rows?
  poise plan --rows 5000 --delta 0.1           # how large may n be?
  poise plan --rows 5000 --n 100 --delta 0.1   # how likely is "stable"?
  poise plan --rows 3000                       # what can these rows answer?
  poise plan --notion deployed --delta 0.05    # how many fresh rows for one training set?
"""


def _number(
    name: str, option: str, help: str, kind: type = int, first: bool = True
) -> options.Decorator:
    return options.setting(Setting(name, (kind,), (), True, says(help, option=option, first=first)))


@options.command(
    "plan",
    EXAMPLES,
    _number("n_labeled", "--rows", "Labelled rows."),
    _number("n", "--n", "Training size."),
    options.setting("delta"),
    options.setting("alpha"),
    _number("power", "--power", 'Probability of the verdict "stable".  [default: 0.8]', float),
    _number("n_unlabeled", "--unlabeled-rows", "Rows without a response.", int, False),
    _number(
        "delta_star",
        "--delta-star",
        "True probability of a larger change for which the power is stated.  [default: 0]",
        float,
        False,
    ),
    options.setting("randomized"),
    options.setting("remove"),
    options.setting("replace"),
    options.rare(
        "--notion",
        type=click.Choice(["new", "deployed", "add-one", "jackknife"]),
        help="All notions but new are about one training set; --rows then counts fresh rows.",
    ),
    _number("update", "--update", "New rows that are added at once.", int, False),
    options.form,
)
def command(ctx: click.Context, /, **values: Any) -> int:
    """Compute what is left out of --rows, --n, --delta, --alpha and --power.

    With --rows alone: a list of training sizes, and what the rows can answer at each.
    """
    output = Output.of(ctx)
    asked = {k: v for k, v in values.items() if v is not None and k not in ("as_json", "quiet")}
    given = asked.get("notion", "new") != "new" or "update" in asked
    if len(asked.keys() & {"n_labeled", "n", "delta"}) < 2 - given:
        if "n_labeled" in asked:
            return _menu(ctx, output, asked)
        raise click.UsageError("Give two of --rows, --n and --delta, or --rows alone.", ctx)
    from poise.questions.plan import plan

    answer = plan(**asked)
    if output.as_json:
        print_json(answer.to_dict())
    elif output.quiet:
        click.echo(getattr(answer, answer.solved_for))
    else:
        paragraphs(str(answer))
    return Exit.STABLE


def _menu(ctx: click.Context, output: Output, asked: dict[str, Any]) -> int:
    """List training sizes and what rows can answer at each of them."""
    from poise.results.planning import menu_table
    from poise.theory.planning import menu

    useless = asked.keys() - {"n_labeled", "n_unlabeled", "alpha", "power"}
    if useless:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(useless))
        raise click.UsageError(f"{names} needs --n or --delta beside --rows.", ctx)
    levels = {name: asked[name] for name in ("alpha", "power") if name in asked}
    rows = menu(asked["n_labeled"], asked.get("n_unlabeled", 0), **levels)
    if output.as_json:
        print_json([row._asdict() for row in rows])
    elif output.quiet:
        click.echo(rows[0].n if rows else "none")
    else:
        paragraphs(menu_table(rows, **levels).text())
    return Exit.STABLE
