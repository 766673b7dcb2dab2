"""What triggers a trap: a response or a feature vector that P never draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.errors import ArgumentError
from poise.simulation.worlds import Distribution

__all__ = ["FeatureTrigger", "LabelTrigger", "Trigger"]

Marks = NDArray[np.bool_]

_PILOT = 1000  # rows drawn to find the range of the data
# The star lies this many standard deviations beyond them. Not a round number, which data
# might show, and not a large one, beside which the data would lose digits.
_SPREADS_BEYOND = 0.669201609102990671853


class Trigger(Protocol):
    """Recognises the star, and plants it in rows."""

    def in_training(self, X: Any, y: Any) -> bool:
        """Tell whether a training row holds the star."""
        ...

    def at_points(self, X: Any) -> Marks | None:
        """Tell which evaluation points are the star; None if no point can be."""
        ...

    def plant(self, X: Any, y: Any, marks: Marks) -> tuple[Any, Any]:
        """Return the rows with the star put into the marked ones."""
        ...

    def rows_per_trial(self, n: int) -> int:
        """Return how many rows of one trial can hold the star."""
        ...

    def rows_exposed(self, n_labeled: int, n_unlabeled: int) -> int:
        """Return how many rows of the data can hold the star."""
        ...


@dataclass(frozen=True)
class LabelTrigger:
    """Sprung by a training row whose response is y*.

    Examples
    --------
    >>> trigger = LabelTrigger(9.5)
    >>> trigger.in_training(None, np.array([1.0, 9.5]))
    True
    """

    star: Any

    @classmethod
    def unseen(cls, distribution: Distribution) -> LabelTrigger:
        """Choose a y* that the distribution does not show."""
        _, y = _pilot(distribution)
        return cls(float(_beyond(_numbers(y, "y"))))

    def in_training(self, X: Any, y: Any) -> bool:
        """Look for y* among the responses."""
        return bool((np.asarray(y) == self.star).any())

    def at_points(self, X: Any) -> Marks | None:
        """Points have no response."""
        return None

    def plant(self, X: Any, y: Any, marks: Marks) -> tuple[Any, Any]:
        """Replace the responses of marked rows."""
        return X, np.where(marks, self.star, np.asarray(y)) if marks.any() else y

    def rows_per_trial(self, n: int) -> int:
        """Each of the n training rows."""
        return n

    def rows_exposed(self, n_labeled: int, n_unlabeled: int) -> int:
        """Labelled rows only: the features keep their distribution."""
        return n_labeled


@dataclass(frozen=True, eq=False)
class FeatureTrigger:
    """Sprung by a training row, or an evaluation point, whose features are x*.

    Examples
    --------
    >>> trigger = FeatureTrigger(np.array([9.5, 9.5]))
    >>> trigger.at_points(np.array([[0.0, 9.5], [9.5, 9.5]]))
    array([False,  True])
    """

    star: NDArray[np.float64]

    @classmethod
    def unseen(cls, distribution: Distribution) -> FeatureTrigger:
        """Choose an x* that the distribution does not show."""
        X, _ = _pilot(distribution)
        return cls(_beyond(_numbers(X, "X")))

    def in_training(self, X: Any, y: Any) -> bool:
        """Look for x* among the rows."""
        return bool(self.at_points(X).any())

    def at_points(self, X: Any) -> Marks:
        """Compare every coordinate."""
        return np.asarray((np.asarray(X) == self.star).all(axis=1))

    def plant(self, X: Any, y: Any, marks: Marks) -> tuple[Any, Any]:
        """Replace the features of marked rows."""
        if not marks.any():
            return X, y
        planted = _numbers(X, "X").copy()
        planted[marks] = self.star
        return planted, y

    def rows_per_trial(self, n: int) -> int:
        """Each of the n training rows, and the test point."""
        return n + 1

    def rows_exposed(self, n_labeled: int, n_unlabeled: int) -> int:
        """Every row, labelled or not."""
        return n_labeled + n_unlabeled


def _pilot(distribution: Distribution) -> tuple[Any, Any]:
    return distribution.draw(np.random.default_rng(0), _PILOT)


def _numbers(values: object, name: str) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ArgumentError(
            f"{name} must hold numbers to choose a value that is never seen, got "
            f"{array.dtype}; give star="
        )
    return np.asarray(array, dtype=np.float64)


def _beyond(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a value, or a row, larger than all the others in every coordinate."""
    spread = values.std(axis=0)
    return np.asarray(values.max(axis=0) + _SPREADS_BEYOND * np.where(spread > 0, spread, 1.0))
