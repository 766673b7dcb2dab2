"""One algorithm on one sample: checked before the first fit, then measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from poise.algorithms.distance import needs_response
from poise.algorithms.largest_change import require_reachable
from poise.algorithms.losses import as_change
from poise.data.duplicates import about_copies, warn_of_copies
from poise.data.sample import Sample
from poise.data.used_rows import RowDigests
from poise.errors import RecordError, TrialError, collected_validity_warnings
from poise.procedures.averaged import AveragedTest
from poise.procedures.binomial import BinomialTest, MeasureChanges, refuse_averages
from poise.procedures.checked_question import StabilityQuestion
from poise.protocol.procedure import converse
from poise.protocol.randomness import Randomness
from poise.questions.choose_test import Choice, choose_test
from poise.questions.ledger_questions import PutQuestions, put_questions
from poise.questions.power_warnings import warn_if_empty, warn_if_hopeless
from poise.questions.provenance_of_run import digested_meanwhile, provenance_of
from poise.questions.settings import from_settings, sample_of
from poise.questions.setup import Setup
from poise.questions.spread import RowsSetAside
from poise.results import Design, StabilityResult, Trials
from poise.results.provenance import Provenance
from poise.results.stamp_result import Names, with_warnings
from poise.running.execution import Execution
from poise.running.oracle import Oracle
from poise.running.repeat_check import RepeatCheck
from poise.shortcuts.fast_path import removals_cost_no_fits
from poise.storage.journal import Journal, begun_design, begun_randomness
from poise.storage.ledger import Ledger

__all__ = ["AnyJournal", "Measurement"]

AnyJournal = str | Path | Journal | None


@dataclass(frozen=True)
class Measurement:
    """Everything that one measurement needs, each part checked once.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        The black box.
    sample : Sample
        The data.
    setup : Setup
        The other settings that the changes depend on.
    execution : Execution
        How the fits are run.
    randomness : Randomness
        The source of random numbers; a journal keeps the seed of the earlier run.
    aside : RowsSetAside, optional
        The rows from which the spread was computed, if ε is a share of it; they are not in the
        sample.
    choice : Choice, optional
        The test that these trials are for; None if it is not chosen yet.
    certified : bool
        Whether a certificate is wanted: rows are then digested however many there are.

    Examples
    --------
    >>> sample = Sample([[0.0]] * 33, [1.0] * 33)
    >>> mean = lambda X, y, seed: lambda rows: [sum(y) / len(y)] * len(rows)
    >>> measurement = Measurement(mean, sample, Setup(10), Execution(), Randomness(0))
    >>> measurement.design.n_trials
    3
    >>> measurement.run().changes.tolist()
    [0.0, 0.0, 0.0]
    """

    algorithm: Any
    sample: Sample
    setup: Setup
    execution: Execution
    randomness: Randomness
    _: KW_ONLY
    aside: RowsSetAside | None = None
    choice: Choice | None = None
    certified: bool = False

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Measurement:
        """Split the keywords of a public function into the parts of a measurement."""
        setup, execution = from_settings(Setup, settings), from_settings(Execution, settings)
        sample = sample_of(settings)
        how = execution.where_rows_are(sample), Randomness.from_state(setup.random_state)
        return cls(settings["algorithm"], sample, setup, *how)

    @cached_property
    def oracle(self) -> Oracle:
        """The object that runs the fits: algorithm, distance and workers, checked."""
        setup = self.setup
        about = (self.algorithm, self.sample, setup.distance, setup.response)
        return Oracle.about(*about, self.execution)

    @cached_property
    def trials(self) -> MeasureChanges:
        """The procedure that runs every trial."""
        return MeasureChanges(**self._of_a_trial)

    @cached_property
    def one_change(self) -> Design:
        """The design with one change a trial, without the names of algorithm and distance."""
        single = {**self._of_any_trial, "removals": 1, "points": None}
        return MeasureChanges(**single).design(self.sample, self.randomness)

    @cached_property
    def design(self) -> Design:
        """What is known before the first fit."""
        names = Names(*self.oracle.names)
        named = names.on_design(self.trials.with_averages(self.one_change))
        name = self.setup.name or ""
        if self.aside is None:
            return replace(named, name=name)
        rows = self.aside.rows.n_labeled
        return replace(named, name=name, spread=self.aside.spread, set_aside=rows)

    @property
    def _of_any_trial(self) -> dict[str, Any]:
        labeled_test = needs_response(as_change(self.setup.distance))
        return {**self.setup.of_a_trial, "labeled_test": labeled_test}

    @cached_property
    def _of_a_trial(self) -> dict[str, Any]:
        settings = self._of_any_trial
        if self.setup.removals == 1 or not self.oracle.algorithm.ignores_row_order:
            return settings
        # If the algorithm declares it and the first trial confirms it, one full fit is enough.
        measure = MeasureChanges(**settings)
        design = measure.with_averages(self.one_change)
        trials = measure.split(design, self.sample, self.randomness)
        same = len(trials) > 0 and self.oracle.ignores_row_order(trials)
        return {**settings, "one_full_fit": same}

    def for_question(
        self, question: StabilityQuestion, journal: AnyJournal = None, *, alone: bool = True
    ) -> Measurement:
        """Return the same measurement with the trials that the chosen test needs.

        A journal that was begun keeps the choice that was made before its first fit. A measurement
        that is not ``alone`` is compared with others, for which removals may not be free.
        """
        if self.choice is not None:
            return self
        begun = None if journal is None else begun_design(journal)
        return self.with_choice(self._chosen(question, begun, alone))

    def with_choice(self, choice: Choice) -> Measurement:
        """Return the same measurement with the trials of a test that was chosen."""
        setup = replace(self.setup, removals=choice.removals, points=choice.points)
        chosen = replace(self, setup=setup, choice=choice)
        # Neither depends on how many changes a trial has.
        return chosen._knowing(oracle=self.oracle, one_change=self.one_change)

    def with_algorithm(self, algorithm: Any, name: str | None) -> Measurement:
        """Return the measurement of another algorithm, which headlines call ``name``."""
        other = replace(self, algorithm=algorithm, setup=replace(self.setup, name=name))
        # The trials are made of rows, whichever algorithm is fitted.
        return other._knowing(one_change=self.one_change)

    def _knowing(self, *, one_change: Design, oracle: Oracle | None = None) -> Measurement:
        """Hand on what another measurement has computed, so that it is computed once."""
        known = vars(self)  # where a cached property keeps its value
        known["one_change"] = one_change
        if oracle is not None:
            known["oracle"] = oracle
        return self

    def _chosen(self, question: StabilityQuestion, begun: Design | None, alone: bool) -> Choice:
        paper = self.one_change
        free = alone and question.test == "auto" and self._removals_cost_no_fits(paper)
        return choose_test(question, self.setup, paper, begun, free_removals=free)

    def _removals_cost_no_fits(self, paper: Design) -> bool:
        if not self.execution.fast:
            return False
        rows = self.oracle.algorithm.batch(), self.sample.for_checks, self.oracle.distance
        return removals_cost_no_fits(*rows, paper.n, paper.n_trials)

    def refuse(self, question: StabilityQuestion | None = None) -> Design:
        """Refuse what cannot be measured: computing the design checks every part.

        Also refuse a question for which no change could give the verdict "unstable".
        """
        if question is not None:
            distance = self.design.distance
            require_reachable(question.epsilon, distance, self.sample.n_responses)
        return self.design

    def check(self, question: StabilityQuestion | None = None, algorithms: int = 1) -> None:
        """Before any fit, refuse what cannot be measured and warn if it cannot be answered.

        ``algorithms`` share an error level, of which the question has its part.
        """
        design = self.refuse(question)
        if question is not None and question.test == "binomial":
            refuse_averages(self.setup)
        if question is None:
            warn_if_empty(design)
        else:
            warn_if_hopeless(design, question, algorithms)
        warn_of_copies(self.sample)

    def run(
        self,
        journal: AnyJournal = None,
        *,
        called: str = "",
        question: StabilityQuestion | None = None,
    ) -> Trials:
        """Run every trial; a warning about the algorithm names it if it is ``called`` something.

        If a ``question`` is given, shortcuts are exact around its ε, as in :meth:`test`.
        """
        points = (0.0,) if question is None else (0.0, float(question.epsilon))
        with self._begun(journal, question) as (oracle, design, randomness, noted):
            trials = self.trials.measured(design, self.sample, randomness, decision_points=points)
            with self._digested_meanwhile():
                measured = converse(trials, oracle, self._repeated(oracle, called))
            return replace(measured, warnings=tuple(noted), provenance=self._provenance(points))

    def put(
        self, question: StabilityQuestion, ledger: Ledger | None, journal: AnyJournal = None
    ) -> PutQuestions | None:
        """Put the question to the ledger, if there is one; the test must have been chosen."""
        return None if ledger is None else put_questions(ledger, [(self, question)], journal)

    def test(
        self,
        question: StabilityQuestion,
        journal: AnyJournal = None,
        ledger: Ledger | None = None,
    ) -> StabilityResult:
        """Run as many trials as the verdict needs; all of them if there is a ledger.

        The p-value of a run that stopped early is just small enough for one question.
        """
        chosen = self.for_question(question, journal)
        put = chosen.put(question, ledger, journal)
        if put is not None:
            trials = chosen.run(journal, question=question)
            result = put.noted(put.judged(chosen, trials, question))
            return replace(result, tested_rows=RowDigests.of(chosen.sample))
        result = chosen._tested(question, chosen._procedure(question), journal)
        return chosen.explained(result)

    def explained(self, result: StabilityResult) -> StabilityResult:
        """Return the result with the reason why its test was chosen, if it was chosen."""
        return result if self.choice is None else replace(result, why=self.choice.why)

    def _procedure(self, question: StabilityQuestion) -> BinomialTest | AveragedTest:
        assert self.choice is not None  # `test` has called `for_question`
        settings = {**self._of_a_trial, **asdict(question), "test": self.choice.test}
        if self.choice.test == "binomial":
            return BinomialTest(**settings)
        return AveragedTest(**settings)

    def _tested(
        self, question: StabilityQuestion, test: BinomialTest | AveragedTest, journal: AnyJournal
    ) -> StabilityResult:
        with self._begun(journal, question) as (oracle, design, randomness, noted):
            judged = test.judged(design, self.sample, randomness)
            with self._digested_meanwhile():
                result = converse(judged, oracle, self._repeated(oracle))
            rows, doubts = RowDigests.of(self.sample), tuple(noted)
            origin = self._provenance((0.0, float(question.epsilon)))
            assert result.trials is not None  # only a result read from a file may have none
            trials = replace(result.trials, warnings=doubts, provenance=origin)
            return replace(result, tested_rows=rows, warnings=doubts, trials=trials)

    def _digested_meanwhile(self) -> AbstractContextManager[None]:
        return digested_meanwhile(self.sample, however_large=self.certified)

    def _provenance(self, decision_points: tuple[float, ...]) -> Provenance:
        large = self.certified
        return provenance_of(self.oracle, self.setup, decision_points, however_large=large)

    def _repeated(self, oracle: Oracle, called: str = "") -> RepeatCheck | None:
        return RepeatCheck(oracle, called) if self.execution.check else None

    def judge(self, trials: Trials, question: StabilityQuestion) -> StabilityResult:
        """Judge the trials of :meth:`for_question` by the test that was chosen for the question."""
        assert self.choice is not None  # the trials are those of `for_question`
        chosen = {**question.for_trials, "test": self.choice.test}
        return self.explained(trials.test(**chosen))

    @contextmanager
    def _begun(
        self, journal: AnyJournal, question: StabilityQuestion | None = None
    ) -> Iterator[tuple[Oracle, Design, Randomness, list[str]]]:
        """Open the journal, if there is one; an earlier run is continued with its seed.

        Warnings that the error level may be wrong are collected. If a run fails, they are
        added to the trials that were measured before.
        """
        with collected_validity_warnings() as noted:
            noted.extend(filter(None, [about_copies(self.sample)]))
            try:
                if journal is None:
                    yield replace(self.oracle), self.design, self.randomness, noted
                    return
                with Journal.of(journal) as log:
                    yield *self._in(log, question, noted), noted
            except (TrialError, RecordError) as error:
                error.partial = with_warnings(error.partial, noted)
                raise

    def _in(
        self, log: Journal, question: StabilityQuestion | None, noted: list[str]
    ) -> tuple[Oracle, Design, Randomness]:
        """Describe the run in its journal."""
        given = None if self.setup.random_state is None else self.randomness
        begun = begun_design(log)
        randomness = self.randomness if begun is None else begun_randomness(given, begun)
        root, zeta, order = randomness.root, randomness.zeta, randomness.rows
        design = replace(self.design, seed=root, zeta=zeta, order=order)
        asked = None if question is None else question.for_trials
        log.describe(design, self.sample.digest(), asked, *self.oracle.codes, noted)
        return replace(self.oracle, journal=log), design, randomness
