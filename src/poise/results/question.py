"""What is asked of trials, which test answers it, and when a run may stop.

All of this is decided before any change is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from poise import checks
from poise.errors import ArgumentError
from poise.numbers import without_noise
from poise.theory import counts

if TYPE_CHECKING:
    from poise.results.design import Design
    from poise.theory.changes import Changes
    from poise.theory.martingales import Processes

Floats = NDArray[np.float64]
_SHARE = re.compile(r"\s*([0-9.eE+-]+)\s*%\s*of\s+sd\s*")


@dataclass(frozen=True)
class Family:
    """Other algorithms, or sizes, that share an error level: the p-values of each by itself.

    Attributes
    ----------
    pvalues, pvalues_unstable : tuple of float
        Against "not stable" and against "stable".
    """

    pvalues: tuple[float, ...]
    pvalues_unstable: tuple[float, ...]

    @property
    def size(self) -> int:
        """How many share the level, this one among them."""
        return 1 + len(self.pvalues)


@dataclass(frozen=True)
class Question:
    """Is P(change > epsilon) at most delta? Answered wrongly with probability at most alpha.

    Attributes
    ----------
    epsilon : float or None
        Allowed change; None for labels, which change or do not, and for decisions, whose changes
        are shares.
    delta : float
        Allowed probability of a larger change; for decisions, allowed mean share.
    alpha : float
        Error level.
    test : {"auto", "binomial", "averaged", "open-ended"}
        The paper's Binomial test, the averaged test, or the one that fits the trials; the
        open-ended test is that of monitors.
    stop_early : bool
        Whether the run may end as soon as the verdict is certain.
    family : Family or None
        The others, where several algorithms or sizes share ``alpha`` by Holm's method.
    gamma : float or None
        Tolerated share of larger changes in a trial, where every row of a given training set
        leaves; ``delta`` is then the allowed probability of a larger share.

    Examples
    --------
    >>> Question(5.0, 0.1)
    Question(epsilon=5.0, delta=0.1, alpha=0.05, test='auto', stop_early=False, gamma=None)
    """

    epsilon: float | None
    delta: float
    alpha: float = 0.05
    test: Literal["auto", "binomial", "averaged", "open-ended"] = "auto"
    stop_early: bool = False
    family: Family | None = field(default=None, repr=False)
    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", checks.epsilon(self.epsilon))
        object.__setattr__(self, "delta", checks.delta(self.delta))
        object.__setattr__(self, "alpha", checks.alpha(self.alpha))
        checks.choice("test", self.test, ("auto", "binomial", "averaged", "open-ended"))
        checks.flag("stop_early", self.stop_early)
        if self.gamma is not None:
            object.__setattr__(self, "gamma", checks.delta(self.gamma, "gamma"))

    @property
    def size(self) -> int:
        """How many algorithms or sizes share alpha; 1 where one was asked about alone."""
        return 1 if self.family is None else self.family.size

    @property
    def level(self) -> float:
        """Level of one test or limit: of K that share alpha, a K-th of it."""
        return self.alpha / self.size

    @property
    def alone(self) -> Question:
        """The question that was asked of each: at its share of the level."""
        return replace(self, alpha=self.level, family=None)


@dataclass(frozen=True)
class Relative:
    """An allowed change as a share of the standard deviation of the responses of some rows."""

    share: float
    rows: int = 30  # set aside; no trial uses them


def read_epsilon(asked: object) -> float | Relative | None:
    """Read an allowed change: a number, a share such as "5% of sd", or None where it is left out.

    >>> read_epsilon(2), read_epsilon("5% of sd")
    (2.0, Relative(share=0.05, rows=30))
    """
    if not isinstance(asked, str):
        return None if asked is None else checks.epsilon(asked)
    found = _SHARE.fullmatch(asked)
    try:
        value = float(found[1]) / 100 if found else float(asked)
    except ValueError:
        rule = "must be a number >= 0 or a share such as '5% of sd'"
        raise ArgumentError(rule, argument="epsilon", got=asked) from None
    if not found:
        return checks.epsilon(value)
    return Relative(without_noise(checks.positive("epsilon", value)))


def allowed_change(epsilon: object, design: Design) -> float | None:
    """Return ε, left out exactly where a change is yes or no (labels) or a share (decisions)."""
    if design.sized and epsilon is None:
        helps = {"new": "measure", "changed": ""}.get(design.notion, "measure_deployed")
        problem = "is missing: it is the allowed change, in units of the prediction"
        remedy = f"poise.{helps} shows how large the changes are" if helps else ""
        raise ArgumentError(problem, argument="epsilon", remedy=remedy)
    if not design.sized and epsilon is not None:
        is_a = "a share" if design.compares == "decisions" else "yes or no"
        problem = f"must be left out: a change is {is_a} here"
        raise ArgumentError(problem, argument="epsilon", got=epsilon)
    return None if epsilon is None else checks.epsilon(epsilon)


# The test ---------------------------------------------------------------------------------------


def law_for(design: Design, asked: Question) -> ModuleType:
    """Return :mod:`poise.theory.binomial`, `averaged`, or `anytime` for the open-ended test.

    They answer the same questions about a table of changes. "auto" takes the averaged test where
    more than one change a trial was planned, and the trials suffice for it to have more power or
    ties are decided by a coin. Rows of a given training set are not exchangeable: where all of
    them leave, only their share may be read, by the Binomial test against ``gamma``.
    """
    name = "averaged" if _averages(design, asked) else "binomial"
    name = "anytime" if asked.test == "open-ended" and asked.gamma is None else name
    return import_module(f"poise.theory.{name}")


def read_by(law: ModuleType, table: Changes) -> Floats:
    """Return the changes that a law reads: the Binomial test reads the first of each trial."""
    return table.values[:, :1] if law.__name__.endswith("binomial") else table.values


def _averages(design: Design, asked: Question) -> bool:
    delta, test, gamma = asked.delta, asked.test, asked.gamma
    decisions = design.compares == "decisions"
    if gamma is not None:
        if design.all_leave and not decisions and test != "averaged":
            return False
        problem = "is for the Binomial test where every row of a given training set leaves in turn"
        raise ArgumentError(problem, argument="gamma", got=gamma)
    if design.all_leave or decisions:
        if test != "binomial":
            return True
        problem = "must not be 'binomial' for decisions, nor where every row leaves in turn"
        remedy = "give gamma, the share of the rows that is tolerated" if design.all_leave else ""
        raise ArgumentError(problem, argument="test", remedy=remedy)
    if test != "auto":
        return test == "averaged"
    if delta == 0 or design.removals == design.points == 1:
        return False
    return design.randomized or design.n_trials >= counts.trials_for_averaging(delta, asked.level)


def until(question: Question, design: Design, rivals: int = 1) -> Callable[[Floats], bool]:
    """Return what says, fed each trial's table in plan order, whether the verdict stands.

    A run whose verdict would be inconclusive goes on: its limits are all that it has. In a race of
    several ``rivals``, each with its share of the level, a run also ends once Holm's method cannot
    call it stable any more, whatever becomes of the others.
    """
    watch = _watch_shares if _averages(design, question) else _watch_counts
    return watch(question, design, rivals)


def tolerating(values: Floats, gamma: float) -> Floats:
    """Return the change that at most a share γ of each trial's exceeds, a column of them.

    A share of changes beyond ε is larger than γ exactly if this change is larger than ε. It is nan
    where that depends on changes that failed.
    """
    from poise.theory.binomial_law import floor

    width = values.shape[1]
    place = -1 - min(int(floor(gamma * width)), width - 1)
    worst, best = (
        np.sort(np.where(np.isnan(values), end, values))[:, place] for end in (np.inf, 0)
    )
    return np.where(worst == best, worst, np.nan)[:, None]


def _watch_counts(question: Question, design: Design, rivals: int) -> Callable[[Floats], bool]:
    from poise.theory.binomial import CountRule, critical_value

    threshold = design.threshold(question.epsilon)
    rule = (design.n_trials, question.delta, question.alpha)
    plain = CountRule.of(*rule)
    lucky = CountRule.of(*rule, zeta=0.0) if design.randomized else plain  # whatever the coin
    most = design.n_trials
    if rivals > 1:  # Holm's last step is at the whole level
        most, _ = critical_value(most, question.delta, rivals * question.alpha)
    counted = np.zeros(3, dtype=np.int64)  # moved, seen, failed

    def decided(table: Floats) -> bool:
        gamma, row = question.gamma, table.reshape(1, -1)
        first = (row if gamma is None else tolerating(row, gamma))[0, 0]
        counted[:] += (first > threshold, 1, np.isnan(first))
        moved, seen, failed = counted.tolist()
        stable = plain.verdict(moved, seen, failed) == "stable"
        hopeless = moved + failed > most
        return stable or hopeless or lucky.verdict(moved, seen, failed) == "unstable"

    return decided


def _watch_shares(question: Question, design: Design, rivals: int) -> Callable[[Floats], bool]:
    from poise.theory import averaged
    from poise.theory.changes import Changes

    threshold = design.threshold(question.epsilon)
    processes = averaged.both_ways(design.n_trials, question.delta, question.alpha)

    def decided(table: Floats) -> bool:
        trial = Changes(table.reshape(1, -1), 1)
        both = [trial.shares(threshold, failures_exceed=exceed) for exceed in (True, False)]
        processes.run(lambda rows, a, b: np.array(both)[rows], until=processes.trials + 1)
        reached = bool((processes.reached_at > 0).any())
        if reached and averaged.decided(processes, coin=design.randomized):
            return True
        return rivals > 1 and not design.randomized and _out_of_reach(processes, 1 / rivals)

    return decided


def _out_of_reach(processes: Processes, goal: float) -> bool:
    """Whether the hedge stays below a value even if nothing changes any more."""
    left = processes.n_trials - processes.trials
    still = goal * float(1 - processes.delta[0]) ** left
    return bool(processes.top[0] < goal and processes.u[0] < still)
