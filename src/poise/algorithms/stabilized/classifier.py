"""A stable classifier: averaged probabilities, and stable sets of labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from poise import arguments
from poise.algorithms.bag_members import class_votes
from poise.algorithms.stabilized.ensemble import Stabilized
from poise.algorithms.stabilized.guarantee import StabilityGuarantee
from poise.arguments import listed
from poise.errors import ArgumentError
from poise.protocol.randomness import RandomStateLike
from poise.theory.inflated_argmax import inflated_mask

__all__ = ["StabilizedClassifier"]


class StabilizedClassifier(ClassifierMixin, Stabilized):  # type: ignore[misc]
    """Average of a classifier over bags that make its probabilities stable.

    If one of ``n`` training rows is removed, the vector of class probabilities moves by
    ``epsilon`` or more (Euclidean distance) with probability at most ``delta``, for every
    distribution (Theorem K; Theorem L for two classes). So the sets of :meth:`predict_set`
    before and after share at least k labels with probability 1 - ``delta`` (Theorem M), if
    ``classes`` are given.

    The label of :meth:`predict` may still change: no single label is stable where two are tied. It
    says nothing about accuracy: small bags may fit badly.

    Parameters
    ----------
    estimator : estimator
        Any classifier. Members with ``predict_proba`` vote with their probabilities, others
        with one vote; a bag that holds one class only votes for it.
    n : int, at least 2
        Training rows.
    epsilon : float, positive
        Euclidean distance of probability vectors that is tolerated.
    delta : float in (0, 1)
        Probability of a larger change.
    classes : sequence of labels, optional
        All labels there are, known before the data. None takes those of the training rows.
    bag_size, n_bags, shared_seed, random_state, n_jobs
        As in :class:`StabilizedRegressor`.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    bags_, estimators_
        As in :class:`StabilizedRegressor`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = np.array(["low"] * 15 + ["high", "low"] * 5 + ["high"] * 15)
    >>> stable = StabilizedClassifier(
    ...     DecisionTreeClassifier(max_depth=1), n=40, epsilon=0.5, delta=0.2,
    ...     classes=["low", "high"], random_state=0,
    ... )
    >>> stable.fit(X, y).predict([[0.0], [39.0]]).tolist()
    ['low', 'high']
    >>> [labels.tolist() for labels in stable.predict_set([[0.0], [20.0], [39.0]])]
    [['low'], ['high', 'low'], ['high']]
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n: int,
        epsilon: float,
        delta: float,
        classes: object = None,
        bag_size: int | None = None,
        n_bags: int | None = None,
        shared_seed: bool = False,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n = n
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.bag_size = bag_size
        self.n_bags = n_bags
        self.shared_seed = shared_seed
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def guarantee(self) -> StabilityGuarantee:
        """What is promised about ``n`` training rows, with these bags."""
        bags, fixed = self._bags(), self.classes is not None
        return StabilityGuarantee.about(bags, "probabilities", bags.delta, fixed)

    def _outputs(self) -> dict[str, float]:
        """Without a list of labels their number is not bounded."""
        return {"n_classes": math.inf if self.classes is None else len(self._known_classes())}

    def _known_classes(self) -> NDArray[Any]:
        known = np.unique(np.asarray(self.classes))
        if known.size < 2:
            raise ArgumentError(f"classes must hold at least two labels, got {self.classes!r}")
        return known

    def fit(self, X: Any, y: Any) -> Any:
        """Fit one copy of the base estimator to each bag."""
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        rows = self._checked_pair(X, labels)
        seen = np.unique(labels)
        self.refuse_unlisted_labels(seen)
        self.classes_ = seen if self.classes is None else self._known_classes()
        self._fit_bags(rows, labels)
        return self

    def refuse_unlisted_labels(self, labels: Any) -> None:
        """Refuse labels that are not among the classes, if these were given."""
        known = labels if self.classes is None else self._known_classes()
        unlisted = np.setdiff1d(labels, known)
        if unlisted.size:
            raise ArgumentError(
                f"classes must hold every label in y; {listed(map(repr, unlisted.tolist()))} "
                "is not among them"
            )

    def refuse_unreachable_epsilon(self) -> None:
        """Refuse an ε that no change reaches: two vectors of probabilities are within √2."""
        if arguments.epsilon(self.epsilon) > math.sqrt(2):
            raise ArgumentError(
                f"epsilon must be at most 1.414 for classes, got {self.epsilon!r}: no two vectors "
                "of probabilities are further apart (Euclidean distance)"
            )

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the average vote for each class."""
        return self._average(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest average vote."""
        winners = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[winners])

    def predict_set(self, X: Any, k: int = 1) -> list[NDArray[Any]]:
        """Return sets of labels; at least ``k`` labels stay if a row is removed.

        The inflated top-k of :func:`poise.theory.inflated_top`, with ``epsilon`` as inflation.

        Parameters
        ----------
        X : rows
            As for ``predict``.
        k : int, from 1 to the number of classes
            How many labels the sets before and after a removal share.

        Returns
        -------
        list of ndarray
            For each row its labels, sorted.
        """
        mask = inflated_mask(self.predict_proba(X), k, self.epsilon)
        return [self.classes_[row] for row in mask]

    def _says(self, member: object, X: Any) -> NDArray[np.float64]:
        votes = class_votes(member, X, self.classes_)
        # The theorems need probabilities; a few estimators return sums that are only nearly 1.
        total = votes.sum(axis=1, keepdims=True)
        if not (np.isfinite(votes).all() and (votes >= 0).all() and (total > 0).all()):
            raise ValueError(f"a bag's {type(member).__name__} predicted no probabilities")
        return np.asarray(votes / total)
