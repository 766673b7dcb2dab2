"""Files a command leaves behind: checked before the first fit, written after the last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from poise.cli.options import Output
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.results import StabilityResult, Trials

__all__ = ["check_files", "write_files"]


def check_files(output: Output) -> None:
    """Refuse a place that cannot be written to before hours are spent on fits."""
    for path in (output.save, output.plot, output.report):
        if path is not None:
            _check_place(path)
    if output.plot is not None:
        from poise.results.plots.canvas import check_plot_file

        check_plot_file(output.plot)


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise ArgumentError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise ArgumentError(f"cannot write {path}: there is no folder {path.parent}")


def write_files(
    output: Output,
    trials: Trials,
    result: StabilityResult | None = None,
    *,
    alpha: float = 0.05,
) -> None:
    """Write what was asked for; a picture and a report mark the ε of ``result``."""
    if output.save is not None:
        trials.save(output.save)
    if output.plot is not None:
        from poise.results.plots import save_figure

        epsilon = None if result is None else result.epsilon
        save_figure(trials.plot(epsilon, alpha), output.plot)
    if output.report is not None and result is not None:
        from poise.results.report.html_report import Section, write_report

        write_report(output.report, [Section(result, trials)])
