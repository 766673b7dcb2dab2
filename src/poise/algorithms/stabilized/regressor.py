"""A stable regressor: the average of clipped predictions over bags."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from poise import arguments
from poise.algorithms.stabilized.ensemble import Stabilized
from poise.algorithms.stabilized.guarantee import StabilityGuarantee
from poise.arguments.printed_numbers import exactly
from poise.errors import ArgumentError
from poise.protocol.randomness import RandomStateLike
from poise.theory.subbagging import clipped_delta

__all__ = ["StabilizedRegressor"]


class StabilizedRegressor(RegressorMixin, Stabilized):  # type: ignore[misc]
    """Average of a regressor over bags that make it (ε, δ)-stable for every distribution.

    Predictions of each bag are clipped to ``bounds``. Theorems K and L then hold whatever the base
    estimator does: see :func:`poise.theory.choose_bags`. Without bounds they are clipped to the
    range of the training responses, and the statement is relative to that range.

    The promise is about ``n`` training rows; with other numbers of rows the same bags are drawn and
    nothing is promised. It says nothing about accuracy: small bags may fit badly.

    Parameters
    ----------
    estimator : estimator
        Any regressor.
    n : int, at least 2
        Training rows.
    epsilon : float, positive
        Largest change that is tolerated, in units of the response; as a share of the range of
        the training responses if ``bounds`` is None.
    delta : float in (0, 1)
        Probability of a larger change.
    bounds : pair of float, optional
        Smallest and largest prediction.
    bag_size, n_bags : int, optional
        Rows in a bag and number of bags; what is None is chosen. Other values than
        :func:`poise.stabilize` chose change the guarantee.
    shared_seed : bool, default False
        Promise it for fits with one ``random_state`` only, which takes fewer bags.
    random_state : None, int, Generator or RandomState
        Decides the bags and the random states of the members.
    n_jobs : int, optional
        Processes that fit bags, threads that predict, as in joblib.

    Attributes
    ----------
    bags_ : list of ndarray
        Row positions of each bag.
    estimators_ : list of estimator
        The fitted members.
    range_ : tuple of float
        What predictions are clipped to.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = np.arange(40.0).reshape(-1, 1), np.arange(40.0)
    >>> stable = StabilizedRegressor(
    ...     DecisionTreeRegressor(), n=40, epsilon=0.5, delta=0.2, random_state=0
    ... )
    >>> stable.fit(X, y).predict([[0.0], [39.0]]).round().tolist()
    [0.0, 39.0]
    >>> stable.guarantee.delta
    0.25
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n: int,
        epsilon: float,
        delta: float,
        bounds: tuple[float, float] | None = None,
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
        self.bounds = bounds
        self.bag_size = bag_size
        self.n_bags = n_bags
        self.shared_seed = shared_seed
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def guarantee(self) -> StabilityGuarantee:
        """What is promised about ``n`` training rows, with these bags."""
        bags = self._bags()
        if self.bounds is not None:
            return StabilityGuarantee.about(bags, "response", bags.delta)
        return StabilityGuarantee.about(bags, "training range", clipped_delta(bags.n, bags.delta))

    def _outputs(self) -> dict[str, float]:
        low, high = (0.0, 1.0) if self.bounds is None else _checked_bounds(self.bounds)
        return {"width": high - low}

    def refuse_unreachable_epsilon(self) -> None:
        """Refuse an ε that no change exceeds: clipped predictions stay in their range."""
        width = self._outputs()["width"]
        if arguments.epsilon(self.epsilon) < width:
            return
        if self.bounds is not None:
            raise ArgumentError(
                f"epsilon must be below {exactly(width)}, the width of bounds, got "
                f"{self.epsilon!r}: no prediction changes by more"
            )
        raise ArgumentError(
            f"epsilon must be below 1 where no bounds are given, got {self.epsilon!r}: it is a "
            "share of the range of the training responses. Give bounds for an epsilon in their "
            "units"
        )

    def fit(self, X: Any, y: Any) -> Any:
        """Fit one copy of the base estimator to each bag."""
        responses = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype="numeric")
        rows = self._checked_pair(X, responses)
        self._fit_bags(rows, responses)
        inside = float(responses.min()), float(responses.max())
        self.range_ = inside if self.bounds is None else _checked_bounds(self.bounds)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the average of the clipped predictions."""
        average = self._average(X)
        # An average of equal numbers may differ from them in the last digit.
        return np.clip(average, *self.range_)

    def _says(self, member: Any, X: Any) -> NDArray[np.float64]:
        said = np.asarray(member.predict(X), dtype=np.float64)
        if np.isnan(said).any():
            raise ValueError(f"a bag's {type(member).__name__} predicted nan")
        return np.clip(said, *self.range_)


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    """Check that bounds are two finite numbers, the smaller first."""
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"bounds must be a pair of numbers (smallest, largest prediction), got {bounds!r}"
        ) from None
    if not (np.isfinite([low, high]).all() and low < high):
        raise ArgumentError(f"bounds must be two finite numbers, low < high, got {bounds!r}")
    return low, high
