"""``poise status``: how far a run is, from its journal."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from poise.arguments import counted
from poise.cli.exit_status import ExitStatus
from poise.cli.json_output import print_json
from poise.cli.options import question_options
from poise.cli.partial_verdict import verdict_or_open
from poise.cli.stderr import say, say_doubts
from poise.errors import RecordError

if TYPE_CHECKING:
    from poise.results import StabilityResult
    from poise.storage.journal import JournalContent

__all__ = ["command"]


class _Standing(NamedTuple):
    """A journal, what its trials say about the question so far, and the facts to be shown."""

    content: JournalContent
    result: StabilityResult | None
    facts: dict[str, Any]


@click.command("status")
@click.argument("journal", type=click.Path(path_type=Path))
@question_options(required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict so far, or the trials done.")
def command(journal: Path, as_json: bool, quiet: bool, asked: dict[str, Any]) -> int:
    """Tell how far the run with this JOURNAL is.

    JOURNAL is a file, or the folder of a run with several journals; then the number of
    finished measurements is printed too. The question is the one that was asked when
    the run began, unless --epsilon and --delta ask another. "open" means that later
    trials decide. Journals of a folder that cannot be read are named, with status 2.
    """
    from poise.results.text.summary import distinct_warnings
    from poise.storage.journal import journals_of

    several, damaged = _read_all(journals_of(journal))
    standings = [_standing(content, _question(content, asked), path) for path, content in several]
    facts = [standing.facts for standing in standings]
    together = _together([content.header.siblings for _, content in several], facts)
    if as_json or quiet:
        say_doubts(distinct_warnings(content for _, content in several))
    if as_json:
        print_json({**together, "journals": facts} if journal.is_dir() else facts[0])
    elif quiet:
        for known in facts:
            click.echo(known.get("verdict", known["trials"]))
    else:
        if journal.is_dir():
            _print_together(together)
        for number, standing in enumerate(standings):
            if number > 0:
                click.echo()
            _print(standing)
    for message in damaged:
        say(message)
    return ExitStatus.USAGE if damaged else ExitStatus.DONE


def _read_all(paths: list[Path]) -> tuple[list[tuple[Path, JournalContent]], list[str]]:
    """Read the journals of a folder, and what is wrong with those that cannot be read.

    If none of them can be read, that is an error.
    """
    from poise.storage.journal import read_journal

    known: list[tuple[Path, JournalContent]] = []
    damaged: list[RecordError] = []
    for path in paths:
        try:
            known.append((path, read_journal(path)))
        except RecordError as error:
            damaged.append(error)
    if not known:
        raise damaged[0]
    return known, [str(error) for error in damaged]


def _together(siblings: list[dict[str, Any]], facts: list[dict[str, Any]]) -> dict[str, Any]:
    """Count the finished measurements, and all measurements of the run.

    If a later call had more algorithms or sizes, its journals name a larger number. The
    largest number counts.
    """
    most = max(siblings, key=_count)
    from poise.results.verdict import OPEN

    over = [known["trials"] == known["planned"] or known.get("verdict", OPEN) != OPEN
            for known in facts]  # fmt: skip
    return {
        "finished": sum(over),
        "measurements": max(len(facts), _count(most)),
        "unit": str(most.get("unit", "measurement")),
    }


def _count(siblings: dict[str, Any]) -> int:
    """Return how many measurements belong together; 0 if the journal does not say."""
    count = siblings.get("count")
    return count if isinstance(count, int) else 0


def _print_together(together: dict[str, Any]) -> None:
    from poise.cli.screen import print_paragraphs

    what = counted(together["measurements"], together["unit"])
    print_paragraphs(f"{together['finished']:,} of {what} finished.\n")


def _question(content: JournalContent, asked: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked now, or else what was asked when the run began."""
    given = {name: asked[name] for name in ("epsilon", "delta") if asked[name] is not None}
    if not given:
        return content.header.question
    if len(given) == 1:
        (name,) = given
        raise click.UsageError(f"--{name} needs the other one of --epsilon and --delta.")
    from poise.results.relative_epsilon import in_units

    return asked | {"epsilon": in_units(asked["epsilon"], content.header.design)}


def _standing(content: JournalContent, question: dict[str, Any], path: Path) -> _Standing:
    facts = _about_run(content, path)
    if not question or content.trials is None:
        return _Standing(content, None, facts)
    result = content.trials.test(**_readable(question, path))
    moved = float(result.n_moved)
    facts |= question
    facts["exceedances"] = int(moved) if moved.is_integer() else moved
    facts["verdict"] = verdict_or_open(result)
    return _Standing(content, result, facts)


def _about_run(content: JournalContent, path: Path) -> dict[str, Any]:
    design = content.header.design
    return {
        "algorithm": design.algorithm,
        "n": design.n,
        "seed": design.seed,
        "trials": content.n_lines,
        "planned": content.header.planned,
        "failures": [f"trial {f.trial}: {f.message}" for f in content.failures],
        "warnings": list(content.warnings),
        "seconds_since_last_write": round(max(0.0, time.time() - path.stat().st_mtime), 1),
    }


def _readable(question: dict[str, Any], path: Path) -> dict[str, Any]:
    """Refuse a question that no journal of poise holds."""
    numbers = [question.get(name) for name in ("epsilon", "delta", "alpha")]
    if not all(isinstance(number, (int, float)) for number in numbers):
        raise RecordError(f"{path} holds a question that poise cannot read: {question!r}")
    return question


def _print(standing: _Standing) -> None:
    from poise.cli.screen import print_facts, print_trials

    content, result, facts = standing
    shown = {"last write": f"{facts['seconds_since_last_write']:,.0f} s ago"}
    if content.trials is None:
        shown = _about_lines(content) | shown
    else:
        print_trials(content.trials)
    if result is not None:
        shown |= _about_verdict(result, facts)
    print_facts(shown)


def _about_verdict(result: StabilityResult, facts: dict[str, Any]) -> dict[str, str]:
    from poise.arguments.printed_numbers import exactly
    from poise.results.text.describe_design import allowed_change
    from poise.results.text.verdict_cells import SeenChanges, larger_fact

    epsilon = allowed_change(result.epsilon, result.design)
    others = ", ".join(f"{name} {exactly(facts[name])}" for name in ("delta", "alpha"))
    return {
        "question": f"epsilon {epsilon}, {others}",
        **larger_fact(SeenChanges.of(result)),
        "failed trials": f"{len(facts['failures']):,}",
        "verdict so far": facts["verdict"],
    }


def _about_lines(content: JournalContent) -> dict[str, str]:
    """Say how far a run is whose lines are not the trials of a stability test."""
    header = content.header
    return {
        "algorithm": header.design.algorithm,
        "n": f"{header.design.n:,}",
        "measured": header.design.distance,
        "done": f"{content.n_lines:,} of {counted(header.planned, header.lines['unit'])}",
        "seed": str(header.design.seed),
    }
