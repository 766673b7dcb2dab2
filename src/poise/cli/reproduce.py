"""``poise reproduce``: every claim of the paper, computed or simulated."""

from __future__ import annotations

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.json_output import print_json
from poise.cli.output_files import check_folder

__all__ = ["command"]


@click.command("reproduce")
@click.option(
    "--output",
    type=click.Path(file_okay=False),
    default="reproduction",
    show_default=True,
    help="Folder for the figures and the table (reproduction.json).",
)
@click.option("--jobs", type=int, default=2, show_default=True, help="Workers for the simulations.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def command(output: str, jobs: int, as_json: bool) -> int:
    """Reproduce the paper: one row per claim, expected beside measured.

    Takes a few minutes on two cores. Simulated rows carry exact intervals at
    confidence 1 - 1e-8 and fixed seeds. The exit status is 0 if all rows pass.
    """
    from pathlib import Path

    from poise.cli.screen import print_paragraphs, print_table
    from poise.results.json_encoding import to_json
    from poise.results.plots.canvas import MARK
    from poise.simulation.paper import reproduce
    from poise.simulation.paper.figures import FIGURES

    table = Path(output) / "reproduction.json"
    check_folder(table, *(Path(output) / name for name in FIGURES))
    found = reproduce(output, n_jobs=jobs)
    table.write_text(to_json({"software": MARK} | found.to_dict()), encoding="utf-8")
    if as_json:
        print_json(found.to_dict())
        return ExitStatus.of_result(found.passed)
    headers = ("section", "claim", "expected", "measured", "")
    rows = [
        (row.section, row.text, row.expected, row.measured, "pass" if row.passed else "FAIL")
        for row in found.claims
    ]
    print_table(headers, rows)
    passed = len(found.claims) - len(found.failures)
    print_paragraphs(f"\n{passed} of {len(found.claims)} claims pass. Figures and table: {output}/")
    return ExitStatus.of_result(found.passed)
