"""The commands that run an algorithm on the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from poise.cli import options
from poise.cli.errors import Exit, Warned
from poise.cli.options import rare
from poise.cli.output import Output
from poise.cli.run import answer
from poise.cli.screen import paragraphs, print_json

TEST = """\
  poise test data.csv --target y --algorithm Ridge --n 40 --epsilon 5 --delta 0.1
  poise test data.csv --target y --algorithm train.py:model --n 40 --delta 0.1 \\
      --epsilon '5% of sd' --save model.json
  poise test gate.toml --summary summary.md
"""
MEASURE = "  poise measure data.csv --target y --algorithm 'Ridge(alpha=2.0)' --n 40"
CHECK = "  poise check data.csv --target y --algorithm train.py:model"
COMPARE = """\
  poise compare data.csv --target y --algorithm Ridge --algorithm Lasso --n 40 \\
      --epsilon 5 --delta 0.1
"""
CURVE = """\
  poise curve data.csv --target y --algorithm Ridge --n 10 --n 20 --n 40
  poise curve data.csv --target y --algorithm Ridge --n 10 --n 20 --epsilon 5 --delta 0.1
"""
OF_A_TEST = ("epsilon", "alpha", "test", "stop_early", "randomized")
OF_A_RUN = ("delta", "journal", "max_trials", "removals_per_trial", "fast", "check", "name")

_several = click.option(
    "--algorithm", metavar="PLACE", multiple=True, help="As for `poise test`; repeat it for each."
)
_programs = click.option("--program", metavar="COMMAND", multiple=True, help="As for `poise test`.")
_sizes = click.option(
    "--n",
    type=options.Value(options.SETTINGS["n"]),
    multiple=True,
    help="Training size, or a share of the rows; repeat it for each.",
)
_accept = rare(
    "--accept",
    type=click.Choice(["inconclusive"]),
    help="Exit with 0 if the verdict is inconclusive.",
)
_check = rare("--check", "check_only", is_flag=True, help="Gates: count the fits, and fit nothing.")
_summary = rare(
    "--summary", metavar="FILE.md", help="Gates: append the verdicts as a Markdown table."
)
_race = click.option(
    "--race", is_flag=True, help="Stop fitting algorithms that can no longer be called stable."
)


@options.command(
    "test", TEST, options.run, options.settings(), _accept, _check, _summary, options.told
)
def test(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Test whether an algorithm is stable on the rows of DATA.

    The question must be chosen before looking at the changes: would a model trained on N rows
    without one of them predict differently by more than EPSILON, with probability above DELTA?
    If DATA is a TOML file, all its questions are answered.
    """
    if Path(data).suffix == ".toml":
        from poise.cli.gate import run

        return run(ctx, Path(data))
    for name, option in (("check_only", "--check"), ("summary", "--summary")):
        if values[name]:
            raise click.UsageError(f"{option} is for gates, which are TOML files.", ctx)
    status = answer(ctx, "stability_test", data)
    accepted = status == Exit.INCONCLUSIVE and values["accept"]
    return Exit.STABLE if accepted else status


@options.command(
    "measure",
    MEASURE,
    options.run,
    options.settings(leave=OF_A_TEST, delta=0.1),
    options.save,
    options.form,
)
def measure(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Measure how much predictions change when one of N training rows is removed.

    Prints the change that at most a share DELTA of them exceeds, with 95% confidence: of
    epsilon and delta, it is delta that most people can name.
    """
    return answer(ctx, "measure", data)


@options.command(
    "check",
    CHECK,
    options.run,
    options.settings(leave=(*OF_A_TEST, *OF_A_RUN), n=0.5),
    options.form,
)
def check(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Check whether an algorithm is what a stability test takes it for, in about eight fits.

    It must accept N rows and one less, give the same predictions for the same rows and seed, keep
    nothing between fits, and learn. What only narrows the question is a remark.
    """
    return answer(ctx, "check", data, _tell_checks)


def _tell_checks(found: Any, output: Output, warned: Warned) -> Exit:
    if output.as_json:
        print_json(found.to_dict())
    else:
        paragraphs(("ok" if found.ok else "failed") if output.quiet else str(found))
    return Exit.STABLE if found.ok else Exit.UNSTABLE


@options.command(
    "compare",
    COMPARE,
    options.data,
    options.rows,
    _several,
    _programs,
    options.settings(leave=("name", "stop_early")),
    _race,
    options.save_each,
    options.verdict,
    options.form,
)
def compare(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Test several algorithms on the same trials, with one error level for all verdicts.

    This is not a ranking: one called stable and another not does not show that the first
    is more stable.
    """
    return answer(ctx, "compare", data, folder=True, race=values["race"])


@options.command(
    "curve",
    CURVE,
    options.run,
    _sizes,
    options.settings(leave=("n", "stop_early"), delta=0.1),
    options.save_each,
    options.verdict,
    options.form,
)
def curve(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Measure how stability depends on the training size, by limits that all hold at once.

    With --epsilon each size gets a verdict. Nothing is said of other sizes.
    """
    return answer(ctx, "stability_curve", data, folder=True)
