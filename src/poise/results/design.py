"""What was asked of which data: everything about a run that is known before a fit."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from poise import arguments
from poise.theory.trials import kappa, n_trials

__all__ = ["Design"]

# A ceiling is proved by an algorithm whose prediction jumps by more than ε: there must be room.
_LARGEST_CHANGE = {
    "auto": math.inf,
    "absolute": math.inf,
    "euclidean": math.inf,
    "label": 1.0,
    "total_variation": 1.0,
}


@dataclass(frozen=True)
class Design:
    """The setting of a measurement.

    Attributes
    ----------
    algorithm : str
        The algorithm's name and parameters.
    n : int
        Training size whose stability is asked: rows, or groups if there are any.
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
    remove : int
        How many of the n rows (or groups) the second fit of a trial goes without.
    replace : bool
        Whether fresh ones take their place.
    n_groups : int or None
        Number of groups, if whole groups are kept and removed together.
    labeled_test : bool
        Whether test rows must have a response, as changes of a loss need.
    name : str
        What headlines call the algorithm; "" for a short form of ``algorithm``.
    spread : float or None
        Standard deviation of the responses of the rows set aside, if there are any.
    set_aside : int
        Rows that were set aside to find it, and are not among ``n_labeled``.

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
    remove: int = 1
    replace: bool = False
    n_groups: int | None = None
    labeled_test: bool = False
    name: str = ""
    spread: float | None = None
    set_aside: int = 0

    @property
    def title(self) -> str:
        """What headlines call the algorithm.

        Examples
        --------
        >>> Design("Ridge()", 20, 442).title, Design("Ridge()", 20, 442, name="ridge").title
        ('Ridge()', 'ridge')
        """
        return self.name or arguments.shortened(self.algorithm)

    @property
    def unit(self) -> str:
        """What is kept or removed as a whole: ``"row"`` or ``"group"``."""
        return "row" if self.n_groups is None else "group"

    @property
    def n_units(self) -> int:
        """Labelled units: rows, or groups."""
        return self.n_labeled if self.n_groups is None else self.n_groups

    @property
    def training_units(self) -> int:
        """Labelled units that one trial trains on: n, and the fresh ones that replace some."""
        return self.n + (self.remove if self.replace else 0)

    @cached_property
    def n_trials(self) -> int:
        """Number of independent trials the data hold, ⌊κ⌋."""
        return int(n_trials(self.training_units, self.n_units, self.spare_points))

    @property
    def kappa(self) -> Fraction:
        """κ = min{N_ℓ/n, (N_ℓ+N_u)/(n+1)}, before it is rounded down to a number of trials.

        N_ℓ counts groups if there are any. Replacing k units takes n+k of them
        instead of n; a labelled test row leaves N_u out: κ = N_ℓ/(n+1).
        """
        return kappa(self.training_units, self.n_units, self.spare_points)

    @property
    def spare_points(self) -> int:
        """Unlabelled rows that can serve as test points."""
        return 0 if self.labeled_test else self.n_unlabeled

    @property
    def is_papers(self) -> bool:
        """Whether one row is removed and predictions are compared: the setting of the paper."""
        one_row = self.remove == 1 and not self.replace and self.n_groups is None
        return one_row and not self.labeled_test

    def ceiling(self, delta: float, alpha: float, epsilon: float = 0.0) -> float | None:
        """Return the largest power any valid black-box test can have here (Theorem 2).

        None where no ceiling is known: for variants of the paper's setting, for
        a user's own distance, and where ε is as large as the distance can be.
        """
        from poise.theory.power_bounds import power_bound

        if not self.is_papers or epsilon >= _LARGEST_CHANGE.get(self.distance, 0.0):
            return None
        return float(
            power_bound(self.n, self.n_labeled, self.n_unlabeled, delta=delta, alpha=alpha)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)
