"""What a picture of changes shows, computed without matplotlib: bars, steps and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise import numbers
from poise.errors import ArgumentError
from poise.results.trials import Trials

if TYPE_CHECKING:
    from poise.results.result import Result

Floats = NDArray[np.float64]

_FEWEST_BARS, _MOST_BARS = 15, 30  # to the end of the axis
SMALLEST, LARGEST = 1e-300, 1e300  # of an axis: further out doubles get coarse or overflow
_MOST_STEPS = 1000  # more of them cannot be seen


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many changes fall into (edge, next edge]; those equal to 0 into the first.

    ε is an edge, so that no bar holds both allowed and larger changes; the edges begin at 0, or
    below it if ε is 0. ``n_beyond`` changes are past the last edge.

    >>> bars = Histogram.of(np.array([0.0, 1.0, 2.0, 4.0, np.inf, np.nan]), epsilon=2.0)
    >>> bars.n_larger, bars.n_infinite, bars.n_failed
    (2, 1, 1)
    """

    edges: Floats
    counts: NDArray[np.int64]
    epsilon: float | None
    n_beyond: int
    n_infinite: int
    n_failed: int

    @classmethod
    def of(cls, changes: Floats, epsilon: float | None = None, end: float = 0.0) -> Histogram:
        """Count changes, nan where one failed, up to the ``end`` of the axis if that is given."""
        if epsilon is not None and epsilon > LARGEST:
            rule = f"must be at most {LARGEST:g} to be drawn"
            raise ArgumentError(rule, argument="epsilon", got=epsilon)
        finite = changes[np.isfinite(changes)]
        bars = min(max(_FEWEST_BARS, round(3.5 * len(finite) ** 0.5)), _MOST_BARS)
        edges = _edges(end or axis_end(finite, epsilon), epsilon, bars)
        drawn = finite[finite <= edges[-1]]
        # Right-closed bars, because a change of exactly ε is still allowed.
        bar = np.maximum(np.searchsorted(edges, drawn, side="left") - 1, 0)
        counts = np.bincount(bar, minlength=len(edges) - 1)
        failed, infinite = int(np.isnan(changes).sum()), int(np.isinf(changes).sum())
        return cls(edges, counts, epsilon, len(finite) - len(drawn), infinite, failed)

    @property
    def large(self) -> NDArray[np.bool_]:
        """Which bars hold changes larger than ε."""
        return self.edges[:-1] >= (np.inf if self.epsilon is None else self.epsilon)

    @property
    def total(self) -> int:
        """Number of all changes, those that could not be measured included."""
        return int(self.counts.sum()) + self.n_beyond + self.n_infinite + self.n_failed

    @property
    def n_larger(self) -> int:
        """Number of changes larger than ε, drawn or not; a failure is none."""
        return int(self.counts[self.large].sum()) + self.n_beyond + self.n_infinite

    def remarks(self) -> list[str]:
        """Say what the bars do not show."""
        notes = {"beyond →": self.n_beyond, "infinite": self.n_infinite, "failed": self.n_failed}
        return [f"{count:,} {what}" for what, count in notes.items() if count]


def axis_end(finite: Floats, epsilon: float | None = None) -> float:
    """Return where the axis of changes ends: before the tail, if that is far from the rest."""
    largest = 1.05 * min(float(finite.max(initial=0.0)), LARGEST)
    bulk = 4 * float(np.quantile(finite, 0.8, method="lower")) if len(finite) else 0.0
    allowed = epsilon or 0.0
    near = max(bulk, 5 * allowed)
    end = near if largest > 2 * near > 0 else largest
    return min(max(end, 1.1 * allowed) or 1.0, 1.1 * LARGEST)


def _edges(end: float, epsilon: float | None, bars: int) -> Floats:
    """Return bars of one width up to ``end`` or a little further, one of them ending at ε."""
    width = max(end, SMALLEST) / bars
    at = round(epsilon / width) if epsilon else 0
    if epsilon and at:
        width = epsilon / at
    count = max(at, int(np.ceil(end / width - 1e-9)), 1)
    edges = width * np.arange(count + 1, dtype=np.float64)
    if epsilon is None:
        return edges
    if epsilon == 0:
        return np.append(-width, edges)  # a bar for changes of exactly 0, which are allowed
    if at:
        edges[at] = epsilon  # to the last bit: the count depends on it
        return edges
    return np.insert(edges, 1, epsilon)  # far below the width of a bar


@dataclass(frozen=True, eq=False)
class Steps:
    """Corners of two functions of ε: the limit for a larger change, and the share that was seen.

    >>> changes, band = np.array([0.0, 1.0, 2.0, 2.0]), (np.array([0.0, 2.0]), np.array([1.0, 0.6]))
    >>> steps = Steps.of(band, changes)
    >>> steps.limit.tolist(), steps.seen.tolist()
    ([1.0, 1.0, 0.6, 0.6], [0.75, 0.5, 0.0, 0.0])
    """

    epsilon: Floats  # from 0; the last one only ends the picture
    limit: Floats
    seen: Floats  # failures are not larger changes

    @classmethod
    def of(cls, band: tuple[Floats, Floats], changes: Floats, end: float = 0.0) -> Steps:
        """Join the steps of a band and those of the changes, up to ``end`` if that is given."""
        begins, limits = band
        finite = np.sort(changes[np.isfinite(changes)])
        steps = np.unique(np.concatenate([begins, finite]))
        # A step that is left out keeps the limit before it, which is the larger one.
        steps = steps[:: -(-len(steps) // _MOST_STEPS)]
        end = end or min(1.05 * float(steps[-1]), LARGEST) or 1.0
        steps = np.append(steps[steps < end], end)
        larger = len(finite) - np.searchsorted(finite, steps, side="right")
        seen = (larger + np.isposinf(changes).sum()) / max(1, len(changes))
        return cls(steps, limits[np.searchsorted(begins, steps, side="right") - 1], seen)


@dataclass(frozen=True)
class Mark:
    """A question, and the limits that belong to its verdict.

    "stable" is marked with its upper limit, "unstable" with its lower one, "inconclusive" with
    both, which hold together. A limit on the other side of δ, as the averaged test may have it, is
    left out. Without a verdict, ``limit`` is the change that at most a share δ exceeds.

    >>> from poise import Trials
    >>> mark = Mark.of(Trials.from_changes([0.1] * 40, n=10).test(epsilon=0.2, delta=0.1))
    >>> mark.low, mark.seen, round(mark.high, 4), mark.scope
    (None, 0.0, 0.0722, 'limit (95%)')
    """

    delta: float
    alpha: float
    seen: float
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    epsilon: float | None = None
    limit: float | None = None

    @classmethod
    def of(cls, answer: Result | Trials) -> Mark:
        """Choose the limits of a result, or those at the δ that trials were begun with."""
        if isinstance(answer, Trials):
            delta, alpha = answer.delta, answer.design.level
            if (limit := answer.epsilon_upper(delta, alpha)) is not None:
                return cls(delta, alpha, 0.0, limit=limit)
            return cls(delta, alpha, answer.observed(), high=answer.delta_upper(alpha=alpha))
        asked = (answer.delta, answer.question.level, answer.delta_observed)
        return cls(*asked, *_limits(answer), answer.verdict, answer.epsilon)

    @property
    def scope(self) -> str:
        """Say what the whiskers are."""
        if self.low is None and self.high is None:
            return "seen"
        both = self.low is not None and self.high is not None
        return f"{'interval' if both else 'limit'} ({numbers.confidence(self.alpha)})"

    @property
    def reach(self) -> list[list[float]]:
        """How far the limits are below and above what was seen; 0 where there is none."""
        low = self.seen if self.low is None else self.low
        high = self.seen if self.high is None else self.high
        return [[max(0.0, self.seen - low)], [max(0.0, high - self.seen)]]


def _limits(result: Result) -> tuple[float | None, float | None]:
    upper, lower, delta = result.delta_upper, result.delta_lower, result.delta
    if result.verdict == "stable":
        return None, upper if upper <= delta else None
    if result.verdict == "unstable":
        return lower if lower >= delta else None, None
    low, high = result.delta_interval
    return (low, high) if low <= delta <= high else (None, None)
