"""Shortcuts for LinearDiscriminantAnalysis and GaussianNB.

Neither iterates, so both fits of all trials are computed in one batch. No formula for
the difference would be more exact.
"""

from __future__ import annotations

import abc
import functools
import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.class_labels import Classes, choose, encode, label_pairs, label_tables
from poise.shortcuts.class_moments import (
    ClassMoments,
    RemovedRows,
    class_moments,
    directions_are_clear,
)
from poise.shortcuts.discriminant_removals import remove_each_row_of_classes
from poise.shortcuts.factorizations import bordered, cholesky, norm, smallest_eigenvalue
from poise.shortcuts.naive_bayes_removals import (
    doubt_of_squares,
    naive_bayes_removals,
    small_or_unknown,
    squares_of_columns,
)
from poise.shortcuts.parameter_types import is_number
from poise.shortcuts.rounding_bounds import ROUNDING, finite_trials
from poise.shortcuts.shortcut import Floats, Pairs, Tables

__all__ = ["DiscriminantShortcut", "NaiveBayesShortcut", "find_gaussian_classes"]


_FAINTEST = 100 * float(np.finfo(np.float64).eps)
"""Of a largest singular value, what least squares is sure to keep."""


class ClassScores(NamedTuple):
    """Log posteriors up to a constant, and bounds on their error."""

    full: Floats  # (trials, classes, points)
    reduced: Floats  # (trials, classes, removals, points)
    error: Floats  # (trials, points)
    reduced_error: Floats  # (trials, removals, points)


@dataclass(frozen=True)
class GaussianClassesShortcut(abc.ABC):
    """A classifier by class moments: subclasses score the classes, the base class decides."""

    roundings: Floats | float = field(default=1.0, kw_only=True)
    """That the rows of each trial have behind them."""

    @abc.abstractmethod
    def score(self, X: Floats, member: Floats, x: Floats) -> tuple[Floats, Floats]:
        """Compute the log posterior of each class up to a constant, and a bound on its error.

        Their shapes are (trials, classes) and (trials,).
        """

    @abc.abstractmethod
    def score_removals(
        self, X: Floats, member: Floats, points: Floats, removals: int
    ) -> ClassScores:
        """Score the classes at several points, also without each of the last rows."""

    @abc.abstractmethod
    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""

    @final
    @np.errstate(all="ignore")
    def pairs(self, X: Floats, y: NDArray[Any], x: Floats) -> Pairs:
        """Classify from all rows, and again from all but the last."""
        classes: Classes = encode(y)
        member = classes.member.astype(np.float64)
        full, leads = self._choose(X, member, x)
        reduced, still_leads = self._choose(X[:, :-1], member[:, :, :-1], x)
        trusted = leads & still_leads & classes.survive & finite_trials(X, x)
        return label_pairs(classes, full, reduced, trusted)

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return n > 2

    @property
    def seldom_needs_fits(self) -> bool:
        """Classes of one row leave trials with two classes to the fits."""
        return False

    @final
    @np.errstate(all="ignore")
    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        classes = encode(y)
        scores = self.score_removals(X, classes.member.astype(np.float64), points, removals)
        tables = label_tables(classes, *scores)
        return tables._replace(trusted=tables.trusted & finite_trials(X, points))

    def _choose(
        self, X: Floats, member: Floats, x: Floats
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        scores, error = self.score(X, member, x)
        return choose(scores, self.roundings * error)

    def on_rounded_rows(self, roundings: Floats) -> Self:
        """See :meth:`poise.shortcuts.shortcut.PlainShortcut.on_rounded_rows`."""
        return replace(self, roundings=roundings)


@dataclass(frozen=True)
class DiscriminantShortcut(GaussianClassesShortcut):
    """Linear discriminant analysis with one covariance for all classes."""

    tolerance: float
    spend_degrees: bool  # divide by n minus the number of classes, not by n
    drops_small: bool = False  # least squares, which ignores a column of tiny numbers
    name: str = "discriminants of all trials in one batch"

    def score(self, X: Floats, member: Floats, x: Floats) -> tuple[Floats, Floats]:
        """See :meth:`GaussianClassesShortcut.score`."""
        n, d = X.shape[1:]
        moments = class_moments(X, member)
        within = moments.apart.mT @ moments.apart
        lower = cholesky(bordered(within, x[:, None, :] - moments.mean))
        white, pivots = lower[:, d:, :d], np.linalg.diagonal(lower)[:, :d]
        present = moments.sizes > 0
        divisor = n - self.spend_degrees * np.count_nonzero(present, axis=1)
        quadratic = divisor[:, None] * np.vecdot(white, white)
        scores = np.where(present, np.log(moments.prior) - 0.5 * quadratic, -np.inf)
        smallest = self._smallest(within, pivots)
        reach = np.max(norm(white), axis=1, where=present, initial=0.0)
        offset = self._offset(X, x[:, None], within)[:, 0]
        error = divisor * self._error(n, reach, offset, smallest)
        kept = (smallest > self._dropped(d)) & self._separated(white, moments)
        return scores, np.where(kept, error, np.inf)

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`.

        Two classes take two degrees of freedom, and the removed row one.
        """
        return d + 3 <= n

    def score_removals(
        self, X: Floats, member: Floats, points: Floats, removals: int
    ) -> ClassScores:
        """See :meth:`GaussianClassesShortcut.score_removals`."""
        n, d = X.shape[1:]
        moments = class_moments(X, member)
        removed = RemovedRows.of(moments.sizes, member, removals)
        found = remove_each_row_of_classes(moments, removed, points, self.tolerance)
        divisor = n - self.spend_degrees * np.count_nonzero(moments.sizes, axis=1)
        divisors = n - 1 - self.spend_degrees * np.count_nonzero(removed.left, axis=1)
        full = np.log(moments.prior)[..., None] - 0.5 * divisor[:, None, None] * found.full
        prior = np.log(removed.left / (n - 1.0))[..., None]
        reduced = prior - 0.5 * divisors[:, None, :, None] * found.reduced
        smallest = self._smallest(found.within, found.pivots)
        # The products without a row are at least so many times those of all rows.
        gap = np.where(found.gap > 0, found.gap, np.nan)
        least = smallest * gap.min(axis=1) ** (2 if self.drops_small else 1)
        kept = found.clear & (least > self._dropped(d))
        offset = self._offset(X, points, found.within)
        error = self._error(n, found.reach.max(axis=1), offset, smallest[:, None])
        by_removal = smallest[:, None, None] * gap[..., None] ** 3
        errors = self._error(n, found.reach, offset[:, None], by_removal)
        unknown = np.where(kept, 1.0, np.inf)
        return ClassScores(
            full,
            reduced,
            (divisor * unknown)[:, None] * error,
            (divisors * unknown[:, None])[..., None] * errors,
        )

    def _smallest(self, within: Floats, pivots: Floats) -> Floats:
        """Bound the smallest eigenvalue that decides how many digits are lost."""
        smallest = smallest_eigenvalue(within, pivots)
        if self.drops_small:
            # Not of the scaled matrix: small columns lose digits beside large ones.
            diagonal = np.linalg.diagonal(within)
            smallest = smallest * diagonal.min(axis=1) / diagonal.max(axis=1)
        return smallest

    def _dropped(self, d: int) -> float:
        """Return the eigenvalue below which scikit-learn might drop a direction."""
        return max(100 * self.tolerance**2, self.drops_small * _FAINTEST * d)

    def _offset(self, X: Floats, points: Floats, within: Floats) -> Floats:
        """Measure points and rows from the origin, in units of the spread, (trials, points).

        Some solvers compute distances from the origin, not from the means.
        """
        size = np.sqrt(np.linalg.diagonal(within))[:, None]
        return np.asarray(norm((np.abs(points) + np.abs(X).max(axis=1)[:, None]) / size))

    def _error(self, n: int, reach: Floats, offset: Floats, smallest: Floats) -> Floats:
        """Bound the error of a quadratic form, without the condition number of its matrix."""
        # Rows that vary little around their class mean have lost digits.
        lost = 1.0 + math.sqrt(n) * offset
        return np.asarray(small_or_unknown(ROUNDING * lost / smallest) * (reach + offset) ** 2)

    def _separated(self, white: Floats, moments: ClassMoments) -> NDArray[np.bool_]:
        """Tell whether scikit-learn keeps every direction between the class means."""
        weight = np.sqrt(moments.prior)[..., None]
        means = weight * (white - np.vecmat(moments.prior, white)[:, None, :])
        return directions_are_clear(means @ means.mT, self.tolerance)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return 8 * (3 * n * d + 30 * n + 4 * (d + 10) ** 2)


@dataclass(frozen=True)
class NaiveBayesShortcut(GaussianClassesShortcut):
    """Gaussian naive Bayes: a mean and a variance for every class and column."""

    smoothing: float
    name: str = "class moments of all trials in one batch"

    def score(self, X: Floats, member: Floats, x: Floats) -> tuple[Floats, Floats]:
        """See :meth:`GaussianClassesShortcut.score`."""
        moments = class_moments(X, member)
        present = moments.sizes > 0
        squares = member @ moments.apart**2
        variance = squares / np.maximum(moments.sizes, 1.0)[..., None]
        total, rows, part = squares_of_columns(moments, squares), X.shape[1], self.smoothing
        variance += (part / rows * total.max(axis=1))[:, None, None]
        apart = x[:, None, :] - moments.mean
        standard = apart**2 / variance
        likelihood = -0.5 * (np.log(2.0 * math.pi * variance) + standard).sum(axis=2)
        scores = np.where(present, np.log(moments.prior) + likelihood, -np.inf)
        largest = np.abs(X).max(axis=1)
        extent = (np.abs(x) + largest)[:, None, :]
        # Errors of the variance, and of the distance from the mean in units of its root.
        doubt = part / rows * doubt_of_squares(total, largest, rows).max(axis=1)
        doubt = doubt[:, None, None] + (ROUNDING * extent) ** 2
        relative = small_or_unknown(ROUNDING + doubt / variance)
        error = relative * (1.0 + standard) + ROUNDING * extent * np.sqrt(standard / variance)
        worst = np.max(error.sum(axis=2), axis=1, where=present, initial=0.0)
        return scores, worst + ROUNDING * np.max(np.abs(scores), axis=1, where=present, initial=0.0)

    def score_removals(
        self, X: Floats, member: Floats, points: Floats, removals: int
    ) -> ClassScores:
        """See :meth:`GaussianClassesShortcut.score_removals`."""
        found = [self.score(X, member, points[:, t]) for t in range(points.shape[1])]
        full, error = (np.stack(part, axis=-1) for part in zip(*found, strict=True))
        moments = class_moments(X, member)
        removed = RemovedRows.of(moments.sizes, member, removals)
        squares = member @ moments.apart**2
        scores = naive_bayes_removals(X, moments, squares, removed, points, self.smoothing)
        return ClassScores(full, scores[0], error, scores[1])

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return 8 * (4 * n * d + 30 * n)


def find_gaussian_classes(
    estimator: Any,
) -> DiscriminantShortcut | NaiveBayesShortcut | None:
    """Return the shortcut of a classifier with Gaussian classes and priors from the data."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.naive_bayes import GaussianNB

    if type(estimator) is GaussianNB:
        smoothing = estimator.var_smoothing
        plain = estimator.priors is None and is_number(smoothing, 0)
        return NaiveBayesShortcut(float(smoothing)) if plain else None
    if type(estimator) is not LinearDiscriminantAnalysis or not _is_plain(estimator):
        return None
    if estimator.solver == "svd":
        return DiscriminantShortcut(float(estimator.tol), _svd_spends_degrees())
    return DiscriminantShortcut(0.0, False, drops_small=estimator.solver == "lsqr")


def _is_plain(estimator: Any) -> bool:
    unused = (estimator.shrinkage, estimator.priors, estimator.n_components)
    return (
        all(value is None for value in (*unused, estimator.covariance_estimator))
        and estimator.solver in ("svd", "lsqr", "eigen")
        and is_number(estimator.tol, 0)
    )


@functools.cache
def _svd_spends_degrees() -> bool:
    """Find out by which number this version of scikit-learn divides.

    Two classes at 0 and 3 with squares 1 in all: the slope is 3n, or 3(n − 2).
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rows = np.array([[-0.5], [0.5], [2.5], [3.5]])
    scores = LinearDiscriminantAnalysis().fit(rows, [0, 0, 1, 1]).decision_function([[0.0], [1.0]])
    return bool(scores[1] - scores[0] < 9.0)
