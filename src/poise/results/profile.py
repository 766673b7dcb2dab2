"""The curve of limits for all epsilon at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import checks
from poise.errors import ArgumentError
from poise.numbers import at_most
from poise.results.plots import Shown, as_frame
from poise.results.question import Floats, read_by

if TYPE_CHECKING:
    import pandas as pd

    from poise.theory.changes import Changes

_MOST = 20_000_000  # changes, or trials, that a curve is computed of
_MOST_DRAWN = 1000  # steps: more of them cannot be seen


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Shown):
    """Limits for P(change > epsilon) that hold for all epsilon at once.

    With confidence 1 - alpha the probability is at most the limit at every epsilon, so epsilon may
    be chosen by looking at the curve. From ``epsilon[i]`` on, the limit is ``delta[i]``.

    Attributes
    ----------
    epsilon : ndarray
        Where limits or shares step down; the first is 0.
    delta : ndarray
        The limits, falling.
    observed : ndarray
        Observed shares of larger changes; a failure is none.
    alpha : float
        One minus the confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from poise.results.trials import Trials
    >>> profile = Trials.from_changes(np.linspace(0, 1, 50), n=10).profile()
    >>> bool(profile.at(0.9) < profile.at(0.5)), profile.epsilon_for(0.0)
    (True, inf)
    """

    drawn_by = "plot_profile"

    epsilon: Floats
    delta: Floats
    observed: Floats
    alpha: float

    @classmethod
    def of(cls, table: Changes, law: ModuleType, alpha: float, **options: Any) -> Profile:
        """Compute the curve by the law that reads these changes."""
        if max(table.n_trials, table.values.size) > _MOST:
            raise ArgumentError(f"a profile needs at most {_MOST:,} changes; ask for single limits")
        begins, limits = law.profile(table, alpha, **options)
        read = read_by(law, table)
        known = np.sort(read[~np.isnan(read)])
        steps = np.unique(np.concatenate([begins, known[known < math.inf]]))
        limits = limits[np.searchsorted(begins, steps, side="right") - 1]
        larger = known.size - np.searchsorted(known, steps, side="right")
        return cls(steps, limits, larger / max(1, read.size), alpha)

    def __repr__(self) -> str:
        steps = checks.counted(len(self.epsilon), "step")
        last = f"P(change > {at_most(self.epsilon[-1])}) <= {at_most(self.delta[-1])}"
        return f"Profile({steps} down to {last}, alpha={self.alpha})"

    def at(self, epsilon: float) -> float:
        """Return the limit for P(change > epsilon)."""
        place = np.searchsorted(self.epsilon, checks.epsilon(epsilon), side="right") - 1
        return float(self.delta[place])

    def epsilon_for(self, delta: float) -> float:
        """Return the smallest epsilon with a limit of at most delta; infinite if there is none."""
        good = np.flatnonzero(self.delta <= checks.delta(delta))
        return float(self.epsilon[good[0]]) if good.size else math.inf

    def corners(self, end: float) -> tuple[Floats, Floats, Floats]:
        """Return the steps up to ``end`` with limits and shares, as many as can be seen."""
        inside = np.flatnonzero(self.epsilon < end)
        # A step that is left out keeps the limit before it, which is the larger one.
        kept = inside[:: -(-len(inside) // _MOST_DRAWN)]
        place = np.append(kept, inside[-1])
        return np.append(self.epsilon[kept], end), self.delta[place], self.observed[place]

    def to_frame(self) -> pd.DataFrame:
        """Return the steps as a frame."""
        columns = {"epsilon": self.epsilon, "observed": self.observed, "delta": self.delta}
        return as_frame(columns)
