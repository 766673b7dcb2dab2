"""How much is simulated: workers and replications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from poise.errors import ArgumentError
from poise.protocol.procedure import Procedure
from poise.protocol.randomness import Coupling
from poise.simulation.audit import audit
from poise.simulation.paper.claim import CONFIDENCE
from poise.simulation.traps import Trap, simulate_coincidence
from poise.simulation.worlds import Proportion, World

__all__ = ["Effort"]

_LEAST = 60  # replications, however small the share: fewer could show nothing


@dataclass(frozen=True)
class Effort:
    """Simulate with this many workers, and this share of the usual replications.

    Parameters
    ----------
    n_jobs : int, optional
        Workers, as in joblib.
    share : float
        Factor on every number of replications, > 0. A small one is fast but finds fewer
        false claims; it never refutes a true one.

    Examples
    --------
    >>> Effort(share=0.1).count(2000), Effort(share=0.001).count(2000)
    (200, 60)
    """

    n_jobs: int | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        if not self.share > 0:
            raise ArgumentError(f"share must be a number > 0, got {self.share}")

    def count(self, usual: int, least: int = _LEAST) -> int:
        """Return how many replications to run where ``usual`` are usual, at least ``least``."""
        return max(least, round(self.share * usual))

    def accepted(
        self,
        procedure: Procedure,
        place: World | Trap,
        rows: tuple[int, int],
        usual: int,
        seed: int,
        least: int = _LEAST,
        **settings: Any,
    ) -> Proportion:
        """Simulate how often a procedure declares a world stable, from this many rows."""
        labeled, unlabeled = rows
        return audit(
            procedure,
            place,
            n_labeled=labeled,
            n_unlabeled=unlabeled,
            replications=self.count(usual, least),
            confidence=CONFIDENCE,
            random_state=seed,
            n_jobs=self.n_jobs,
            progress=False,
            **settings,
        ).accepted

    def instability(
        self,
        place: World | Trap,
        epsilon: float,
        usual: int,
        seed: int,
        coupling: str | Coupling = "shared",
        least: int = _LEAST,
    ) -> Proportion:
        """Simulate P(Δ > ε) by fitting."""
        world = place.world if isinstance(place, Trap) else place
        return world.estimate_delta_star(
            epsilon,
            self.count(usual, least),
            seed,
            coupling,
            confidence=CONFIDENCE,
            fit=True,
            n_jobs=self.n_jobs,
        )

    def coincidence(self, trap: Trap, rows: tuple[int, int], usual: int, seed: int) -> Proportion:
        """Simulate how often data from P and P′, drawn together, are the same."""
        labeled, unlabeled = rows
        return simulate_coincidence(
            trap,
            n_labeled=labeled,
            n_unlabeled=unlabeled,
            replications=self.count(usual),
            confidence=CONFIDENCE,
            random_state=seed,
        )
