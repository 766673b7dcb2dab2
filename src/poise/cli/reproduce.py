"""``poise reproduce``: every claim of the paper, computed or simulated."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.json_output import print_json
from poise.cli.output_files import check_folder

if TYPE_CHECKING:
    from poise.simulation.paper import Claim

__all__ = ["command", "described"]

_SECTIONS = ("2", "2.3", "3", "4.1", "4.2", "4.3", "5", "B", "E", "beyond")
_WIDEST = 80  # columns, which every terminal has


@click.command("reproduce")
@click.option(
    "--output",
    type=click.Path(file_okay=False),
    default="reproduction",
    show_default=True,
    help="Folder for the figures and the table (reproduction.json).",
)
@click.option(
    "--only",
    type=click.Choice(_SECTIONS),
    multiple=True,
    help="A section or appendix, or what goes beyond the paper. Repeatable.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Share of the usual replications; a small share is faster and less strict.",
)
@click.option("--figures/--no-figures", default=True, help="Whether to draw figures.")
@click.option("--jobs", type=int, default=2, show_default=True, help="Workers for the simulations.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def command(
    output: str, only: tuple[str, ...], share: float, figures: bool, jobs: int, as_json: bool
) -> int:
    """Reproduce the paper: one row per claim, with the expected and the measured value.

    Takes a few minutes on two cores. Simulated rows have exact intervals at
    confidence 1 - 1e-8, and fixed seeds. The exit status is 0 if all rows pass.
    """
    from pathlib import Path

    from poise.cli.screen import screen
    from poise.results.json_encoding import to_json
    from poise.results.plots.canvas import MARK
    from poise.simulation.paper import reproduce
    from poise.simulation.paper.figures import FIGURES

    folder = Path(output)
    table = folder / "reproduction.json"
    check_folder(table, *(folder / name for name in FIGURES if figures))
    found = reproduce(folder if figures else None, n_jobs=jobs, only=only or None, share=share)
    folder.mkdir(parents=True, exist_ok=True)
    table.write_text(to_json({"software": MARK} | found.to_dict()), encoding="utf-8")
    if as_json:
        print_json(found.to_dict())
        return ExitStatus.of_result(found.passed)
    out = screen()
    for claim in found.claims:
        out.print(described(claim, min(out.width, _WIDEST)), soft_wrap=True)
    passed = len(found.claims) - len(found.failures)
    what = "Figures and table" if figures else "Table"
    out.print(f"\n{passed} of {len(found.claims)} claims pass. {what}: {output}/", soft_wrap=True)
    return ExitStatus.of_result(found.passed)


def described(claim: Claim, width: int) -> str:
    """Return a claim on a line of its own, and below it what was expected and measured.

    Examples
    --------
    >>> from poise.simulation.paper import Claim
    >>> print(described(Claim("3.1", "size exactly alpha", "0.1000", "0.0987", True), 80))
    3.1: size exactly alpha
        pass   expected 0.1000, measured 0.0987
    """
    word = "pass" if claim.passed else "FAIL"
    numbers = f"expected {claim.expected}, measured {claim.measured}"
    return "\n".join(
        [
            textwrap.fill(f"{claim.section}: {claim.text}", width, subsequent_indent="    "),
            textwrap.fill(
                numbers, width, initial_indent=f"    {word}   ", subsequent_indent=" " * 11
            ),
        ]
    )
