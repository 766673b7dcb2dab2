"""Averages over small bags, which are stable by theorem, whatever is bagged and on all data."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from poise import checks
from poise.algorithms.algorithm import Predict, as_algorithm
from poise.algorithms.bags import fit_to_bags, subbag
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError
from poise.numbers import at_most, exactly, number
from poise.questions.refits import Refitting, fit_each, floats
from poise.theory.bagging import inflated_mask
from poise.theory.random_bags import BagChoice, choose_bags

Floats = NDArray[np.float64]


def stabilize(
    estimator: Any,
    *,
    n: int,
    epsilon: float,
    delta: float,
    bounds: tuple[float, float] | None = None,
    **more: Any,
) -> StabilizedRegressor | StabilizedClassifier:
    r"""Make an estimator that is (ε, δ)-stable for every distribution, without a test.

    It averages copies of ``estimator`` over random bags of its rows, so small and so many that

    .. math:: P(|\hat f(x) - \hat f^{\setminus i}(x)| > \varepsilon) \le \delta

    for every set of n rows, by Theorems K and L (Soloff, Barber & Willett, 2024; see
    :func:`poise.theory.choose_bags`). It says nothing about accuracy, which small bags may cost,
    and nothing about training sets of another size.

    Parameters
    ----------
    estimator : estimator
        A regressor or a classifier.
    n : int, at least 2
        Training rows.
    epsilon : float, positive
        Allowed change: in units of the response; as a share of the range of the training responses
        without ``bounds``; for classes, Euclidean distance of the probabilities.
    delta : float in (0, 1)
        Allowed probability of a larger change.
    bounds : pair of float, optional
        Smallest and largest prediction of a regressor: the predictions of each bag are clipped.
        Without them they are clipped to the range of the training responses, which a removed row
        may change: this adds 2/n to δ.
    **more
        ``classes``: all labels of a classifier, known before the data. ``shared_seed=True``
        promises it for two fits with one ``random_state`` only, where the last of the n rows is
        removed; this takes fewer bags. ``bag_size`` and ``n_bags``: fixed beforehand.
        ``random_state``: seed of bags and fits. ``n_jobs``: processes, if the fits take longer
        than a few seconds; all cores by default.

    Returns
    -------
    estimator
        A regressor or a classifier of scikit-learn with ``bag_size``, ``n_bags`` and ``guarantee``.
        A classifier has a method ``predict_set(X, k=1)``: sets of labels before and after a removal
        share k labels unless the probabilities move by ε or more (Theorem M).

    Examples
    --------
    >>> import poise
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> stable = poise.stabilize(
    ...     DecisionTreeRegressor(), n=200, epsilon=10, delta=0.1, bounds=(0, 100)
    ... )
    >>> stable.bag_size, stable.n_bags
    (74, 2438)
    >>> print(stable.guarantee)
    Whatever the distribution: if one of 200 training rows, drawn at random, is removed, the
    prediction at a new point changes by more than 10 with probability at most 0.1 (2,438 bags of 74
    rows, Theorem L). It says nothing about accuracy.
    """
    known = hasattr(estimator, "get_params") and not isinstance(estimator, type)
    if not known or not (is_classifier(estimator) or is_regressor(estimator)):
        rule = "must be a regressor or a classifier of scikit-learn"
        raise AlgorithmError(rule, argument="estimator", got=estimator)
    kind = StabilizedClassifier if is_classifier(estimator) else StabilizedRegressor
    made = kind(estimator, n=n, epsilon=epsilon, delta=delta, bounds=bounds, **more)
    chosen = made.bags()
    made.bag_size, made.n_bags = chosen.bag_size, chosen.n_bags
    return made


@dataclass(frozen=True)
class Promise:
    """What holds for every distribution; ``print`` says it.

    Attributes
    ----------
    bags : BagChoice
        Training rows, bags, and the allowed change.
    delta : float
        Probability of a larger change when a row is removed.
    change, limits : str
        What changes by how much, and what else holds, in words.
    """

    bags: BagChoice
    delta: float
    change: str
    limits: str = ""

    def __str__(self) -> str:
        if self.delta >= 1:
            return "Nothing is promised: without bounds, so few rows have no stable range."
        bags, rows = self.bags, checks.counted(self.bags.n, "training row")
        removed = f"one of {rows}, drawn at random, is removed"
        if bags.coupled:
            removed = f"the last of {rows} is removed and random_state stays the same"
        taken = f"{checks.counted(bags.n_bags, 'bag')} of {checks.counted(bags.bag_size, 'row')}"
        return (
            f"Whatever the distribution: if {removed}, {self.change} with probability at most "
            f"{at_most(self.delta)} ({taken}, Theorem {bags.theorem}). {self.limits}"
            "It says nothing about accuracy."
        )


class Stabilized(Refitting, abc.ABC):
    """An average over bags; the parameters are those of :func:`stabilize`."""

    def __init__(
        self,
        estimator: Any,
        *,
        n: int,
        epsilon: float,
        delta: float,
        bounds: tuple[float, float] | None = None,
        classes: Any = None,
        bag_size: int | None = None,
        n_bags: int | None = None,
        shared_seed: bool = False,
        random_state: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.estimator, self.n, self.epsilon, self.delta = estimator, n, epsilon, delta
        self.bounds, self.classes, self.shared_seed = bounds, classes, shared_seed
        self.bag_size, self.n_bags = bag_size, n_bags
        self.random_state, self.n_jobs = random_state, n_jobs

    @abc.abstractmethod
    def _spread(self) -> tuple[dict[str, Any], float]:
        """Return how base fits may differ, and the largest change."""

    @abc.abstractmethod
    def _says(self, member: Predict, X: Any) -> Floats:
        """Return what the fit to one bag predicts, within the range of the theorems."""

    def bags(self) -> BagChoice:
        """Choose the bags that are not given; raise an error if those given are not enough."""
        spread, largest = self._spread()
        if checks.positive("epsilon", self.epsilon) >= largest:
            rule = f"must be below {number(largest)}, the largest change there is"
            raise ArgumentError(rule, argument="epsilon", got=self.epsilon)
        asked: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, **spread}
        asked |= {"bag_size": self.bag_size, "n_bags": self.n_bags, "coupled": self.shared_seed}
        return choose_bags(self.n, **asked)

    def _fit(self, X: Any, y: NDArray[Any], response: str = "predict") -> Self:
        """Draw the bags, and fit each with a random term of its own."""
        chosen, sample = self.bags(), Sample.of(X, y)
        algorithm = fit_to_bags(as_algorithm(self.estimator, response).prepared(sample), sample)
        randomness = Randomness.from_state(self.random_state)
        size = min(chosen.bag_size, len(y))  # fewer rows than a bag holds: nothing is promised
        self.bags_ = [subbag(randomness, k, len(y), size) for k in range(chosen.n_bags)]
        terms = randomness.block("fit of the bag", 0, chosen.n_bags)[:, 0].tolist()
        named = [f"bag {k}, of {checks.counted(size, 'row')}" for k in range(chosen.n_bags)]
        parts = list(zip(self.bags_, terms, named, strict=True))
        self._members = fit_each(algorithm, sample, parts, self.n_jobs)
        return self

    def _average(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = self._rows(X)
        total = sum(self._says(member, rows) for member in self._members)
        return np.asarray(total / len(self._members))


class StabilizedRegressor(RegressorMixin, Stabilized):  # type: ignore[misc]
    """Average of a regressor over bags, each clipped to ``range_``; see :func:`stabilize`."""

    def _spread(self) -> tuple[dict[str, Any], float]:
        low, high = self._bounds()
        if self.classes is not None:
            raise ArgumentError("is for classifiers", argument="classes", got=self.classes)
        return {"width": high - low}, high - low

    @property
    def guarantee(self) -> Promise:
        """What is promised about n training rows, with these bags."""
        bags = self.bags()
        change = f"the prediction at a new point changes by more than {exactly(self.epsilon)}"
        if self.bounds is not None:
            return Promise(bags, bags.delta, change)
        # A removed row changes the range of the responses with probability 2/n.
        delta = min(1.0, bags.delta + 2 / bags.n)
        limits = "The range depends on the rows: with bounds, epsilon is in units of the response. "
        return Promise(bags, delta, f"{change} times the range of the training responses", limits)

    def _bounds(self) -> tuple[float, float]:
        try:
            low, high = (0.0, 1.0) if self.bounds is None else map(float, self.bounds)
        except (TypeError, ValueError):
            low, high = math.nan, math.nan
        if not -math.inf < low < high < math.inf:
            rule = "must be two finite numbers, the smallest and the largest prediction"
            raise ArgumentError(rule, argument="bounds", got=self.bounds)
        return low, high

    def fit(self, X: Any, y: Any) -> Self:
        """Fit one copy of the estimator to each bag."""
        rows, y = self._rows(X, y)
        y = np.asarray(y, dtype=np.float64)
        self.range_ = (float(y.min()), float(y.max())) if self.bounds is None else self._bounds()
        return self._fit(rows, y)

    def predict(self, X: Any) -> Floats:
        """Return the average of the clipped predictions."""
        return self._average(X)

    def _says(self, member: Predict, X: Any) -> Floats:
        said = floats(member, X)
        if np.isnan(said).any():
            raise ValueError("the fit to a bag predicted nan")
        return np.clip(said, *self.range_)


class StabilizedClassifier(ClassifierMixin, Stabilized):  # type: ignore[misc]
    """Average of a classifier's probabilities, or votes, over bags; see :func:`stabilize`."""

    def _spread(self) -> tuple[dict[str, Any], float]:
        if self.bounds is not None:
            raise ArgumentError("is for regressors", argument="bounds", got=self.bounds)
        known = checks.LARGEST_COUNT if self.classes is None else len(self._known())
        return {"n_classes": known}, math.sqrt(2)  # between two vectors

    @property
    def guarantee(self) -> Promise:
        """What is promised about n training rows, with these bags."""
        change = f"the class probabilities at a new point change by {exactly(self.epsilon)} or more"
        limits = "Otherwise the sets before and after share at least k labels (Theorem M). "
        if self.classes is None:
            limits = "With classes= it holds for sets of labels, too. "
        bags = self.bags()
        return Promise(bags, bags.delta, f"{change} (Euclidean distance)", limits)

    def _known(self) -> NDArray[Any]:
        known = np.unique(np.asarray(self.classes))
        if known.size < 2:
            raise ArgumentError("must hold two or more labels", argument="classes", got=known)
        return known

    def fit(self, X: Any, y: Any) -> Self:
        """Fit one copy of the estimator to each bag."""
        rows, y = self._rows(X, y, numeric=False)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self._seen = np.unique(y)
        self.classes_ = self._seen if self.classes is None else self._known()
        unlisted = np.setdiff1d(self._seen, self.classes_)
        if unlisted.size:
            rule = f"must hold every label in y, also {unlisted.tolist()}"
            raise ArgumentError(rule, argument="classes", got=self.classes)
        self._votes = not hasattr(self.estimator, "predict_proba")
        return self._fit(rows, y, "predict" if self._votes else "predict_proba")

    def predict_proba(self, X: Any) -> Floats:
        """Return the average vote for each class."""
        return self._average(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest average vote, which no theorem calls stable."""
        winners = self.predict_proba(X).argmax(axis=1)  # first: it sees whether there was a fit
        return np.asarray(self.classes_[winners])

    def predict_set(self, X: Any, k: int = 1) -> list[NDArray[Any]]:
        """Return a set of labels for each row: before and after a removal, k of them stay.

        The inflated top-k of :func:`poise.theory.inflated_top` (Theorem M), except with the
        probability that ``guarantee`` states. A set does not say which label is right.
        """
        mask = inflated_mask(self.predict_proba(X), k, self.epsilon)
        return [self.classes_[row] for row in mask]

    def _says(self, member: Predict, X: Any) -> Floats:
        said = np.asarray(member(X))
        if self._votes:
            return np.asarray(said.reshape(-1, 1) == self.classes_, dtype=np.float64)
        total = said.sum(axis=1, keepdims=True)  # those of a few estimators are only nearly 1
        if not (np.isfinite(said).all() and (said >= 0).all() and (total > 0).all()):
            raise ValueError("the fit to a bag predicted no probabilities")
        probabilities = np.zeros((len(said), len(self.classes_)))
        probabilities[:, np.searchsorted(self.classes_, self._seen)] = said / total
        return probabilities
