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

from poise.shortcuts.class_labels import Classes, choose, encode, label_pairs
from poise.shortcuts.factorizations import bordered, cholesky, norm, smallest_eigenvalue
from poise.shortcuts.parameter_types import is_number
from poise.shortcuts.rounding_bounds import ROUNDING, finite_trials
from poise.shortcuts.shortcut import Floats, Pairs

__all__ = ["DiscriminantShortcut", "NaiveBayesShortcut", "find_gaussian_classes"]


_FAINTEST = 100 * float(np.finfo(np.float64).eps)
"""Of a largest singular value, what least squares is sure to keep."""


class Moments(NamedTuple):
    """Sizes, means and centred rows of each class."""

    sizes: Floats  # number of rows, (trials, classes)
    prior: Floats  # sizes/n, (trials, classes)
    mean: Floats  # 0 for a class without rows, (trials, classes, d)
    apart: Floats  # rows minus the mean of their class, (trials, n, d)


def class_moments(X: Floats, member: NDArray[np.float64]) -> Moments:
    """Compute the mean of every class, and centre each row at the mean of its class."""
    sizes = member.sum(axis=2)
    mean = (member @ X) / np.maximum(sizes, 1.0)[..., None]
    return Moments(sizes, sizes / X.shape[1], mean, X - member.mT @ mean)


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
        smallest = smallest_eigenvalue(within, pivots)
        if self.drops_small:
            # Not of the scaled matrix: small columns lose digits beside large ones.
            diagonal = np.linalg.diagonal(within)
            smallest = smallest * diagonal.min(axis=1) / diagonal.max(axis=1)
        reach = np.max(norm(white), axis=1, where=present, initial=0.0)
        error = divisor * self._error(X, x, within, reach) / smallest
        kept = smallest > max(100 * self.tolerance**2, self.drops_small * _FAINTEST * d)
        kept &= self._separated(white, moments)
        return scores, np.where(kept, error, np.inf)

    def _error(self, X: Floats, x: Floats, within: Floats, reach: Floats) -> Floats:
        """Bound the error of a quadratic form, without the condition number of its matrix."""
        size = np.sqrt(np.linalg.diagonal(within))
        # Some solvers compute distances from the origin, not from the means.
        offset = norm((np.abs(x) + np.abs(X).max(axis=1)) / size)
        # Rows that vary little around their class mean have lost digits.
        lost = 1.0 + math.sqrt(X.shape[1]) * offset
        return np.asarray(ROUNDING * (reach + offset) ** 2 * lost)

    def _separated(self, white: Floats, moments: Moments) -> NDArray[np.bool_]:
        """Tell whether scikit-learn keeps every direction between the class means."""
        weight = np.sqrt(moments.prior)[..., None]
        centre = np.vecmat(moments.prior, white)[:, None, :]
        means = weight * (white - centre)
        finite = np.isfinite(means).all(axis=(1, 2))
        strength = np.linalg.eigvalsh(np.where(finite[:, None, None], means @ means.mT, 0.0))
        relative = strength / strength[:, -1:]
        faint = (relative > 1e-12) & (relative < (10 * self.tolerance) ** 2)
        return np.asarray(finite & ~faint.any(axis=1))

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
        variance += self.smoothing * self._largest_variance(moments, squares)[:, None, None]
        apart = x[:, None, :] - moments.mean
        standard = apart**2 / variance
        likelihood = -0.5 * (np.log(2.0 * math.pi * variance) + standard).sum(axis=2)
        scores = np.where(present, np.log(moments.prior) + likelihood, -np.inf)
        extent = np.abs(x)[:, None, :] + np.abs(X).max(axis=1)[:, None, :]
        # Errors of the variance, and of the distance from the mean in units of its root.
        relative = ROUNDING + (ROUNDING * extent) ** 2 / variance
        error = relative * (1.0 + standard) + ROUNDING * extent * np.sqrt(standard / variance)
        worst = np.max(error.sum(axis=2), axis=1, where=present, initial=0.0)
        return scores, worst + ROUNDING * np.max(np.abs(scores), axis=1, where=present, initial=0.0)

    def _largest_variance(self, moments: Moments, squares: Floats) -> Floats:
        """Return the variance of the column that varies most, over all classes."""
        centre = np.vecmat(moments.prior, moments.mean)[:, None, :]
        between = (moments.sizes[..., None] * (moments.mean - centre) ** 2).sum(axis=1)
        total = squares.sum(axis=1) + between
        return np.asarray(total.max(axis=1) / moments.sizes.sum(axis=1))

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
