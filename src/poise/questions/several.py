"""One question about several algorithms, or at several training sizes, with one error level."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from poise import checks
from poise.algorithms.algorithm import as_algorithm
from poise.algorithms.distances import error_of
from poise.algorithms.predictions import as_array
from poise.data.suitable import holds_labels
from poise.errors import ArgumentError, PoiseError
from poise.questions.job import Job, randomness_of
from poise.results.question import Question
from poise.results.together import Comparison, Curve, file_names
from poise.results.trials import Trials
from poise.settings import Every, MoreSettings, checked, documented


@documented(Every, leave=("name", "stop_early"))
def compare(
    algorithms: Any, X: Any, y: Any = None, *, race: bool = False, **asked: Unpack[Every]
) -> Comparison:
    """Test several algorithms on the same trials, with one error level for all verdicts.

    P(any algorithm that is not (ε, δ)-stable is called stable) ≤ α, and the same holds for
    "unstable": Holm's method on p-values that are valid at every level. In each trial every
    algorithm gets the same rows, test points and random terms. This is not a ranking: that one
    algorithm is called stable and another is not does not show that the first is more stable.

    Parameters
    ----------
    algorithms : dict from names to algorithms, or list of them
        As in :func:`stability_test`; in a list each is called by its description.
    X : array, sparse matrix, data frame or list
        Labelled rows.
    y : array or str
        Responses, or the name of their column in X.
    race : bool, default False
        Fit an algorithm no further once its verdict is certain, or it cannot be called stable any
        more. Limits and errors of those that ended early come from fewer trials.
    {settings}

    Returns
    -------
    Comparison
        ``compared["ridge"]`` is a :class:`Result` with the verdict that holds for all together.

    See Also
    --------
    stability_test, stability_curve

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso, LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> algorithms = {"lasso": Lasso(), "least squares": LinearRegression()}
    >>> compared = poise.compare(algorithms, X, y, n=12, epsilon=25, delta=0.2)
    >>> compared.stable_names, compared["least squares"].verdict
    (['lasso'], 'unstable')
    """
    checked("compare", asked, Every)
    of_all = _of_all({**asked, "stop_early": checks.flag("race", race)})
    jobs = {}
    for name, (each, short) in _named(algorithms).items():
        with _about(name):
            jobs[name] = Job.of(f"compare {name}", each, X, y, of_all | {"name": short}).asked()
    trials, question = _measured(jobs)
    return Comparison(trials, question, _constant_error(next(iter(trials.values()))))


@documented(MoreSettings)
def stability_curve(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    n: Iterable[float],
    epsilon: float | str | None = None,
    delta: float = 0.1,
    alpha: float = 0.05,
    test: Literal["auto", "binomial", "averaged"] = "auto",
    random_state: Any = 0,
    **settings: Unpack[MoreSettings],
) -> Curve:
    """Measure stability at several training sizes, with limits that hold at all sizes at once.

    With probability at least 1 − α every limit holds (Proposition 1 and Theorem F at a share of
    the level), although the sizes share rows. With ``epsilon``, sizes are called stable by Holm's
    method: P(any of them is not) ≤ α. Nothing is said of other sizes; ``curve.extrapolate`` carries
    limits on under an assumption that you state.

    Parameters
    ----------
    {rows}
    {settings}

    Returns
    -------
    Curve

    See Also
    --------
    compare, stability_test

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> curve = poise.stability_curve(Lasso(), X, y, n=[5, 10, 20], delta=0.3)
    >>> {size: round(limit) for size, limit in curve.epsilon_upper.items()}
    {5: 46, 10: 17, 20: 7}
    """
    sizes = list(n) if isinstance(n, Iterable) else []
    if not sizes:
        raise ArgumentError("must be a list of sizes such as [10, 20, 40]", argument="n", got=n)
    asked: dict[str, Any] = {"delta": delta, "alpha": alpha, "test": test, "epsilon": epsilon}
    of_all = _of_all({**asked, "random_state": random_state, **settings})
    found = []
    for size in sizes:
        with _about(f"n = {size}"):
            job = Job.of("stability_curve", algorithm, X, y, of_all | {"n": size})
            found.append(job.asked(limits=True))
    found.sort(key=lambda pair: pair[0].design.n)
    return Curve(*_measured({str(job.design.n): (job, question) for job, question in found}))


Asked = tuple[Job, Question]


def _of_all(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with one seed for all, that of the run whose journals are there."""
    folder = asked.get("journal")
    begun = sorted(Path(folder).glob("*.journal")) if isinstance(folder, str | Path) else []
    state = {"random_state": asked.get("random_state", 0), "journal": next(iter(begun), None)}
    return {"removals_per_trial": 1, **asked, "random_state": randomness_of(state)}


@contextmanager
def _about(called: str) -> Iterator[None]:
    """Let an error name one of several."""
    try:
        yield
    except PoiseError as error:
        error.add_note(f"This is about {called}")
        raise


def _measured(jobs: Mapping[str, Asked]) -> tuple[dict[str, Trials], Question]:
    """Measure all of them, each at its share of the level; return the question of all."""
    question = next(iter(jobs.values()))[1]
    share = replace(question, alpha=question.alpha / len(jobs))
    planned = sorted((job.planned() for job, _ in jobs.values()), key=lambda job: job.design.n)
    for k, job in enumerate(planned):  # Holm's method has more of the level for later ones
        job.warn_of_power(replace(question, alpha=question.alpha / (len(jobs) - k)))
    trials = {}
    for (name, (job, _)), journal in zip(jobs.items(), _journals(jobs), strict=True):
        job = replace(job, settings={**job.settings, "journal": journal, "rivals": len(jobs)})
        answered = share if share.epsilon is not None or not job.design.sized else None
        with _about(name):
            trials[name] = job.run(answered, warn=False)
    return trials, question


def _journals(jobs: Mapping[str, Asked]) -> list[Path | None]:
    """Return a file for each in the folder of journals, which is made."""
    folder = next(iter(jobs.values()))[0].settings["journal"]
    if folder is None:
        return [None] * len(jobs)
    Path(folder).mkdir(exist_ok=True)
    return [Path(folder, name) for name in file_names(jobs, "journal")]


def _named(algorithms: Any) -> dict[str, tuple[Any, str | None]]:
    """Give every algorithm a name of its own, and the one that headlines use if it has one."""
    if isinstance(algorithms, Mapping):
        pairs = [
            (str(name), (each, str(name).strip() or None)) for name, each in algorithms.items()
        ]
    elif isinstance(algorithms, Iterable) and not isinstance(algorithms, str):
        pairs = [(as_algorithm(each).name, (each, None)) for each in algorithms]
    else:
        rule = "must be a list of algorithms, or a dict from names to algorithms"
        raise ArgumentError(rule, argument="algorithms", got=algorithms)
    named = dict(pairs)
    if not named or len(named) < len(pairs):
        names, remedy = [name for name, _ in pairs], "give a dict from names to algorithms"
        rule = "must have different names" if pairs else "must hold an algorithm"
        raise ArgumentError(rule, argument="algorithms", got=names, remedy=remedy)
    return named


def _constant_error(trials: Trials) -> float:
    """Return the mean error of the median, or most frequent label, of the rows of each trial."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    job: Any = trials.origin
    errors = []
    labels = job.design.n_classes is not None or holds_labels(job.sample.y)
    constant = DummyClassifier() if labels else DummyRegressor(strategy="median")
    for k in range(job.design.n_trials):
        points = job.split.points(k)
        points = points[points < job.sample.n_labeled]
        if len(points):
            known = as_array(job.sample.responses(job.split.rows(k, 0)[0]))
            said = constant.fit(known, known).predict(points)
            errors.append(error_of(said, job.sample.responses(points), labels))
    return float(np.mean(errors)) if errors else math.nan
