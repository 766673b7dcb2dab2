"""Run the checks in order, within the time allowed, and report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.distance import Distance
from poise.algorithms.fit_warnings import counted_fit_warnings
from poise.algorithms.losses import as_change
from poise.data.sample import Sample
from poise.errors import ArgumentError, in_one_line
from poise.procedures.binomial import MeasureChanges
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.questions.check.algorithm_checks import CHECKS, FITS, Subject
from poise.questions.check.bags_that_change import bags_that_change
from poise.questions.check.check_report import CheckReport, Finding, Severity
from poise.questions.check.probe import OutOfTime, Probe
from poise.questions.check.rare_classes import RARE, rare_classes
from poise.results import Design
from poise.results.text.duration import duration
from poise.running.workers.inner_threads import one_inner_thread

__all__ = ["check_algorithm"]

_POINTS = 5  # at which the fits of a check predict
_LONG = 600.0  # seconds: for longer tests, the report says how to save time


def check_algorithm(
    algorithm: Any,
    X: Any,
    y: Any,
    *,
    n: int,
    X_unlabeled: Any = None,
    response: str = "predict",
    distance: str | Distance = "auto",
    fit_params: Mapping[str, Any] | None = None,
    groups: Any = None,
    max_seconds: float = 60.0,
    random_state: RandomStateLike = None,
) -> CheckReport:
    """Check whether an algorithm meets the conditions of a stability test.

    Does it accept n and n − 1 rows; is it deterministic given its seed; does it
    remember earlier fits; what are its predictions, and can they be compared; does
    it learn from its rows at all; is each prediction independent of the other rows
    that are predicted; does the order of its rows matter; does it write to its
    input; can it be fitted to training sets without a rare class; and how long will
    2⌊κ⌋ fits take? The checks cost about nine fits, or a hundred if reordering rows
    changes a prediction.

    "ok" is no proof: other rows and random terms were not tried. If a check fails, a
    verdict may mean nothing. For example, an algorithm that remembers earlier fits
    makes trials dependent, and Theorem 1 needs independent trials.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        The black box.
    X, y, X_unlabeled, response, distance, fit_params, groups
        As in :func:`stability_test`.
    n : int
        Training size of the planned test.
    max_seconds : float
        No further fit is started after this time, > 0; the remaining checks are skipped.
    random_state : None, int, Generator or RandomState
        Decides which rows are tried.

    Returns
    -------
    CheckReport

    See Also
    --------
    stability_test, CheckReport

    Examples
    --------
    >>> import numpy as np, poise
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    >>> seen = []
    >>> def forgetful(X, y, seed):
    ...     seen.extend(y)
    ...     level = np.mean(seen)
    ...     return lambda rows: [level] * len(rows)
    >>> report = poise.check_algorithm(forgetful, X, y, n=10, random_state=0)
    >>> report.ok, [finding.check for finding in report.failed]
    (False, ['keeps nothing between fits'])
    >>> from sklearn.linear_model import Ridge
    >>> poise.check_algorithm(Ridge(), X, y, n=10, random_state=0).ok
    True
    """
    if not max_seconds > 0:
        raise ArgumentError(f"max_seconds must be a number of seconds > 0, got {max_seconds!r}")
    sample = Sample(X, y, X_unlabeled, groups, fit_params)
    black_box = as_algorithm(algorithm, response).prepared(sample)
    randomness = Randomness.from_state(random_state)
    measure_of_change = as_change(distance, black_box.natural_distance)
    design = MeasureChanges(n).design(sample, randomness)
    probe = Probe(black_box, sample, max_seconds)
    with one_inner_thread(), counted_fit_warnings():
        subject = _subject(probe, design, randomness, measure_of_change)
        findings = [*_findings(subject), *_about_classes(subject, design)]
    seconds = float(np.median(probe.seconds)) if probe.seconds else math.nan
    return CheckReport(
        algorithm=black_box.name,
        n=design.n,
        findings=(*findings, *bags_that_change(black_box, design), _duration(seconds, design)),
        n_fits=probe.n_fits,
        seconds_per_fit=seconds,
        n_fits_needed=2 * design.n_trials,
    )


def _findings(subject: Subject) -> list[Finding]:
    """Run every check; stop after the first if the algorithm cannot be fitted at all."""
    findings = []
    for name, check in CHECKS.items():
        findings.append(_finding(name, check, subject))
        if name == FITS and findings[-1].severity != Severity.OK:
            break
    return findings


def _finding(name: str, check: Callable[[Subject], Finding], subject: Subject) -> Finding:
    """Run one check; if the algorithm raises an exception, the check has failed."""
    try:
        return check(subject)
    except OutOfTime:
        return Finding(name, Severity.SKIPPED, "the time was over", "allow more: max_seconds")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Finding(
            name,
            Severity.FAIL,
            in_one_line(error),
            _remedy(error),
        )


def _remedy(error: BaseException) -> str:
    """Say what helps, where that is known; on_error only decides what failures count as."""
    if "catboost" in type(error).__module__ and "Cannot convert" in str(error):
        return (
            "name the columns that hold text: cat_features=('colour',) in the estimator (a tuple), "
            "or fit_params={'cat_features': ['colour']}; or make a catboost.Pool in a function "
            "fit(X, y, seed)"
        )
    return "every trial would fail like this: repair it, or see on_error for what failures count as"


def _about_classes(subject: Subject, design: Design) -> list[Finding]:
    """Check rare classes, also if the first fit failed: a missing class may be the reason."""
    try:
        return rare_classes(subject.probe, design, subject.xi, tried=subject.first.size > 0)
    except OutOfTime:
        return [Finding(RARE, Severity.SKIPPED, "the time was over", "allow more: max_seconds")]


def _subject(probe: Probe, design: Design, randomness: Randomness, distance: Distance) -> Subject:
    """Choose n rows to train on, up to n other rows, and a few points."""
    units = _Units(probe.sample, design, randomness)
    n, total = design.n, design.n_units
    second = min(n, total - n)  # the first of the n other training rows
    outside = units.rows(n, total) if total > n else units.rows(0, total)
    return Subject(
        probe,
        rows=units.rows(0, n),
        others=units.rows(second, second + n) if second else units.rows(0, n)[::-1],
        fewer=units.rows(0, n - 1),
        points=outside[:_POINTS],
        xi=randomness.words("preflight"),
        symmetry_rows=units.rows(0, min(2 * n, total)),
        distance=distance,
    )


class _Units:
    """Labelled rows, or the rows of groups, in random order."""

    def __init__(self, sample: Sample, design: Design, randomness: Randomness) -> None:
        order = randomness.generator("preflight").permutation(design.n_units)
        layout = None if sample.groups is None else sample.groups.layout(order)
        self.in_order = order if layout is None else layout.rows
        self.starts = np.arange(design.n_units + 1) if layout is None else layout.starts

    def rows(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the rows of the units ``first`` to ``last - 1``."""
        return self.in_order[self.starts[first] : self.starts[last]]


def _duration(seconds: float, design: Design) -> Finding:
    """Say roughly how long the fits of a whole test take, one after the other."""
    check, fits = "time", 2 * design.n_trials
    if math.isnan(seconds):
        return Finding(check, Severity.SKIPPED, "no fit succeeded")
    total = fits * seconds
    found = f"{fits:,} fits, {duration(total)} one after the other"
    if total < _LONG:
        return Finding(check, Severity.OK, found)
    remedy = "n_jobs=-1 uses every core; stop_early ends as soon as the verdict is forced"
    return Finding(check, Severity.WARN, found, remedy)
