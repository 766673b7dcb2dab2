"""``poise plan``: what data a question needs, before anything is fitted."""

from __future__ import annotations

from typing import Any

import click

from poise.cli.options import WholeNumber

__all__ = ["command"]


EXAMPLES = """\b
How many rows?
  poise plan --n 100 --delta 0.1 --alpha 0.05 --power 0.9
How large may n be?
  poise plan --n-labeled 5000 --delta 0.1 --alpha 0.05 --power 0.9
Will it find out?
  poise plan --n-labeled 5000 --n 100 --delta 0.1 --alpha 0.05
"""


@click.command("plan", epilog=EXAMPLES)
@click.option("--n-labeled", type=WholeNumber(), metavar="ROWS", help="Labelled rows.")
@click.option("--n", type=WholeNumber(), metavar="N", help="Training size asked about.")
@click.option("--delta", type=float, help="Allowed probability of a change larger than ε.")
@click.option("--alpha", type=float, help="Error level.")
@click.option("--power", type=float, help="Probability of declaring a stable algorithm stable.")
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
    help="True probability of a change larger than ε for which the power is meant.",
)
@click.option("--randomized", is_flag=True, help="Plan the paper's randomised test.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@click.option("--quiet", "-q", is_flag=True, help="Print the number alone.")
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, quiet: bool, **wishes: Any) -> int:
    """Solve for the one quantity that is left out, exactly.

    Leave out exactly one of --n-labeled, --n, --delta, --alpha, --power.
    """
    _check_one_left_out(ctx, wishes)
    from poise.theory.planning import plan

    answer = plan(**wishes)
    if as_json:
        click.echo(answer.to_json())
    elif quiet:
        click.echo(getattr(answer, answer.solved_for))
    else:
        from poise.cli.screen import print_paragraphs

        print_paragraphs(answer.summary())
    return 0


def _check_one_left_out(ctx: click.Context, wishes: dict[str, Any]) -> None:
    options = {name: f"--{name.replace('_', '-')}" for name in wishes}
    solvable = ["n_labeled", "n", "delta", "alpha", "power"]
    left_out = [options[name] for name in solvable if wishes[name] is None]
    if len(left_out) != 1:
        listed = ", ".join(options[name] for name in solvable)
        now = ", ".join(left_out) or "none"
        raise click.UsageError(f"leave out exactly one of {listed}; left out now: {now}.", ctx)
