"""What was asked of which data: everything about a run that is known before a fit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from poise.theory.trials import kappa, n_trials

__all__ = ["Design"]


@dataclass(frozen=True)
class Design:
    """The setting of a measurement.

    Attributes
    ----------
    algorithm : str
        The algorithm's name and parameters.
    n : int
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int
        Rows available.
    coupling : str
        How the two fits of a trial share randomness.
    distance : str
        How far apart two predictions are.
    seed : int
        Root seed; with the same data and arguments it gives the same changes.
    zeta : float
        The test's own uniform number, used only by randomised decisions.
    shuffle : bool
        Whether rows were put in random order before they were split.
    path : str
        How the changes were computed: fit by fit, or the name of an exact shortcut.

    Examples
    --------
    >>> design = Design("Ridge()", n=20, n_labeled=442, n_unlabeled=0)
    >>> design.n_trials, float(design.kappa)
    (21, 21.047619047619047)
    """

    algorithm: str
    n: int
    n_labeled: int
    n_unlabeled: int = 0
    coupling: str = "shared"
    distance: str = "euclidean"
    seed: int = 0
    zeta: float = 1.0
    shuffle: bool = True
    path: str = "fit by fit"

    @property
    def n_trials(self) -> int:
        """Number of independent trials the data hold, ⌊κ⌋."""
        return int(n_trials(self.n, self.n_labeled, self.n_unlabeled))

    @property
    def kappa(self) -> Fraction:
        """κ = min{N_ℓ/n, (N_ℓ+N_u)/(n+1)}."""
        return kappa(self.n, self.n_labeled, self.n_unlabeled)

    def ceiling(self, delta: float, alpha: float) -> float:
        """Return the largest power any valid black-box test can have here (Theorem 2)."""
        from poise.theory.bounds import power_bound

        return float(
            power_bound(self.n, self.n_labeled, self.n_unlabeled, delta=delta, alpha=alpha)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)
