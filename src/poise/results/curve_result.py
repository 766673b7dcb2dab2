"""Stability as a function of the training size: certified and extrapolated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.printed_numbers import at_least, at_most, confidence, exactly, number
from poise.errors import ArgumentError
from poise.results.extrapolation import (
    ASSUMPTIONS,
    CarriedOn,
    Extrapolation,
    assumed,
    carry_on,
    shrinkage_seen,
)
from poise.results.json_encoding import plain, to_json
from poise.results.judged_together import JudgedTogether, judged_together
from poise.results.ledger_note import LedgerNote
from poise.results.presented_result import PresentedTable
from poise.results.text.describe_design import allowed_change
from poise.results.text.summary import distinct_warnings, in_words
from poise.results.text.table import TextTable
from poise.results.text.verdict_cells import ADJUSTED, DELTA_LIMIT, EPSILON_LIMIT
from poise.results.trials import Trials
from poise.theory.rounding import NEAR_WHOLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["StabilityCurve", "upper_quantile"]

_HEADINGS = {
    "n_trials": "trials",
    "epsilon_hat": EPSILON_LIMIT,
    "delta_hat": DELTA_LIMIT,
    "observed_epsilon": "observed epsilon",
    "observed_delta": "observed delta",
    "pvalue_adjusted": ADJUSTED,
}
_NOWHERE = "none of these sizes"


@dataclass(frozen=True)
class StabilityCurve(PresentedTable):
    """ε̂ and δ̂ at several training sizes, valid for all of them at once.

    With probability at least 1 − α every limit of the curve holds: ε*_δ ≤
    ``epsilon_hat[i]`` and δ*_ε ≤ ``delta_hat[i]`` at each ``n[i]`` (Proposition 1
    at level α divided by the number of limits, Bonferroni). With probability at least 1 − α,
    by itself, every size in ``certified`` is (ε, δ)-stable (Holm's method).

    Nothing is certified between the sizes or beyond them: :meth:`extrapolate`
    gives what would hold there under an assumption that cannot be checked.

    Attributes
    ----------
    trials : tuple of Trials
        The measurement at each training size, in increasing order.
    epsilon, delta : float or None
        The question: δ̂ is for this ε, ε̂ for this δ. One of them may be None.
    alpha : float
        Error level of the whole curve.
    ledger : LedgerNote or None
        Which verdicts on these rows hold together, if there is a ledger.

    Examples
    --------
    >>> import numpy as np
    >>> trials = [Trials.from_changes(np.arange(1, 51) / n, n=n) for n in (10, 20, 40)]
    >>> curve = StabilityCurve(tuple(trials), epsilon=None, delta=0.2)
    >>> curve.n, curve.epsilon_hat
    ((10, 20, 40), (4.7, 2.35, 1.175))
    >>> further = curve.extrapolate(100, exponent=1.0)  # if changes shrink like 1/n
    >>> further.certified, round(further.epsilon[0], 6)
    (False, 0.47)
    """

    trials: tuple[Trials, ...] = field(repr=False)
    epsilon: float | None
    delta: float | None
    alpha: float = 0.05
    ledger: LedgerNote | None = None

    def __post_init__(self) -> None:
        if not self.trials or (self.epsilon is None and self.delta is None):
            raise ArgumentError("a curve needs trials, and epsilon or delta (or both)")

    _word = "curve"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was noticed that may make the error level wrong, at any of the sizes."""
        return distinct_warnings(self.trials, self.ledger)

    @property
    def n(self) -> tuple[int, ...]:
        """The training sizes."""
        return tuple(t.design.n for t in self.trials)

    @property
    def level(self) -> float:
        """Error level of a single limit: α divided by the number of limits."""
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
        return tuple(upper_quantile(t.all_changes, self.delta) for t in self.trials)

    @property
    def observed_delta(self) -> tuple[float, ...] | None:
        """The share of changes larger than ε that was seen: an estimate, not a limit."""
        if self.epsilon is None:
            return None
        epsilon = self.epsilon
        return tuple(t.exceedances(epsilon) / max(1, t.n_observed) for t in self.trials)

    @property
    def tests(self) -> tuple[str, ...]:
        """Which test the trials of each size are for: "binomial" or "averaged"."""
        return tuple("averaged" if t.design.shape else "binomial" for t in self.trials)

    @cached_property
    def adjusted(self) -> tuple[float, ...] | None:
        """P-values of "not stable", one per size, adjusted by Holm's method; needs ε and δ.

        Each test aims at α divided by the number of sizes.
        """
        return None if self._judged is None else tuple(each.adjusted for each in self._judged)

    @cached_property
    def _judged(self) -> list[JudgedTogether] | None:
        if self.epsilon is None or self.delta is None:
            return None
        return judged_together(self.trials, self.epsilon, self.delta, self.alpha)

    @property
    def certified(self) -> tuple[int, ...]:
        """Sizes at which (ε, δ)-stability is certified, all at once; needs both ε and δ.

        Holm's method declares more than the limits show, which hold for all sizes at once.
        """
        if self._judged is None:
            return ()
        return tuple(n for n, each in zip(self.n, self._judged, strict=True) if each.stable)

    @cached_property
    def shrinkage_seen(self) -> tuple[float, float] | None:
        """Limits for b: between the sizes measured, ε*_δ shrank like n to the power −b.

        They hold with probability at least 1 − α, by themselves. None without δ, or
        where too few trials were run. They say nothing about larger n.
        """
        return None if self.delta is None else shrinkage_seen(self.trials, self.delta, self.alpha)

    def extrapolate(self, n: int | Iterable[int], exponent: float = 0.0) -> Extrapolation:
        """Carry the limits on to larger training sizes, under an assumption.

        If changes shrink at least like n^−β from the measured sizes on, all limits hold
        at once with probability at least 1 − α. Nothing certifies the assumption: how fast
        changes shrank so far does not tell how fast they shrink at larger n.

        Parameters
        ----------
        n : int or iterable of int
            Training sizes, at least the smallest that was measured.
        exponent : float
            β, >= 0. 0 assumes only that changes do not grow with n; 1 that they shrink
            like 1/n, as those of averages and of most regular estimators do for large n. At small
            n a strong penalty can make changes shrink more slowly: in a simulation of ridge
            regression a fifth of the limits with β = 1 were too small, and none with β = 0.5.
        """
        return carry_on(self._carried(exponent), n, (self.epsilon, self.delta), self.alpha)

    def _carried(self, exponent: float) -> CarriedOn:
        return CarriedOn(self.trials, self.level, exponent)

    @property
    def sizes_needed(self) -> dict[float, float]:
        """The n from which on ε would hold, for several assumed exponents; needs ε and δ.

        As in :meth:`extrapolate`, nothing certifies these sizes.
        """
        if self.epsilon is None or self.delta is None:
            return {}
        question = (self.epsilon, self.delta)
        return {b: self._carried(b).size_for(*question) for b in ASSUMPTIONS if b > 0}

    def columns(self) -> dict[str, tuple[Any, ...]]:
        """Return what is known at each training size, by name; what was not asked is left out."""
        found = {
            "n": self.n,
            "n_trials": tuple(t.n_trials for t in self.trials),
            "epsilon_hat": self.epsilon_hat,
            "observed_epsilon": self.observed_epsilon,
            "delta_hat": self.delta_hat,
            "observed_delta": self.observed_delta,
            "pvalue_adjusted": self.adjusted,
            "test": self.tests if "averaged" in self.tests else None,
        }
        return {name: values for name, values in found.items() if values is not None}

    def table(self) -> TextTable:
        """Return one line per training size, in words."""
        worded = [
            [_cell(name, value) for value in values] for name, values in self.columns().items()
        ]
        rows = [list(row) for row in zip(*worded, strict=True)]
        caption = "\n".join([self.headline(), *in_words(self.warnings)])
        return TextTable([_HEADINGS.get(name, name) for name in self.columns()], rows, caption)

    def headline(self) -> str:
        """Say what was asked, of which algorithm."""
        design = self.trials[0].design
        asked = {
            "epsilon": None if self.epsilon is None else allowed_change(self.epsilon, design),
            "delta": None if self.delta is None else exactly(self.delta),
        }
        given = ", ".join(f"{name} = {words}" for name, words in asked.items() if words)
        return f"{self.trials[0].design.title} at {len(self.n)} training sizes ({given})."

    def meaning(self) -> str:
        """Say what is certified and, apart from it, what is only assumed."""
        sure = confidence(self.alpha)
        parts = list(in_words(self.warnings))
        parts.append(f'Certified with confidence {sure}, all at once: the columns "at most".')
        if self.epsilon is not None and self.delta is not None:
            where = ", ".join(f"{n:,}" for n in self.certified)
            parts.append(f"Certified to be stable at {f'n = {where}' if where else _NOWHERE}.")
            parts += self._about_certified()
        parts += [self._averaged(), self._seen(), self._further()]
        parts.append("" if self.ledger is None else self.ledger.sentence())
        return "\n".join(filter(None, parts))

    def _averaged(self) -> str:
        """Say where the averaged test was used."""
        used = [n for n, test in zip(self.n, self.tests, strict=True) if test == "averaged"]
        if not used:
            return ""
        return (
            f"The averaged test was used at n = {', '.join(f'{n:,}' for n in used)}: its trials "
            "answer with the share of their points and removals at which the prediction moved."
        )

    def _about_certified(self) -> list[str]:
        """Say what is guaranteed about the certified sizes, also beside a limit above δ."""
        if not self.certified:
            return []
        sure = f"The chance that any of them is wrong is at most {at_most(self.alpha)} (Holm)"
        limits = dict(zip(self.n, self.delta_hat or (), strict=True))
        if all(limits[n] <= (self.delta or 0.0) for n in self.certified):
            return [f"{sure}."]
        return [
            f"{sure}; a limit above delta at one of them is no contradiction, because this "
            "method declares more than limits for all sizes at once can show."
        ]

    def _seen(self) -> str:
        if self.shrinkage_seen is None:
            return ""
        low, high = self.shrinkage_seen
        share = exactly(self.delta)
        return (
            f"Between these sizes the change exceeded with probability {share} "
            f"shrank like n^-b, b between {at_least(low)} and {at_most(high)} (confidence "
            f"{confidence(self.alpha)}). It may shrink differently at larger n."
        )

    def _further(self) -> str:
        """Say from which n on the question would be answered, if changes shrink as assumed."""
        reached = {
            b: math.ceil(n)
            for b, n in self.sizes_needed.items()
            if self._informative < n < math.inf and not self._contradicted(b)
        }
        if self.certified or not reached:
            return ""
        parts = [f"from n = {n:,} on if changes {assumed(b)}" for b, n in reached.items()]
        return f"Not certified: epsilon would hold {', and '.join(parts)}."

    @property
    def _informative(self) -> int:
        """The largest size with a limit of its own: no assumption is needed up to there."""
        limits = self.epsilon_hat or ()
        known = [n for n, limit in zip(self.n, limits, strict=True) if limit < math.inf]
        return max(known, default=0)

    def _contradicted(self, exponent: float) -> bool:
        """Tell whether changes shrank slower than assumed, between the sizes measured."""
        return self.shrinkage_seen is not None and self.shrinkage_seen[1] < exponent

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value; what is only assumed is kept apart."""
        content: dict[str, Any] = plain(
            {
                "algorithm": self.trials[0].design.algorithm,
                "epsilon": self.epsilon,
                "delta": self.delta,
                "alpha": self.alpha,
                "level": self.level,
                "sizes": self.columns(),
                "certified": self.certified,
                "warnings": list(self.warnings),
                "ledger": None if self.ledger is None else self.ledger.to_dict(),
                "not_certified": {
                    "shrinkage_seen": self.shrinkage_seen,
                    "sizes_needed": {f"n^-{b:g}": n for b, n in self.sizes_needed.items()},
                },
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
        """Draw limits and estimates against n; return the figure, or ``ax``."""
        from poise.results.plots.curve import plot_curve

        return plot_curve(self, ax, title=title, figsize=figsize)


def _cell(name: str, value: Any) -> str:
    """Write a value; a limit is rounded up, and what was seen to the nearest."""
    if isinstance(value, str):
        return value
    return at_most(value) if name.endswith("_hat") else number(value)


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
    # The count of larger changes may be at most δ·m; a product slightly below a whole
    # number (0.3 * 10) must still count as that number.
    allowed = math.floor(delta * len(ordered) + NEAR_WHOLE)
    return float(ordered[len(ordered) - 1 - allowed])
