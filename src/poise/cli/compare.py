"""``poise compare``: several algorithms on the same trials, with one error level."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import FitOptions, fit_options, journal_folder
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import Output, journals_option, output_options, question_options
from poise.cli.output_files import check_files
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings
from poise.errors import printable

if TYPE_CHECKING:
    from poise.results import CompareResult

__all__ = ["command"]


EXAMPLE = """\b
Example:
  poise compare patients.csv --target progression \\
      --algorithm sklearn.linear_model:Ridge \\
      --algorithm 'sklearn.neighbors:KNeighborsRegressor(n_neighbors=10)' \\
      --n 40 --epsilon 5 --delta 0.1
"""

# This command takes several algorithms, and a folder of journals.
_IN_ANOTHER_FORM = ("name", "algorithm", "param", "program", "journal")


@click.command("compare", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(without=_IN_ANOTHER_FORM)
@click.option(
    "--algorithm",
    "algorithms",
    metavar="PLACE:NAME",
    multiple=True,
    help="As in poise test. Parameters stand in brackets: module:Name(alpha=2.0). A short name may "
    "come first: ridge=module:Name. Repeatable.",
)
@click.option(
    "--program",
    "programs",
    metavar="COMMAND",
    multiple=True,
    help="A program with {train} {test} {predictions} {seed}. Repeatable.",
)
@journals_option
@question_options(required=True, choice=True)
@output_options("plot")
def command(
    fit: FitOptions,
    output: Output,
    algorithms: tuple[str, ...],
    programs: tuple[str, ...],
    journal: Path | None,
    asked: dict[str, Any],
) -> int:
    """Test several algorithms on the same trials of DATA.

    The chance that any algorithm is wrongly called stable is at most ALPHA, and
    so is the chance that any is wrongly called unstable (Holm's method).

    Exit status: 0 all stable, 1 one is unstable or inconclusive (or, with --ledger,
    does not hold together with the others), 2 usage or data, 3 a fit failed.
    """
    from poise.questions.compare import compare
    from poise.results.ledger_note import holds

    check_files(output)
    fit.check(asked)
    read = fit.rows_for_trials()
    named = loaded(algorithms, programs, fit.mode)
    rows = read.given_to(*named.values())
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        settings = asked | fit.settings() | {"progress": output.progress}
        settings |= {"journal": journal_folder(journal), "ledger": fit.ledger()}
        result = compare(named, **rows, **settings)
    _tell(result, output)
    return ExitStatus.of_result(result.all_stable and holds(result))


def loaded(places: Iterable[str], programs: Iterable[str], mode: str) -> dict[str, Any]:
    """Load every algorithm; its name is its description, or the name that the user gave."""
    from poise.algorithms.as_algorithm import as_algorithm
    from poise.algorithms.program import Program
    from poise.cli.load_algorithm import load_algorithm

    named = dict(_name_and_place(text) for text in places)
    given = {name: load_algorithm(place) for name, place in named.items()}
    given |= {command: Program(command, mode=mode) for command in programs}
    if not given:
        raise click.UsageError("give --algorithm or --program, best more than once.")
    chosen = {name for name, place in named.items() if name != place}
    described = {
        name if name in chosen else as_algorithm(algorithm).name: algorithm
        for name, algorithm in given.items()
    }
    return described if len(described) == len(given) else given


def _name_and_place(text: str) -> tuple[str, str]:
    """Split ``name=place``; without a name, the place is the name.

    Examples
    --------
    >>> _name_and_place("ridge=sklearn.linear_model:Ridge(alpha=2.0)")
    ('ridge', 'sklearn.linear_model:Ridge(alpha=2.0)')
    >>> _name_and_place("sklearn.linear_model:Ridge(alpha=2.0)")
    ('sklearn.linear_model:Ridge(alpha=2.0)', 'sklearn.linear_model:Ridge(alpha=2.0)')
    """
    name, equals, place = text.partition("=")
    named = equals and name.strip() and not set(name) & set(":(/")
    return (name.strip(), place) if named else (text, text)


def _tell(result: CompareResult, output: Output) -> None:
    if output.plot is not None:
        from poise.results.plots import save_figure

        save_figure(result.plot(), output.plot)
    if output.as_json:
        print_json(result.to_dict())
    elif output.quiet:
        for row in result.rows:
            click.echo(printable(f"{row.verdict.value}\t{row.name}"))
    else:
        from poise.cli.terminal_tables import print_presented

        print_presented(result)
