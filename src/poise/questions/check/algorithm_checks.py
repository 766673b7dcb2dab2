"""The questions of a preflight: one function each, from a probe to a finding."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import Distance, Undefined
from poise.algorithms.global_state import GlobalGenerators
from poise.algorithms.prediction_arrays import require_predictions
from poise.arguments.printed_numbers import number
from poise.questions.check.check_report import Finding, Severity
from poise.questions.check.learns import LEARNS, found_to_learn
from poise.questions.check.prediction_type import COMPARABLE, compared_by
from poise.questions.check.probe import OutOfTime, Probe, differ, equal, magnitude
from poise.questions.check.symmetry import check_symmetry

__all__ = ["CHECKS", "Subject"]

OK, WARN, FAIL, SKIPPED = Severity.OK, Severity.WARN, Severity.FAIL, Severity.SKIPPED

FITS = "accepts n rows"
FITS_FEWER = "accepts n - 1 rows"
DETERMINISTIC = "deterministic given its seed"
STATELESS = "keeps nothing between fits"
SYMMETRIC = "symmetric in its rows"
ROW_BY_ROW = "predicts each row by itself"
CAREFUL = "leaves its input alone"

_LAST_DIGITS = 1e-4  # relative error of 32-bit sums that are taken in another order

_SEED = (
    "take all randomness from the seed that fit is given (random_state of an estimator), or ask "
    'about coupling="independent"'
)
_STATE = "create everything inside fit: no caches, warm starts or global variables"


@dataclass
class Subject:
    """What is checked, and the predictions that several checks need.

    Parameters
    ----------
    probe : Probe
        The algorithm.
    rows, others : ndarray of int
        Training rows, and other training rows.
    fewer : ndarray of int
        The training rows that are left after the removal.
    points : ndarray of int
        Rows to predict at.
    xi : int
        The random term.
    symmetry_rows : ndarray of int
        Rows for the check of symmetry; half of them are trained on.
    distance : callable
        How far apart two predictions are.
    """

    probe: Probe
    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    fewer: NDArray[np.int64]
    points: NDArray[np.int64]
    xi: int
    symmetry_rows: NDArray[np.int64]
    distance: Distance

    def __post_init__(self) -> None:
        self.first: NDArray[Any] = np.empty(0)
        self.repeatable = self.remembers = False
        # Copied before the first fit: the copies must not hold anything learnt.
        self._unused = [_copied(self.probe) for _ in range(2)]

    def again(self) -> NDArray[Any]:
        """Fit on the same rows with the same random term."""
        return self.probe.predictions(self.rows, self.points, self.xi)

    @cached_property
    def with_fewer(self) -> NDArray[Any]:
        """Predictions after training on what is left when a row is removed."""
        return self.probe.predictions(self.fewer, self.points, self.xi)

    @cached_property
    def elsewhere(self) -> NDArray[Any]:
        """Predictions after training on other rows."""
        return self.probe.predictions(self.others, self.points, self.xi)

    @cached_property
    def repeatable_afresh(self) -> bool:
        """Whether two unused copies agree; False if the algorithm cannot be copied."""
        probes = [probe for probe in self._unused if probe is not None]
        values = [probe.predictions(self.rows, self.points, self.xi) for probe in probes]
        return len(values) == 2 and equal(*values)


def _copied(probe: Probe) -> Probe | None:
    try:
        fresh = copy.copy(probe)
        fresh.algorithm = copy.deepcopy(probe.algorithm)
    except KeyboardInterrupt:
        raise
    except BaseException:  # any error means that it cannot be copied
        return None
    return fresh


def accepts_n_rows(subject: Subject) -> Finding:
    """Fit and predict once; if this fails, no other check makes sense."""
    subject.first = subject.again()
    return _usable(FITS, subject.first, len(subject.points))


def accepts_fewer_rows(subject: Subject) -> Finding:
    """Fit on what is left when a row is removed."""
    return _usable(FITS_FEWER, subject.with_fewer, len(subject.points))


def _usable(check: str, values: NDArray[Any], n_points: int) -> Finding:
    if values.ndim == 0 or len(values) != n_points:
        found = f"predictions of shape {values.shape} for {n_points} rows"
        return Finding(check, FAIL, found, "return one prediction per row")
    try:
        require_predictions(values)
    except Undefined as error:
        remedy = "a missing prediction is a failed trial: return numbers, or see on_error"
        return Finding(check, FAIL, str(error), remedy)
    return Finding(check, OK, "yes")


def can_be_compared(subject: Subject) -> Finding:
    """Report the type of predictions, and compare those of n and n − 1 rows."""
    return compared_by(subject.distance, subject.first, subject.with_fewer)


def learns_from_its_rows(subject: Subject) -> Finding:
    """Check whether predictions depend on the training rows at all."""
    if not subject.repeatable:
        return Finding(LEARNS, SKIPPED, "cannot be told from hidden randomness, or a memory")
    return found_to_learn(
        subject.probe, subject.rows, subject.points, subject.xi, subject.first, subject.elsewhere
    )


def is_deterministic(subject: Subject) -> Finding:
    """Fit twice in a row: the same rows and random term must give the same predictions."""
    repeated = subject.again()
    subject.repeatable = equal(subject.first, repeated)
    if subject.repeatable:
        return Finding(DETERMINISTIC, OK, "the same fit twice gave the same predictions")
    if subject.repeatable_afresh:
        return Finding(DETERMINISTIC, OK, "yes, if it has not been fitted before")
    gap = differ(subject.first, repeated)
    found = f"the same fit twice gave predictions {number(gap)} apart"
    if gap <= _LAST_DIGITS * magnitude(subject.first):
        remedy = "choose epsilon well above that; sums on several threads or a GPU do this"
        return Finding(DETERMINISTIC, WARN, f"{found}: their last digits", remedy)
    return Finding(DETERMINISTIC, FAIL, f"{found}: hidden randomness, or a memory", _SEED)


def keeps_no_state(subject: Subject) -> Finding:
    """Fit A, B, then A again: the fit of B must not change the second fit of A."""
    if not subject.repeatable:
        if not subject.repeatable_afresh:
            return Finding(STATELESS, SKIPPED, "cannot be told from hidden randomness")
        subject.remembers = True
        found = "fits A, A: they differ, and on fresh copies they do not"
        return Finding(STATELESS, FAIL, found, _STATE)
    assert subject.elsewhere is not None  # another fit in between
    third = subject.again()
    if equal(subject.first, third):
        return Finding(STATELESS, OK, "fits A, B, A: both A agree")
    subject.remembers = True
    gap = number(differ(subject.first, third))
    return Finding(STATELESS, FAIL, f"fits A, B, A: the two A are {gap} apart", _STATE)


def is_symmetric(subject: Subject) -> Finding:
    """Reorder the training rows; see :func:`poise.notions.check_symmetry`."""
    if subject.remembers:
        return Finding(SYMMETRIC, SKIPPED, "cannot be told of an algorithm that remembers")
    spent = subject.probe.n_fits
    rows = subject.symmetry_rows
    try:
        report = check_symmetry(subject.probe, rows, rows, random_state=subject.xi)
    except OutOfTime:
        if subject.probe.n_fits - spent <= 3:  # the exact part takes three fits
            raise
        found = "reordering changes predictions; whether only in distribution was not settled"
        return Finding(SYMMETRIC, WARN, found, "allow more time: max_seconds")
    if report.finding == "exact":
        return Finding(SYMMETRIC, OK, "exactly: no reordering changed a prediction")
    if report.finding == "in distribution":
        found = f"in distribution only, as far as seen (p = {number(report.pvalue)})"
        return Finding(SYMMETRIC, OK, found)
    return Finding(
        SYMMETRIC,
        WARN,
        f"no: the order of the rows matters (p = {number(report.pvalue)})",
        "a verdict is about removing the last row; poise.notions.Symmetrized(algorithm) shuffles",
    )


def predicts_row_by_row(subject: Subject) -> Finding:
    """Predict rows together, in reverse and alone: all three must give the same predictions."""
    probe, points = subject.probe, subject.points
    with GlobalGenerators() as generators:
        predict = probe.governed(generators, subject.rows, subject.xi)
        together = predict(points)
        backwards = predict(points[::-1])[::-1]
        alone = np.concatenate([predict(points[i : i + 1]) for i in range(len(points))])
    gap = max(differ(together, backwards), differ(together, alone))
    if gap == 0.0:
        return Finding(ROW_BY_ROW, OK, "together, in reverse and alone: the same predictions")
    return Finding(
        ROW_BY_ROW,
        WARN,
        f"predictions change by {number(gap)} with the rows predicted beside them",
        "poise predicts one row at a time, and a verdict is about that; scale and encode with "
        "what was learnt from the training rows",
    )


def leaves_input_alone(subject: Subject) -> Finding:
    """Report what earlier fits did to the copies they were given."""
    changed = sorted(subject.probe.changed)
    if not changed:
        return Finding(CAREFUL, OK, "nothing it was given was changed")
    return Finding(
        CAREFUL,
        WARN,
        f"it writes to {' and '.join(changed)}",
        "poise hands out copies, so verdicts are not affected; elsewhere copy the data first",
    )


CHECKS = {
    FITS: accepts_n_rows,
    # These two come first: a different fit between them would change what they find.
    DETERMINISTIC: is_deterministic,
    STATELESS: keeps_no_state,
    FITS_FEWER: accepts_fewer_rows,
    COMPARABLE: can_be_compared,
    LEARNS: learns_from_its_rows,
    ROW_BY_ROW: predicts_row_by_row,
    SYMMETRIC: is_symmetric,
    CAREFUL: leaves_input_alone,
}
