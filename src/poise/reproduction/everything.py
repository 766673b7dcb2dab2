"""Run every claim and lay out what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from poise.reproduction import binomial, ceilings, counting, estimation, finite, notions, traps
from poise.reproduction.claim import Claim

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
    >>> from poise.reproduction import ceilings
    >>> all(claim.passed for claim in ceilings.claims())
    True
    """
    rows = [
        *counting.claims(),
        *binomial.claims(n_jobs),
        *ceilings.claims(),
        *traps.claims(n_jobs),
        *estimation.claims(),
        *notions.claims(n_jobs),
        *finite.claims(n_jobs),
    ]
    return Reproduction(tuple(rows), _figures(output))


def _figures(output: str | Path | None) -> tuple[Path, ...]:
    if output is None:
        return ()
    from poise.reproduction.figures import draw

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    return draw(folder)
