"""``poise reproduce``: check every claim of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from poise import arguments
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.results.text.table import TextTable
from poise.simulation.paper import (
    appendix_b_traps,
    appendix_e_notions,
    beyond_averaged,
    beyond_conditional,
    beyond_finite_responses,
    beyond_intervals,
    beyond_subbagging,
    section_2_examples,
    section_2_framework,
    section_3_binomial_test,
    section_4_ceilings,
    section_4_estimation,
    section_4_model_classes,
    section_5_finite,
)
from poise.simulation.paper.claim import Claim
from poise.simulation.paper.effort import Effort

__all__ = ["SECTIONS", "Reproduction", "reproduce"]


def _beyond(effort: Effort) -> list[Claim]:
    """Check what goes beyond the paper, subject by subject."""
    subjects = (
        beyond_averaged,
        beyond_finite_responses,
        beyond_conditional,
        beyond_subbagging,
        beyond_intervals,
    )
    return [claim for subject in subjects for claim in subject.claims(effort)]


SECTIONS: dict[str, Callable[[Effort], list[Claim]]] = {
    "2": section_2_framework.claims,
    "2.3": section_2_examples.claims,
    "3": section_3_binomial_test.claims,
    "4.1": section_4_estimation.claims,
    "4.2": section_4_ceilings.claims,
    "4.3": section_4_model_classes.claims,
    "5": section_5_finite.claims,
    "B": appendix_b_traps.claims,
    "E": appendix_e_notions.claims,
    "beyond": _beyond,
}
"""Sections and appendices of the paper and what goes beyond it, with what computes their claims."""


@dataclass(frozen=True)
class Reproduction(ShownAsCard):
    """The claims of the paper, each with what was expected and what was measured.

    Attributes
    ----------
    claims : tuple of Claim
        One per row, in the order of the paper.
    figures : tuple of Path
        The figures that were written.
    """

    claims: tuple[Claim, ...]
    figures: tuple[Path, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every claim came out as the paper says."""
        return all(claim.passed for claim in self.claims)

    @property
    def failures(self) -> tuple[Claim, ...]:
        """The claims that did not."""
        return tuple(claim for claim in self.claims if not claim.passed)

    def _card(self) -> Card:
        failed = len(self.failures)
        said = f"{len(self.claims) - failed} of {len(self.claims)} claims came out as stated."
        columns = ("section", "claim", "expected", "measured", "")
        rows = [
            [c.section, c.text, c.expected, c.measured, "" if c.passed else "FAILED"]
            for c in self.claims
        ]
        parts = {"as stated": len(self.claims) - failed, "failed": failed}
        badge = "ok" if self.passed else "failed"
        return Card(said, badge, tables=[TextTable(columns, rows)], parts=parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        return {
            "passed": self.passed,
            "claims": [asdict(claim) for claim in self.claims],
            "figures": [str(path) for path in self.figures],
        }


def reproduce(
    output: str | Path | None = None,
    n_jobs: int | None = None,
    *,
    only: Iterable[str] | None = None,
    share: float = 1.0,
) -> Reproduction:
    """Reproduce the paper: compute or simulate each of its claims.

    Simulated claims carry exact intervals at confidence 1 − 1e-8, so a table of
    true claims shows a failure with probability below 1e-6, whatever ``share``.
    Seeds are fixed.

    Parameters
    ----------
    output : path, optional
        Folder for the figures; none are drawn without it.
    n_jobs : int, optional
        Workers for the simulations, as in joblib.
    only : iterable of {"2", "2.3", "3", "4.1", "4.2", "4.3", "5", "B", "E", "beyond"}, optional
        Sections and appendices to reproduce; by default all.
    share : float
        Factor on every number of replications, > 0. A small one is fast but has wide
        intervals, which find fewer false claims.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> found = reproduce(only=["4.2"])
    >>> len(found.claims), found.passed
    (13, True)
    """
    effort = Effort(n_jobs, share)
    wanted = SECTIONS if only is None else {_section(name) for name in only}
    rows = [
        claim
        for section, claims in SECTIONS.items()
        if section in wanted
        for claim in claims(effort)
    ]
    return Reproduction(tuple(rows), _figures(output))


def _section(name: str) -> str:
    return arguments.choice("only", name, tuple(SECTIONS))


def _figures(output: str | Path | None) -> tuple[Path, ...]:
    if output is None:
        return ()
    from poise.simulation.paper.figures import draw

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    return draw(folder)
