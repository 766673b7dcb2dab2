"""``poise audit``: whether a procedure is valid, and its power."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.json_output import print_json
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.simulation.audit.with_traps import AuditSuite

__all__ = ["command"]

PROCEDURES = {
    "binomial": "BinomialTest",
    "averaged": "AveragedTest",
    "bootstrap": "BootstrapTest",
    "simulation": "SimulationTest",
    "adaptive": "AdaptiveTest",
    "explore-then-test": "ExploreThenTest",
    "worst-labelling": "WorstLabellingTest",
    "linear-smoother": "LinearSmootherTest",
}
WORLDS = (
    "constant",
    "mean-response",
    "nearest-neighbours",
    "nearest-coins",
    "flipping",
    "memorising",
)

# These two procedures can be run in the world nearest-coins, where this is known.
PARAMETERS: dict[str, dict[str, Any]] = {
    "worst-labelling": {"responses": (0.0, 1.0)},
    "linear-smoother": {"low": 0.0, "high": 1.0},
}
# A trap must not break the assumptions of a procedure: it may use no response that cannot
# occur, and no algorithm that is not linear in the responses. If the possible responses are
# known, the ceiling on power that assumes unknown responses does not apply.
ASSUMED: dict[str, dict[str, Any]] = {
    "worst-labelling": {"traps": ("feature",), "response": "countable"},
    "linear-smoother": {"traps": (), "response": "countable", "features": "countable"},
}

EXAMPLES = """\b
The Binomial test keeps its level on every trap; the bootstrap does not:
  poise audit binomial constant
  poise audit bootstrap constant

\b
The averaged test, three points a trial:
  poise audit averaged nearest-neighbours --n-unlabeled 60 --param points=3

\b
Two tests that do not need all responses, in a world whose responses are 0 and 1:
  poise audit worst-labelling nearest-coins --n-unlabeled 220 --param missing=3
  poise audit linear-smoother nearest-coins --n-unlabeled 220
"""


@click.command("audit", epilog=EXAMPLES)
@click.argument("procedure", type=click.Choice(list(PROCEDURES)))
@click.argument("world", type=click.Choice(WORLDS))
@click.option("--n", type=int, default=10, show_default=True, help="Training size.")
@click.option("--n-labeled", type=int, default=220, show_default=True, help="Labelled rows.")
@click.option("--n-unlabeled", type=int, default=0, show_default=True, help="Unlabelled rows.")
@click.option("--epsilon", type=float, default=0.5, show_default=True, help="Allowed change.")
@click.option("--delta", type=float, default=0.2, show_default=True, help="Allowed probability.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Claimed level.")
@click.option("--param", multiple=True, metavar="NAME=VALUE", help="A parameter of the procedure.")
@click.option(
    "--replications",
    type=int,
    default=200,
    show_default=True,
    help="Number of simulated data sets.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random numbers.")
@click.option("--jobs", type=int, default=None, help="Workers, as in joblib.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def command(
    procedure: str,
    world: str,
    n: int,
    epsilon: float,
    delta: float,
    alpha: float,
    param: tuple[str, ...],
    seed: int,
    as_json: bool,
    jobs: int | None,
    **rows: Any,
) -> int:
    """Run PROCEDURE on WORLD and on traps that look like it, and judge PROCEDURE.

    The exit status is 1 if it was found invalid.
    """
    from poise.simulation.audit import audit_with_traps
    from poise.simulation.worlds.zoo import ZOO

    test = _procedure(procedure, param, n=n, epsilon=epsilon, delta=delta, alpha=alpha)
    settings = rows | ASSUMED.get(procedure, {})
    suite = audit_with_traps(test, ZOO[world](n=n), random_state=seed, n_jobs=jobs, **settings)
    _show(suite, alpha, as_json)
    return ExitStatus.of_result(not suite.invalid)


def _procedure(name: str, param: tuple[str, ...], **question: object) -> Any:
    """Make the procedure, with the parameters that were given for it."""
    from poise import procedures
    from poise.cli.load_algorithm import parse_parameters

    kind = getattr(procedures, PROCEDURES[name])
    try:
        return kind(**question, **(PARAMETERS.get(name, {}) | parse_parameters(param)))
    except TypeError as error:
        raise ArgumentError(f"{PROCEDURES[name]} does not take these parameters: {error}") from None


def _show(suite: AuditSuite, alpha: float, as_json: bool) -> None:
    from poise.arguments.printed_numbers import at_most, exactly, number
    from poise.cli.screen import print_paragraphs, print_table

    if as_json:
        content = {"invalid": suite.invalid, "verdict": suite.verdict, "worlds": suite.rows()}
        print_json(content)
        return
    headers = ("world", "measures", "delta*", "claimed", "measured", "limit", "finding")
    print_table(
        headers,
        [
            (
                result.world,
                result.measures,
                number(result.delta_star),
                exactly(alpha),
                str(result.accepted),
                at_most(result.limit),
                result.finding,
            )
            for result in suite.results
        ],
    )
    print_paragraphs("\nmeasured: share declared stable, with its exact 99% interval")
    print_paragraphs(suite.verdict)
