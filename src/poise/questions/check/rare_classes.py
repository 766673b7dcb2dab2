"""Training sets that lack a rare class, and fits that then fail.

A classifier that needs two classes, or several rows of each, may work in fifty trials
and fail in the next one. The probability of this can be computed before the first fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import CLASS_DISTANCES
from poise.arguments import counted
from poise.arguments.printed_numbers import at_most
from poise.data.sample import Sample
from poise.errors import in_one_line
from poise.questions.check.check_report import Finding, Severity
from poise.questions.check.probe import OutOfTime, Probe
from poise.results import Design

__all__ = ["RARE", "rare_classes"]

RARE = "survives rare classes"
_WORTH_TRYING = 1e-3  # if a run meets such rows with a smaller chance, they are not tried
# The chance that a run meets such rows: above it the check fails, up to it the check warns, and a
# remedy is one that brings the chance down to it.
_MOST_CHANCE = 0.05


@dataclass(frozen=True)
class _Shortage:
    """Training sets with at most ``left`` rows of one class, or of all classes but one."""

    name: Any
    members: int
    total: int
    left: int
    alone: bool = False

    def chance(self, size: int) -> float:
        """Return the probability that a training set of this size has the shortage."""
        from scipy.stats import hypergeom

        law = hypergeom(self.total, self.members, size)
        return float(law.pmf(size) if self.alone else law.cdf(self.left))

    def in_a_run(self, n: int) -> float:
        """Bound the probability that any trial of a run at training size n has the shortage."""
        return min(1.0, self.trials(n) * self.chance(n - 1))

    def trials(self, n: int) -> int:
        """Count the trials that these rows allow at training size n."""
        return max(1, self.total // (n + 1))

    def rows(self, codes: NDArray[np.int64], code: int, size: int) -> NDArray[np.int64] | None:
        """Choose a training set with the shortage; None if the rows do not allow it."""
        inside, outside = np.flatnonzero(codes == code), np.flatnonzero(codes != code)
        few = [outside[: size - self.left], inside[: self.left]]
        chosen = inside[:size] if self.alone else np.concatenate(few)
        return chosen if len(chosen) == size else None

    def __str__(self) -> str:
        what = f"class {self.name!r} ({self.members:,} of {self.total:,} rows)"
        if self.alone:
            return f"only {what}"
        return f"no row of {what}" if self.left == 0 else f"a single row of {what}"


def rare_classes(probe: Probe, design: Design, xi: int, tried: bool) -> list[Finding]:
    """Fit the algorithm to training sets that lack a class, if a run may have such sets.

    If it was not ``tried`` before, it is first fitted to equally many rows of each class.
    If that fails too, the reason is not a rare class.
    """
    sample, size = probe.sample, design.n - 1
    if design.n_groups is not None or not _has_classes(probe):
        return []
    codes = np.unique(np.asarray(sample.y.native), return_inverse=True)[1]
    if not tried and _error(probe, _of_each(codes, design.n), xi) is not None:
        return []
    for code, shortage in _shortages(sample):
        rows = shortage.rows(codes, code, size)
        if rows is None or shortage.in_a_run(design.n) < _WORTH_TRYING:
            continue
        error = _error(probe, rows, xi)
        if error is not None:
            return [_finding(shortage, design, error)]
    return [Finding(RARE, Severity.OK, "yes, or every training set holds enough of each class")]


def _error(probe: Probe, rows: NDArray[np.int64], xi: int) -> BaseException | None:
    """Return the exception of a fit on these rows, or None."""
    try:
        probe.predictions(rows, np.array([0]), xi)
    except (KeyboardInterrupt, OutOfTime):
        raise
    except BaseException as error:
        return error
    return None


def _of_each(codes: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Choose one row of every class in turn, as long as the class has rows left.

    Examples
    --------
    >>> _of_each(np.array([0, 0, 0, 1, 1]), 4).tolist()
    [0, 3, 1, 4]
    """
    in_class = np.empty(len(codes), dtype=np.int64)  # which row of its class each row is
    for code in np.unique(codes):
        in_class[codes == code] = np.arange(np.count_nonzero(codes == code))
    return np.lexsort((codes, in_class))[:size]


def _has_classes(probe: Probe) -> bool:
    if (
        probe.algorithm.natural_distance not in CLASS_DISTANCES
        or np.ndim(probe.sample.y.native) != 1
    ):
        return False
    return len(probe.sample.classes[0]) > 1


def _shortages(sample: Sample) -> Iterator[tuple[int, _Shortage]]:
    """Yield the likeliest shortage of each kind: one class only, no row of a class, one row."""
    values = np.asarray(sample.y.native)
    classes, counts = np.unique(values, return_counts=True)
    most, least = int(counts.argmax()), int(counts.argmin())

    def shortage(code: int, left: int, alone: bool = False) -> tuple[int, _Shortage]:
        name = classes[code].item() if isinstance(classes[code], np.generic) else classes[code]
        return code, _Shortage(name, int(counts[code]), len(values), left, alone)

    yield shortage(most, 0, alone=True)
    if len(classes) > 2:
        yield shortage(least, 0)
    yield shortage(least, 1)


def _finding(shortage: _Shortage, design: Design, error: BaseException) -> Finding:
    chance = shortage.in_a_run(design.n)
    found = f"it fails on training sets with {shortage}: {in_one_line(error)}"
    severity = Severity.FAIL if chance > _MOST_CHANCE else Severity.WARN
    odds = "more likely than not" if chance > 0.5 else f"with probability {at_most(chance)} or less"
    return Finding(
        RARE,
        severity,
        found,
        f"one of {counted(design.n_trials, 'trial')} meets one {odds}; "
        f"{_way_out(shortage, design)}, or merge the class with another; on_error='unstable' "
        "counts such trials",
    )


def _way_out(shortage: _Shortage, design: Design) -> str:
    enough = _enough(shortage, design)
    if enough is None:
        return "no n avoids it on these rows"
    return f"n = {enough:,} or more avoids it ({counted(shortage.trials(enough), 'trial')} there)"


def _enough(shortage: _Shortage, design: Design) -> int | None:
    """Return the smallest n at which a run has the shortage with probability at most 5%."""
    low, high = design.n, shortage.total - 1
    if high <= low or shortage.in_a_run(high) > _MOST_CHANCE:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if shortage.in_a_run(middle) <= _MOST_CHANCE else (middle + 1, high)
        )
    return low
