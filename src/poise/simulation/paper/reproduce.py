"""Run every claim and lay out what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from poise.simulation.paper import (
    appendix_b_traps,
    appendix_e_notions,
    beyond_subbagging,
    section_2_counting,
    section_3_binomial_test,
    section_4_ceilings,
    section_4_estimation,
    section_5_finite,
)
from poise.simulation.paper.claim import Claim

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        return {
            "passed": self.passed,
            "claims": [asdict(claim) for claim in self.claims],
            "figures": [str(path) for path in self.figures],
        }


def reproduce(output: str | Path | None = None, n_jobs: int | None = None) -> Reproduction:
    """Reproduce the paper: compute or simulate each of its claims.

    Simulated claims carry exact intervals at confidence 1 − 1e-8, so a table of
    true claims shows a failure with probability below 1e-6. Seeds are fixed.

    Parameters
    ----------
    output : path, optional
        Folder for the figures; none are drawn without it.
    n_jobs : int, optional
        Workers for the simulations, as in joblib.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> from poise.simulation.paper import section_4_ceilings
    >>> all(claim.passed for claim in section_4_ceilings.claims())
    True
    """
    rows = [
        *section_2_counting.claims(),
        *section_3_binomial_test.claims(n_jobs),
        *section_4_ceilings.claims(),
        *appendix_b_traps.claims(n_jobs),
        *section_4_estimation.claims(),
        *appendix_e_notions.claims(n_jobs),
        *section_5_finite.claims(n_jobs),
        *beyond_subbagging.claims(),
    ]
    return Reproduction(tuple(rows), _figures(output))


def _figures(output: str | Path | None) -> tuple[Path, ...]:
    if output is None:
        return ()
    from poise.simulation.paper.figures import draw

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    return draw(folder)
