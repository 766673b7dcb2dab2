"""``poise plan``: what data a question needs, before anything is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.json_output import print_json
from poise.cli.options import (
    Output,
    WholeNumber,
    algorithms_option,
    losses_option,
    output_options,
    remove_option,
    replace_option,
)
from poise.cli.output_files import check_files

if TYPE_CHECKING:
    from poise.results.plan_result import Plan

__all__ = ["command"]


EXAMPLES = """\b
What can 3000 rows answer?
  poise plan --rows 3000
How many rows?
  poise plan --n 100 --delta 0.1
How large may n be?
  poise plan --n-labeled 5000 --delta 0.1
How likely is a verdict "stable"?
  poise plan --n-labeled 5000 --n 100 --delta 0.1
How many rows for the averaged test, if 5% of the changes are larger?
  poise plan --n 100 --delta 0.1 --delta-star 0.05 --test averaged --spread 0.3
"""

_SOLVABLE = ("n_labeled", "n", "delta", "alpha", "power")
_OF_ONE_QUESTION = ("n_labeled", "delta_star", "randomized", "test", "spread", "points")


@click.command("plan", epilog=EXAMPLES)
@click.option(
    "--rows",
    type=WholeNumber(),
    metavar="ROWS",
    help="List what this many labelled rows can answer.",
)
@click.option("--n-labeled", type=WholeNumber(), metavar="ROWS", help="Labelled rows.")
@click.option("--n", type=WholeNumber(), metavar="N", help="Training size of the question.")
@click.option("--delta", type=float, help="Allowed probability of a change larger than ε.")
@click.option("--alpha", type=float, help="Error level.  [default: 0.05]")
@click.option(
    "--power",
    type=float,
    help="Probability of declaring a stable algorithm stable.  [default: 0.9; --rows: 0.8]",
)
@click.option(
    "--n-unlabeled",
    type=WholeNumber(),
    metavar="ROWS",
    default=0,
    show_default=True,
    help="Rows without a response.",
)
@click.option(
    "--delta-star",
    type=float,
    default=0.0,
    show_default=True,
    help="True probability of a change larger than ε; the power is computed for it.",
)
@click.option("--randomized", is_flag=True, help="Plan the paper's randomised test.")
@algorithms_option
@remove_option
@replace_option
@losses_option
@click.option("--groups", is_flag=True, help="Rows and N are counted in groups.")
@click.option(
    "--test",
    type=click.Choice(["binomial", "averaged"]),
    default="binomial",
    show_default=True,
    help="The paper's test, or the averaged test, whose power is an estimate.",
)
@click.option(
    "--spread",
    type=float,
    metavar="V",
    help="Spread of the averaged test's shares that is assumed, in (0, 1].",
)
@click.option(
    "--points",
    type=WholeNumber(),
    metavar="T",
    help="Points of each trial, for the averaged test.  [default: 20]",
)
@output_options("plot")
@click.pass_context
def command(ctx: click.Context, /, output: Output, rows: int | None, **asked: Any) -> int:
    """Compute the one quantity that is left out, or list what rows can answer.

    Leave out one of --n-labeled, --n, --delta, --alpha, --power; if more are left
    out, ALPHA is 0.05 and POWER is 0.9. The answer is exact for the Binomial test, and
    an estimate for the averaged test. With --rows, it lists a dozen training sizes N
    and what can be certified at each.
    """
    check_files(output)
    if rows is not None:
        return _print_menu(ctx, rows, asked, output)
    _check_one_left_out(ctx, asked)
    from poise.questions.plan import plan

    answer = plan(**asked)
    if output.plot is not None:
        from poise.results.plots import save_figure

        save_figure(answer.plot(), output.plot)
    if output.as_json:
        print_json(answer.to_dict())
    elif output.quiet:
        click.echo(getattr(answer, answer.solved_for))
    else:
        _print_plan(answer)
    return ExitStatus.DONE


def _print_plan(answer: Plan) -> None:
    from poise.arguments.printed_numbers import at_least, exactly, level_in_words, number
    from poise.cli.screen import print_paragraphs, print_table

    print_paragraphs(answer.summary() + "\n")
    averaged = answer.power_of_averaged()
    named = (f"power averaged, spread {number(v)}" for v in averaged)
    columns = ["true delta*", "power Binomial", *named]
    # At a smaller δ* the power is larger; what is said of δ itself holds for no smaller one.
    truths = [*(at_least(truth) for truth in answer.truths[:-1]), exactly(answer.delta)]
    powers = [answer.power_of_binomial(), *averaged.values()]
    cells = [[at_least(power) for power in column] for column in powers]
    for column in cells[1:]:  # at δ an estimate would say nothing, and the level does
        column[-1] = f"at most {level_in_words(answer.level)}"
    print_table(columns, zip(truths, *cells, strict=True))


def _print_menu(ctx: click.Context, rows: int, asked: dict[str, Any], output: Output) -> int:
    from poise.theory.question_menu import menu
    from poise.theory.rows_per_trial import RowsPerTrial

    asked["test"] = None if asked["test"] == "binomial" else asked["test"]
    useless = [name for name in _OF_ONE_QUESTION if asked.pop(name)]
    if useless or output.plot is not None:
        named = f"--{useless[0].replace('_', '-')}" if useless else "--plot"
        raise click.UsageError(f"--rows lists several questions; {named} belongs to one.", ctx)
    variant = RowsPerTrial(*(asked.pop(name) for name in ("remove", "replace", "losses", "groups")))
    given = {name: value for name, value in asked.items() if value is not None}
    found = menu(rows, per_trial=variant, **given)
    if output.as_json:
        from poise.results.text.question_menu_table import menu_as_dict

        print_json(menu_as_dict(found))
    elif output.quiet:
        click.echo("none" if found.largest is None else found.largest.n)
    else:
        from poise.cli.terminal_tables import print_menu

        print_menu(found)
    return ExitStatus.DONE


def _check_one_left_out(ctx: click.Context, asked: dict[str, Any]) -> None:
    from poise.theory.planning import with_defaults

    options = {name: f"--{name.replace('_', '-')}" for name in asked}
    filled = with_defaults({name: asked[name] for name in _SOLVABLE})
    left_out = [options[name] for name, value in filled.items() if value is None]
    if len(left_out) != 1:
        listed = ", ".join(options[name] for name in _SOLVABLE)
        now = ", ".join(left_out) or "none"
        raise click.UsageError(f"leave out exactly one of {listed}; left out now: {now}.", ctx)
