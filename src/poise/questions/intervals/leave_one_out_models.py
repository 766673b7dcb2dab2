"""The n models without one row, by n fits or by a formula."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Predict
from poise.arguments.printed_numbers import at_most
from poise.data.sample import Sample
from poise.errors import PoiseWarning, TrialError
from poise.protocol.messages import FIT_BY_FIT, Answers, Batch, Query, queries_of
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.questions.intervals.kept_models import KeptModels
from poise.running.execution import Execution
from poise.running.oracle import Oracle
from poise.shortcuts.leave_one_out import FEWEST_ROWS, ROWS_COMPARED, LeftOutModels, find_left_out
from poise.shortcuts.shortcut import AGREEMENT
from poise.storage.journal import Journal, OtherLines

__all__ = ["LeaveOneOut", "LeaveOneOutFits"]

Floats = NDArray[np.float64]

_ROWS_AT_ONCE = 32  # models of jackknife+ that are fitted before they are written to files


@dataclass(frozen=True)
class LeaveOneOut:
    """The full model, the models without one row, and their residuals.

    Attributes
    ----------
    model : object
        The model that is fitted to all rows.
    residuals : array of length n
        Distance between the response of row i and its prediction by the model without row i.
    models : callable or tuple or None
        A function from rows to the predictions of all n models, or the models themselves;
        None if they were not kept.
    path : str
        "fit by fit", or what was done instead.
    """

    model: Any
    residuals: Floats
    models: Callable[[Any], Floats] | tuple[Any, ...] | None
    path: str

    def full(self, X: Any) -> Floats:
        """Predict with the full model."""
        with np.errstate():  # the model may change it
            return _numbers(predictor(self.model)(X))

    def each(self, X: Any) -> Floats:
        """Predict with every model; return an array of shape (rows, n)."""
        if isinstance(self.models, tuple):
            with np.errstate():
                said = [_numbers(predictor(model)(X)) for model in self.models]
            return np.stack(said, axis=1)
        if self.models is None:
            raise TypeError("the models without one row were not kept")
        return self.models(X)


def predictor(model: Any) -> Predict:
    """Return the prediction function of a model, which may be this function itself."""
    predict: Predict = getattr(model, "predict", model)
    return predict


def _numbers(predictions: NDArray[Any]) -> Floats:
    return np.asarray(predictions, dtype=np.float64).reshape(len(predictions))


class LeaveOneOutTasks(Sequence[Query]):
    """Tasks: train on all rows but one and predict that one; each is made when it is used."""

    def __init__(self, terms: NDArray[np.uint64], first: int = 0) -> None:
        self.terms, self.first = terms, first

    def __len__(self) -> int:
        return len(self.terms) - self.first

    @overload
    def __getitem__(self, index: int) -> Query: ...
    @overload
    def __getitem__(self, index: slice) -> list[Query]: ...
    def __getitem__(self, index: int | slice) -> Query | list[Query]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = self.first + index
        others = np.delete(np.arange(len(self.terms)), row)
        return Query(others, np.array([row]), int(self.terms[row]))


@dataclass(frozen=True)
class LeaveOneOutDesign(OtherLines):
    """The description of a journal of residuals, with one line for each row that is left out."""

    distance: str = "leave-one-out residual"

    @property
    def n_trials(self) -> int:
        """Number of rows that are left out."""
        return self.n

    @property
    def unit(self) -> str:
        """What one line is about."""
        return "left-out row"


@dataclass(frozen=True)
class LeaveOneOutFits:
    """How the n + 1 models of a jackknife are fitted.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        The black box.
    sample : Sample
        The training rows.
    execution : Execution
        Where the fits run.
    random_state : None, int, Generator or RandomState
        The source of random terms.
    shared : bool
        Whether all fits use the same random term, as Theorem J needs. Jackknife+ without a
        certificate uses a different one for each fit. Then it is enough that the
        distribution of the model does not depend on the order of the rows.
    journal : path, Journal or None
        A file for the residuals; models that are needed later are kept in files beside it.
    xi : int or None
        The random term of all fits, where a certificate is about fits with this term.
    """

    algorithm: Any
    sample: Sample
    execution: Execution
    random_state: RandomStateLike
    shared: bool
    journal: str | Path | Journal | None = None
    xi: int | None = None

    def run(self, keep_models: bool) -> LeaveOneOut:
        """Fit, or use a formula if there is one; keep the n models if they are needed."""
        about = Oracle.about(self.algorithm, self.sample, execution=self.execution)
        oracle = replace(about, models="transparent")
        if self.journal is None:
            return self._fitted(oracle, Randomness.from_state(self.random_state), keep_models)
        with Journal.of(self.journal) as log:
            randomness = log.randomness(self.random_state)
            n = self.sample.n_labeled
            name, seed = oracle.names[0], randomness.root
            design = LeaveOneOutDesign(name, n, n, coupling=self._coupling, seed=seed)
            log.describe(design, self.sample.digest(), None, *oracle.codes)
            return self._fitted(oracle, randomness, keep_models, log)

    @property
    def _coupling(self) -> str:
        """Which random terms the fits have: residuals under others are no continuation."""
        if not self.shared:
            return "independent"
        return "shared" if self.xi is None else f"shared, term {self.xi}"

    def _fitted(
        self, oracle: Oracle, randomness: Randomness, keep: bool, log: Journal | None = None
    ) -> LeaveOneOut:
        n, y = self.sample.n_labeled, _numbers(self.sample.y.native)
        terms = randomness.block("leave one out", 0, n + 1)[:, 0]
        if self.shared:
            terms[:] = terms[n] if self.xi is None else self.xi
        everything = Query(np.arange(n), None, int(terms[n]))
        [model] = _answered(oracle, Batch([everything], models=True), "the fit of all rows").models
        tasks = LeaveOneOutTasks(terms[:n])
        found = self._closed_form(oracle, tasks)
        if found is not None:
            left_out = np.diagonal(found(self.sample.X.native))
            return LeaveOneOut(model, np.abs(y - left_out), found, found.name)
        if log is not None:
            logged = _LoggedFits(oracle, tasks, y, log)
            kept = logged.models() if keep else None
            return LeaveOneOut(model, logged.residuals(), kept, FIT_BY_FIT)
        answers = _answered(oracle, Batch(tasks, models=keep), "a fit without one row")
        left_out = np.concatenate([_numbers(each) for each in answers.predictions])
        models = answers.models if keep else None
        return LeaveOneOut(model, np.abs(y - left_out), models, FIT_BY_FIT)

    def _closed_form(self, oracle: Oracle, tasks: LeaveOneOutTasks) -> LeftOutModels | None:
        """Return a formula for the models that agrees with a few fits, or None."""
        X, y = self.sample.X.native, self.sample.y.native
        if not self.execution.fast or len(tasks) < FEWEST_ROWS:
            return None
        found = find_left_out(self.algorithm, X, y)
        if found is None:
            return None
        some = np.linspace(0, len(tasks) - 1, ROWS_COMPARED).astype(int).tolist()
        said = _answered(oracle, Batch([tasks[i] for i in some]), "a fit without one row")
        fitted = np.array([_numbers(each)[0] for each in said.predictions])
        formula = found(X[some])[np.arange(len(some)), some]
        scale = np.maximum(np.abs(fitted), np.abs(y).mean())
        if (np.abs(formula - fitted) <= AGREEMENT * scale).all():
            return found
        apart = float(np.abs(formula - fitted).max())
        warnings.warn(
            f"the {found.name} differs from the fits by up to {at_most(apart)}; "
            "every row is left out by a fit of its own instead",
            PoiseWarning,
            stacklevel=2,
        )
        return None


class _LoggedFits:
    """Fits without one row, whose residuals are written to a journal.

    Parameters
    ----------
    oracle : Oracle
        Runs the fits.
    tasks : LeaveOneOutTasks
        All of them.
    y : ndarray
        The responses.
    log : Journal
        What it holds is not fitted again.
    """

    def __init__(self, oracle: Oracle, tasks: LeaveOneOutTasks, y: Floats, log: Journal) -> None:
        self.oracle, self.tasks, self.y, self.log = oracle, tasks, y, log
        self.known = [
            float(residual)
            for answer in log.begin(FIT_BY_FIT, (0.0,))
            for residual in np.atleast_1d(np.asarray(answer, dtype=np.float64))
        ]

    def residuals(self) -> Floats:
        """Fit what the journal does not hold yet; write each residual as soon as it is known."""
        rest = LeaveOneOutTasks(self.tasks.terms, first=len(self.known))
        if len(rest):
            _answered(self.oracle, Batch(rest, until=self._write), "a fit without one row")
        return np.array(self.known)

    def models(self) -> tuple[Any, ...]:
        """Return all models: from their files if they are there, by fits if they are not."""
        kept = KeptModels(self.log.path)
        models: dict[int, Any] = {row: kept.load(row) for row in range(len(self.known))}
        rows = [row for row in range(len(self.tasks)) if models.get(row) is None]
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[start : start + _ROWS_AT_ONCE]
            batch = Batch([self.tasks[row] for row in some], models=True)
            answers = _answered(self.oracle, batch, "a fit without one row")
            for row, model, said in zip(some, answers.models, answers.predictions, strict=True):
                kept.save(row, model)
                models[row] = model
                if row == len(self.known):
                    self._write(said)
        return tuple(models[row] for row in range(len(self.tasks)))

    def _write(self, predictions: NDArray[Any]) -> bool:
        residual = float(abs(self.y[len(self.known)] - _numbers(predictions)[0]))
        self.log.append(residual)
        self.known.append(residual)
        return False


def _answered(oracle: Oracle, batch: Batch, what: str) -> Answers:
    """Fit a batch; if a fit fails, raise the error of the user's code with a note where it was."""
    try:
        return oracle.answer(batch)
    except TrialError as error:
        cause = error.__cause__
        if not isinstance(cause, Exception):
            raise
        [query] = queries_of(batch.tasks[error.trial])
        left_out = query.evaluate  # None: the fit of all
        which = f" (row {left_out[0]}, counting from 0)" if isinstance(left_out, np.ndarray) else ""
        cause.add_note(f"This happened in {what}{which}.")
        raise cause from None
