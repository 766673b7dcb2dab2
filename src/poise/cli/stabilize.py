"""``poise stabilize``: a stable version of an estimator, and its guarantee."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import DATA_OPTIONS, FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import Output, WholeNumber, alpha_option, output_options
from poise.cli.output_files import check_files
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.algorithms.stabilized.ensemble import Stabilized
    from poise.algorithms.stabilized.guarantee import StabilityGuarantee
    from poise.questions.cost_of_stability import CostOfStability
    from poise.results import CompareResult
    from poise.theory.bag_choice import BagChoice

__all__ = ["command"]


EXAMPLE = """\b
Example:
  poise stabilize patients.csv --target progression \\
      --algorithm sklearn.tree:DecisionTreeRegressor \\
      --n 100 --epsilon 40 --delta 0.1 --bounds 0 400 --plot tree.png
"""

_OPTIONS = (*DATA_OPTIONS, "algorithm", "param", "n", "random_state", "n_jobs")


@click.command("stabilize", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(only=_OPTIONS, without=["unlabeled", "weights", "fit_param"])
@click.option(
    "--epsilon",
    type=float,
    required=True,
    help="Allowed change: in units of the response with --bounds, as a share of the range of "
    "the responses without; for classes, Euclidean distance of the probabilities.",
)
@click.option(
    "--delta", type=float, required=True, help="Allowed probability of a larger change, in (0, 1)."
)
@click.option(
    "--bounds", type=float, nargs=2, metavar="LOW HIGH", help="Smallest and largest prediction."
)
@click.option(
    "--class",
    "classes",
    metavar="LABEL",
    multiple=True,
    help="A possible label; give all of them. Repeatable.",
)
@click.option("--bag-size", type=WholeNumber(), help="Rows in a bag; default: see the table.")
@click.option("--n-bags", type=WholeNumber(), help="Number of bags; default: as few as will do.")
@click.option(
    "--shared-seed",
    is_flag=True,
    help="Guarantee it only for fits with the same seed; this needs fewer bags.",
)
@click.option(
    "--splits",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Random splits that compare accuracies; 0 for none.",
)
@click.option(
    "--test", "tested", is_flag=True, help="Test both algorithms on the rows; --plot implies it."
)
@alpha_option
@output_options("plot")
def command(
    fit: FitOptions,
    output: Output,
    alpha: float,
    splits: int,
    tested: bool,
    **asked: Any,
) -> int:
    """Make a stable version of an algorithm, and tell what it costs on DATA.

    The algorithm is averaged over many bags, which are so small that for every
    distribution, removing one of N rows changes a prediction by more than EPSILON with
    probability at most DELTA. This guarantee does not depend on DATA; they show the
    accuracy before and after. With --plot the changes of both are measured and drawn
    side by side.

    Exit status: 0 done, 2 usage, data or a guarantee that is not possible, 3 a fit failed.
    """
    from poise.algorithms.stabilized.stabilize import stabilize

    check_files(output)
    read = fit.rows()
    original = fit.algorithm()
    y = read.given_to(original)["y"]
    asked["classes"] = _labels(asked["classes"], y)
    stable = stabilize(original, **fit.settings(), **asked)
    rows = read.usable_by(original)
    if asked["classes"] is not None:
        stable.refuse_unlisted_labels(y)
    if not (output.as_json or output.quiet):
        _print_guarantee(stable)  # before the fits, which may take a while
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        seed = fit.given["random_state"]
        cost = _cost(stable, rows, splits, seed)
        compared = None
        if tested or output.plot is not None:
            settings = {"alpha": alpha, "random_state": seed, "progress": output.progress}
            compared = _compared(stable, rows, settings)
    _tell(stable, cost, compared, output)
    return ExitStatus.DONE


def _labels(given: tuple[str, ...], y: Any) -> Any:
    """Read the labels as the file's responses are read: as numbers if those are numbers."""
    import numpy as np

    try:
        return np.asarray(given).astype(np.asarray(y).dtype) if given else None
    except ValueError:
        return given


def _cost(
    stable: Stabilized, rows: dict[str, Any], splits: int, seed: int | None
) -> CostOfStability | None:
    from poise.questions.cost_of_stability import cost_of_stability

    if not splits:
        return None
    return cost_of_stability(stable, **rows, splits=splits, random_state=seed)


def _compared(stable: Stabilized, rows: dict[str, Any], settings: dict[str, Any]) -> CompareResult:
    """Test original and stabilised on the same trials, in the units of the guarantee.

    What is computed is tested as texts write it, rounded up: what is promised for a limit is
    promised for a larger one, too. An ε that was given is tested as it is.
    """
    import numpy as np

    from poise.arguments.printed_numbers import rounded_up
    from poise.questions.compare import compare

    promise = stable.guarantee
    epsilon = promise.epsilon
    if promise.units == "training range":
        epsilon = rounded_up(epsilon * float(np.ptp(np.asarray(rows["y"]))))
    elif promise.units == "probabilities":
        settings = {**settings, "response": "predict_proba", "distance": "euclidean"}
    return compare(
        {"original": stable.estimator, "stabilised": stable},
        **rows,
        n=promise.n,
        epsilon=epsilon,
        delta=rounded_up(promise.delta) if rounded_up(promise.delta) < 1 else promise.delta,
        **settings,
    )


def _tell(
    stable: Stabilized, cost: CostOfStability | None, compared: CompareResult | None, output: Output
) -> None:
    if output.plot is not None and compared is not None:
        from poise.results.plots import save_figure

        save_figure(compared.plot(), output.plot)
    if output.as_json:
        print_json(_as_json(stable, cost, compared))
    elif output.quiet:
        click.echo(stable.guarantee.sentence)
    else:
        _print_cost(cost, compared)


def _as_json(
    stable: Stabilized, cost: CostOfStability | None, compared: CompareResult | None
) -> dict[str, Any]:
    promise = stable.guarantee
    return {
        "guarantee": {
            **asdict(promise),
            "certificate": promise.certificate,
            "sentence": promise.sentence,
        },
        "trade_off": [asdict(choice) for choice in stable.trade_off()],
        "cost": None if cost is None else asdict(cost),
        "comparison": None if compared is None else compared.to_dict(),
    }


def _print_guarantee(stable: Stabilized) -> None:
    from poise.cli.screen import print_paragraphs, print_table

    print_paragraphs(stable.guarantee.sentence + "\n")
    print_paragraphs("Bags that give the guarantee, cheapest first:\n")
    choices = stable.trade_off()
    # The bags that were asked for may be none of the list.
    bags: tuple[BagChoice | StabilityGuarantee, ...] = (*choices, stable.guarantee)
    listed = {(c.bag_size, c.n_bags): c for c in bags}
    in_order = sorted(listed.values(), key=lambda c: (c.n_bags, c.bag_size))
    print_table(_BAG_COLUMNS, [_bag_row(choice, stable) for choice in in_order])
    print_paragraphs(
        f"\nLarger bags fit better and cost more. With all bags, the largest has "
        f"{choices[0].largest_bag:,} rows. --bag-size and --n-bags choose others."
    )


_BAG_COLUMNS = ["rows in a bag", "bags", "rows fitted", "by", ""]


def _bag_row(bags: BagChoice | StabilityGuarantee, stable: Stabilized) -> tuple[str, ...]:
    chosen = (bags.bag_size, bags.n_bags) == (stable.bag_size, stable.n_bags)
    numbers = (bags.bag_size, bags.n_bags, bags.bag_size * bags.n_bags)
    return (
        *(f"{number:,}" for number in numbers),
        f"Theorem {bags.theorem}",
        "chosen" if chosen else "",
    )


def _print_cost(cost: CostOfStability | None, compared: CompareResult | None) -> None:
    from poise.cli.screen import print_paragraphs
    from poise.cli.terminal_tables import print_presented

    if cost is not None:
        print_paragraphs("\n" + cost.sentence)
    if compared is not None:
        print_paragraphs("")
        print_presented(compared)
