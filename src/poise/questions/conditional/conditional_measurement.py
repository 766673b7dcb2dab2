"""One training set and fresh rows: checked before the first fit, then measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poise import arguments
from poise.algorithms.distance import absolute, euclidean, needs_response
from poise.algorithms.function import seed_from
from poise.algorithms.largest_change import require_reachable
from poise.algorithms.losses import as_change
from poise.data.sample import Sample
from poise.data.used_rows import digest_of_rows
from poise.errors import (
    AlgorithmError,
    ArgumentError,
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
    Until,
)
from poise.protocol.messages import Answers, Batch
from poise.protocol.procedure import converse
from poise.protocol.randomness import Randomness
from poise.questions.check.symmetry import reordering_change
from poise.questions.conditional.closed_form import find_closed_form
from poise.questions.conditional.conditional_question import ConditionalQuestion
from poise.questions.conditional.fresh_rows import sample_with_fresh, warn_of_copied_points
from poise.questions.conditional.stop_when_forced import stop_when_forced
from poise.questions.measurement import AnyJournal
from poise.questions.settings import from_settings
from poise.results.conditional_design import NOTIONS, ConditionalDesign
from poise.results.conditional_trials import ConditionalTrials
from poise.results.design_names import with_warnings
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
_FEWEST_TRAINING_ROWS = 2
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
    given : mapping
        The keywords of :func:`poise.measure_conditional`, by name.
    """

    given: Mapping[str, Any]

    def __post_init__(self) -> None:
        arguments.choice("notion", self.notion, NOTIONS)
        arguments.count("points", self.given["points"], 1)
        arguments.flag("shuffle", self.given["shuffle"])
        arguments.flag("stop_early", self.given["stop_early"])
        if self.given["points"] != 1 and self.notion != "add-one":
            raise ArgumentError(
                f"points must be 1 for notion={self.notion!r}, where every fresh row is a trial, "
                f"got {self.given['points']}"
            )

    @property
    def notion(self) -> str:
        """What a trial compares."""
        return str(self.given["notion"])

    @cached_property
    def execution(self) -> Execution:
        """How the fits are run."""
        return from_settings(Execution, self.given)

    @cached_property
    def sample(self) -> Sample:
        """Training rows, then fresh rows; those that are both are refused."""
        losses = needs_response(as_change(self.given["distance"]))
        labelled = losses or self.notion != "deployed"
        return sample_with_fresh(
            self.given, responses=labelled, fit_params=self.given["fit_params"]
        )

    @cached_property
    def n(self) -> int:
        """Number of training rows."""
        count = len(self.given_sample.X)
        if count < _FEWEST_TRAINING_ROWS:
            raise DataError(f"X must hold at least 2 training rows to remove one, got {count}")
        return count

    @cached_property
    def given_sample(self) -> Sample:
        """The training rows alone."""
        return Sample(self.given["X"], self.given["y"])

    @cached_property
    def oracle(self) -> Oracle:
        """The object that runs the fits: algorithm, distance and workers, checked."""
        given = self.given
        how = given["distance"], given["response"]
        try:
            return Oracle.about(given["algorithm"], self.sample, *how, execution=self.execution)
        except AlgorithmError as error:  # it speaks of an argument that nobody gave
            raise AlgorithmError(str(error).replace("X_unlabeled", "X_fresh")) from None

    @cached_property
    def randomness(self) -> Randomness:
        """The source of random numbers."""
        return Randomness.from_state(self.given["random_state"])

    @cached_property
    def design(self) -> ConditionalDesign:
        """What is known before the first fit; computing it checks every part."""
        algorithm, distance = self.oracle.names
        fresh = self.sample.n_labeled + self.sample.n_unlabeled - self.n
        design = ConditionalDesign(
            algorithm,
            self.notion,
            self.n,
            fresh,
            points=int(self.given["points"]),
            distance=distance,
            losses=needs_response(self.oracle.distance),
            name=self.given["name"] or "",
            training_digest=digest_of_rows(self.given_sample.X, self.given_sample.y),
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
        rows = self.given_sample.X.native, self.given_sample.y.native
        change = reordering_change(self.oracle.algorithm, *rows, random_state=0)
        if change > 0:
            raise AlgorithmError(
                f"the order of the rows changes the predictions of {self.oracle.algorithm.name} "
                f"(by up to {change:g}) with one random term, and notion='jackknife' adds a row to "
                "a set of rows: which place it takes must not matter. notion='deployed' and "
                "notion='add-one' do not need this"
            )

    def run(
        self, journal: AnyJournal = None, question: ConditionalQuestion | None = None
    ) -> ConditionalTrials:
        """Measure; with a question, stop as soon as its verdict is forced."""
        with collected_validity_warnings() as noted:
            warn_of_copied_points(self.given["X_fresh"], self.given["y_fresh"])
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
        form = find_closed_form(self.given["algorithm"], self.sample, plan)

        def run(some: ConditionalChanges) -> ConditionalTrials:
            return converse(some.measured(decision_points=points), self.oracle)

        return None if form is None else form.checked(plan, run, points)

    def _plan(self, randomness: Randomness) -> AnyChanges:
        xi = shared_term(randomness.root)
        order = np.arange(self.design.n_fresh)
        if self.given["shuffle"]:
            order = randomness.order("order of fresh rows", len(order))
        design = replace(self.design, seed=randomness.root, training_seed=seed_from(xi))
        made: AnyChanges = _CHANGES[self.notion](design, order, xi)
        return made

    @property
    def _may_use_formula(self) -> bool:
        plain = self.given["response"] == "predict" and self.sample.fit_params is None
        return self.execution.fast and plain and self.oracle.distance in (absolute, euclidean)

    def _until(self, question: ConditionalQuestion | None) -> Until | None:
        if question is None or self.notion == "deployed" or not self.given["stop_early"]:
            return None
        return stop_when_forced(question, self.design.n_trials)

    @contextmanager
    def _answering(self, journal: AnyJournal) -> Iterator[tuple[_Respondent, Randomness]]:
        """Open the journal, if there is one; an earlier run is continued with its seed."""
        if journal is None:
            yield _Respondent(self.oracle, self.oracle), self.randomness
            return
        with Journal.of(journal) as log:
            given = None if self.given["random_state"] is None else self.randomness
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
            shuffle=self.given["shuffle"],
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
