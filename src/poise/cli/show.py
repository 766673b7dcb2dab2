"""``poise show``: ask saved trials another question, without a fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.json_output import print_json
from poise.cli.options import Output, gamma_option, output_options, question_options
from poise.cli.output_files import check_files, write_files
from poise.cli.run_and_print import tell_result
from poise.cli.stderr import say_doubts

if TYPE_CHECKING:
    from poise.results import Trials
    from poise.results.conditional_trials import ConditionalTrials

__all__ = ["command"]


EXAMPLE = """\b
Example:
  poise show ridge.trials --epsilon 5 --delta 0.1
"""


@click.command("show", epilog=EXAMPLE)
@click.argument("file", metavar="TRIALS", type=click.Path(path_type=Path))
@question_options(required=False)
@gamma_option
@output_options("plot", "report")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: Path,
    output: Output,
    asked: dict[str, Any],
    gamma: float | None,
) -> int:
    """Judge the trials that --save TRIALS of `poise test`, `profile` or `deployed` kept.

    With --epsilon and --delta, it prints the verdict and returns its exit status.
    With one of them, it prints the limit for the other. With neither, it prints what
    the file holds.

    A verdict is valid only if the question was chosen before looking at the changes.
    To choose epsilon afterwards, use the profile, which holds for every epsilon.
    """
    from poise.results import Trials
    from poise.results.conditional_trials import FORM, ConditionalTrials
    from poise.results.relative_epsilon import in_units
    from poise.results.saved_file import saved_form

    check_files(output)
    if saved_form(file) == FORM:
        return _show_training_set(ctx, ConditionalTrials.load(file), output, asked, gamma)
    if gamma is not None:
        raise click.UsageError("--gamma is for the trials of `poise deployed`.", ctx)
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
    return ExitStatus.DONE


def _show_training_set(
    ctx: click.Context,
    record: ConditionalTrials,
    output: Output,
    asked: dict[str, Any],
    gamma: float | None,
) -> int:
    """Judge the trials about one training set, or say what the file holds."""
    if output.as_json or output.quiet:
        say_doubts(record.warnings)
    epsilon, delta = asked["epsilon"], asked["delta"]
    if epsilon is None and delta is None and output.plot is None and output.report is None:
        if output.as_json:
            print_json(record.to_dict())
        else:
            click.echo(record.summary())
        return ExitStatus.DONE
    if not isinstance(epsilon, float) or delta is None or asked["randomized"]:
        raise click.UsageError(
            "trials of `poise deployed` need --epsilon as a number and --delta, and have no coin.",
            ctx,
        )
    result = record.test(epsilon, delta, asked["alpha"], gamma)
    write_files(output, record, result)
    return tell_result(result, output)


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
    from poise.arguments.printed_numbers import at_most, confidence, exactly
    from poise.results.text.describe_design import moved, perturbation
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
