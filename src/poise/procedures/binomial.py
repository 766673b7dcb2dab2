"""The Binomial test (Example 1, Theorem 1) as a black-box procedure.

:class:`MeasureChanges` runs every trial; :class:`BinomialTest` runs as many as
its verdict needs. They share the split, the trials and the inference: a test is
a measurement that may stop early, followed by :meth:`poise.Trials.test`.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.procedures.checked_question import StabilityQuestion
from poise.procedures.disjoint_trials import DisjointTrials
from poise.procedures.trial_setup import TrialSetup
from poise.protocol.messages import Answers, Batch
from poise.protocol.randomness import Randomness
from poise.results import Design, StabilityResult, Trials
from poise.results.text.verdict_cells import SeenChanges
from poise.results.verdict import OPEN

__all__ = ["BinomialTest", "MeasureChanges"]


@dataclass(frozen=True)
class MeasureChanges(DisjointTrials):
    """Measure Δ in every trial that the data hold, without a verdict.

    Parameters
    ----------
    n : int
        Training size, at least 2 and at most the number of labelled rows.
    coupling : str or Coupling
        How the two fits of a trial share randomness.
    shuffle : bool
        Whether rows are put in random order before they are split.
    remove : int
        How many of the n rows (groups, if the sample has any) the second fit
        goes without: at least 1, and fewer than n unless they are replaced.
    replace : bool
        Whether fresh ones take the place of those removed.
    removals : int or "all"
        R: how many of the n rows are removed in turn, each by itself.
    points : int, "spare" or None
        T: at how many fresh points the predictions of a trial are compared; None is 1.
    labeled_test : bool
        Whether test rows must have a response.
    one_full_fit : bool
        Whether one full fit serves all removals of a trial: right only for an algorithm
        that does not depend on the order of its rows, for one and the same random term.

    Examples
    --------
    >>> import poise
    >>> X, y = [[float(i)] for i in range(30)], [float(i) for i in range(30)]
    >>> last = lambda X, y, seed: lambda rows: [y[-1]] * len(rows)
    >>> trials = poise.run(MeasureChanges(n=4, shuffle=False), last, X, y).result
    >>> trials.changes.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """

    def ask(self, sample: Sample, randomness: Randomness) -> Generator[Batch, Answers, Trials]:
        """Yield every trial once; return the changes."""
        return self.measured(self.design(sample, randomness), sample, randomness)


@dataclass(frozen=True)
class BinomialTest(StabilityQuestion, DisjointTrials):
    """Test whether a triple is (ε, δ)-stable, with P(false "stable") ≤ α (Theorem 1).

    Parameters
    ----------
    n : int
        Training size, at least 2 and at most the number of labelled rows.
    epsilon, delta, alpha : float
        The question and the error level.
    randomized : bool
        Toss the coin in a tie.
    stop_early : bool or "stable"
        True stops once the three-way verdict is forced, unless it is "inconclusive"
        or fewer than a tenth of the trials are left; "stable" once it is known
        whether the verdict is "stable", and anything else is then "not certified
        stable"; False runs every trial.
    coupling, shuffle, remove, replace, labeled_test
        As in :class:`MeasureChanges`.

    Examples
    --------
    >>> import poise
    >>> from sklearn.dummy import DummyRegressor
    >>> test = BinomialTest(n=10, epsilon=1.0, delta=0.1)
    >>> run = poise.run(test, DummyRegressor(), [[0.0]] * 330, [1.0] * 330, random_state=0)
    >>> run.verdict.value, run.counts.calls
    ('stable', 60)
    """

    test: str = "binomial"

    def __post_init__(self) -> None:
        StabilityQuestion.__post_init__(self)
        DisjointTrials.__post_init__(self)
        refuse_averages(self)

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, StabilityResult]:
        """Yield trials until the verdict is forced and stopping pays; return it."""
        return self.judged(self.design(sample, randomness), sample, randomness)

    def judged(
        self, design: Design, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, StabilityResult]:
        """Do the same for a design that is known already."""
        until = self._until(design)
        if until is not None and until.forced:
            trials = Trials(np.empty(0), design)  # no fit could change the verdict
        else:
            trials = yield from self.measured(
                design, sample, randomness, until=until, decision_points=(0.0, self.epsilon)
            )
        return trials.test(**self.for_trials)

    def _until(self, design: Design) -> _StopWhenForced | None:
        if self.stop_early is False:
            return None
        return _StopWhenForced(self, design, "stable" if self.stop_early == "stable" else "verdict")


class _StopWhenForced:
    """Feeds changes to the curtailment rule in plan order; fast fits must not count first."""

    def __init__(
        self, test: BinomialTest, design: Design, scope: Literal["verdict", "stable"]
    ) -> None:
        from poise.theory.early_stopping import Curtailment

        zeta = design.zeta if test.randomized else 1.0
        self.epsilon = test.epsilon
        self.watch = Curtailment.of_test(design.n_trials, test.delta, test.alpha, zeta, scope)

    @property
    def forced(self) -> bool:
        return self.watch.forced

    def __call__(self, change: float) -> bool:
        """Take in the next change; nan stands for a trial that failed."""
        self.watch.update(change > self.epsilon, failed=bool(np.isnan(change)))
        return self.watch.worth_stopping

    def state(self) -> str:
        """Describe the current state for the progress display."""
        watch = self.watch
        seen = SeenChanges(watch.exceedances, watch.trials, watch.failures, shares=False)
        return f"{seen.in_words}, verdict {watch.verdict or OPEN}"


def refuse_averages(setup: TrialSetup) -> None:
    """Refuse several changes per trial: the Binomial test takes one change from each."""
    if setup.averages:
        given = {"removals": setup.removals, "points": setup.points}
        several = [f"{name}={value!r}" for name, value in given.items() if value not in (None, 1)]
        raise ArgumentError(
            f"several changes a trial ({', '.join(several)}) need test='averaged': "
            "the Binomial test has one"
        )
