"""The Binomial test (Example 1, Theorem 1) as a black-box procedure.

:class:`MeasureChanges` runs every trial; :class:`BinomialTest` runs as many as
its verdict needs. They share the split, the trials and the inference: a test is
a measurement that may stop early, followed by :meth:`poise.Trials.test`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.data.sample import Sample
from poise.errors import ArgumentError, RecordError, TrialError
from poise.procedures.split_of_groups import UnitSplit
from poise.procedures.split_of_rows import Split, TrialSequence
from poise.protocol.messages import Answers, Batch
from poise.protocol.randomness import Coupling, Randomness, as_coupling
from poise.results import Design, StabilityResult, Trials

__all__ = ["BinomialTest", "MeasureChanges"]

Until = Callable[[float], bool]


@dataclass(frozen=True)
class MeasureChanges:
    """Measure Δ in every trial the data hold, and judge nothing.

    Parameters
    ----------
    n : int
        Training size, at least 2 and at most the number of labelled rows.
    coupling : str or Coupling
        How the two fits of a trial share randomness.
    shuffle : bool
        Whether rows are put in random order before they are split.
    algorithm, distance : str
        Names for the record.
    remove : int
        How many of the n rows (groups, if the sample has any) the second fit
        goes without: at least 1, and fewer than n unless they are replaced.
    replace : bool
        Whether fresh ones take the place of those removed.
    labeled_test : bool
        Whether test rows must have a response.

    Examples
    --------
    >>> import poise
    >>> X, y = [[float(i)] for i in range(30)], [float(i) for i in range(30)]
    >>> last = lambda X, y, seed: lambda rows: [y[-1]] * len(rows)
    >>> trials = poise.run(MeasureChanges(n=4, shuffle=False), last, X, y).result
    >>> trials.changes.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """

    n: int
    coupling: str | Coupling = "shared"
    shuffle: bool = True
    algorithm: str = "unknown"
    distance: str = "auto"
    remove: int = 1
    replace: bool = False
    labeled_test: bool = False

    keeps_groups: ClassVar[bool] = True

    def named(self, algorithm: str, distance: str) -> MeasureChanges:
        """Return the same measurement with the names that the record will hold."""
        return replace(self, algorithm=algorithm, distance=distance)

    def ask(self, sample: Sample, randomness: Randomness) -> Generator[Batch, Answers, Trials]:
        """Yield every trial once; return the changes."""
        return (yield from self.measure(sample, randomness, until=None))

    def measure(
        self,
        sample: Sample,
        randomness: Randomness,
        until: Until | None,
        decision_points: tuple[float, ...] = (0.0,),
    ) -> Generator[Batch, Answers, Trials]:
        """Yield the trials as one batch that ``until`` may cut short; return the changes."""
        design = self.design(sample, randomness)
        split = self._split(design, sample, randomness)
        if len(split) == 0:
            return Trials(np.empty(0), design)
        try:
            answers = yield Batch(split, until, decision_points=decision_points)
        except (TrialError, RecordError) as error:
            if error.partial is not None:
                error.partial = _trials(error.partial, design, error.failures)
            raise
        messages = tuple(failure.message for failure in answers.failures)
        return _trials(answers.changes, replace(design, path=answers.path), messages)

    def design(self, sample: Sample, randomness: Randomness) -> Design:
        """Return what is known before the first fit; refuse what cannot be asked."""
        n = arguments.training_size(self.n)
        arguments.flag("shuffle", self.shuffle)
        arguments.flag("replace", self.replace)
        design = Design(
            algorithm=self.algorithm,
            n=n,
            n_labeled=sample.n_labeled,
            n_unlabeled=sample.n_unlabeled,
            coupling=as_coupling(self.coupling).name,
            distance=self.distance,
            seed=randomness.root,
            # 1 − U lies in (0, 1]: a coin that never shows 0 keeps ties exact.
            zeta=1.0 - randomness.uniform("zeta"),
            shuffle=self.shuffle,
            remove=self._removed(n),
            replace=self.replace,
            n_groups=None if sample.groups is None else len(sample.groups),
            labeled_test=self.labeled_test,
        )
        if n > design.n_units:
            raise ArgumentError(
                f"n must be at most the number of {_units(design)} ({design.n_units}), got {n}; "
                "ask about a smaller training size"
            )
        return design

    def _removed(self, n: int) -> int:
        """Check how many rows or groups are removed from n."""
        remove = int(arguments.count("remove", self.remove, minimum=1))
        if remove > (n if self.replace else n - 1):
            raise ArgumentError(
                f"remove must be less than n = {n} (or at most n with replace=True), got {remove}"
            )
        return remove

    def _split(self, design: Design, sample: Sample, randomness: Randomness) -> TrialSequence:
        common = (
            design.n,
            design.n_trials,
            design.n_labeled,
            design.n_unlabeled,
            randomness,
            as_coupling(self.coupling),
            self.shuffle,
        )
        if design.remove == 1 and not design.replace and sample.groups is None:
            return Split(*common)
        return UnitSplit(*common, design.remove, design.replace, sample.groups)


def _units(design: Design) -> str:
    return "groups" if design.unit == "group" else "labelled rows"


@dataclass(frozen=True)
class BinomialTest:
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
        True stops once the three-way verdict is forced; "stable" once it is
        known whether the verdict is "stable"; False runs every trial.
    coupling, shuffle, algorithm, distance, remove, replace, labeled_test
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

    n: int
    epsilon: float
    delta: float
    alpha: float = 0.05
    randomized: bool = False
    stop_early: bool | str = True
    coupling: str | Coupling = "shared"
    shuffle: bool = True
    algorithm: str = "unknown"
    distance: str = "auto"
    remove: int = 1
    replace: bool = False
    labeled_test: bool = False

    keeps_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        arguments.epsilon(arguments.scalar("epsilon", self.epsilon))
        arguments.delta(arguments.scalar("delta", self.delta))
        arguments.alpha(arguments.scalar("alpha", self.alpha))
        arguments.flag("randomized", self.randomized)
        if self.stop_early not in (True, False, "stable"):
            raise ArgumentError(
                f"stop_early must be True, False or 'stable', got {self.stop_early!r}"
            )

    def named(self, algorithm: str, distance: str) -> BinomialTest:
        """Return the same test with the names that the record will hold."""
        return replace(self, algorithm=algorithm, distance=distance)

    @property
    def measurement(self) -> MeasureChanges:
        """The trials this test runs, without its question."""
        return MeasureChanges(
            self.n,
            self.coupling,
            self.shuffle,
            self.algorithm,
            self.distance,
            self.remove,
            self.replace,
            self.labeled_test,
        )

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, StabilityResult]:
        """Yield trials until the verdict is forced; return it."""
        measurement = self.measurement
        design = measurement.design(sample, randomness)
        until = self._until(design)
        if until is not None and until.forced:
            trials = Trials(np.empty(0), design)  # no fit could change the verdict
        else:
            trials = yield from measurement.measure(
                sample, randomness, until, decision_points=(0.0, self.epsilon)
            )
        return trials.test(self.epsilon, self.delta, self.alpha, self.randomized)

    def _until(self, design: Design) -> _StopWhenForced | None:
        if self.stop_early is False:
            return None
        return _StopWhenForced(self, design, "stable" if self.stop_early == "stable" else "verdict")


class _StopWhenForced:
    """Feeds changes to the curtailment rule in plan order (spec: fast fits must not vote first)."""

    def __init__(
        self, test: BinomialTest, design: Design, scope: Literal["verdict", "stable"]
    ) -> None:
        from poise.theory.curtailment import Curtailment

        zeta = design.zeta if test.randomized else 1.0
        self.epsilon = test.epsilon
        self.watch = Curtailment.of_test(design.n_trials, test.delta, test.alpha, zeta, scope)

    @property
    def forced(self) -> bool:
        return self.watch.forced

    def __call__(self, change: float) -> bool:
        """Take in the next change; nan stands for a trial that failed."""
        return self.watch.update(change > self.epsilon, failed=bool(np.isnan(change)))

    def state(self) -> str:
        """Say how things stand, for whoever watches."""
        failed = f", {self.watch.failures:,} failed" if self.watch.failures else ""
        larger = f"{self.watch.exceedances:,} larger changes{failed}"
        return f"{larger}, verdict {self.watch.verdict or 'open'}"


def _trials(changes: Any, design: Design, failures: tuple[str, ...]) -> Trials:
    values: NDArray[np.float64] = np.asarray(changes)
    return Trials(values, design, n_fits=2 * len(values), failures=failures)
