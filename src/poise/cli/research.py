"""``poise research``: audits of tests, and the paper's claims."""

from __future__ import annotations

from dataclasses import asdict
from inspect import signature
from typing import Any

import click

from poise.cli import options
from poise.cli.algorithms import load_object, split, with_parameters
from poise.cli.errors import Exit
from poise.cli.output import print_answer

WORLDS = ("constant", "mean_response", "nearest_neighbours", "flipping", "memorising")


def _number(name: str, default: float, help: str) -> options.Decorator:
    return click.option(name, default=default, show_default=True, help=help)


@click.group("research")
def research() -> None:
    """Audit a test of stability, or reproduce the claims of the paper."""


@options.command(
    click.argument("procedure"),
    click.argument("world", type=click.Choice(WORLDS)),
    _number("--n", 10, "Training size."),
    _number("--rows", 220, "Labelled rows."),
    _number("--unlabeled-rows", 0, "Other rows."),
    _number("--epsilon", 0.5, "Allowed change."),
    _number("--delta", 0.2, "Allowed probability."),
    _number("--alpha", 0.05, "Claimed level."),
    _number("--replications", 200, "Data sets."),
    _number("--seed", 0, "Seed of all random numbers."),
    options.as_json,
)
def audit(ctx: click.Context, /, procedure: str, world: str, **asked: Any) -> Exit:
    """Run PROCEDURE on data from WORLD, and on traps that look like it and are not stable.

    PROCEDURE is a test of poise.research, or file.py:name. The exit status is 1 if it is found
    invalid.

    For example:
      poise research audit BinomialTest constant
      poise research audit "BootstrapTest(resamples=50)" constant --rows 15
      poise research audit "mine.py:AllQuiet(trials=29)" memorising --rows 330
    """
    from poise.simulation import worlds
    from poise.simulation.audit import audit

    question = {name: asked[name] for name in ("epsilon", "delta", "alpha")}
    found = audit(
        _procedure(procedure, {"n": asked["n"], **question}),
        getattr(worlds, world)(asked["n"]),
        **question,
        n_labeled=asked["rows"],
        n_unlabeled=asked["unlabeled_rows"],
        traps=["label", "feature"],
        replications=asked["replications"],
        random_state=asked["seed"],
    )
    kept = [asdict(row) | {"finding": row.finding} for row in found.rows]
    print_answer({"invalid": found.invalid, "verdict": found.verdict, "worlds": kept}, str(found))
    return Exit.UNSTABLE if found.invalid else Exit.STABLE


def _procedure(place: str, question: dict[str, Any]) -> Any:
    """Make a procedure, which may take only a part of the question."""
    place, parameters = split(place if ":" in place else f"poise.research:{place}")
    found = load_object(place, "procedure")
    if not callable(found):
        return found
    taken = {n: v for n, v in question.items() if n in signature(found).parameters}
    return with_parameters(found, taken | parameters)


@options.command(
    click.option("--only", metavar="PART", multiple=True, help="2, 2.3, … 5.1, B, E, beyond."),
    _number("--share", 1.0, "Of the replications."),
    click.option("--jobs", type=int, help="Number of claims checked at the same time."),
    options.as_json,
)
def reproduce(ctx: click.Context, /, only: tuple[str, ...], **asked: Any) -> Exit:
    """Reproduce the paper: every claim, with what was expected and what came out.

    Takes half a minute. The exit status is 1 if a claim fails.

    For example:
      poise research reproduce --only 4.2 --share 0.1
    """
    from poise.simulation.claims import PARTS, reproduce

    found = reproduce(only=only or PARTS, share=asked["share"], n_jobs=asked["jobs"])
    print_answer(found.to_dict(), str(found))
    return Exit.STABLE if found.passed else Exit.UNSTABLE


research.add_command(audit)
research.add_command(reproduce)
