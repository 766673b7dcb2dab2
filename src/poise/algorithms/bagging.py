"""Bagging whose bags are coupled between n and n − 1 rows (Appendix E).

Elisseeff, Evgeniou & Pontil (2005) analyse bagging by keeping the bags of the
full fit and erasing the removed row from each. Ordinary bagging cannot be tested
that way from outside. What the same seed gives it on n and on n − 1 rows is a
property of its random generator: with scikit-learn's the bags are nearly the
same (draws of the removed row are drawn again), except where n − 1 is a power
of two: there about half of all draws differ, and the same ensemble looks less
stable than at the sizes next to it. These ensembles couple internally, so that
running them with the *same* ξ on n rows and on the first n − 1 of them is that
comparison.

What the certificate is about, by scheme:

``"poisson"``
    One algorithm at every size: each row enters each bag Poisson(1) times.
    Definition 1 (shared ξ) for this algorithm *is* the comparison with the row
    erased. It says nothing about bags of a fixed number of draws.
``"erase"``
    On ``nominal_rows`` rows, ordinary bagging; on fewer, the same bags with the
    missing rows erased, hence smaller. The certificate compares the ordinary
    ensemble on n = ``nominal_rows`` rows with the erased one: Elisseeff's
    quantity exactly. The erased ensemble is not what ordinary bagging would
    fit to n − 1 rows (its bags have n − 1 draws), so this is no statement about
    ordinary bagging in any notion of Appendix E.
``"redraw"``
    Ordinary bagging at every size: m draws out of m rows. From n to n − 1 rows
    only the copies of the removed row are drawn again. Since the law at each
    size is that of ordinary bagging, a certificate with shared ξ is one for
    ordinary bagging in the *coupled* notion: some Q makes it (ε, δ)-stable.

In all three the removed row is the last one, as in Definition 1. Rows left out
of a bag are not in it at all: nothing is emulated by a zero weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from poise import arguments
from poise.algorithms.bag_members import SeededMembers, class_votes, ensemble_seed
from poise.algorithms.coupled_bags import draw_bag
from poise.algorithms.wrapper_input import checked_rows, with_input_tags_of
from poise.data.tables import as_table
from poise.protocol.randomness import RandomStateLike

__all__ = ["CoupledBaggingClassifier", "CoupledBaggingRegressor"]


class _CoupledBagging(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not annotated
    """The base class of regressor and classifier: the bags and their models."""

    def __init__(
        self,
        estimator: Any,
        n_estimators: int = 10,
        *,
        scheme: str = "poisson",
        nominal_rows: int | None = None,
        random_state: RandomStateLike = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.scheme = scheme
        self.nominal_rows = nominal_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Fit one copy of the base estimator to each bag."""
        rows = checked_rows(self, self.estimator, X, reset=True)
        shape = np.asarray(y).shape
        several = len(shape) == 2 and shape[1] > 1
        features = as_table(rows, "X")
        responses = as_table(y if several else column_or_1d(y, warn=True), "y")
        check_consistent_length(rows, y)
        n_bags = int(arguments.count("n_estimators", self.n_estimators, minimum=1))
        seed = ensemble_seed(self.random_state)
        self.bags_ = [self._bag(seed, bag, len(features)) for bag in range(n_bags)]
        members = SeededMembers(self.estimator, seed)
        self.estimators_ = [
            members.unfitted(bag).fit(features.take(rows), responses.take(rows))
            for bag, rows in enumerate(self.bags_)
        ]
        return self

    def _checked(self, X: Any) -> Any:
        """Check new rows as scikit-learn does, and leave tables and texts as they are."""
        check_is_fitted(self)
        return checked_rows(self, self.estimator, X, reset=False)

    def _bag(self, seed: int, bag: int, n_rows: int) -> NDArray[np.int64]:
        rows = draw_bag(self.scheme, seed, bag, n_rows, self.nominal_rows)
        # No model can be fitted to an empty bag; all rows are used instead.
        return rows if rows.size else np.arange(n_rows)

    def __sklearn_tags__(self) -> Any:
        """Accept missing values and sparse matrices where the base estimator does."""
        return with_input_tags_of(self.estimator, super().__sklearn_tags__())


class CoupledBaggingRegressor(RegressorMixin, _CoupledBagging):  # type: ignore[misc]
    """Average of regressors on bags that are coupled between n and n − 1 rows.

    With the same ``random_state`` the bags of n − 1 rows are those of n rows with
    the last row erased (or redrawn), so a stability test with shared ξ compares
    ensembles that differ only where the removed row mattered.

    A verdict about it is about this ensemble; whether it carries over to ordinary
    bagging depends on ``scheme`` (see the module's introduction).

    Parameters
    ----------
    estimator : estimator
        The base learner, any regressor.
    n_estimators : int
        Number of bags, at least 1.
    scheme : {"poisson", "erase", "redraw"}
        How bags are drawn and coupled.
    nominal_rows : int, optional
        For "erase": the training size n whose stability is asked.
    random_state : None, int, Generator or RandomState
        Decides the bags and the random states of the members.

    Attributes
    ----------
    bags_ : list of ndarray
        Row positions of each bag.
    estimators_ : list of estimator
        The fitted members.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = np.arange(12.0).reshape(-1, 1), np.arange(12.0)
    >>> bagging = CoupledBaggingRegressor(DecisionTreeRegressor(), 5, random_state=0)
    >>> full = bagging.fit(X, y).bags_
    >>> reduced = bagging.fit(X[:-1], y[:-1]).bags_
    >>> all(np.array_equal(a[a < 11], b) for a, b in zip(full, reduced))
    True
    """

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the average of the members' predictions."""
        rows = self._checked(X)
        said = (np.asarray(member.predict(rows), np.float64) for member in self.estimators_)
        total = sum(said)
        return np.asarray(total / len(self.estimators_))


class CoupledBaggingClassifier(ClassifierMixin, _CoupledBagging):  # type: ignore[misc]
    """Vote of classifiers on bags that are coupled between n and n − 1 rows.

    Members with ``predict_proba`` vote with their probabilities, others with one
    vote each; a class absent from a bag gets nothing from it.

    Parameters and attributes are those of :class:`CoupledBaggingRegressor`, and
    ``classes_``.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.arange(12.0).reshape(-1, 1), np.repeat(["low", "high"], 6)
    >>> bagging = CoupledBaggingClassifier(DecisionTreeClassifier(), 9, random_state=0)
    >>> bagging.fit(X, y).predict([[0.0], [11.0]]).tolist()
    ['low', 'high']
    """

    def fit(self, X: Any, y: Any) -> Any:
        """Fit one copy of the base estimator to each bag."""
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        return super().fit(X, labels)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the average vote for each class."""
        rows = self._checked(X)
        votes = [class_votes(member, rows, self.classes_) for member in self.estimators_]
        return np.asarray(np.mean(votes, axis=0))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest average vote."""
        winners = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[winners])
