"""``poise deployed``: whether the model of exactly these rows is stable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.fit_options import FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.options import (
    ROWS,
    AllowedChange,
    Output,
    WholeNumber,
    alpha_option,
    gamma_option,
    output_options,
)
from poise.cli.output_files import check_files, write_files
from poise.cli.run_and_print import tell_result
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.cli.read_fresh_rows import Line
    from poise.results.conditional_result import ConditionalResult
    from poise.results.conditional_trials import ConditionalTrials
    from poise.results.influence import Influence
    from poise.storage.journal import Journal

__all__ = ["command"]

EXAMPLE = """\b
Examples:
  poise deployed patients.csv --target progression --fresh this_month.csv \\
      --algorithm sklearn.linear_model:Ridge --epsilon 2 --delta 0.05
  poise deployed patients.csv --target progression --hold-out 0.2 \\
      --algorithm sklearn.ensemble:RandomForestRegressor --epsilon 20 \\
      --delta 0.1 --gamma 0.01 --plot forest.png
"""

# One training set: there is no n, and no split into trials.
_OTHERS = ("unlabeled", "groups", "weights", "fit_param", "n", "remove", "replace", "removals")


@click.command("deployed", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(without=[*_OTHERS, "points", "coupling", "ledger"])
@click.option("--fresh", metavar="FILE", type=ROWS, help="Rows that were not used for training.")
@click.option(
    "--hold-out",
    type=float,
    metavar="SHARE",
    help="Instead of --fresh: leave out this share of DATA at random, in (0, 1).",
)
@click.option(
    "--notion",
    type=click.Choice(["deployed", "add-one", "jackknife"]),
    default="deployed",
    show_default=True,
    help="Remove a row; add a fresh one; or add a fresh one to leave-one-out models.",
)
@click.option(
    "--points",
    type=WholeNumber(),
    default=1,
    show_default=True,
    help="For add-one: number of fresh points of a trial.",
)
@click.option(
    "--epsilon",
    type=AllowedChange(),
    required=True,
    help="Allowed change, >= 0, in the units of the predictions; or '5% of spread'.",
)
@click.option(
    "--delta",
    type=float,
    required=True,
    help="Allowed mean share of larger changes; with --gamma, probability of a larger share.",
)
@alpha_option
@gamma_option
@output_options("save", "plot", "report")
def command(
    fit: FitOptions,
    output: Output,
    fresh: Path | str | None,
    hold_out: float | None,
    alpha: float,
    gamma: float | None,
    delta: float,
    epsilon: Any,
    **notion: Any,
) -> int:
    """Test whether the model that is trained on exactly the rows of DATA is stable.

    At a row of FRESH, some of the training rows matter: without them the prediction
    moves by more than EPSILON. The test is about the mean share of such rows or, with
    --gamma, about how often their share is larger than GAMMA. Every fresh row is a
    trial. With --hold-out the model of the other rows is tested.

    "stable" and "unstable" are each wrong with probability at most ALPHA, given this
    training set. They say nothing about another training set.

    Exit status: 0 stable, 1 any other verdict, 2 usage or data, 3 a fit failed.
    """
    if (fresh is None) == (hold_out is None):
        raise click.UsageError("give either --fresh or --hold-out.")
    check_files(output)
    fit.check()
    from poise.questions.conditional.conditional_question import ConditionalQuestion
    from poise.results.relative_epsilon import number_given

    asked = {"epsilon": epsilon, "delta": delta, "alpha": alpha, "gamma": gamma}
    # Wrong numbers are refused before files are read.
    ConditionalQuestion(**(asked | {"epsilon": number_given(epsilon)}))
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        given, line = _read(fit, fresh, hold_out, notion)
        record, result = _tested({**given, **asked}, fit.journal(), output)
    write_files(output, record, result, line=line)
    return _tell(record, result, output, line)


def _read(
    fit: FitOptions, file: Path | str | None, hold_out: float | None, notion: dict[str, Any]
) -> tuple[dict[str, Any], Line]:
    """Load the algorithm, and read the rows; notion and distance say which need responses."""
    from poise.cli.read_fresh_rows import FreshRows
    from poise.questions.conditional.conditional_setup import ConditionalSetup
    from poise.questions.settings import from_settings

    algorithm, seed = fit.algorithm(), _seed(fit)
    settings = {**fit.settings(), **notion, "random_state": seed}
    setup = from_settings(ConditionalSetup, settings)
    source = FreshRows(file, hold_out, setup.needs_responses)
    rows, line = source.read(fit.source(), algorithm, seed)
    return {"algorithm": algorithm, **rows, **settings}, line


def _seed(fit: FitOptions) -> int | None:
    """Return the seed; a run that is continued holds out the same rows as before."""
    seed: int | None = fit.given["random_state"]
    if seed is not None or fit.given["journal"] is None:
        return seed
    from poise.protocol.randomness import Randomness
    from poise.storage.journal import begun_design

    begun = begun_design(fit.given["journal"])
    return Randomness.from_state(None).root if begun is None else begun.seed


def _tested(
    given: dict[str, Any], journal: Journal | None, output: Output
) -> tuple[ConditionalTrials, ConditionalResult]:
    """Measure and judge; every trial is run if the changes are written to a file."""
    from poise.questions.conditional.conditional_test import checked_for

    stop = not output.needs_changes
    given = {**given, "progress": output.progress, "stop_early": stop}
    measurement, question = checked_for(given)
    record = measurement.run(journal, question)
    return record, record.test(**question.for_trials)


def _with_places(influence: Influence, line: Line) -> dict[str, Any]:
    """Return the table for JSON, with the line of the file for each row."""
    return {**influence.to_dict(), "places": [line(int(row)) for row in influence.rows]}


def _tell(record: ConditionalTrials, result: ConditionalResult, output: Output, line: Line) -> int:
    """Print the verdict and the training rows that matter; return the exit status."""
    told = result.notion == "deployed" and (output.as_json or not output.quiet)
    influence = record.influence(result.epsilon) if told else None
    places = None if influence is None else _with_places(influence, line)
    status = tell_result(result, output, sentence=result.sentence, influence=places)
    if influence is not None and not output.as_json:
        _print_influence(influence, line)
    return status


def _print_influence(influence: Influence, line: Line) -> None:
    from poise.cli.screen import print_paragraphs, print_table

    table = influence.table()
    numbered = zip(influence.rows, table.rows, strict=False)
    named = [[line(int(row)), *cells[1:]] for row, cells in numbered]
    print_paragraphs("\nTraining rows whose removal moves most predictions:\n")
    print_table(table.columns, named)
    print_paragraphs(f"\n{influence.multiplicity}")
