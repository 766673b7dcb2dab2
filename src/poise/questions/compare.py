"""Many algorithms on the same trials, with one error level for all verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.distance import needs_response
from poise.data.sample import Sample
from poise.errors import ArgumentError, TrialError
from poise.procedures.binomial import MeasureChanges
from poise.protocol.randomness import Randomness
from poise.questions.stability_test import measure, warn_if_hopeless
from poise.results import CompareResult, Design, Trials
from poise.running.oracle import Oracle
from poise.storage.journal import JournalFolder

__all__ = ["check_fits", "compare", "design_of"]

_WHAT_IS_ASKED = ("distance", "response", "on_error", "on_timeout", "progress", "fast")
_WHERE_IT_RUNS = ("n_jobs", "backend", "address", "timeout")


def compare(
    algorithms: Iterable[Any] | Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n: int,
    epsilon: float,
    delta: float,
    alpha: float = 0.05,
    randomized: bool = False,
    random_state: Any = None,
    journal: str | Path | JournalFolder | None = None,
    **settings: Any,
) -> CompareResult:
    """Test several algorithms on the same trials, with one error level for all of them.

    P(any algorithm that is not (ε, δ)-stable is declared stable) ≤ α, and the
    same for "unstable": Holm's method on the p-values of Theorem 1, valid
    although the algorithms share rows. Every algorithm sees the same training
    rows, test points and random terms, trial by trial, so differences between
    them are differences between the algorithms.

    It is not a ranking: that one is declared stable and another is not does not
    mean that the first is more stable. Every trial is run for every algorithm;
    nothing stops early.

    Parameters
    ----------
    algorithms : list, or dict from names to algorithms
        Estimators, functions or :class:`~poise.Algorithm` objects. In a list
        each is called by its own description.
    X, y : array, data frame, sparse matrix or list
        Labelled rows.
    n, epsilon, delta, alpha, randomized
        The question, as in :func:`stability_test`.
    random_state : None, int, Generator or RandomState
        Decides the trials, once for all algorithms.
    journal : str or Path, optional
        A folder with a journal for each algorithm; made if it is not there. The
        same call goes on where an earlier one was cut short, also with
        ``random_state=None``. An algorithm that is added later is measured on the
        same trials.
    **settings
        Any other argument of :func:`measure`: ``X_unlabeled``, ``coupling``,
        ``distance``, ``n_jobs``, …

    Returns
    -------
    CompareResult

    Examples
    --------
    >>> import poise
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> result = poise.compare(
    ...     [Ridge(), LinearRegression()], X, y, n=12, epsilon=20, delta=0.2, random_state=0)
    >>> print(result.table().text())
    algorithm           verdict   larger changes  p, adjusted  delta_hat  epsilon_hat
    Ridge()             stable    0 of 34         0.001014     0.1029     10.55
    LinearRegression()  unstable  26 of 34        4.411e-12    0.8926     3,307
    """
    named = _named(algorithms)
    design = design_of(X, y, n, settings)
    for algorithm in named.values():
        check_fits(algorithm, X, y, settings)
    # Judging no trial at all checks every number of the question before the first fit.
    CompareResult.judge({"": Trials(np.empty(0), design)}, epsilon, delta, alpha, randomized)
    warn_if_hopeless(design, delta, alpha / len(named), randomized)
    folder = JournalFolder.of(journal)
    common = {"n": n, "random_state": folder.randomness(random_state).root, **settings}
    trials = {
        name: _measured(name, algorithm, X, y, journal=folder.journal(name), **common)
        for name, algorithm in named.items()
    }
    return CompareResult.judge(trials, epsilon, delta, alpha, randomized)


def _named(algorithms: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Give every algorithm a name of its own."""
    if isinstance(algorithms, Mapping):
        pairs = [(str(name), algorithm) for name, algorithm in algorithms.items()]
    else:
        pairs = [(as_algorithm(algorithm).name, algorithm) for algorithm in algorithms]
    if not pairs:
        raise ArgumentError("algorithms must hold at least one algorithm, got none")
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ArgumentError(
            f"algorithms must have different names, got {[name for name, _ in pairs]}; "
            "give a dict from names to algorithms"
        )
    return named


def _measured(name: str, algorithm: Any, *data: Any, **settings: Any) -> Trials:
    try:
        return measure(algorithm, *data, **settings)
    except TrialError as error:
        error.add_note(f"The algorithm is {name!r}.")
        raise


def design_of(X: Any, y: Any, n: int, settings: Mapping[str, Any]) -> Design:
    """Check the data and n as :func:`measure` will, and return how many trials there will be."""
    sample = _sample(X, y, settings)
    measurement = MeasureChanges(
        n,
        remove=settings.get("remove", 1),
        replace=settings.get("replace", False),
        labeled_test=needs_response(settings.get("distance", "auto")),
    )
    return measurement.design(sample, Randomness(0))


def check_fits(algorithm: Any, X: Any, y: Any, settings: Mapping[str, Any]) -> None:
    """Refuse what :func:`measure` will refuse about an algorithm, its data and its workers."""
    names = (*_WHAT_IS_ASKED, *_WHERE_IT_RUNS)
    chosen = {name: settings[name] for name in names if name in settings}
    Oracle.about(algorithm, _sample(X, y, settings), **chosen)


def _sample(X: Any, y: Any, settings: Mapping[str, Any]) -> Sample:
    return Sample(X, y, *(settings.get(name) for name in ("X_unlabeled", "groups", "fit_params")))
