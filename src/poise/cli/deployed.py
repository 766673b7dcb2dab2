"""``poise deployed``: whether the model of exactly these rows is stable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import (
    FILE,
    AllowedChange,
    Output,
    WholeNumber,
    alpha_option,
    gamma_option,
    output_options,
)
from poise.cli.output_files import check_files, write_files
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings, say_doubts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poise.results.conditional_result import ConditionalResult
    from poise.results.conditional_trials import ConditionalTrials
    from poise.results.influence import Influence

__all__ = ["command"]

Line: TypeAlias = Callable[[int], str]
"""From the number of a training row to its line in the file."""


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
_SHOWN = 10  # influential rows


@click.command("deployed", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(without=[*_OTHERS, "points", "coupling"])
@click.option("--fresh", metavar="FILE", type=FILE, help="Rows that were not used for training.")
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
    fresh: Path | None,
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

    share = getattr(epsilon, "share", epsilon)
    ConditionalQuestion(share, delta, alpha, gamma)  # wrong numbers are refused before files
    algorithm = fit.algorithm()
    labelled = notion["notion"] != "deployed" or str(fit.given["distance"]).startswith("loss:")
    rows, line = _read(fit, algorithm, fresh, labelled)
    if hold_out is not None:
        rows, kept = _held_out(rows, hold_out, fit.given["random_state"])
        line = _line_of(kept, line)
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        record, result = _tested(
            {"algorithm": algorithm, **rows, **fit.settings(), **notion},
            {"epsilon": epsilon, "delta": delta, "alpha": alpha, "gamma": gamma},
            fit.journal(),
            output,
        )
    write_files(output, record, result)
    _tell(record, result, output, line)
    return ExitStatus.of_result(result.stable)


def _tested(
    given: dict[str, Any], asked: dict[str, Any], journal: Any, output: Output
) -> tuple[ConditionalTrials, ConditionalResult]:
    """Measure and judge; every trial is run if the changes are written to a file."""
    from poise.questions.conditional.conditional_test import measured_for

    stop = not output.needs_changes
    return measured_for({**given, "progress": output.progress, "stop_early": stop}, asked, journal)


def _read(
    fit: FitOptions, algorithm: Any, fresh: Path | None, labelled: bool
) -> tuple[dict[str, Any], Line]:
    """Read the files, and how to name a row; responses of fresh rows only where needed."""
    if fresh is None:
        file = fit.rows()
        read = file.given_to(algorithm)
        return {"X": read["X"], "y": read["y"]}, file.place
    answers = None
    if labelled:
        answers = FitOptions({**fit.given, "data": fresh}).rows().given_to(algorithm)["y"]
    file = FitOptions({**fit.given, "unlabeled": fresh}).rows()
    read = file.given_to(algorithm)
    rows = {"X": read["X"], "y": read["y"], "X_fresh": read["X_unlabeled"], "y_fresh": answers}
    return rows, file.place


def _line_of(kept: NDArray[np.int64], line: Line) -> Line:
    return lambda row: line(int(kept[row]))


def _held_out(
    rows: dict[str, Any], share: float, seed: int | None
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Leave out a share of the rows at random, which are the fresh ones; number the others."""
    import numpy as np

    from poise.data.tables import as_table
    from poise.errors import ArgumentError
    from poise.protocol.randomness import Randomness

    X, y = as_table(rows["X"], "X"), as_table(rows["y"], "y")
    if not 0 < share < 1:
        raise ArgumentError(f"--hold-out must be in (0, 1), got {share}")
    order = Randomness.from_state(seed).generator("hold out").permutation(len(X))
    out = round(share * len(X))
    kept, left = np.sort(order[out:]), np.sort(order[:out])
    if not out or not len(kept):
        raise ArgumentError(f"--hold-out {share} of {len(X)} rows leaves no row on one side")
    fresh = {"X_fresh": X.take(left), "y_fresh": y.take(left)}
    return {"X": X.take(kept), "y": y.take(kept), **fresh}, kept


def _with_places(influence: Influence, line: Line) -> dict[str, Any]:
    """Return the table for JSON, with the line of the file for each row."""
    return {**influence.to_dict(), "places": [line(int(row)) for row in influence.rows]}


def _tell(record: ConditionalTrials, result: ConditionalResult, output: Output, line: Line) -> None:
    deployed = result.notion == "deployed"
    if output.as_json or output.quiet:
        say_doubts(result.warnings)
    if output.as_json:
        rows = _with_places(record.influence(result.epsilon), line) if deployed else None
        print_json({**result.to_dict(), "sentence": result.sentence, "influence": rows})
    elif output.quiet:
        click.echo(result.verdict.value)
    else:
        from poise.cli.screen import print_paragraphs, print_result, print_table

        print_result(result)
        if deployed:
            influence = record.influence(result.epsilon)
            table = influence.table(_SHOWN)
            numbered = zip(influence.rows, table.rows, strict=False)
            named = [[line(int(row)), *cells[1:]] for row, cells in numbered]
            print_paragraphs("\nTraining rows whose removal moves most predictions:\n")
            print_table(table.columns, named)
            print_paragraphs(f"\n{influence.multiplicity}")
