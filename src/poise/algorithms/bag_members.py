"""The models of a bagging ensemble, one per bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from poise.algorithms.seeds_and_threads import plain_parameters
from poise.protocol.randomness import Randomness, RandomStateLike

__all__ = ["SeededMembers", "class_votes", "ensemble_seed"]

_WORD = 2**64 - 1


def ensemble_seed(random_state: RandomStateLike) -> int:
    """Turn a random state into the 64-bit word that decides bags and members."""
    return Randomness.from_state(random_state).root & _WORD


class SeededMembers:
    """Makes copies of the base estimator, one for each bag, whose random states are the bag's.

    Parameters
    ----------
    estimator : estimator
        The base estimator, which stays as it is.
    seed : int
        That of the ensemble.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> members = SeededMembers(DecisionTreeRegressor(max_depth=2), seed=0)
    >>> members.unfitted(bag=7)
    DecisionTreeRegressor(max_depth=2, random_state=...)
    """

    def __init__(self, estimator: Any, seed: int) -> None:
        self.estimator, self.seed = estimator, seed
        names = estimator.get_params()
        self.names = sorted(name for name in names if name.split("__")[-1] == "random_state")
        self.plain = plain_parameters(estimator)  # looked up once: cloning takes as long as a fit

    def unfitted(self, bag: int) -> Any:
        """Return a new copy."""
        seeds = self._seeds(bag)
        if self.plain is not None:
            return type(self.estimator)(**(self.plain | seeds))
        return clone(self.estimator).set_params(**seeds)

    def _seeds(self, bag: int) -> dict[str, int]:
        if not self.names:
            return {}
        words = Randomness(self.seed).block(f"member {bag}", 0, len(self.names))[:, 0]
        return dict(zip(self.names, (int(word) >> 33 for word in words), strict=True))


def class_votes(member: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return one member's votes, in the columns of ``classes``.

    Members with ``predict_proba`` vote with their probabilities, others with one vote
    each; a class absent from the member's bag gets nothing from it.
    """
    if not hasattr(member, "predict_proba"):
        return np.asarray(np.asarray(member.predict(X))[:, None] == classes, dtype=float)
    probabilities = np.asarray(member.predict_proba(X))
    votes = np.zeros((len(probabilities), len(classes)))
    votes[:, np.searchsorted(classes, member.classes_)] = probabilities
    return votes
