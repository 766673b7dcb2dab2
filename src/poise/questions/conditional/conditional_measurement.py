"""One training set and fresh rows: checked before the first fit, then measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poise.algorithms.distance import absolute, euclidean, needs_response
from poise.algorithms.function import seed_from
from poise.algorithms.largest_change import require_reachable
from poise.arguments.printed_numbers import at_most
from poise.data.sample import Sample
from poise.data.used_rows import digest_of_rows
from poise.errors import (
    AlgorithmError,
    DataError,
    RecordError,
    TrialError,
    collected_validity_warnings,
)
from poise.procedures.conditional_changes import (
    AddOneChanges,
    ConditionalChanges,
    DeployedChanges,
    JackknifeChanges,
)
from poise.protocol.messages import Answers, Batch, Until
from poise.protocol.procedure import converse
from poise.protocol.randomness import Randomness
from poise.questions.check.symmetry import reordering_change
from poise.questions.conditional.closed_form import find_closed_form
from poise.questions.conditional.conditional_question import ConditionalQuestion
from poise.questions.conditional.conditional_setup import ConditionalSetup
from poise.questions.conditional.fresh_rows import TrainingAndFresh, warn_of_copied_points
from poise.questions.conditional.stop_when_forced import stop_when_forced
from poise.questions.measurement import AnyJournal
from poise.questions.settings import from_settings
from poise.results.conditional_design import ConditionalDesign
from poise.results.conditional_trials import ConditionalTrials
from poise.results.stamp_result import with_warnings
from poise.running.execution import Execution
from poise.running.oracle import Oracle
from poise.running.repeat_check import RepeatCheck
from poise.storage.journal import Journal, OtherLines

__all__ = ["ConditionalMeasurement", "shared_term"]

AnyChanges = DeployedChanges | AddOneChanges | JackknifeChanges

_CHANGES: dict[str, Any] = {
    "deployed": DeployedChanges,
    "add-one": AddOneChanges,
    "jackknife": JackknifeChanges,
}
_FEWEST_TO_REORDER = 4


def shared_term(seed: int) -> int:
    """Return the random term that all fits of a measurement with this root seed use."""
    return Randomness(seed).words("conditional")


@dataclass(frozen=True)
class JournalDesign(OtherLines):
    """The description of a journal: one line for each trial, or for each removed row.

    A line is about a removed row, unless fresh rows are added (``replace``).
    """

    @property
    def n_trials(self) -> int:
        """Number of lines of a full run."""
        return self.n_unlabeled if self.replace else self.n

    @property
    def unit(self) -> str:
        """What one line is about."""
        return "added row" if self.replace else "removed row"


@dataclass(frozen=True)
class ConditionalMeasurement:
    """Everything that one data-conditional measurement needs, each part checked once.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        The black box.
    rows : TrainingAndFresh
        The data.
    setup : ConditionalSetup
        The other settings that the changes depend on.
    execution : Execution
        How the fits are run.
    """

    algorithm: Any
    rows: TrainingAndFresh
    setup: ConditionalSetup
    execution: Execution

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> ConditionalMeasurement:
        """Split the keywords of a public function into the parts of a measurement."""
        setup = from_settings(ConditionalSetup, settings)
        execution = from_settings(Execution, settings)
        rows = TrainingAndFresh.of(settings, labelled=setup.needs_responses)
        return cls(settings["algorithm"], rows, setup, execution)

    @property
    def notion(self) -> str:
        """What a trial compares."""
        return self.setup.notion

    @property
    def sample(self) -> Sample:
        """The rows that fits refer to: training rows, then fresh rows."""
        return self.rows.sample

    @property
    def n(self) -> int:
        """Number of training rows."""
        return self.rows.n

    @cached_property
    def oracle(self) -> Oracle:
        """The object that runs the fits: algorithm, distance and workers, checked."""
        setup = self.setup
        about = (self.algorithm, self.sample, setup.distance, setup.response)
        try:
            return Oracle.about(*about, self.execution)
        except AlgorithmError as error:  # it speaks of an argument that nobody gave
            raise AlgorithmError(str(error).replace("X_unlabeled", "X_fresh")) from None

    @cached_property
    def randomness(self) -> Randomness:
        """The source of random numbers."""
        return Randomness.from_state(self.setup.random_state)

    @cached_property
    def design(self) -> ConditionalDesign:
        """What is known before the first fit; computing it checks every part."""
        algorithm, distance = self.oracle.names
        given, fresh = self.rows.given, self.rows.n_fresh
        design = ConditionalDesign(
            algorithm,
            self.notion,
            self.n,
            fresh,
            points=int(self.setup.points),
            distance=distance,
            losses=needs_response(self.oracle.distance),
            name=self.setup.name or "",
            training_digest=digest_of_rows(given.X, given.y),
        )
        if design.n_trials == 0:
            raise DataError(
                f"X_fresh must hold at least {1 + design.points} rows for one trial, got {fresh}"
            )
        return design

    def check(self, question: ConditionalQuestion | None = None) -> None:
        """Before the first fit, refuse what cannot be measured or answered."""
        design = self.design
        if question is not None:
            require_reachable(question.epsilon, design.distance, self.sample.n_responses)
            question.require_fresh_rows(design)
        if self.notion == "jackknife":
            self._refuse_asymmetry()

    def _refuse_asymmetry(self) -> None:
        """Refuse an algorithm for which it matters where the added row stands."""
        if self.n < _FEWEST_TO_REORDER:
            return
        rows = self.rows.given.X.native, self.rows.given.y.native
        change = reordering_change(self.oracle.algorithm, *rows, random_state=0)
        if change > 0:
            raise AlgorithmError(
                f"the order of the rows changes the predictions of {self.oracle.algorithm.name} "
                f"(by up to {at_most(change)}) with one random term, and notion='jackknife' adds a "
                "row to a set of rows: which place it takes must not matter. notion='deployed' "
                "and notion='add-one' do not need this"
            )

    def run(
        self, journal: AnyJournal = None, question: ConditionalQuestion | None = None
    ) -> ConditionalTrials:
        """Measure; with a question, stop as soon as its verdict is forced."""
        with collected_validity_warnings() as noted:
            warn_of_copied_points(self.rows)
            try:
                found = self._measured(journal, question)
            except (TrialError, RecordError) as error:
                error.partial = with_warnings(error.partial, noted)
                raise
        return replace(found, warnings=tuple(noted))

    def _measured(
        self, journal: AnyJournal, question: ConditionalQuestion | None
    ) -> ConditionalTrials:
        points = (0.0,) if question is None else (0.0, question.epsilon)
        with self._answering(journal) as (respondent, randomness):
            plan = self._plan(randomness)
            found = self._by_formula(plan, points)
            if found is not None:
                return found
            until = self._until(question)
            watch = RepeatCheck(self.oracle) if self.execution.check else None
            return converse(plan.measured(until=until, decision_points=points), respondent, watch)

    def _by_formula(self, plan: AnyChanges, points: tuple[float, ...]) -> ConditionalTrials | None:
        """Use a formula if there is one and it agrees with a few fits."""
        if isinstance(plan, AddOneChanges) or not self._may_use_formula:
            return None
        form = find_closed_form(self.algorithm, self.sample, plan)

        def run(some: ConditionalChanges) -> ConditionalTrials:
            return converse(some.measured(decision_points=points), self.oracle)

        return None if form is None else form.checked(plan, run, points)

    def _plan(self, randomness: Randomness) -> AnyChanges:
        xi = shared_term(randomness.root)
        order = np.arange(self.design.n_fresh)
        if self.setup.shuffle:
            order = randomness.order("order of fresh rows", len(order))
        design = replace(self.design, seed=randomness.root, training_seed=seed_from(xi))
        made: AnyChanges = _CHANGES[self.notion](design, order, xi)
        return made

    @property
    def _may_use_formula(self) -> bool:
        plain = self.setup.response == "predict" and self.sample.fit_params is None
        return self.execution.fast and plain and self.oracle.distance in (absolute, euclidean)

    def _until(self, question: ConditionalQuestion | None) -> Until | None:
        if question is None or self.notion == "deployed" or not question.stop_early:
            return None
        return stop_when_forced(question, self.design.n_trials)

    @contextmanager
    def _answering(self, journal: AnyJournal) -> Iterator[tuple[_Respondent, Randomness]]:
        """Open the journal, if there is one; an earlier run is continued with its seed."""
        if journal is None:
            yield _Respondent(self.oracle, self.oracle), self.randomness
            return
        with Journal.of(journal) as log:
            given = None if self.setup.random_state is None else self.randomness
            randomness = log.randomness(given)
            log.describe(self._journal_design(randomness), self.sample.digest(), None)
            yield _Respondent(self.oracle, replace(self.oracle, journal=log)), randomness

    def _journal_design(self, randomness: Randomness) -> JournalDesign:
        design = self.design
        return JournalDesign(
            design.algorithm,
            design.n,
            design.n,
            design.n_trials,
            distance=f"{design.distance}, {design.notion}",
            seed=randomness.root,
            shuffle=self.setup.shuffle,
            order=randomness.rows,
            replace=design.notion != "deployed",
            points=design.points,
        )


@dataclass(frozen=True)
class _Respondent:
    """Answers queries without the journal, which keeps comparisons only."""

    plain: Oracle
    logged: Oracle

    @property
    def sample(self) -> Sample:
        return self.plain.sample

    def answer(self, batch: Batch) -> Answers:
        return (self.logged if batch.compares else self.plain).answer(batch)
