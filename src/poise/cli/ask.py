"""The commands that run an algorithm on the rows of a file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from poise.cli import options
from poise.cli.algorithms import algorithm_of, algorithms_of, loaded
from poise.cli.errors import Exit, say
from poise.cli.options import rare
from poise.cli.output import Output, print_answer
from poise.cli.rows import Source
from poise.errors import RecordError, TrialError
from poise.settings import OF_A_VERDICT, ON_DASK

SIZES = "Training size, or a share of the rows; repeat it for each."
OF_A_RUN = ("delta", "journal", "max_trials", "removals_per_trial", "fast", "check", "name")


def answer(
    ctx: click.Context,
    function: str,
    data: str,
    needed: Collection[str],
    tell: Callable[[Output, Any], Exit] = Output.tell,
    folder: bool = False,
    **more: object,
) -> Exit:
    """Put the question of the options, by a function of the library, and tell its answer.

    To compare, the library gets a list of algorithms.
    """
    _require(ctx, data, needed)
    output = Output(ctx, folder)
    on_dask = ctx.params.get("backend") == "dask" and function in ON_DASK
    asked = options.given(ctx) | more | Source(data, ctx.params, on_dask).read()
    algorithm = (algorithms_of if function == "compare" else algorithm_of)(ctx.params)
    asked = loaded(asked) | ({"progress": False} if ctx.params["quiet"] else {})
    return tell(output, _fitted(function, output, algorithm, **asked))


def _fitted(function: str, output: Output, algorithm: Any, X: Any, y: Any, **asked: Any) -> Any:
    """Call the library; what was measured before it failed, or was interrupted, is kept."""
    import poise

    try:
        return getattr(poise, function)(algorithm, X, y, **asked)
    except (TrialError, RecordError, KeyboardInterrupt) as error:
        partial, journal = getattr(error, "partial", None), output.journal
        save = output.given.get("save")
        if save is not None and partial is not None and not output.folder:
            output.write(partial)
            say(f"what was measured before is in {save}")
        if journal and Path(journal).exists() and not isinstance(error, RecordError):
            say(f"what was measured is in {journal}: the same command goes on from there")
        raise


def _require(ctx: click.Context, data: str, needed: Collection[str]) -> None:
    """Name all missing options at once, and what helps to choose them."""
    given, flags = ctx.params, {p.name: p.opts[0] for p in ctx.command.params}
    needed = ["algorithm"] * (not given["program"]) + [*needed]
    needed = ["target"] * (not data.endswith(".npz")) + needed  # which has an array y
    missing = [flags[name] for name in needed if given[name] in (None, ())]
    if not missing:
        return
    help = f"`poise advise {data}` says what these rows can answer"
    if "epsilon" in flags:
        help += f", and `poise measure {data}` how large the changes are"
        if "delta" in needed and given["epsilon"] is None:
            missing.append("--epsilon (unless labels are compared)")
    raise click.UsageError(f"Missing {', '.join(missing)}: {help}.", ctx)


_of_gates = options.all_of(
    rare("--accept", type=click.Choice(["inconclusive"]), help="Exit with 0 if inconclusive."),
    rare("--check", "check_only", is_flag=True, help="Gates: count the fits, and fit nothing."),
    rare("--summary", metavar="FILE.md", help="Gates: append the verdicts as a Markdown table."),
)
_race = click.option("--race", is_flag=True, help="Stop fitting what can no longer be stable.")


@options.command(options.run, options.settings(), _of_gates, options.told)
def test(ctx: click.Context, /, data: str, **values: Any) -> int:
    r"""Test whether an algorithm is stable on the rows of DATA.

    The question must be chosen before looking at the changes: would a model trained on N rows
    without one of them predict differently by more than EPSILON, with probability above DELTA?
    If DATA is a TOML file, all its questions are answered.

    For example:
      poise test data.csv --target y --algorithm Ridge --n 40 --epsilon 5 --delta 0.1
      poise test data.csv --target y --algorithm train.py:model --n 40 --delta 0.1 \
          --epsilon '5% of sd' --save model.json
      poise test gate.toml --summary summary.md
    """
    if Path(data).suffix == ".toml":
        from poise.cli.gate import run

        return run(ctx, Path(data))
    for name, option in (("check_only", "--check"), ("summary", "--summary")):
        if values[name]:
            raise click.UsageError(f"{option} is for gates, which are TOML files.", ctx)
    status = answer(ctx, "stability_test", data, ("n", "delta"))
    accepted = status == Exit.INCONCLUSIVE and values["accept"]
    return Exit.STABLE if accepted else status


@options.command(
    options.run, options.settings(leave=OF_A_VERDICT, delta=0.1), options.save, options.form
)
def measure(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Measure how much predictions change when one of N training rows is removed.

    Prints the change that at most a share DELTA of them exceeds, with 95% confidence: of
    epsilon and delta, it is delta that most people can name.

    For example:
      poise measure data.csv --target y --algorithm 'Ridge(alpha=2.0)' --n 40
    """
    return answer(ctx, "measure", data, ["n"])


@options.command(
    options.run, options.settings(leave=(*OF_A_VERDICT, *OF_A_RUN), n=0.5), options.form
)
def check(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Check whether an algorithm is what a stability test takes it for, in about eight fits.

    It must accept N rows and one less, give the same predictions for the same rows and seed, keep
    nothing between fits, and learn. What only narrows the question is a remark.

    For example:
      poise check data.csv --target y --algorithm train.py:model
    """
    return answer(ctx, "check", data, [], _tell_checks)


def _tell_checks(output: Output, found: Any) -> Exit:
    print_answer(found.to_dict(), str(found), "ok" if found.ok else "failed")
    return Exit.STABLE if found.ok else Exit.UNSTABLE


@options.command(
    options.run,
    options.settings(leave=("name", "stop_early")),
    _race,
    options.told,
)
def compare(ctx: click.Context, /, data: str, **values: Any) -> int:
    r"""Test several algorithms on the same trials, with one error level for all verdicts.

    This is not a ranking: one called stable and another not does not show that the first
    is more stable.

    For example:
      poise compare data.csv --target y --algorithm Ridge --algorithm Lasso --n 40 \
          --epsilon 5 --delta 0.1
    """
    answer(ctx, "compare", data, ("n", "delta"), folder=True, race=values["race"])
    return Exit.STABLE


@options.command(
    options.run,
    options.setting("n", help=SIZES, multiple=True),
    options.settings(leave=("n", "stop_early"), delta=0.1),
    options.told,
)
def curve(ctx: click.Context, /, data: str, **values: Any) -> int:
    """Measure how stability depends on the training size, by limits that all hold at once.

    With --epsilon each size gets a verdict. Nothing is said of other sizes.

    For example:
      poise curve data.csv --target y --algorithm Ridge --n 10 --n 20 --n 40
      poise curve data.csv --target y --algorithm Ridge --n 10 --n 20 --epsilon 5 --delta 0.1
    """
    answer(ctx, "stability_curve", data, ["n"], folder=True)
    return Exit.STABLE
