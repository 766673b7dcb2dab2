"""The base class of the stable regressor and classifier.

Subbagging as in Theorems K and L (:mod:`poise.theory.subbagging`): bags of b rows, drawn without
replacement and shuffled, so that base estimators which look at the order of their rows
are covered too. A bag of n rows that does not hold the last row is also a bag of the first
n - 1 rows, if ``random_state`` is the same: the coupling of Appendix E.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from poise.algorithms.bag_members import ensemble_seed
from poise.algorithms.stabilized.bag_fits import average, draw_bags, fit_bags
from poise.algorithms.stabilized.guarantee import StabilityGuarantee
from poise.algorithms.wrapper_input import checked_rows, with_input_tags_of
from poise.data.tables import as_table
from poise.protocol.randomness import RandomStateLike
from poise.theory.bag_choice import BagChoice, bag_trade_off, bags_as_they_are, choose_bags

__all__ = ["Stabilized"]


class Stabilized(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not annotated
    """An average over bags whose size and number make it stable; abstract."""

    estimator: Any
    n: int
    epsilon: float
    delta: float
    bag_size: int | None
    n_bags: int | None
    shared_seed: bool
    random_state: RandomStateLike
    n_jobs: int | None

    @property
    @abstractmethod
    def guarantee(self) -> StabilityGuarantee:
        """What is promised about n training rows, with these bags."""

    @abstractmethod
    def _outputs(self) -> dict[str, float]:
        """Return the width of the base fits' range, or the number of classes."""

    @abstractmethod
    def refuse_unreachable_epsilon(self) -> None:
        """Refuse an ε that no change exceeds: every estimator would be stable."""

    def trade_off(self) -> tuple[BagChoice, ...]:
        """List bag sizes and numbers of bags that keep the guarantee, cheapest first."""
        return bag_trade_off(self.n, **self.question())

    def question(self) -> dict[str, Any]:
        """Return the arguments of ``poise.theory.choose_bags``."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "coupled": self.shared_seed,
            **self._outputs(),
        }

    def _bags(self) -> BagChoice:
        """Use the bags that were given, and choose what was not given."""
        question = self.question()
        if self.bag_size is None or self.n_bags is None:
            return choose_bags(self.n, bag_size=self.bag_size, n_bags=self.n_bags, **question)
        return bags_as_they_are(self.n, bag_size=self.bag_size, n_bags=self.n_bags, **question)

    def _fit_bags(self, X: Any, y: NDArray[Any]) -> None:
        """Fit the base estimator to every bag of checked rows."""
        bags = self._bags()  # arguments first: no fit before they are checked
        features, seed = as_table(X, "X"), ensemble_seed(self.random_state)
        # With fewer rows than a bag holds, every bag holds all rows: no guarantee covers them.
        size = min(bags.bag_size, len(y))
        self.bags_ = draw_bags(seed, bags.n_bags, len(y), size)
        self.estimators_ = fit_bags(self.estimator, self.bags_, seed, (features, y), self.n_jobs)

    def _average(self, X: Any) -> NDArray[np.float64]:
        """Average the predictions of the members, after checking the rows."""
        check_is_fitted(self)
        return average(self.estimators_, self._says, self._checked(X, reset=False), self.n_jobs)

    @abstractmethod
    def _says(self, member: object, X: Any) -> NDArray[np.float64]:
        """Return the prediction of one member, clipped to the range of base fits."""

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Check rows as scikit-learn does, and leave tables and texts as they are."""
        return checked_rows(self, self.estimator, X, reset=reset)

    def _checked_pair(self, X: Any, y: NDArray[Any]) -> Any:
        rows = self._checked(X, reset=True)
        check_consistent_length(rows, y)
        return rows

    def __sklearn_tags__(self) -> Any:
        """Accept missing values and sparse matrices if the base estimator does."""
        return with_input_tags_of(self.estimator, super().__sklearn_tags__())
