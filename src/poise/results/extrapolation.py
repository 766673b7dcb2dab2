"""What a trend would give at training sizes that nobody tried: a guess, and labelled as one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.errors import ArgumentError
from poise.results.json_encoding import plain
from poise.results.text.numbers import number
from poise.results.text.table import Table
from poise.results.trials import Trials

__all__ = ["Extrapolation", "Trend"]

_TAIL = 0.1  # follow the largest tenth of the changes where no δ is given


@dataclass(frozen=True)
class Extrapolation:
    """What ε and δ would be if changes went on shrinking like a power of n.

    Nothing certifies these numbers: no model was fitted at these sizes, and an
    algorithm may behave differently there.

    Attributes
    ----------
    n : tuple of int
        Training sizes.
    epsilon, delta : tuple of float, or None
        The change exceeded with probability δ, the probability of a change larger than ε.
    exponent : float
        β: changes are taken to shrink like n to the power −β.
    """

    n: tuple[int, ...]
    epsilon: tuple[float, ...] | None
    delta: tuple[float, ...] | None
    exponent: float
    certified: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        content: dict[str, Any] = plain(dict(vars(self)))
        return content

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per training size."""
        import pandas as pd

        columns = {"n": self.n, "epsilon": self.epsilon, "delta": self.delta}
        kept = {name: values for name, values in columns.items() if values is not None}
        return pd.DataFrame(kept | {"certified": False})

    def _repr_html_(self) -> str:
        columns = {"n": self.n, "epsilon": self.epsilon, "delta": self.delta}
        kept = {name: values for name, values in columns.items() if values is not None}
        rows = [[number(value) for value in row] for row in zip(*kept.values(), strict=True)]
        return Table([*kept], rows, "Extrapolated, not certified.").html()


@dataclass(frozen=True)
class Trend:
    """The law of changes keeps its shape and shrinks like n to the power −β.

    β is the slope of a weighted least-squares line through log n and the log of
    the (1−δ)-quantile of the changes. Then Δ·n^β has one law at every n, and all
    changes together are a sample of it.

    Attributes
    ----------
    exponent : float
        β.
    scaled : ndarray
        Δ·n^β of every trial.

    Examples
    --------
    >>> trials = [Trials.from_changes(np.arange(1, 51) / n, n=n) for n in (10, 20, 40)]
    >>> trend = Trend.through(trials, delta=0.1)
    >>> round(trend.exponent, 6), round(trend.epsilon_at(100, delta=0.1), 6)
    (1.0, 0.45)
    """

    exponent: float
    scaled: NDArray[np.float64]

    @classmethod
    def through(cls, trials: Sequence[Trials], delta: float | None) -> Trend | None:
        """Fit the trend; None where fewer than two sizes have a quantile to follow."""
        tail = _TAIL if delta is None else delta
        used = [t for t in trials if 0 < upper_quantile(t.changes, tail) < math.inf]
        if len(used) < 2:
            return None
        sizes = np.log([t.design.n for t in used])
        heights = np.log([upper_quantile(t.changes, tail) for t in used])
        weights = np.sqrt([t.n_observed for t in used])
        slope = float(np.polyfit(sizes, heights, 1, w=weights)[0])
        return cls(-slope, np.concatenate([t.changes * t.design.n**-slope for t in trials]))

    def epsilon_at(self, n: int, delta: float) -> float:
        """Return the change that would be exceeded with probability ``delta`` at n."""
        return float(upper_quantile(self.scaled, delta) * n**-self.exponent)

    def delta_at(self, n: int, epsilon: float) -> float:
        """Return the probability that a change would be larger than ``epsilon`` at n."""
        return float(np.mean(self.scaled * n**-self.exponent > epsilon))

    def size_for(self, epsilon: float, delta: float) -> float:
        """Return the n at which ``epsilon`` would be reached; infinity if changes do not shrink."""
        reached = upper_quantile(self.scaled, delta)
        if self.exponent <= 0 or epsilon <= 0:
            return math.inf
        try:
            return float((reached / epsilon) ** (1 / self.exponent))
        except OverflowError:
            return math.inf

    def extrapolate(
        self, sizes: int | Iterable[int], epsilon: float | None, delta: float | None
    ) -> Extrapolation:
        """Carry the trend on to other training sizes."""
        wanted = sizes if isinstance(sizes, Iterable) else [sizes]
        n = tuple(arguments.training_size(size) for size in wanted)
        return Extrapolation(
            n,
            None if delta is None else tuple(self.epsilon_at(size, delta) for size in n),
            None if epsilon is None else tuple(self.delta_at(size, epsilon) for size in n),
            self.exponent,
        )


def upper_quantile(changes: NDArray[np.float64], delta: float) -> float:
    """Return the smallest change that at most a share ``delta`` of the changes exceed.

    Examples
    --------
    >>> upper_quantile(np.array([1.0, 2.0, 3.0, 4.0]), 0.25)
    3.0
    """
    if len(changes) == 0:
        return math.inf
    ordered = np.sort(changes)
    # The count of larger changes may be at most δ·m; a product a hair below a whole
    # number (0.3 * 10) must still count as that number.
    allowed = math.floor(delta * len(ordered) + 1e-9)
    return float(ordered[len(ordered) - 1 - allowed])


def no_trend() -> ArgumentError:
    """Return the error that says why nothing can be carried on."""
    return ArgumentError(
        "there is no trend to carry on: fewer than two training sizes have changes that are "
        "neither zero nor infinite where delta asks; measure more sizes"
    )
