"""Trials that share no row, in one batch, to test or to measure."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from poise.data.sample import Sample
from poise.errors import ArgumentError, RecordError, TrialError
from poise.procedures.split_of_blocks import BlockSplit
from poise.procedures.split_of_groups import RemovedUnits, UnitSplit
from poise.procedures.split_of_removals import ChangesPerTrial, RemovalSplit
from poise.procedures.split_of_rows import Split, TrialSequence, TrialSizes
from poise.procedures.trial_setup import TrialSetup
from poise.protocol.messages import Answers, Batch, Comparison, Removals, Until
from poise.protocol.randomness import Randomness, as_coupling
from poise.results import Design, Trials

__all__ = ["DisjointTrials"]


@dataclass(frozen=True)
class DisjointTrials(TrialSetup):
    """As many trials as the data hold, no two of which use the same row (Example 1).

    Parameters
    ----------
    n, coupling, shuffle, remove, replace, removals, points
        As in :class:`~poise.procedures.trial_setup.TrialSetup`.
    labeled_test : bool
        Whether test rows must have a response.
    one_full_fit : bool
        Whether one full fit serves all removals of a trial: right only for an algorithm
        that does not depend on the order of its rows, for one and the same random term.
    """

    labeled_test: bool = field(default=False, kw_only=True)
    one_full_fit: bool = field(default=False, kw_only=True)

    keeps_groups: ClassVar[bool] = True
    needs_independent_rows: ClassVar[bool] = True

    def design(self, sample: Sample, randomness: Randomness) -> Design:
        """Return what is known before the first fit; refuse more rows than there are.

        The names of the algorithm and of the distance are unknown here: the code that runs
        the trials knows them and adds them to the design.
        """
        n = int(self.n)
        design = Design(
            algorithm="unknown",
            n=n,
            n_labeled=sample.n_labeled,
            n_unlabeled=sample.n_unlabeled,
            coupling=as_coupling(self.coupling).name,
            distance="auto",
            seed=randomness.root,
            zeta=randomness.zeta,
            shuffle=self.shuffle,
            order=randomness.rows,
            remove=int(self.remove),
            replace=self.replace,
            n_groups=None if sample.groups is None else len(sample.groups),
            labeled_test=self.labeled_test,
            n_classes=sample.n_classes,
            n_points=sample.n_points,
        )
        if n > design.n_units:
            raise ArgumentError(
                f"n must be at most the number of {_units(design)} ({design.n_units}), got {n}; "
                "ask about a smaller training size"
            )
        return self.with_averages(design)

    def with_averages(self, design: Design) -> Design:
        """Return a design of one change a trial with as many changes as are wanted here."""
        if not self.averages:
            return design
        return replace(
            design,
            removals=design.n // design.remove if self.removals == "all" else int(self.removals),
            points=design.most_points if self.points == "spare" else int(self.points or 1),
            one_full_fit=self.one_full_fit,
        )

    def trials(
        self, sample: Sample, randomness: Randomness
    ) -> TrialSequence[Comparison] | TrialSequence[Removals]:
        """Return all trials by number, each made when it is looked up."""
        return self.split(self.design(sample, randomness), sample, randomness)

    def measured(
        self,
        design: Design,
        sample: Sample,
        randomness: Randomness,
        *,
        until: Until | None = None,
        decision_points: tuple[float, ...] = (0.0,),
    ) -> Generator[Batch, Answers, Trials]:
        """Yield the trials as one batch that ``until`` may cut short; return the changes."""
        split = self.split(design, sample, randomness)
        if len(split) == 0:
            return Trials.measured(np.empty((0, *design.shape)), design)
        try:
            split.in_waves = until is not None
            answers = yield Batch(split, until, decision_points=decision_points)
        except (TrialError, RecordError) as error:
            if error.partial is not None:
                error.partial = Trials.measured(np.asarray(error.partial), design, error.failures)
            raise
        messages = tuple(failure.message for failure in answers.failures)
        return Trials.measured(answers.changes, replace(design, path=answers.path), messages)

    def split(
        self, design: Design, sample: Sample, randomness: Randomness
    ) -> TrialSequence[Comparison] | TrialSequence[Removals]:
        """Return the trials by number, each made when it is looked up."""
        sizes = TrialSizes(design.n, design.n_trials, design.n_labeled, design.n_unlabeled)
        common = sizes, randomness, as_coupling(self.coupling), self.shuffle
        changes = ChangesPerTrial(design.removals, design.points, design.one_full_fit)
        elsewhere = sample.rows_elsewhere
        if design.remove == 1 and not design.replace and sample.groups is None:
            if design.shape:
                return RemovalSplit(*common, changes, rows_elsewhere=elsewhere)
            return Split(*common, rows_elsewhere=elsewhere)
        removed = RemovedUnits(design.remove, design.replace, sample.groups)
        if design.shape:
            return BlockSplit(*common, changes, removed, rows_elsewhere=elsewhere)
        return UnitSplit(*common, removed, rows_elsewhere=elsewhere)


def _units(design: Design) -> str:
    return "groups" if design.unit == "group" else "labelled rows"
