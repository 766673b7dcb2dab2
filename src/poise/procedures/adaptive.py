"""A test that learns from earlier stages where the algorithm is least stable."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from poise import arguments
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.procedures.checked_question import Question
from poise.procedures.exploration import Explorer, neighbourhood
from poise.protocol.messages import Answers, Batch
from poise.protocol.randomness import Randomness
from poise.results import Outcome, ProcedureResult
from poise.theory.decision import three_way

__all__ = ["AdaptiveTest"]

_REASON = (
    "Heuristic: comparisons reuse rows and later ones are aimed at what earlier ones showed, so "
    "their count is not Binomial; finding nothing after a targeted search is no bound on what "
    "fresh rows would show."
)


@dataclass(frozen=True)
class AdaptiveTest(Question):
    """Explore at random, then concentrate on the rows and regions with the largest changes.

    Certifies nothing: no P(false "stable") ≤ α holds (for a valid variant see
    :class:`~poise.procedures.ExploreThenTest`). It says "stable" only if
    neither random nor targeted comparisons exceed ε too often, and "unstable"
    only from the random ones, since targeted ones exaggerate.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`.
    explorations : int
        Random comparisons of the first stage, at least 1.
    stages : int
        Targeted stages after it, at least 1.
    per_stage : int
        Comparisons in each of them, at least 1.
    share : float
        Share of the rows seen so far that counts as worst, in (0, 1).
    region : int
        Rows around each of the worst test points that make up its region.

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    >>> X[17] = [30.0, 30.0]  # one row with far too much influence
    >>> test = AdaptiveTest(n=30, epsilon=0.5, delta=0.1)
    >>> result = poise.run(test, Ridge(), X, y, random_state=0).result
    >>> result.details["worst_points"][0][0], result.certifies
    (17, False)
    """

    explorations: int = 200
    stages: int = 2
    per_stage: int = 100
    share: float = 0.1
    region: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("explorations", "stages", "per_stage", "region"):
            arguments.count(name, getattr(self, name), 1)
        if not 0 < self.share < 1:
            raise ArgumentError(f"share must be in (0, 1), got {self.share}")

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Yield one random stage and then targeted ones; return what was found."""
        self.require_rows(sample)
        labeled = np.arange(sample.n_labeled)
        unlabeled = np.arange(sample.n_labeled, sample.n_labeled + sample.n_unlabeled)
        points = unlabeled if len(unlabeled) else labeled
        explorer = Explorer(self.n, labeled, points, randomness)
        seen = at_random = yield from explorer.explore(self.explorations)
        for _ in range(self.stages):
            worst = seen.worst("removed", self.share)
            centres = seen.worst("points", self.share)
            region = neighbourhood(sample, centres, points, self.region)
            seen += yield from explorer.explore(self.per_stage, worst, region)
        failed = at_random.n_failures
        by_chance = self.judge(
            at_random.changes, certifies=False, reason=_REASON, n_failures=failed
        )
        targeted = self.judge(
            seen.changes[self.explorations :],
            certifies=False,
            reason=_REASON,
            n_failures=seen.n_failures - failed,
            exceedances_at_random=by_chance.statistic,
            explorations=self.explorations,
            **seen.report(),
        )
        found = three_way(
            by_chance.stable and targeted.stable, by_chance.verdict == Outcome.UNSTABLE
        )
        return dataclasses.replace(targeted, verdict=Outcome(found))
