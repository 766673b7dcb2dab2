"""The paper's other black-box tests: Examples 2 and 3, and those that learn from answers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise import checks
from poise.data.randomness import Ids, Randomness
from poise.data.sample import Sample
from poise.engine.messages import Answers, Batch, Floats, Made
from poise.errors import DataError
from poise.procedures.own import Asking, Asks, asked, orders

_RESAMPLED = (
    "rows drawn from the sample are not fresh, so the count is not Binomial, and a rare row that "
    "the sample does not hold is never seen."
)
_SIMULATED = (
    "stability under an estimate of the distribution says nothing certain about stability under "
    "the distribution."
)
_AIMED = (
    "comparisons reuse rows, and later ones are aimed at what earlier ones showed: finding nothing "
    "is not a bound on what fresh rows would show."
)
_APART = "What exploring chose was fixed before the rows that are tested were looked at."


@dataclass(frozen=True, kw_only=True)
class BootstrapTest(Asks):
    """Count changes in samples drawn with replacement from the sample. Certifies nothing.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question, and how the two fits of a comparison share randomness.
    resamples : int
        Each costs two fits. Test points are unlabelled rows if there are any.
    """

    resamples: int = 1000

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Ask for all resamples at once."""
        count = checks.count("resamples", self.resamples, 1)
        rng = randomness.generator("resamples")
        trains = rng.integers(sample.n_labeled, size=(count, self.n))
        first = sample.n_labeled if sample.n_unlabeled else 0
        points = rng.integers(first, sample.n_labeled + sample.n_unlabeled, size=(count, 1))
        changes = yield from asked(self.pairs(list(trains), list(points), randomness))
        return self.judge(changes, certified=False, reason=_RESAMPLED)


@dataclass(frozen=True, kw_only=True)
class SimulationTest(Asks):
    """Count changes in samples from an estimate of P. Certifies nothing.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question; n may exceed the number of rows.
    estimate : function, optional
        ``(X, y, rng, size) -> (X, y)``; by default a joint normal law of features and response.
    simulations : int
        Each costs two fits.
    """

    estimate: Callable[..., Any] | None = None
    simulations: int = 1000

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Estimate P and ask for all simulations at once."""
        count = checks.count("simulations", self.simulations, 1)
        X, y, _ = sample.training(np.arange(sample.n_labeled))
        draw, trains, points = self.estimate or gaussian, [], []
        for r in range(count):
            rows = draw(X, y, randomness.generator("simulated rows", r), self.n + 1)
            made_X, made_y = (np.asarray(part) for part in rows)
            if not len(made_X) == len(made_y) == self.n + 1:
                raise DataError(
                    f"the estimate of P must draw the {self.n + 1} rows that are asked for"
                )
            trains.append(Made(made_X[:-1], made_y[:-1]))
            points.append(Made(made_X[-1:]))
        changes = yield from asked(self.pairs(trains, points, randomness))
        return self.judge(changes, certified=False, reason=_SIMULATED)


def gaussian(
    X: Any, y: Any, rng: np.random.Generator, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw rows jointly normal, with the mean and the covariance of these rows."""
    rows = np.column_stack([np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    spread, axes = np.linalg.eigh(np.cov(rows, rowvar=False))
    root = axes * np.sqrt(np.clip(spread, 0.0, None))  # some columns may not vary
    made = rows.mean(axis=0) + rng.standard_normal((size, rows.shape[1])) @ root.T
    return made[:, :-1], made[:, -1]


# learning from earlier answers (section 2.3.1)


class Explored(NamedTuple):
    """Comparisons on random subsets: the row removed, the row predicted, the change of each."""

    removed: Ids
    points: Ids
    changes: Floats  # infinite where a fit failed

    def worst(self, rows: Ids, share: float) -> Ids:
        """Return the given share of these rows, those with the largest mean changes."""
        seen, place = np.unique(rows, return_inverse=True)
        means = np.bincount(place, weights=self.changes) / np.bincount(place)
        return seen[np.argsort(-means, kind="stable")][: max(1, int(share * len(seen)))]


def explore(
    question: Asks,
    count: int,
    labeled: Ids,
    points: Ids,
    randomness: Randomness,
    stage: int = 0,
    removed: Ids | None = None,
) -> Generator[Batch, Answers, Explored]:
    """Compare on random subsets; rows are removed among ``removed``, and no point is trained on."""
    needed = question.n + int(np.isin(points, labeled).any())
    if len(labeled) < needed:
        raise DataError(
            f"exploring at n = {question.n} needs {needed} labelled rows, got {len(labeled)}"
        )
    rng, trains = randomness.generator("exploration", stage), []
    read = rng.choice(points, checks.count("comparisons", count, 1))
    for point in read:
        free = labeled[labeled != point]
        aimed = free if removed is None else np.intersect1d(free, removed)
        last = rng.choice(aimed if len(aimed) else free)
        others = rng.choice(free[free != last], question.n - 1, replace=False)
        trains.append(np.append(others, last))
    role = f"xi of exploration {stage}"
    changes = yield from asked(question.pairs(trains, list(read[:, None]), randomness, role))
    last_rows = np.array([rows[-1] for rows in trains])
    return Explored(last_rows, read, np.where(np.isnan(changes), np.inf, changes))


@dataclass(frozen=True, kw_only=True)
class AdaptiveTest(Asks):
    """Explore at random, then concentrate on rows and points with large changes. Certifies nothing.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question, and how the two fits of a comparison share randomness.
    explorations : int
        Comparisons at random. "unstable" is said by these alone: aimed ones exaggerate.
    aimed : int
        Comparisons in each further stage.
    stages : int
        How often to aim.
    share : float
        Of the rows seen so far, those with the largest changes that a stage aims at.
    """

    explorations: int = 200
    aimed: int = 100
    stages: int = 2
    share: float = 0.1

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Ask at random, then stage by stage where changes were largest."""
        labeled = np.arange(sample.n_labeled)
        points = sample.n_labeled + np.arange(sample.n_unlabeled) if sample.n_unlabeled else labeled
        seen = yield from explore(self, self.explorations, labeled, points, randomness)
        at_random = self.judge(seen.changes, certified=False, reason=_AIMED)
        for stage in range(1, self.stages + 1):
            rows, read = (seen.worst(which, self.share) for which in (seen.removed, seen.points))
            more = yield from explore(self, self.aimed, labeled, read, randomness, stage, rows)
            seen = Explored(*(np.append(old, new) for old, new in zip(seen, more, strict=True)))
        worst = seen.worst(seen.removed, self.share).tolist()
        changes = seen.changes[self.explorations :]
        said = self.judge(changes, certified=False, reason=_AIMED, upper=True, worst_rows=worst)
        agreed = said.verdict == at_random.verdict or at_random.verdict == "unstable"
        return replace(said, verdict=at_random.verdict if agreed else "inconclusive")


@dataclass(frozen=True, kw_only=True)
class ExploreThenTest(Asks):
    """Choose epsilon on some rows, test it on the others: valid, as Theorem 1 holds for these.

    Parameters
    ----------
    n, delta, alpha, coupling
        The question, and how the two fits of a trial share randomness.
    epsilon : float, optional
        By default the (1 - delta/2)-quantile of the changes seen while exploring.
    share : float
        Labelled rows to explore on.
    explorations : int
        Comparisons on random subsets of them.
    """

    epsilon: Any = None
    share: float = 0.25
    explorations: int = 200

    def __post_init__(self) -> None:
        if self.epsilon is None:
            replace(self, epsilon=0.0)  # checks the rest
        else:
            super().__post_init__()

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Explore, choose, test on rows that exploring has not seen."""
        count = max(self.n + 1, int(self.share * sample.n_labeled))
        order, unlabeled = orders(sample, randomness)
        explored, rest = order[:count], order[count:]
        if len(rest) < self.n:
            raise DataError(
                f"no {self.n} labelled rows are left to test on after {count} to explore on"
            )
        seen = yield from explore(self, self.explorations, explored, explored, randomness)
        epsilon = self._chosen(seen.changes) if self.epsilon is None else self.epsilon
        chosen = replace(self, epsilon=epsilon)
        changes = yield from asked(chosen.trials(rest, unlabeled, randomness))
        return chosen.judge(changes, certified=True, reason=_APART, epsilon=epsilon)

    def _chosen(self, changes: Floats) -> float:
        """Choose what the rest will probably pass; failures never count as small."""
        quantile = np.quantile(changes, 1 - self.delta / 2, method="higher")
        finite = changes[np.isfinite(changes)].max(initial=0.0)
        return float(min(quantile, finite))
