"""Stability against the training size: what is certified, and apart from it what is guessed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poise.errors import ArgumentError
from poise.results.extrapolation import Extrapolation, Trend, no_trend, upper_quantile
from poise.results.json_encoding import plain, to_json
from poise.results.text.numbers import at_most, confidence, exactly, number
from poise.results.text.table import Table
from poise.results.trials import Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["StabilityCurve"]


@dataclass(frozen=True)
class StabilityCurve:
    """ε̂ and δ̂ at several training sizes, valid for all of them at once.

    With probability at least 1 − α every limit of the curve holds: ε*_δ ≤
    ``epsilon_hat[i]`` and δ*_ε ≤ ``delta_hat[i]`` at each ``n[i]`` (Proposition 1
    at level α divided by the number of limits, Bonferroni).

    Nothing is certified between the sizes or beyond them: :meth:`extrapolate`
    guesses there, and says so.

    Attributes
    ----------
    trials : tuple of Trials
        The measurement at each training size, in increasing order.
    epsilon, delta : float or None
        The question: δ̂ is for this ε, ε̂ for this δ. One of them may be None.
    alpha : float
        Error level of the whole curve.

    Examples
    --------
    >>> import numpy as np
    >>> trials = [Trials.from_changes(np.arange(1, 51) / n, n=n) for n in (10, 20, 40)]
    >>> curve = StabilityCurve(tuple(trials), epsilon=None, delta=0.2)
    >>> curve.n, curve.epsilon_hat
    ((10, 20, 40), (4.7, 2.35, 1.175))
    >>> guess = curve.extrapolate(100)
    >>> guess.certified, round(guess.epsilon[0], 6)
    (False, 0.4)
    """

    trials: tuple[Trials, ...] = field(repr=False)
    epsilon: float | None
    delta: float | None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not self.trials or (self.epsilon is None and self.delta is None):
            raise ArgumentError("a curve needs trials, and epsilon or delta (or both)")

    @property
    def n(self) -> tuple[int, ...]:
        """The training sizes."""
        return tuple(t.design.n for t in self.trials)

    @property
    def level(self) -> float:
        """Error level of a single limit: α shared out among all of them."""
        asked = (self.epsilon is not None) + (self.delta is not None)
        return self.alpha / (asked * len(self.trials))

    @cached_property
    def epsilon_hat(self) -> tuple[float, ...] | None:
        """Upper limits for ε*_δ, one per training size; None if no δ was given."""
        if self.delta is None:
            return None
        return tuple(t.epsilon_hat(self.delta, self.level) for t in self.trials)

    @cached_property
    def delta_hat(self) -> tuple[float, ...] | None:
        """Upper limits for δ*_ε, one per training size; None if no ε was given."""
        if self.epsilon is None:
            return None
        return tuple(t.delta_hat(self.epsilon, self.level) for t in self.trials)

    @property
    def observed_epsilon(self) -> tuple[float, ...] | None:
        """The (1−δ)-quantile of the changes that were seen: an estimate, not a limit."""
        if self.delta is None:
            return None
        return tuple(upper_quantile(t.changes, self.delta) for t in self.trials)

    @property
    def observed_delta(self) -> tuple[float, ...] | None:
        """The share of changes larger than ε that was seen: an estimate, not a limit."""
        if self.epsilon is None:
            return None
        epsilon = self.epsilon
        return tuple(t.exceedances(epsilon) / max(1, t.n_observed) for t in self.trials)

    @property
    def certified(self) -> tuple[int, ...]:
        """Sizes at which (ε, δ)-stability is certified, all at once; needs both ε and δ."""
        if self.delta is None or self.delta_hat is None:
            return ()
        pairs = zip(self.n, self.delta_hat, strict=True)
        return tuple(n for n, limit in pairs if limit <= self.delta)

    @cached_property
    def trend(self) -> Trend | None:
        """How changes shrink with n, as far as they show it; None where they do not."""
        return Trend.through(self.trials, self.delta)

    def extrapolate(self, n: int | Iterable[int]) -> Extrapolation:
        """Guess ε and δ at other training sizes; nothing certifies the answer.

        Parameters
        ----------
        n : int or iterable of int
            Training sizes, at least 2.
        """
        if self.trend is None:
            raise no_trend()
        return self.trend.extrapolate(n, self.epsilon, self.delta)

    def columns(self) -> dict[str, tuple[Any, ...]]:
        """Return what is known at each training size, by name; what was not asked is left out."""
        found = {
            "n": self.n,
            "n_trials": tuple(t.n_trials for t in self.trials),
            "epsilon_hat": self.epsilon_hat,
            "observed_epsilon": self.observed_epsilon,
            "delta_hat": self.delta_hat,
            "observed_delta": self.observed_delta,
        }
        return {name: values for name, values in found.items() if values is not None}

    def table(self) -> Table:
        """Return one line per training size, in words."""
        worded = [
            # A limit is rounded up; what was seen, to the nearest.
            [at_most(value) if name.endswith("_hat") else number(value) for value in values]
            for name, values in self.columns().items()
        ]
        rows = [list(row) for row in zip(*worded, strict=True)]
        return Table(list(self.columns()), rows, self.headline())

    def headline(self) -> str:
        """Say what was asked, of which algorithm."""
        asked = {"epsilon": self.epsilon, "delta": self.delta}
        given = ", ".join(f"{name} = {exactly(v)}" for name, v in asked.items() if v is not None)
        return f"{self.trials[0].design.title} at {len(self.n)} training sizes ({given})."

    def meaning(self) -> str:
        """Say what is certified and, apart from it, what is only guessed."""
        sure = confidence(self.alpha)
        parts = [f"Certified with confidence {sure}, all at once: the columns with a hat."]
        if self.epsilon is not None and self.delta is not None:
            listed = ", ".join(map(str, self.certified))
            where = f"n = {listed}" if listed else "none of these sizes"
            parts.append(f"Certified to be stable at {where}.")
        return "\n".join([*parts, self._guess()])

    def _guess(self) -> str:
        if self.trend is None:
            return "Not certified: the changes show no trend that could be carried on."
        text = f"Not certified: changes seem to shrink like n^-{self.trend.exponent:.2g}"
        if self.trend.exponent <= 0:
            text = "Not certified: changes do not seem to shrink as n grows"
        elif self.epsilon and self.delta is not None and not self.certified:
            size = self.trend.size_for(self.epsilon, self.delta)
            where = "at no n that could be named"
            if math.isfinite(size):
                where = f"near n = {number(math.ceil(size))}"
            text += f"; if that went on, epsilon would be reached {where}"
        return text + "."

    def summary(self) -> str:
        """Return headline, table and what they mean."""
        return f"{self.headline()}\n\n{self.table().text()}\n\n{self.meaning()}"

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value; certified and guessed numbers kept apart."""
        content: dict[str, Any] = plain(
            {
                "algorithm": self.trials[0].design.algorithm,
                "epsilon": self.epsilon,
                "delta": self.delta,
                "alpha": self.alpha,
                "level": self.level,
                "sizes": self.columns(),
                "certified": self.certified,
                "not_certified": {"exponent": None if self.trend is None else self.trend.exponent},
            }
        )
        return content

    def to_json(self, indent: int | None = 2) -> str:
        """Write the numbers as JSON."""
        return to_json(self.to_dict(), indent)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per training size."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw limits and estimates against n, the guess dashed; return the figure, or ``ax``."""
        from poise.results.plots.curve import plot_curve

        return plot_curve(self, ax, title=title, figsize=figsize)

    def _repr_html_(self) -> str:
        return self.table().html()

    def __str__(self) -> str:
        return self.summary()
