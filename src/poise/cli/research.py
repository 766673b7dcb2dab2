"""``poise research``: audits of tests, and the paper's claims."""

from __future__ import annotations

from dataclasses import asdict
from inspect import signature
from typing import Any

import click

from poise.cli.errors import Exit
from poise.cli.inputs import load_algorithm, load_object
from poise.cli.options import Command
from poise.cli.screen import paragraphs, print_json

WORLDS = ("constant", "mean_response", "nearest_neighbours", "flipping", "memorising")
EXAMPLES = """\b
Examples:
  poise research audit BinomialTest constant
  poise research audit "BootstrapTest(resamples=50)" constant --rows 15
  poise research audit "mine.py:AllQuiet(trials=29)" memorising --rows 330
"""
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")


@click.group("research")
def command() -> None:
    """Audit a test of stability, or reproduce the claims of the paper."""


@command.command("audit", cls=Command, epilog=EXAMPLES)
@click.argument("procedure")
@click.argument("world", type=click.Choice(WORLDS))
@click.option("--n", type=int, default=10, show_default=True, help="Training size.")
@click.option("--rows", type=int, default=220, show_default=True, help="Labelled rows.")
@click.option("--unlabeled-rows", type=int, default=0, show_default=True, help="Other rows.")
@click.option("--epsilon", type=float, default=0.5, show_default=True, help="Allowed change.")
@click.option("--delta", type=float, default=0.2, show_default=True, help="Allowed probability.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Claimed level.")
@click.option("--replications", type=int, default=200, show_default=True, help="Data sets.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random numbers.")
@as_json
def audit(procedure: str, world: str, rows: int, unlabeled_rows: int, **asked: Any) -> Exit:
    """Run PROCEDURE on data from WORLD, and on traps that look like it and are not stable.

    PROCEDURE is a test of poise.research, or file.py:name. The exit status is 1 if it is found
    invalid.
    """
    from poise.simulation import worlds
    from poise.simulation.audit import audit

    question = {name: asked[name] for name in ("epsilon", "delta", "alpha")}
    found = audit(
        _procedure(procedure, {"n": asked["n"], **question}),
        getattr(worlds, world)(asked["n"]),
        **question,
        n_labeled=rows,
        n_unlabeled=unlabeled_rows,
        traps=["label", "feature"],
        replications=asked["replications"],
        random_state=asked["seed"],
    )
    if asked["as_json"]:
        kept = [asdict(row) | {"finding": row.finding} for row in found.rows]
        print_json({"invalid": found.invalid, "verdict": found.verdict, "worlds": kept})
    else:
        paragraphs(str(found))
    return Exit.UNSTABLE if found.invalid else Exit.STABLE


def _procedure(place: str, question: dict[str, Any]) -> Any:
    """Make a procedure, which may take only a part of the question."""
    place = place if ":" in place else f"poise.research:{place}"
    found = load_object(place.partition("(")[0], "procedure")
    if not callable(found):
        return found
    taken = signature(found).parameters
    return load_algorithm(place, {name: v for name, v in question.items() if name in taken})


@command.command("reproduce", cls=Command)
@click.option("--only", metavar="PART", multiple=True, help="2, 2.3, … 5.1, B, E, beyond.")
@click.option("--share", type=float, default=1.0, show_default=True, help="Of the replications.")
@click.option(
    "--jobs", type=int, metavar="INTEGER", help="Number of claims checked at the same time."
)
@as_json
def reproduce(only: tuple[str, ...], share: float, jobs: int | None, as_json: bool) -> Exit:
    """Reproduce the paper: every claim, with what was expected and what came out.

    Takes half a minute. The exit status is 1 if a claim fails.
    """
    from poise.simulation.claims import PARTS, reproduce

    found = reproduce(only=only or PARTS, share=share, n_jobs=jobs)
    if as_json:
        print_json(found.to_dict())
    else:
        paragraphs(str(found))
    return Exit.STABLE if found.passed else Exit.UNSTABLE
