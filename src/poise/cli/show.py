"""``poise show``: ask saved trials another question, without a fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.json_output import print_json
from poise.cli.options import Output, output_options, question_options
from poise.cli.output_files import check_files, write_files
from poise.cli.run_and_print import tell_result
from poise.cli.stderr import say_doubts

if TYPE_CHECKING:
    from poise.results import Trials

__all__ = ["command"]


EXAMPLE = """\b
Example:
  poise show ridge.trials --epsilon 5 --delta 0.1
"""


@click.command("show", epilog=EXAMPLE)
@click.argument("file", metavar="TRIALS", type=click.Path(path_type=Path))
@question_options(required=False)
@output_options("plot", "report")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: Path,
    output: Output,
    asked: dict[str, Any],
) -> int:
    """Judge the trials that `poise test --save TRIALS` or `poise profile` kept.

    With --epsilon and --delta, it prints the verdict and returns its exit status.
    With one of them, it prints the limit for the other. With neither, it prints what
    the file holds.

    A verdict is valid only if the question was chosen before looking at the changes.
    To choose epsilon afterwards, use the profile, which holds for every epsilon.
    """
    from poise.results import Trials
    from poise.results.relative_epsilon import in_units

    check_files(output)
    trials = Trials.load(file)
    if output.as_json or output.quiet:
        say_doubts(trials.warnings)
    if asked["epsilon"] is not None:
        asked = asked | {"epsilon": in_units(asked["epsilon"], trials.design)}
    epsilon, delta, alpha = asked["epsilon"], asked["delta"], asked["alpha"]
    if epsilon is not None and delta is not None:
        result = trials.test(**asked)
        write_files(output, trials, result, alpha=alpha)
        return tell_result(result, output)
    if output.report is not None:
        raise click.UsageError("a report needs a verdict: give --epsilon and --delta.", ctx)
    write_files(output, trials, alpha=alpha)
    if epsilon is not None:
        limit = trials.delta_hat(epsilon, alpha, asked["randomized"])
        _tell_limits({"epsilon": epsilon, "delta_hat": limit}, trials, output, alpha)
    elif delta is not None:
        limit = trials.epsilon_hat(delta, alpha, asked["randomized"])
        _tell_limits({"epsilon_hat": limit, "delta": delta}, trials, output, alpha)
    else:
        _tell_content(trials, output, alpha)
    return 0


def _tell_content(trials: Trials, output: Output, alpha: float) -> None:
    from poise.cli.screen import print_profile, print_trials

    if output.as_json:
        print_json(trials.to_dict())
        return
    print_trials(trials)
    if not output.quiet:
        print_profile(trials.profile(alpha))


def _tell_limits(limits: dict[str, float], trials: Trials, output: Output, alpha: float) -> None:
    """Print an ε and a δ that belong together at this level; one of them was asked for."""
    from poise.results.text.describe_design import moved, perturbation
    from poise.results.text.numbers import at_most, confidence, exactly
    from poise.results.text.summary import in_words

    change, chance = limits.values()
    if output.as_json:
        print_json(limits | {"alpha": alpha, "warnings": list(trials.warnings)})
    elif output.quiet:
        click.echo(limits.get("epsilon_hat", chance))
    else:
        from poise.cli.screen import print_paragraphs

        what = f"{perturbation(trials.design)} moves a {moved(trials.design)}"
        beyond = exactly(change) if "epsilon" in limits else at_most(change)
        most = exactly(chance) if "delta" in limits else at_most(chance)
        limit = (
            f"With confidence {confidence(alpha)}, {what} by more than {beyond} with "
            f"probability at most {most}."
        )
        print_paragraphs("\n".join([*in_words(trials.warnings), limit]))
