"""The profile ε ↦ δ̂_ε: a limit on the probability of each change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import arguments
from poise.arguments.field_rules import Count, Epsilon, ErrorLevel, Probability
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import at_most, confidence, exactly
from poise.arguments.typed_fields import read_object
from poise.errors import ArgumentError
from poise.results.design import Design
from poise.results.json_encoding import fields_of, to_json
from poise.results.text.describe_design import moved, perturbation
from poise.results.text.summary import in_words
from poise.results.text.table import TextTable
from poise.results.text.verdict_cells import DELTA_LIMIT, LARGER, larger_of
from poise.theory.scalars import FloatOrArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Profile"]

_MOST_ROWS = 16  # of a table that people read


@dataclass(frozen=True, eq=False)
class Profile(ShownAsCard):
    """An upper band for δ*_ε, for every ε at once.

    With probability at least 1 − α, δ*_ε ≤ ``delta_hat[j]`` for every ε in
    [``epsilon[j]``, ``epsilon[j+1]``) and every j together, so ε may be chosen after looking at
    the data. With ``band="pointwise"`` that holds only for one ε fixed beforehand.

    Attributes
    ----------
    epsilon : ndarray
        The distinct changes that were measured, in increasing order, from 0.
    delta_hat : ndarray
        Upper confidence limit for the probability of a larger change.
    exceedances : ndarray of int, or of float
        How many of the trials changed by more than ``epsilon``; a trial of several changes
        counts with its share of them.
    band : str
        Which band this is.
    alpha : float
        Its error level.
    design : Design
        What was measured.
    warnings : tuple of str
        What was noticed that may make its error level wrong.
    n_failures : int
        Trials that failed; they are among the ``exceedances`` at every ε.

    See Also
    --------
    Trials, poise.theory.profile_band

    Examples
    --------
    >>> from poise import Trials
    >>> profile = Trials.from_changes([0.0, 0.1, 0.2, 0.4], n=5).profile(alpha=0.1)
    >>> bool(profile.at(0.4) < profile.at(0.1))
    True
    """

    epsilon: NDArray[np.float64]
    delta_hat: NDArray[np.float64]
    exceedances: NDArray[np.int64] | NDArray[np.float64]
    band: str
    alpha: float
    design: Design
    warnings: tuple[str, ...] = ()
    n_failures: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Profile):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.design, self.band, self.alpha, self.delta_hat.tobytes()))

    def __repr__(self) -> str:
        return (
            f"Profile({self.band}, alpha={exactly(self.alpha)}, {len(self.epsilon):,} steps, "
            f"delta_hat from {at_most(self.delta_hat[0])} to {at_most(self.delta_hat[-1])})"
        )

    @property
    def simultaneous(self) -> bool:
        """Whether the statement holds for every ε at once."""
        return self.band != "pointwise"

    def at(self, epsilon: ArrayLike) -> FloatOrArray:
        """Return δ̂ at any ε (the band is a step function, constant between changes)."""
        wanted = arguments.epsilon(epsilon)
        position = np.searchsorted(self.epsilon, wanted, side="right") - 1
        values = self.delta_hat[position]
        return values if values.ndim else float(values)

    def epsilon_for(self, delta: float) -> float:
        """Return the smallest ε whose δ̂ is at most ``delta``; infinity if there is none."""
        allowed = float(arguments.delta(delta))
        good = np.flatnonzero(self.delta_hat <= allowed)
        return float(self.epsilon[good[0]]) if len(good) else float("inf")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "band": self.band,
            "alpha": self.alpha,
            "epsilon": self.epsilon.tolist(),
            "delta_hat": self.delta_hat.tolist(),
            "exceedances": self.exceedances.tolist(),
            "design": self.design.to_dict(),
            "warnings": list(self.warnings),
            "n_failures": self.n_failures,
        }

    def to_json(self, indent: int | None = None) -> str:
        """Write the band as JSON; :meth:`from_json` reads it back exactly."""
        return to_json(self.to_dict(), indent)

    @classmethod
    def from_json(cls, text: str) -> Profile:
        """Read a band written by :meth:`to_json`."""
        names = ("epsilon", "delta_hat", "exceedances", "band", "alpha", "design")
        content = fields_of(text, names, "a profile")
        written = read_object(_Written, content, "a profile", derived=True)
        return cls(
            np.array(written.epsilon, dtype=np.float64),
            np.array(written.delta_hat, dtype=np.float64),
            np.array(written.exceedances),
            written.band,
            written.alpha,
            written.design,
            written.warnings,
            written.n_failures,
        )

    def statement(self) -> str:
        """Say what the limits mean."""
        scope = "for every epsilon at once" if self.simultaneous else "for one epsilon fixed before"
        return (
            f"With confidence {confidence(self.alpha)}, {scope}: {perturbation(self.design)} moves "
            f"a {moved(self.design)} by more than epsilon with probability at most delta_hat."
        )

    def table(self, epsilon: Sequence[float] = ()) -> TextTable:
        """Return what the band says at these ε, or at a readable number of its steps."""
        total = self.design.n_trials
        # A step is written rounded up: at a smaller ε its limit would not hold.
        chosen = {float(e): exactly(e) for e in epsilon}
        if not chosen:
            chosen = {float(e): at_most(e) for e in self.epsilon[_spread(len(self.epsilon))]}
        rows = [
            [
                written,
                larger_of(self._larger(e) - self.n_failures, total, self.n_failures),
                at_most(self.at(e)),
            ]
            for e, written in chosen.items()
        ]
        caption = "\n".join([*in_words(self.warnings), self.statement()])
        return TextTable(["epsilon", LARGER, DELTA_LIMIT], rows, caption)

    def _larger(self, epsilon: float) -> float:
        position = np.searchsorted(self.epsilon, epsilon, side="right") - 1
        return float(self.exceedances[position])

    def _card(self) -> Card:
        title = f"{self.design.title} at n = {self.design.n:,}."
        said, table = [self.statement()], replace(self.table(), caption="")
        return Card(title, "profile", said, self.warnings, tables=[table], draw=self.plot)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per step of the band."""
        import pandas as pd

        return pd.DataFrame(
            {
                "epsilon": self.epsilon,
                "exceedances": self.exceedances,
                "delta_hat": self.delta_hat,
            }
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the band as a step function; return the figure, or ``ax``."""
        from poise.results.plots import plot_profile

        return plot_profile(self, ax, title=title, figsize=figsize)


@dataclass(frozen=True)
class _Written:
    """What a file holds of a profile."""

    epsilon: tuple[Epsilon, ...]
    delta_hat: tuple[Probability, ...]
    exceedances: tuple[Count, ...] | tuple[Epsilon, ...]
    band: str
    alpha: ErrorLevel
    design: Design
    warnings: tuple[str, ...] = ()  # not in files of 0.1.0
    n_failures: Count = 0

    def __post_init__(self) -> None:
        from poise.theory.bands import BANDS

        arguments.choice("band", self.band, (*BANDS, "averaged"))
        steps = np.array(self.epsilon, dtype=np.float64)
        same = len(steps) == len(self.delta_hat) == len(self.exceedances) > 0
        if not same or steps[0] != 0 or not (np.diff(steps) > 0).all():
            raise ArgumentError("its steps do not go up from 0")
        if not self.n_failures <= max(self.exceedances) <= self.design.n_trials:
            raise ArgumentError("its counts contradict")


def _spread(n_steps: int) -> list[int]:
    """Return the first step, the last, and evenly spaced steps in between."""
    return sorted(set(np.linspace(0, n_steps - 1, min(n_steps, _MOST_ROWS)).round().astype(int)))
