"""``poise intervals``: prediction intervals for new rows, and their guarantee."""

from __future__ import annotations

import csv
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import DATA_OPTIONS, FitOptions, fit_options, journal_folder
from poise.cli.help_sections import SectionedCommand
from poise.cli.json_output import print_json
from poise.cli.options import (
    ROWS,
    Output,
    WholeNumber,
    alpha_option,
    journals_option,
    output_options,
)
from poise.cli.output_files import INTERVAL_COLUMNS, check_files
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.questions.intervals.certify_and_fit import CertifiedFit
    from poise.questions.intervals.jackknife_regressor import JackknifeRegressor
    from poise.storage.journal import JournalFolder

__all__ = ["command"]


EXAMPLE = """\b
Examples:
  poise intervals patients.csv --target progression --new today.csv \\
      --algorithm sklearn.linear_model:Ridge --table today_with_ends.csv
  poise intervals rentals.csv --target price --new offers.csv --certify \\
      --algorithm sklearn.linear_model:Ridge --method jackknife \\
      --n 100 --epsilon 20 --gamma 0.02 --delta 0.05
"""

_OPTIONS = (*DATA_OPTIONS, "algorithm", "param", "random_state", "n_jobs")
_SHOWN = 20  # rows printed on the screen
_DIGITS = 4  # significant digits of the width of an interval on the screen


@click.command("intervals", cls=SectionedCommand, epilog=EXAMPLE)
@fit_options(only=_OPTIONS, without=["unlabeled", "weights", "fit_param"])
@click.option("--new", metavar="FILE", type=ROWS, required=True, help="Rows to predict.")
@click.option(
    "--level",
    type=float,
    default=0.9,
    show_default=True,
    help="Share of responses that the intervals should contain, in (0, 1).",
)
@click.option(
    "--method",
    type=click.Choice(["plus", "jackknife"]),
    default="plus",
    show_default=True,
    help="Jackknife+, or the jackknife, which needs a certificate.",
)
@click.option("--certify", is_flag=True, help="Test stability on all rows but N, and fit the N.")
@click.option("--n", type=WholeNumber(), metavar="N", help="Rows to fit; for --certify.")
@click.option("--epsilon", type=float, help="Allowed change, >= 0; for --certify.")
@click.option("--delta", type=float, help="Allowed probability of a larger change; for --certify.")
@click.option(
    "--gamma",
    type=float,
    help="For --certify and --method jackknife: certify these N rows, not the algorithm; a new "
    "row may move this share of their residuals by more than EPSILON.",
)
@alpha_option
@journals_option
@output_options("table", "plot")
def command(
    fit: FitOptions,
    output: Output,
    new: Path | str,
    journal: Path | None,
    level: float,
    method: str,
    certify: bool,
    n: int | None,
    epsilon: float | None,
    delta: float | None,
    gamma: float | None,
    alpha: float,
) -> int:
    """Give an interval for the response of every row of NEW, from the rows of DATA.

    Without --certify jackknife+ is fitted to all rows and misses a new response with
    probability at most 2(1 - LEVEL), whatever the distribution. With --certify the rows
    are split at random: all but N of them test whether the algorithm is stable, and N are
    fitted. If it is certified, the intervals are widened, and the bound on their misses
    follows from this certificate (Theorem J); if not, they are those of jackknife+. A
    certificate about the algorithm takes many times N rows; with --gamma every row that is
    not fitted is a trial about the N rows themselves.

    Exit status: 0 done, 1 --certify was asked for and stability not certified (the table
    is written in this case too), 2 usage or data, 3 a fit failed.
    """
    asked = _question(certify, {"n": n, "epsilon": epsilon, "delta": delta}, gamma, method)
    if method == "jackknife" and not certify:
        raise click.UsageError("--method jackknife needs --certify: alone it guarantees nothing.")
    check_files(output)
    read = FitOptions({**fit.given, "unlabeled": new}).rows()
    from poise.questions.intervals.jackknife_regressor import JackknifeRegressor

    algorithm = fit.algorithm()
    rows = read.usable_by(algorithm, new)
    _refuse_labels(rows["y"])
    points = rows.pop("X_unlabeled")
    journals = journal_folder(journal)
    journals.expect(2 if certify else 1, "measurement")
    model = JackknifeRegressor(algorithm, method, level, **_settings(fit, journals))
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        _warn_of_known_rows(rows["X"], points, new)
        made = None
        if certify:
            how = {"journal": journals.journal("certificate"), "progress": output.progress}
            made = _certified(model, rows, {**asked, "alpha": alpha}, how)
        model = model.fit(**rows) if made is None else made.model
        predictions, ends = model.predict_interval(points)
    table = [
        (i, float(value), float(low), float(high))
        for i, (value, (low, high)) in enumerate(zip(predictions, ends, strict=True), 1)
    ]
    _tell(model, made, table, output)
    return ExitStatus.of_result(made is None or made.result.stable)


def _question(
    certify: bool, given: dict[str, Any], gamma: float | None, method: str
) -> dict[str, Any]:
    """Refuse an incomplete question: --certify needs all three options, else none is allowed."""
    if gamma is not None and not (certify and method == "jackknife"):
        raise click.UsageError("--gamma is for --certify with --method jackknife.")
    missing = [f"--{name}" for name, value in given.items() if value is None]
    if certify and missing:
        raise click.UsageError(f"--certify needs {', '.join(missing)}.")
    if not certify and len(missing) < len(given):
        name = next(name for name, value in given.items() if value is not None)
        raise click.UsageError(f"--{name} is for --certify, which is not given.")
    return {**given, "gamma": gamma}


def _refuse_labels(y: Any) -> None:
    """Before the first fit, refuse responses that are no numbers."""
    from poise.data.tables import array_of, as_table
    from poise.errors import DataError

    numbers = array_of(as_table(y, "y"))
    if numbers is None or numbers.dtype.kind not in "biuf":
        raise DataError("the target must hold numbers: an interval is about a number, not a label")


def _warn_of_known_rows(X: Any, points: Any, new: Path | str) -> None:
    """Say that the guarantee is about new rows if the file of new rows holds others."""
    from poise.arguments import counted
    from poise.data.tables import as_table
    from poise.data.used_rows import equal_rows
    from poise.errors import warn_of_validity

    found, by_chance = equal_rows([as_table(X, "X")], [as_table(points, "X")])
    if len(found) > by_chance:
        warn_of_validity(
            f"{counted(len(found), 'row')} of {new} (row {found[0] + 1} is one) can be found in "
            "the training rows, and the guarantee is about new rows"
        )


def _settings(fit: FitOptions, journals: JournalFolder) -> dict[str, Any]:
    """Return the keywords of the regressor; a run that is continued has the seed of before."""
    settings = {**fit.settings(), "journal": journals.journal("leave one out")}
    if journals.path is not None:
        settings["random_state"] = journals.randomness(settings["random_state"]).root
    return settings


def _certified(
    model: JackknifeRegressor, rows: dict[str, Any], asked: dict[str, Any], how: dict[str, Any]
) -> CertifiedFit:
    from poise.questions.intervals.certify_and_fit import certify_and_fit

    return certify_and_fit(model, **rows, n=asked.pop("n"), asked=asked, **how)


def _tell(
    model: JackknifeRegressor,
    made: CertifiedFit | None,
    table: list[tuple[int, float, float, float]],
    output: Output,
) -> None:
    if output.plot is not None:
        from poise.results.plots import plot_intervals, save_figure

        ends = [numbers for _, _, *numbers in table]
        save_figure(plot_intervals([value for _, value, *_ in table], ends), output.plot)
    if output.table is not None:
        with output.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([INTERVAL_COLUMNS, *table])
    if output.as_json:
        print_json(_as_json(model, made, table))
    elif output.quiet:
        click.echo(model.guarantee_.sentence)
    else:
        _print(model, made, table, output)


def _as_json(
    model: JackknifeRegressor, made: CertifiedFit | None, table: list[Any]
) -> dict[str, Any]:
    promise = model.guarantee_
    columns = list(zip(*table, strict=True))
    return {
        "guarantee": {
            **asdict(promise),
            "coverage": promise.coverage,
            "sentence": promise.sentence,
        },
        "path": model.path_,
        "certificate": None if made is None else made.result.to_dict(),
        "rule": None if made is None else {**made.rule._asdict(), "worst": made.rule.worst},
        "intervals": dict(zip(INTERVAL_COLUMNS, map(list, columns), strict=True)),
    }


def _print(
    model: JackknifeRegressor, made: CertifiedFit | None, table: list[Any], output: Output
) -> None:
    from poise.arguments.decimal_noise import without_noise
    from poise.arguments.printed_numbers import at_most
    from poise.cli.screen import print_headline, print_paragraphs, print_table

    if made is not None:
        print_headline(made.result)
        print_paragraphs("")
    print_table(INTERVAL_COLUMNS, _on_screen(table[:_SHOWN]))
    if len(table) > _SHOWN and output.table is None:
        print_paragraphs(f"\n{_SHOWN} of {len(table):,} rows; --table FILE writes all.")
    print_paragraphs("\n" + model.guarantee_.sentence)
    if made is not None:
        print_paragraphs(
            "\nWhatever the test says, this command as a whole (certify, else jackknife+) misses "
            f"with probability at most {at_most(without_noise(made.rule.worst))}."
        )


def _on_screen(table: list[Any]) -> list[tuple[str, ...]]:
    """Write numbers with equally many decimals; ends are rounded outwards."""
    import numpy as np

    values = np.array([numbers for _, *numbers in table])
    widths = values[:, 2] - values[:, 1]
    widths = widths[np.isfinite(widths) & (widths > 0)]
    scale = float(np.median(widths)) if len(widths) else float(np.abs(values[:, 0]).max()) or 1.0
    decimals = min(12, max(0, _DIGITS - 1 - math.floor(math.log10(scale))))
    unit = 10.0**decimals
    rounded = np.stack(
        [values[:, 0], np.floor(values[:, 1] * unit) / unit, np.ceil(values[:, 2] * unit) / unit],
        axis=1,
    )
    return [
        (str(row), *(f"{x:.{decimals}f}" for x in numbers))
        for (row, *_), numbers in zip(table, rounded, strict=True)
    ]
