"""The shortcut for scikit-learn's RidgeClassifier."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.centred_moments import Centred
from poise.shortcuts.class_labels import choose, encode, label_pairs, label_tables
from poise.shortcuts.linear_removals import remove_each_row
from poise.shortcuts.ridge_and_least_squares import (
    LARGEST_SVD_CONDITION,
    is_plain_ridge,
    linear_workspace,
    ridge_pairs,
)
from poise.shortcuts.shortcut import Floats, Pairs, Tables

__all__ = ["RidgeClassifierShortcut", "find_ridge_classifier"]


@dataclass(frozen=True)
class RidgeClassifierShortcut:
    """Both classifiers of every trial from one factorisation."""

    penalty: float
    intercept: bool
    largest_condition: float = math.inf
    roundings: Floats | float = 1.0  # number of roundings that the rows have had already
    name: str = "rank-one downdate of the ridge classifier"

    @np.errstate(all="ignore")
    def pairs(self, X: Floats, y: NDArray[Any], x: Floats) -> Pairs:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.pairs`."""
        classes = encode(y)
        targets = np.where(classes.member, 1.0, -1.0)
        found = ridge_pairs(X, targets, x, self.penalty, self.intercept)
        error = self.roundings * found.error.max(axis=1)
        present = classes.member.any(axis=2)
        full, leads = choose(np.where(present, found.full, -np.inf), error)
        reduced, still_leads = choose(np.where(present, found.reduced, -np.inf), error)
        trusted = (
            leads & still_leads & classes.survive & (found.condition <= self.largest_condition)
        )
        return label_pairs(classes, full, reduced, trusted)

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return d < n

    @property
    def seldom_needs_fits(self) -> bool:
        """Classes of one row leave trials with two classes to the fits."""
        return False

    @np.errstate(all="ignore")
    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        classes = encode(y)
        data = Centred.of(X, np.where(classes.member, 1.0, -1.0), self.intercept)
        by_svd = self.largest_condition < np.inf
        found = remove_each_row(data, points, removals, self.penalty, by_svd)
        tables = label_tables(classes, found.full, found.reduced, found.error.max(axis=1))
        return tables._replace(trusted=tables.trusted & (found.condition <= self.largest_condition))

    def on_rounded_rows(self, roundings: Floats) -> Self:
        """See :meth:`poise.shortcuts.shortcut.PlainShortcut.on_rounded_rows`."""
        return replace(self, roundings=roundings)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return linear_workspace(n, d) + 8 * 10 * n


def find_ridge_classifier(estimator: Any) -> RidgeClassifierShortcut | None:
    """Return the shortcut of a ``RidgeClassifier`` with equal weights and a direct solver."""
    from sklearn.linear_model import RidgeClassifier

    if type(estimator) is not RidgeClassifier or not is_plain_ridge(estimator):
        return None
    if estimator.class_weight is not None:
        return None
    limit = LARGEST_SVD_CONDITION if estimator.solver == "svd" else math.inf
    return RidgeClassifierShortcut(float(estimator.alpha), bool(estimator.fit_intercept), limit)
