"""Run any black-box test (Definitions 2 and 3) and keep its transcript."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from poise.algorithms.distance import Distance, needs_response
from poise.algorithms.fit_warnings import counted_fit_warnings
from poise.algorithms.largest_change import require_reachable
from poise.data.duplicates import warn_of_copies
from poise.errors import ArgumentError, collected_validity_warnings
from poise.protocol.budget import Budget, Counts
from poise.protocol.procedure import Procedure, run_procedure
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.questions.settings import from_settings, sample_of
from poise.results.stamp_result import Names, with_warnings
from poise.running.execution import Execution
from poise.running.oracle import Oracle
from poise.storage.transcript import Recorder, Transcript
from poise.storage.transcript.recording import verdict_in_words

__all__ = ["Run", "run"]


@dataclass(frozen=True)
class Run:
    """The result of running a procedure, and its transcript.

    Attributes
    ----------
    result : object
        Whatever the procedure returned.
    transcript : Transcript
        All queries and answers; :func:`poise.replay` recomputes the result from them.

    Examples
    --------
    >>> import poise
    >>> from sklearn.dummy import DummyRegressor
    >>> test = poise.procedures.BinomialTest(n=4, epsilon=1.0, delta=0.5)
    >>> ran = poise.run(test, DummyRegressor(), [[0.0]] * 50, [1.0] * 50, random_state=0)
    >>> ran.counts.calls, poise.replay(ran.transcript).verdict == ran.verdict
    (18, True)
    """

    result: Any
    transcript: Transcript

    @property
    def verdict(self) -> Any:
        """The verdict of the result; if the result has none, the result itself."""
        return getattr(self.result, "verdict", self.result)

    @property
    def counts(self) -> Counts:
        """Calls of the algorithm, rows trained on, points evaluated."""
        return self.transcript.counts

    def __str__(self) -> str:
        return str(self.result)

    def _repr_html_(self) -> str | None:
        """Show what the result shows in a notebook; None leaves it to plain text."""
        shown = getattr(self.result, "_repr_html_", None)
        return None if shown is None else shown()


def run(
    procedure: Procedure,
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    X_unlabeled: Any = None,
    distance: str | Distance = "auto",
    models: str = "black-box",
    budget: Budget | None = None,
    on_error: str = "raise",
    on_timeout: str = "raise",
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    address: str | None = None,
    timeout: float | None = None,
    fast: bool = True,
    progress: bool | None = None,
    response: str = "predict",
    fit_params: Mapping[str, Any] | None = None,
    groups: Any = None,
) -> Run:
    """Run a black-box test on an algorithm and data.

    The procedure asks and the oracle answers. Nothing else calls the algorithm, so
    the verdict is a function of the transcript alone (Definition 2). What the
    verdict guarantees depends on the procedure; its result says what it is.

    Parameters
    ----------
    procedure : Procedure
        Any object with a method ``ask(sample, randomness)``: a generator that yields
        batches, receives their answers and returns its verdict.
    algorithm : estimator, function or Algorithm
        The black box.
    X, y, X_unlabeled : array, data frame, sparse matrix or list
        Labelled rows and, optionally, rows without a response.
    target : str, optional
        The column of X that holds the responses, in place of y, if X is a data frame.
    distance : {"auto", "absolute", "euclidean", "label", "total_variation"} or callable
        How far apart the two predictions of a comparison are.
    models : {"black-box", "transparent"}
        Whether the procedure may see the fitted models (Definition 3).
    budget : Budget, optional
        Limits on calls, training rows and evaluation rows; a batch that would
        exceed them is refused before any part of it is computed.
    on_error, on_timeout : {"raise", "unstable"}
        What to do if a call fails or takes too long: stop, or tell the procedure that it
        failed.
    random_state : None, int, Generator or RandomState
        The same value gives exactly the same run, for every ``n_jobs``.
    n_jobs, backend, address, timeout
        Where calls run and how long one call may take, as in :func:`stability_test`.
    fast : bool
        Compute many comparisons at once where the formula is exact.
    progress : bool, optional
        Progress goes to stderr: a bar in a terminal, one line per minute elsewhere. False
        shows nothing.
    response, fit_params
        The method of a fitted estimator that is called, and further arguments of its
        ``fit``, as in :func:`stability_test`. Rows that a procedure invents have no
        ``fit_params``.
    groups : array, column or list, optional
        One label per labelled row, for a procedure that keeps groups together. Such a
        procedure has an attribute ``keeps_groups = True``; others are refused.

    Returns
    -------
    Run

    See Also
    --------
    replay, Procedure, audit

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(400, 2)), rng.normal(size=400)
    >>> test = poise.procedures.BinomialTest(n=10, epsilon=1.0, delta=0.1)
    >>> run = poise.run(test, Ridge(), X, y, random_state=0)
    >>> run.verdict.value, run.counts.calls
    ('stable', 72)
    >>> poise.replay(run.transcript) == run.result
    True
    """
    given = locals()
    _check_procedure(procedure, groups)
    if not isinstance(budget, Budget | None):
        raise ArgumentError(f"budget must be a poise.Budget or None, got {budget!r}")
    sample = sample_of(given)
    execution = from_settings(Execution, given).where_rows_are(sample)
    oracle = Oracle.about(algorithm, sample, distance, response, execution)
    oracle = replace(oracle, models=models, budget=Budget() if budget is None else budget)
    randomness = Randomness.from_state(random_state)
    told = _told(procedure, oracle, distance)
    _require_reachable(told, oracle)
    recorder, names = Recorder(), Names(*oracle.names)
    noting = collected_validity_warnings()
    with noting as noted, names.on_partial_result(), counted_fit_warnings():
        if getattr(procedure, "needs_independent_rows", False):
            warn_of_copies(oracle.sample, stacklevel=3)
        result = names.on(run_procedure(told, oracle, randomness, watch=recorder))
    transcript = _transcript(told, oracle, randomness, recorder, result)
    return Run(with_warnings(result, noted), replace(transcript, warnings=tuple(noted)))


def _require_reachable(procedure: object, oracle: Oracle) -> None:
    """Refuse a question whose ε no change can exceed."""
    epsilon, name = getattr(procedure, "epsilon", None), oracle.names[1]
    if isinstance(epsilon, numbers.Real):
        require_reachable(float(epsilon), name, oracle.sample.n_responses)


def _check_procedure(procedure: object, groups: Any) -> None:
    if not callable(getattr(procedure, "ask", None)) or isinstance(procedure, type):
        raise ArgumentError(
            f"procedure must be an object with a method ask(sample, randomness), got {procedure!r}"
        )
    if groups is not None and not getattr(procedure, "keeps_groups", False):
        raise ArgumentError(
            f"groups must be None: {type(procedure).__name__} takes rows one by one and would take "
            "groups apart; BinomialTest keeps them together, and so does a procedure of your own "
            "that uses sample.groups and says keeps_groups = True"
        )


def _told(procedure: Any, oracle: Oracle, distance: str | Distance) -> Procedure:
    """Tell a procedure what it may need to know about this run: distance and test rows."""
    if hasattr(procedure, "measured_by"):  # it compares predictions itself
        left_open = distance == "auto" and getattr(procedure, "distance", None) == "auto"
        natural = oracle.algorithm.natural_distance
        procedure = procedure.measured_by(natural if left_open else distance)
    if hasattr(procedure, "labeled_test") and needs_response(oracle.distance):
        procedure = replace(procedure, labeled_test=True)
    told: Procedure = procedure
    return told


def _transcript(
    procedure: Procedure,
    oracle: Oracle,
    randomness: Randomness,
    recorder: Recorder,
    result: object,
) -> Transcript:
    algorithm, distance = oracle.names
    return Transcript(
        procedure=procedure,
        procedure_name=type(procedure).__name__,
        sample=oracle.sample,
        seed=randomness.root,
        order=randomness.rows,
        stages=tuple(recorder.stages),
        algorithm=algorithm,
        distance=distance,
        models=oracle.models,
        on_error=oracle.execution.on_error,
        on_timeout=oracle.execution.on_timeout,
        verdict=verdict_in_words(result),
        counts=oracle.counts,
    )
