"""``poise.advise``: what these rows can answer, before the first test."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from poise import arguments
from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.fit_warnings import counted_fit_warnings
from poise.data.column_remarks import suspicious_columns
from poise.data.duplicates import find_copies
from poise.data.response_scale import ResponseScale, response_scales
from poise.data.sample import Sample
from poise.errors import AlgorithmError
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.questions.check.probe import Probe
from poise.results.advice import Advice, TimedFit
from poise.results.text.next_questions import as_calls
from poise.running.workers.inner_threads import one_inner_thread
from poise.theory.question_menu import Menu, menu
from poise.theory.rows_per_trial import RowsPerTrial

__all__ = ["advise", "labels_are_compared"]

_LONG_FIT_SECONDS = 10.0  # a fit this long is timed once; the first fit includes imports


def advise(
    X: Any,
    y: Any,
    *,
    algorithm: Any = None,
    n: int | Iterable[int] = (),
    delta: float = 0.1,
    alpha: float = 0.05,
    power: float = 0.8,
    X_unlabeled: Any = None,
    groups: Any = None,
    algorithms: int = 1,
    remove: int = 1,
    replace: bool = False,
    losses: bool = False,
    response: str = "predict",
    fit_params: Mapping[str, Any] | None = None,
    random_state: RandomStateLike = None,
) -> Advice:
    """List the questions that these rows can answer, before anything is tested.

    For a dozen training sizes n it lists how many trials the rows allow, the smallest δ that a
    run without a large change certifies (Theorem 1), and the true probability up to which the
    test for ``delta`` keeps its power. It also gives the scale of the response, which helps to
    choose ε, the chance that a class is absent from n rows, the number of copied rows, and the
    columns that may be a mistake.

    It does not test anything, and does not say that the algorithm is stable. No test can tell
    whether it is stable at n = all rows.

    Parameters
    ----------
    X, y, X_unlabeled, groups, response, fit_params
        As in :func:`stability_test`.
    algorithm : estimator, function or Algorithm, optional
        If given, it is fitted once or twice to tell how long a test takes. If it cannot be fitted
        to these rows, the advice says why.
    n : int or iterable of int, at least 2
        Further training sizes to list.
    delta : float in (0, 1)
        Allowed probability of a change larger than ε. The power is stated for this value.
    alpha : float in (0, 1)
        Error level.
    power : float in (0, 1)
        The power to keep.
    algorithms : int, at least 1
        How many algorithms will be tested together at this error level.
    remove : int, at least 1
        How many of the n rows will be removed.
    replace : bool
        Whether fresh rows will replace the removed rows.
    losses : bool
        Whether losses will be compared: test rows then need a response.
    random_state : None, int, Generator or RandomState
        Decides which rows are used for the timed fit.

    Returns
    -------
    Advice

    See Also
    --------
    plan, relative, stability_test

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> advice = poise.advise(X, y, delta=0.2)
    >>> print(advice.headline())
    What 442 labelled rows can answer: delta = 0.2 can be certified up to n = 30 (14 trials).
    >>> [(line.n, line.n_trials) for line in advice.menu][:4]
    [(441, 1), (87, 5), (48, 9), (30, 14)]
    """
    sample = Sample(X, y, X_unlabeled, groups, fit_params)
    each = RowsPerTrial(
        int(arguments.count("remove", remove, 1)),
        arguments.flag("replace", replace),
        arguments.flag("losses", losses),
        sample.groups is not None,
    )
    units = sample.n_labeled if sample.groups is None else len(sample.groups)
    goal = {"delta": delta, "alpha": alpha, "power": power}
    found = menu(units, sample.n_unlabeled, **goal, n=n, algorithms=algorithms, per_trial=each)
    copies = find_copies(sample)
    timed, objection = None, ""
    if algorithm is not None:
        black_box = as_algorithm(algorithm, response)
        try:
            probe = Probe(black_box.prepared(sample), sample, float("inf"))
            timed = _timed(probe, found, random_state)
        except AlgorithmError as error:  # what the rows can answer is known all the same
            objection = str(error)
    scales = response_scales(sample.y)
    return Advice(
        menu=found,
        scales=scales,
        copies=copies.rows if copies.beyond_chance else 0,
        remarks=suspicious_columns(sample.X),
        timed=timed,
        objection=objection,
        questions=as_calls(found, "0" if labels_are_compared(scales, response) else "..."),
    )


def labels_are_compared(scales: Iterable[ResponseScale], response: str) -> bool:
    """Say whether predictions are labels for certain: then ε = 0 is the only question.

    Examples
    --------
    >>> text = [ResponseScale(0, None, None, {"no": 3, "yes": 9})]
    >>> labels_are_compared(text, "predict"), labels_are_compared(text, "predict_proba")
    (True, False)
    """
    return response == "predict" and all(each.sd is None and each.classes for each in scales)


def _timed(probe: Probe, found: Menu, random_state: RandomStateLike) -> TimedFit | None:
    """Time a fit at the training size that the menu proposes; if it is quick, use a second one."""
    line = found.largest or (found.rows[-1] if found.rows else None)
    if line is None:
        return None
    randomness = Randomness.from_state(random_state)
    order = randomness.generator("advice").permutation(found.n_labeled)
    groups = probe.sample.groups
    rows = order if groups is None else groups.layout(order).rows
    size = line.n if groups is None else int(groups.layout(order).starts[line.n])
    try:
        with one_inner_thread(), counted_fit_warnings():
            began = time.perf_counter()
            probe.predictions(rows[:size], rows[-1:], xi=0)
            if time.perf_counter() - began < _LONG_FIT_SECONDS:
                probe.predictions(rows[:size], rows[-1:], xi=1)
    except Exception as error:
        failure = " ".join(f"{type(error).__name__}: {error}".split())
        return TimedFit(probe.name, line.n, None, failure)
    return TimedFit(probe.name, line.n, probe.seconds[-1])
