"""Files that a command writes: checked before the first fit, written at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from poise.cli.input_files import OUTPUTS, input_files
from poise.cli.options import Output
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.data.on_disk.rows_file import RowsFile
    from poise.results import StabilityResult, Trials
    from poise.results.conditional_result import ConditionalResult
    from poise.results.conditional_trials import ConditionalTrials

__all__ = ["INTERVAL_COLUMNS", "check_files", "check_folder", "write_files"]

INTERVAL_COLUMNS = ("row", "prediction", "lower", "upper")
_TABLE_ENDINGS = (".csv", ".txt")


def check_files(output: Output) -> None:
    """Before the first fit, refuse a file that cannot be written.

    A file that the command reads is never replaced. A file that poise did not write is
    replaced only if ``--force`` is given.
    """
    named = {f"--{name}": getattr(output, name) for name in OUTPUTS}
    places = {option: path for option, path in named.items() if path is not None}
    for option, path in places.items():
        _check_place(path)
        _refuse_input(option, path, [*input_files(), *places.values()])
        if not output.force:
            _refuse_foreign(option, path, "give another name, or --force to replace it")
    if output.table is not None and output.table.suffix.lower() not in _TABLE_ENDINGS:
        raise ArgumentError(f"a table is a CSV file; {output.table} must end in .csv")
    if output.plot is not None:
        from poise.results.plots.canvas import check_plot_file

        check_plot_file(output.plot)


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise ArgumentError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise ArgumentError(f"cannot write {path}: there is no folder {path.parent}")


def _refuse_input(option: str, path: Path, others: Iterable[RowsFile]) -> None:
    """Refuse a file that is given twice, by this name or another."""
    place = path.resolve()
    if sum(other.resolve() == place for other in others) > 1:
        raise ArgumentError(
            f"{option} {path} would replace another file of this command; give another name"
        )


def check_folder(*paths: Path) -> None:
    """Refuse a folder that holds files of these names that poise did not write."""
    for path in paths:
        _refuse_foreign("", path, "give another folder as --output")


def _refuse_foreign(what: str, path: Path, remedy: str) -> None:
    """Refuse to replace a file that poise did not write."""
    if path.exists() and not _written_by_poise(path):
        place = f"{what} {path}".strip()
        raise ArgumentError(f"{place} exists and was not written by poise; {remedy}")


def _written_by_poise(path: Path) -> bool:
    from poise.results.certificate_file import FORMAT
    from poise.results.plots.canvas import MARK
    from poise.results.saved_file import is_saved

    if not path.is_file():
        return False  # a pipe or a device
    content = path.read_bytes()
    table = content.startswith(",".join(INTERVAL_COLUMNS).encode())
    certificate = FORMAT.encode() in content
    return MARK.encode() in content or table or certificate or is_saved(path)


def write_files(
    output: Output,
    trials: Trials | ConditionalTrials,
    result: StabilityResult | ConditionalResult | None = None,
    *,
    alpha: float = 0.05,
    line: Callable[[int], str] | None = None,
) -> None:
    """Write the files; a picture and a report mark what ``result`` used.

    ``line`` names training rows in the picture.
    """
    if output.save is not None:
        trials.save(output.save)
    if output.plot is not None:
        from poise.results.plots import save_figure
        from poise.results.plots.measurement_picture import plot_measurement

        save_figure(plot_measurement(trials, result, alpha, line), output.plot)
    if output.report is not None and result is not None:
        from poise.results.report.html_report import Section, write_report

        write_report(output.report, [Section(result, trials)])
