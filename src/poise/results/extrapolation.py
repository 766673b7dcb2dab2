"""Extrapolation to other training sizes, under an assumption.

The measured sizes do not tell how changes shrink at larger sizes: the changes of ordinary least
squares shrink fast until n is several times the number of columns, and slowly after that. A line
through the measured sizes predicts changes that are three to five times too small. So nothing is
fitted here. The user states how fast changes shrink at least, and the limits at the measured
sizes are carried on to larger sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from poise import arguments
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import at_most, number
from poise.errors import ArgumentError
from poise.results.json_encoding import plain
from poise.results.text.table import TextTable
from poise.results.trials import Trials

__all__ = ["ASSUMPTIONS", "CarriedOn", "Extrapolation", "assumed", "carry_on", "shrinkage_seen"]

# Exponents that are worth reporting, in words: what is assumed beyond the sizes measured.
ASSUMPTIONS = {
    0.0: "do not grow with n",
    0.5: "shrink at least like 1/sqrt(n)",
    1.0: "shrink at least like 1/n",
}


@dataclass(frozen=True)
class Extrapolation(ShownAsCard):
    """Limits at larger training sizes, which hold if changes shrink as was assumed.

    With probability at least 1 − α, all of them hold at once if from every measured
    size n₀ on changes are at most (n₀/n)^β times as large in law: P{Δ_n > (n₀/n)^β t}
    ≤ P{Δ_n₀ > t} for all t. The data cannot tell whether the assumption is true, and no model was
    fitted at these sizes: ``certified`` is False.

    Attributes
    ----------
    n : tuple of int
        Training sizes.
    epsilon, delta : tuple of float, or None
        Upper limits for the change exceeded with probability δ, and for the
        probability of a change larger than ε.
    exponent : float
        β, as assumed.
    alpha : float
        Error level of all limits together, if the assumption holds.
    """

    n: tuple[int, ...]
    epsilon: tuple[float, ...] | None
    delta: tuple[float, ...] | None
    exponent: float
    alpha: float
    certified: bool = False

    def columns(self) -> dict[str, tuple[Any, ...]]:
        """Return the limits by name; what was not asked is left out."""
        found = {"n": self.n, "epsilon": self.epsilon, "delta": self.delta}
        return {name: values for name, values in found.items() if values is not None}

    def headline(self) -> str:
        """Say under which assumption these are limits."""
        return f"Not certified: limits if changes {assumed(self.exponent)}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        content: dict[str, Any] = plain(dict(vars(self)))
        return content

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per training size."""
        import pandas as pd

        return pd.DataFrame(self.columns() | {"certified": False})

    def table(self) -> TextTable:
        """Return one line per training size, in words."""
        columns = self.columns()
        rows = [
            [number(n), *map(at_most, limits)] for n, *limits in zip(*columns.values(), strict=True)
        ]
        return TextTable([*columns], rows, self.headline())

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the assumed limits against n; return the figure, or ``ax``."""
        from poise.results.plots.extrapolated import plot_extrapolation

        return plot_extrapolation(self, ax, title=title, figsize=figsize)

    def _card(self) -> Card:
        table = replace(self.table(), caption="")
        return Card(self.headline(), "assumed", tables=[table], draw=self.plot)

    def __str__(self) -> str:
        return f"{self.headline()}\n\n{self.table().text()}"


def assumed(exponent: float) -> str:
    """Say how fast changes are assumed to shrink.

    Examples
    --------
    >>> assumed(1.0), assumed(0.8)
    ('shrink at least like 1/n', 'shrink at least like n^-0.8')
    """
    return ASSUMPTIONS.get(exponent, f"shrink at least like n^-{number(exponent)}")


@dataclass(frozen=True)
class CarriedOn:
    """Limits at measured sizes, carried on to larger ones.

    Attributes
    ----------
    trials : sequence of Trials
        The measurements.
    level : float
        Error level of a single limit.
    exponent : float
        β, at least 0: changes are assumed to shrink at least like n to the power −β.

    Examples
    --------
    >>> trials = [Trials.from_changes([1 / n] * 50, n=n) for n in (10, 20)]
    >>> round(CarriedOn(trials, level=0.05, exponent=1.0).epsilon_at(200, delta=0.1), 12)
    0.005
    """

    trials: Sequence[Trials]
    level: float
    exponent: float

    def __post_init__(self) -> None:
        if not (isinstance(self.exponent, (int, float)) and 0 <= self.exponent < math.inf):
            raise ArgumentError(
                "exponent must be a number >= 0: changes are assumed to shrink at least like n to "
                f"the power -exponent; got {self.exponent!r}"
            )

    def epsilon_at(self, n: int, delta: float) -> float:
        """Return an upper limit for the change exceeded with probability ``delta`` at n."""
        return min(
            t.epsilon_hat(delta, self.level) * self._factor(t, n) for t in self._not_larger(n)
        )

    def delta_at(self, n: int, epsilon: float) -> float:
        """Return an upper limit for the probability of a change larger than ``epsilon`` at n."""
        return min(
            t.delta_hat(epsilon / self._factor(t, n), self.level) for t in self._not_larger(n)
        )

    def size_for(self, epsilon: float, delta: float) -> float:
        """Return the smallest n at which the limit is ``epsilon``; infinity if there is none."""
        return min(self._size_from(t, epsilon, delta) for t in self.trials)

    def _size_from(self, trials: Trials, epsilon: float, delta: float) -> float:
        limit, n = trials.epsilon_hat(delta, self.level), trials.design.n
        if limit <= epsilon:
            return n
        if epsilon <= 0 or self.exponent == 0 or not math.isfinite(limit):
            return math.inf
        return n * math.exp(min(math.log(limit / epsilon) / self.exponent, 700.0))

    def _factor(self, trials: Trials, n: int) -> float:
        return float((trials.design.n / n) ** self.exponent)

    def _not_larger(self, n: int) -> list[Trials]:
        found = [t for t in self.trials if t.design.n <= n]
        if not found:
            smallest = min(t.design.n for t in self.trials)
            raise ArgumentError(
                f"n must be at least the smallest size measured ({smallest}), got {n}: changes "
                "are carried on to larger sizes only"
            )
        return found


def carry_on(
    carried: CarriedOn,
    sizes: int | Iterable[int],
    question: tuple[float | None, float | None],
    alpha: float,
) -> Extrapolation:
    """Carry limits on to these sizes; ``question`` is ε and δ, either of which may be None."""
    wanted = sizes if isinstance(sizes, Iterable) else [sizes]
    n = tuple(arguments.training_size(size) for size in wanted)
    epsilon, delta = question
    # The limits for δ are at another ε for each n, so each n has its share of the level.
    shared = replace(carried, level=carried.level / max(1, len(n)))
    return Extrapolation(
        n,
        None if delta is None else tuple(carried.epsilon_at(size, delta) for size in n),
        None if epsilon is None else tuple(shared.delta_at(size, epsilon) for size in n),
        float(carried.exponent),
        alpha,
    )


def shrinkage_seen(
    trials: Sequence[Trials], delta: float, alpha: float
) -> tuple[float, float] | None:
    """Return limits for the exponent with which changes shrank between measured sizes.

    With probability at least 1 − α, ε*_δ at the largest size is between (n₁/n₂)^high
    and (n₁/n₂)^low times what it is at the smallest: order statistics give limits for
    either, at level α/4 each. Sizes with too few trials for that are left out; None if
    fewer than two remain.

    Examples
    --------
    >>> import numpy as np
    >>> trials = [Trials.from_changes(np.arange(1, 1001) / n, n=n) for n in (10, 100)]
    >>> low, high = shrinkage_seen(trials, delta=0.5, alpha=0.05)
    >>> round(low, 2), round(high, 2)
    (0.94, 1.06)
    """
    limits = [(t.design.n, *_both_limits(t, delta, alpha / 4)) for t in trials]
    known = [(n, low, high) for n, low, high in limits if low > 0 and high < math.inf]
    if len(known) < 2:
        return None
    (first, first_low, first_high), (last, last_low, last_high) = known[0], known[-1]
    span = math.log(last / first)
    return math.log(first_low / last_high) / span, math.log(first_high / last_low) / span


def _both_limits(trials: Trials, delta: float, alpha: float) -> tuple[float, float]:
    """Return a lower and an upper limit for ε*_δ, each at level α."""
    return trials.epsilon_lower(delta, alpha), trials.epsilon_hat(delta, alpha)
