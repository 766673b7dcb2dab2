"""``poise demo``: three algorithms on example data, with all three verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.arguments.printed_numbers import exactly
from poise.cli.exit_status import ExitStatus
from poise.cli.output_files import check_folder
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings, say
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.results.report.html_report import Section

__all__ = ["command"]

_FILES = ("changes.png", "report.html")
N, EPSILON, DELTA, ALPHA, SEED = 12, 20.0, 0.2, 0.05, 0

INTRODUCTION = (
    "442 diabetes patients, ten measurements each; the response is the progression of the disease "
    f"after a year, a score between 25 and 346. A model is trained on {N} patients. If one of them "
    "had not been there, would a prediction for a new patient move by more than "
    f"{exactly(EPSILON)} points? An algorithm is stable here if that happens with probability at "
    f"most {exactly(DELTA)}."
)
NEXT = """\
Your own data:
  poise test FILE --target COLUMN --algorithm sklearn.linear_model:Ridge \\
      --n N --epsilon E --delta D
How many rows a question needs:
  poise plan --n N --delta D --alpha 0.05 --power 0.9"""


@click.command("demo")
@click.option(
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    default="poise-demo",
    show_default=True,
    help="Folder for the plot and the report.",
)
@click.option(
    "--open/--no-open",
    "opened",
    default=True,
    show_default=True,
    help="Open the report in the browser, where there is a screen.",
)
def command(output: Path, opened: bool) -> int:
    """Show three algorithms on example data, with a verdict for each.

    Writes a plot (changes.png) and a report (report.html), and opens the report in the
    browser. Takes a few seconds.
    """
    from poise.cli.screen import print_paragraphs

    check_folder(*(output / name for name in _FILES))
    output.mkdir(parents=True, exist_ok=True)
    print_paragraphs(INTRODUCTION + "\n")
    with one_line_warnings():
        sections = [_visit(algorithm, note) for algorithm, note in _algorithms()]
        _tabulate(sections)
        written = _write(sections, output)
    print_paragraphs("\nWritten: " + ", ".join(str(path) for path in written) + "\n")
    click.echo(NEXT)
    _show(output / _FILES[1], opened)
    return ExitStatus.DONE


def _show(report: Path, opened: bool) -> None:
    """Say where the report is, and open it."""
    from poise.cli.open_browser import open_browser

    address = report.resolve().as_uri()
    shown = opened and open_browser(address)
    click.echo(f"\nThe report{' is open in your browser' if shown else ''}: {address}")


def _algorithms() -> list[tuple[Any, str]]:
    from sklearn.linear_model import LinearRegression, Ridge
    from sklearn.neighbors import KNeighborsRegressor

    return [
        (Ridge(), "Ridge shrinks its coefficients: no single patient carries much weight."),
        (
            LinearRegression(),
            f"Least squares fits 11 coefficients to {N} patients: each of them decides a lot.",
        ),
        (
            KNeighborsRegressor(),
            "Five nearest neighbours lie in between. These data hold too few trials to tell, and "
            "poise says so instead of guessing.",
        ),
    ]


def _visit(algorithm: Any, note: str) -> Section:
    """Measure and judge one algorithm, and print the result in a few lines."""
    from sklearn.datasets import load_diabetes

    from poise.cli.screen import print_headline, print_paragraphs
    from poise.questions.stability_test import measure
    from poise.results.report.html_report import Section
    from poise.results.text.verdict_cells import SeenChanges

    X, y = load_diabetes(return_X_y=True)
    with fits_print_to_stderr():
        trials = measure(algorithm, X, y, n=N, random_state=SEED)
    result = trials.test(EPSILON, DELTA, ALPHA)
    print_headline(result)
    seen = (
        f"Trials in which the prediction moved by more than {exactly(EPSILON)}: "
        f"{SeenChanges.of(result).larger_changes}."
    )
    print_paragraphs(f"{note} {seen}\n")
    return Section(result, trials, note)


def _tabulate(sections: list[Section]) -> None:
    from poise.cli.screen import print_table
    from poise.results.text.verdict_cells import SeenChanges, larger_column

    results = [section.result for section in sections]
    heading, larger = larger_column([SeenChanges.of(r) for r in results])
    names, verdicts = ([r.design.algorithm for r in results], [r.verdict.value for r in results])
    print_table(["algorithm", heading, "verdict"], zip(names, larger, verdicts, strict=True))


def _write(sections: list[Section], folder: Path) -> list[Path]:
    from poise.results.report.html_report import write_report

    plot, report = (folder / name for name in _FILES)
    write_report(report, sections, "Three algorithms, three verdicts", INTRODUCTION)
    try:
        _draw(sections, plot)
    except PoiseError as missing:  # matplotlib is optional
        say(str(missing))
        return [report]
    return [plot, report]


def _draw(sections: list[Section], path: Path) -> None:
    from poise.results import Trials
    from poise.results.plots import save_figure, stack_trials

    measurements = [part.trials for part in sections if isinstance(part.trials, Trials)]
    save_figure(stack_trials(measurements, EPSILON, ALPHA, DELTA), path)
