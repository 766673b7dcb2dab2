"""One algorithm on one sample: everything is checked before the first fit, then measured."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from poise.algorithms.algorithm import Algorithm, as_algorithm, blaming_user_code
from poise.algorithms.distances import Distance, as_distance
from poise.algorithms.refused import search_among_few
from poise.data.copies import copies
from poise.data.randomness import Coupling, Randomness, as_coupling
from poise.data.rows import is_on_dask
from poise.data.sample import Sample
from poise.data.split import Split
from poise.data.suitable import few_values, rare_class
from poise.engine.execution import Execution
from poise.engine.first_trial import Look, compare, look
from poise.engine.messages import Answers, Batch, Floats, Ids
from poise.engine.oracle import Oracle, converse
from poise.errors import (
    ArgumentError,
    DataError,
    PowerWarning,
    RecordError,
    TrialError,
    ValidityWarning,
    note,
)
from poise.numbers import rounded_down
from poise.procedures.measure import MeasuredTrials, measure
from poise.results.design import Design, training_size
from poise.results.question import Question, Relative, allowed_change, law_for, read_epsilon, until
from poise.results.trials import Trials
from poise.settings import ON_DASK, Every, checked
from poise.shortcuts import has_formulas

if TYPE_CHECKING:
    from poise.shortcuts.blocks import Shortcut

_ROWS = ("X_unlabeled", "groups", "groups_unlabeled", "fit_params", "sample_weight", "ids")
_RUN = ("n_jobs", "backend", "fit_timeout", "on_error", "progress")
TRIAL = ("remove", "replace", "position", "max_trials", "response", "shuffle", "randomized")
_COUNTS = ("n_labeled", "n_unlabeled", "n_groups", "n_groups_unlabeled")
_SPLIT = (
    *("n", "n_trials", "removals", "points", "remove", "replace", "position"),
    *("one_full_fit", "shuffle"),
)
Until = Callable[[Floats], bool] | None  # shown the changes of each trial, says whether to stop
_FEWEST_FOR_FORMULAS = 4  # trials: fewer are fitted sooner than a formula is compared


@dataclass(frozen=True)
class Job:
    """What one call of a question is about; ``run`` measures it."""

    algorithm: Algorithm
    sample: Sample
    distance: Distance
    coupling: Coupling
    settings: Mapping[str, Any]
    randomness: Randomness
    design: Design
    split: Split = field(default=None)  # type: ignore[assignment]  # known once planned
    shortcut: Shortcut | None = None
    warnings: list[str] = field(default_factory=list)
    printed: tuple[str, ...] = ()  # by fits, each line once

    @classmethod
    def of(
        cls, function: str, algorithm: object, X: object, y: object, asked: Mapping[str, Any]
    ) -> Job:
        """Check the settings, then the rows, then the algorithm."""
        settings = checked(function, asked, Every)
        if is_on_dask(X) and function in ON_DASK:
            settings = _on_dask(settings)
        sample = _sample(algorithm, X, y, settings)
        rows: dict[str, Any] = {name: getattr(sample, name) for name in _COUNTS}
        n = training_size(settings["n"], settings["delta"], rows["n_labeled"], rows["n_groups"])
        # Not where rows that are refused would begin a journal, change their numbers, or be
        # told after the fits of others.
        plain = settings["journal"] is None and not isinstance(settings["epsilon"], str)
        later = plain and function in ON_DASK
        return cls.about(algorithm, sample, settings, later, n=n, sd=sample.sd(), **rows)

    @classmethod
    def about(
        cls,
        algorithm: object,
        sample: Sample,
        settings: Mapping[str, Any],
        later: bool = False,
        **rows: Any,
    ) -> Self:
        """Check the algorithm and its distance; ``rows`` say how the design counts them.

        With ``later``, most rows are looked at only if a formula is in doubt about them.
        """
        randomness = randomness_of(settings)
        plain, rows_here = as_algorithm(algorithm, settings["response"]), sample.at_hand
        later = later and _may_have_formulas(plain, settings)
        prepared = plain.prepared(rows_here.glimpse() if later else rows_here)
        given, natural = settings["distance"], prepared.natural_distance
        with blaming_user_code("coupling or distance cannot be used"):
            coupling = as_coupling(settings["coupling"])
            distance = as_distance(given, natural, prepared.n_outputs).prepared(sample.at_hand)
        design = Design(
            algorithm=prepared.name,
            coupling=coupling.name,
            compares=distance.compares,
            distance=distance.name,
            n_classes=prepared.n_classes,
            few_values=few_values(sample.at_hand.X),
            order_free=prepared.ignores_row_order,
            seed=randomness.root,
            name=settings["name"] or "",
            **{name: settings[name] for name in TRIAL},
            **rows,
        )
        return cls(prepared, sample, distance, coupling, settings, randomness, design)

    def asked(self, limits: bool = False) -> tuple[Self, Question]:
        """Return the question, and the job with rows set aside for it if it needs any.

        Where ``limits`` alone may be wanted, an allowed change may be left out. Rows that were
        chosen by looking share alpha.
        """
        given, job, change = self.settings, self, None
        if not (limits and given["epsilon"] is None and self.design.sized):
            job, change = self.with_epsilon(given["epsilon"])
        if given["delta"] is None:
            problem = "is missing: how often a change may be larger"
            raise ArgumentError(problem, argument="delta", remedy={"delta": 0.1})
        alpha = given["alpha"] / job.design.chosen_from
        more: dict[str, Any] = {name: given.get(name) for name in ("test", "stop_early", "gamma")}
        question = Question(change, given["delta"], alpha, **more)
        if question.test == "binomial" or question.gamma is not None:  # some trials refuse it
            law_for(job.planned().design, question)
        return job, question

    def with_epsilon(self, epsilon: object) -> tuple[Self, float | None]:
        """Return the allowed change as a number; a share of the sd sets rows aside for it."""
        asked = read_epsilon(epsilon)
        if not (self.design.sized and isinstance(asked, Relative)):
            plain = epsilon if isinstance(asked, Relative) else asked
            return self, self._reachable(allowed_change(plain, self.design))
        if self.design.compares != "predictions" or self.design.response != "predict":
            problem = "must be a number: the sd of y is in other units"
            raise ArgumentError(problem, argument="epsilon", got=epsilon)
        sample, known = self._sd_of_some(asked.rows)
        design = replace(self.design, **known, epsilon_as_typed=str(epsilon))
        if design.sd is None:
            why = "it is missing, holds labels, or the same value in all rows"
            raise DataError(f"y has no sd: {why}")
        change = allowed_change(rounded_down(asked.share * design.sd), design)
        return replace(self, sample=sample, design=design), self._reachable(change)

    def _sd_of_some(self, rows: int) -> tuple[Sample, dict[str, Any]]:
        """Set rows aside for the sd of the responses; return the others, and what is known."""
        aside, rest = self.sample.set_aside(rows)
        counts = {"n_labeled": rest.n_labeled, "n_groups": rest.n_groups}
        return rest, {**counts, "sd": aside.sd(), "set_aside": aside.n_labeled}

    def _reachable(self, epsilon: float | None) -> float | None:
        name, largest = self.distance.name, self.distance.largest
        if epsilon is not None and epsilon >= largest:
            rule = f"must be below {largest:g}: no change of {name} is larger, so all would pass"
            raise ArgumentError(rule, argument="epsilon", got=epsilon)
        return epsilon

    def require_answerable(self, question: Question) -> None:
        """Refuse a gate that cannot be passed: no verdict but "inconclusive" is possible."""
        why = self.planned().design.hopeless(question.delta, question.alpha)
        if why:
            raise DataError(f'these rows cannot give "stable": {why}')

    def planned(self) -> Self:
        """Choose R and T: all is known but what the look at trial 1 may take away."""
        hopes = _may_have_formulas(self.algorithm, self.settings)
        shortcut = self._shortcut() if hopes else None
        if hopes and shortcut is None:
            self.algorithm.prepared(self.sample.at_hand)
        all_free = shortcut is not None and shortcut.family.removes_all
        asked = (self.settings["removals_per_trial"], self.settings["points_per_trial"])
        design = self.design.shaped(*asked, self.distance.points, all_free)
        if shortcut is not None:
            shortcut = replace(shortcut, removals=design.removals)
        return replace(self, shortcut=shortcut).with_design(design)

    def with_design(self, design: Design) -> Self:
        """Return the same job with these trials."""
        split, rows = self.split, attrgetter(*_SPLIT)
        if split is None or rows(design) != rows(self.design):
            split = self._split(design)
        points = 1 if "points" in design.given_up else design.points
        split = split.with_fewer(design.shape[0], points)
        return replace(self, design=design, split=split)

    def _split(self, design: Design) -> Split:
        """Plan which rows each trial takes."""
        planned: dict[str, Any] = {name: getattr(design, name) for name in _SPLIT}
        planned |= {"trials": planned.pop("n_trials"), "n_points": planned.pop("points")}
        return Split(self.sample, self.randomness, self.coupling, **planned)

    def _shortcut(self) -> Shortcut | None:
        """Find exact formulas for these fits, where a trial is one that they know."""
        design = self.design
        plain = design.remove == 1 and not design.replace and design.position == "last"
        if not plain or design.response != "predict" or design.n_trials < _FEWEST_FOR_FORMULAS:
            return None
        from poise.shortcuts.blocks import Shortcut

        return Shortcut.of(self.algorithm, self.sample.at_hand, self.distance, design.n)

    def run(self, question: Question | None = None, *, warn: bool = True) -> Trials:
        """Look at trial 1, then run the trials that the rows hold."""
        job = self.planned()
        if warn:
            job.warn_of_power(question)
        oracle = Oracle(job.algorithm, job.sample, job.distance, job.execution)
        oracle.shortcut = job.shortcut
        if job.settings["journal"] is not None:
            from poise.engine.journal import Journal

            oracle.journal = Journal(job.settings["journal"])
        with oracle.journal or nullcontext():
            job, begun, seen = job._begun(oracle, question)
            try:
                answers = converse(job._procedure(oracle, job._until(question), seen), oracle)
                job.warnings.extend(seen.finish())
                if oracle.journal is not None:
                    job.warnings.extend(oracle.journal.warnings)
            except (TrialError, RecordError, KeyboardInterrupt) as error:
                partial = getattr(error, "partial", None)
                if isinstance(partial, Answers):
                    error.partial = job._measured(begun, partial, oracle)  # type: ignore[union-attr]
                raise
            finally:
                seen.close()
                oracle.heard.warn()
        for text in dict.fromkeys(job.warnings):
            note(ValidityWarning, text)
        return job._measured(begun, answers, oracle)

    def _begun(self, oracle: Oracle, question: Question | None) -> tuple[Job, Trials, Look]:
        """Look at the first trial; a journal keeps what was seen."""
        if oracle.journal is not None:
            from poise.questions.load import begun_or_resumed

            return begun_or_resumed(self, oracle, oracle.journal, question)
        seen = self.look(oracle)
        job = self.after(seen)
        return job, job.without_trials(question), seen

    def without_trials(self, question: Question | None) -> Trials:
        """Return what is known before the first trial."""
        asked: dict[str, Any] = {"delta": self.settings["delta"], "asked": question}
        asked |= {"warnings": tuple(self.warnings), "origin": self}
        return Trials(np.empty((0, *self.design.shape)), self.design, **asked)

    def repeated(self, oracle: Oracle, numbers: Ids) -> Answers:
        """Return some trials, fitted again."""
        trials = MeasuredTrials(self.split)
        return oracle.answer(Batch([trials[int(k)] for k in numbers]))

    def _procedure(
        self, oracle: Oracle, until: Until, seen: Look
    ) -> Generator[Batch, Answers, Answers]:
        """Return what asks for the trials."""
        return measure(self.split, until, seen.known)

    @property
    def execution(self) -> Execution:
        """How its fits are run."""
        return Execution(**{name: self.settings[name] for name in _RUN})

    def _until(self, question: Question | None) -> Until:
        """Return what ends the run early; rivals, of a comparison, share the level."""
        if question is None or not question.stop_early:
            return None
        return until(question, self.design, self.settings.get("rivals", 1))

    def look(self, oracle: Oracle) -> Look:
        """Look at the rows for copies, and at the first trial, unless nobody wants to."""
        self.warnings.extend(self.doubts())
        sample, split = self.sample.first(self.split)
        near, seen = oracle.on(sample), Look()
        if near.shortcut is not None:
            chosen = self.settings["removals_per_trial"] is None and self.design.removals > 1
            seen = compare(near, near.shortcut, split, chosen)
            oracle.shortcut = near.shortcut and oracle.shortcut
        if self.settings["check"] and oracle.shortcut is None:
            removals = 1 if seen.given_up else self.design.removals
            split = split.with_fewer(removals, self.design.points)
            given_up = seen.given_up
            seen = look(near, MeasuredTrials(split), self.design.position)
            seen.given_up = (*given_up, *seen.given_up)
        self.warnings.extend(seen.warnings)
        return seen

    def doubts(self) -> list[str]:
        """Say what is remarkable about the rows, before any fit."""
        sample, design = self.sample, self.design
        plain = sample.at_hand.n_responses == 1 and sample.n_groups is None
        classes = sample.classes if design.n_classes and plain else None
        estimator = getattr(self.algorithm, "estimator", None)
        found = (
            copies(sample.at_hand, sample.n_labeled + sample.n_unlabeled),
            rare_class(classes, design.n) if classes else None,
            search_among_few(estimator, design.n, design.unit, design.units[0]),
        )
        return [text for text in found if text]

    def after(self, seen: Look) -> Self:
        """Give up what did not survive the look; the number of trials and the test stay."""
        design = replace(self.design, given_up=seen.given_up)
        if seen.order_matters is not None:
            one_full_fit = design.one_full_fit and not seen.order_matters
            design = replace(design, order_free=not seen.order_matters, one_full_fit=one_full_fit)
        return self.with_design(design)

    def _measured(self, begun: Trials, answers: Answers, oracle: Oracle) -> Trials:
        return replace(
            begun,
            changes=answers.changes,
            design=self.design,
            failures=answers.failures,
            warnings=tuple(dict.fromkeys(self.warnings)),
            errors=answers.errors,
            origin=replace(self, printed=tuple(oracle.heard.printed())),
        )

    def warn_of_power(self, question: Question | None) -> None:
        """Say, before the first fit, that these rows cannot show "stable"."""
        alpha = self.settings["alpha"] if question is None else question.alpha
        why = self.design.hopeless(self.settings["delta"], alpha)
        if why and (question is not None or not self.design.n_trials):
            size = f" at n = {self.design.n:,}" if self.design.notion == "new" else ""
            note(PowerWarning, f'"stable" cannot be shown{size}: {why}')

    # where changes come from: what a saved file and a table of changes ask

    def label_of(self, row: int) -> object:
        """Return what people call a row."""
        return self.sample.label_of(row)

    @property
    def data(self) -> str:
        """Digest of the rows."""
        return self.sample.digest()

    @property
    def code(self) -> dict[str, str]:
        """Digests of the user's code."""
        from poise.algorithms.provenance import code_digest

        parts = {"algorithm": self.algorithm.user_code, "distance": self.distance.user_code}
        return {name: code_digest(*objects) for name, objects in parts.items() if objects}

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the libraries that are used."""
        from poise.algorithms.provenance import versions

        device = {"device": self.algorithm.device} if self.algorithm.device else {}
        return versions(*self.algorithm.user_code) | device


def _may_have_formulas(algorithm: Algorithm, settings: Mapping[str, Any]) -> bool:
    """Tell whether formulas may serve; then all rows are read only where these leave a doubt."""
    return settings["fast"] and has_formulas(getattr(algorithm, "estimator", None))


def randomness_of(settings: Mapping[str, Any]) -> Randomness:
    """Return the randomness of a run; one that goes on takes the seed that nobody has given."""
    state, journal = settings["random_state"], settings["journal"]
    if state is None and journal is not None:
        from poise.engine.journal import seed_in

        state = seed_in(journal)
    return Randomness.from_state(state)


def _on_dask(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run on rows that live on Dask; its workers fit."""
    for name, remedy in (("n_jobs", "every worker fits"), ("backend", "Dask fits its own rows")):
        if settings[name] not in (None, "dask"):
            raise ArgumentError(f"must be left out: {remedy}", argument=name, got=settings[name])
    found = {**settings, "backend": "dask"}
    Execution(**{name: found[name] for name in _RUN})  # is there a connection?
    return found


def _sample(algorithm: object, X: Any, y: Any, settings: Mapping[str, Any]) -> Sample:
    """Check the rows; those on Dask are looked at where they are."""
    rows = {name: settings[name] for name in _ROWS}
    if settings["backend"] != "dask" or not is_on_dask(X):
        return Sample.of(X, y, **rows)
    from poise.data.on_dask import DaskSample

    check = as_algorithm(algorithm, settings["response"]).prepared
    return cast("Sample", DaskSample.of(X, y, check, **rows))  # it is asked the same
