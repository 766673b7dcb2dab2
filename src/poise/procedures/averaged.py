"""The averaged test as a black-box procedure: trials that answer with a share."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments.printed_numbers import number
from poise.data.sample import Sample
from poise.procedures.checked_question import StabilityQuestion
from poise.procedures.disjoint_trials import DisjointTrials
from poise.protocol.messages import Answers, Batch
from poise.protocol.randomness import Randomness
from poise.results import Design, Trials
from poise.results.averaged_result import AveragedResult, averaged_result
from poise.results.text.verdict_cells import SeenChanges
from poise.results.verdict import OPEN

__all__ = ["AveragedTest"]


@dataclass(frozen=True)
class AveragedTest(StabilityQuestion, DisjointTrials):
    """Test whether a triple is (ε, δ)-stable by the shares of larger changes (Theorem A).

    P(false "stable") ≤ α and P(false "unstable") ≤ α for every algorithm and every
    distribution. With one change a trial it is the Binomial test; with several it needs
    far fewer trials.

    Parameters
    ----------
    n, epsilon, delta, alpha, randomized
        As in :class:`~poise.procedures.BinomialTest`.
    stop_early : bool or "stable"
        True stops once the three-way verdict is forced; "stable" once it is known
        whether the verdict is "stable"; False runs every trial.
    removals, points
        R and T, fixed before looking.
    one_full_fit : bool
        Whether one full fit serves all removals; only for an algorithm that does not
        depend on the order of its rows, for one and the same random term.
    coupling, shuffle, remove, replace, labeled_test
        As in :class:`~poise.procedures.MeasureChanges`.

    Examples
    --------
    >>> import poise
    >>> from sklearn.dummy import DummyRegressor
    >>> test = AveragedTest(n=10, epsilon=1.0, delta=0.1, points=3)
    >>> run = poise.run(test, DummyRegressor(), [[0.0]] * 520, [1.0] * 520, random_state=0)
    >>> run.verdict.value, run.result.points, run.counts.calls
    ('stable', 3, 80)
    """

    test: str = "averaged"

    def __post_init__(self) -> None:
        StabilityQuestion.__post_init__(self)
        DisjointTrials.__post_init__(self)

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, AveragedResult]:
        """Yield trials until the verdict is forced; return it."""
        return self.judged(self.design(sample, randomness), sample, randomness)

    def judged(
        self, design: Design, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, AveragedResult]:
        """Do the same for a design that is known already."""
        until = None if self.stop_early is False else _StopWhenForced(self, design)
        if until is not None and until.forced:
            trials = Trials.measured(np.empty((0, *design.shape)), design)
        else:
            trials = yield from self.measured(
                design, sample, randomness, until=until, decision_points=(0.0, self.epsilon)
            )
        asked = self.epsilon, self.delta, self.alpha, self.randomized
        return averaged_result(trials, *asked)


class _StopWhenForced:
    """Feeds shares to both bets in plan order, and stops when no later trial can decide."""

    def __init__(self, test: AveragedTest, design: Design) -> None:
        from poise.theory import averaged_test

        scope: Literal["verdict", "stable"] = "stable" if test.stop_early == "stable" else "verdict"
        self.epsilon = test.epsilon
        self.watch = averaged_test.AveragedTest(
            design.n_trials, test.delta, test.alpha, scope=scope, randomized=test.randomized
        )
        self.seen = SeenChanges(0.0, observed=0, failed=0, shares=True)

    @property
    def _is_inconclusive(self) -> bool:
        """Whether the limits are the only result, which further trials make better."""
        return self.watch.scope == "verdict" and self.watch.verdict == "inconclusive"

    @property
    def forced(self) -> bool:
        return self.watch.forced

    def __call__(self, change: ArrayLike) -> bool:
        """Take in the changes of the next trial; nan stands for one that failed."""
        changes = np.asarray(change, dtype=np.float64)
        larger, failed = changes > self.epsilon, np.isnan(changes)
        share = float((larger | failed).sum()) / changes.size
        moved = float(larger.sum()) / changes.size
        self.seen = self.seen.with_trial(moved, failed=bool(failed.any()))
        if not self.watch.forced:
            self.watch.update(share, moved)
        return self.watch.forced and not self._is_inconclusive

    def state(self) -> str:
        """Describe the current state for the progress display."""
        bet = f"the bet stands at {number(self.watch.hedge.value)}"
        return f"{self.seen.in_words}, {bet}, verdict {self.watch.verdict or OPEN}"
