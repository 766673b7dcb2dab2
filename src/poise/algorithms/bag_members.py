"""The models of a bagging ensemble, one per bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from poise.protocol.randomness import Randomness, RandomStateLike

__all__ = ["class_votes", "ensemble_seed", "seeded_member"]

_WORD = 2**64 - 1


def ensemble_seed(random_state: RandomStateLike) -> int:
    """Turn a random state into the 64-bit word that decides bags and members."""
    return Randomness.from_state(random_state).root & _WORD


def seeded_member(estimator: Any, seed: int, bag: int) -> Any:
    """Return an unfitted copy of the base estimator whose random states belong to this bag."""
    member = clone(estimator)
    names = [n for n in member.get_params() if n.split("__")[-1] == "random_state"]
    if names:
        words = Randomness(seed).block(f"member {bag}", 0, len(names))[:, 0]
        seeds = (int(word) >> 33 for word in words)
        member.set_params(**dict(zip(sorted(names), seeds, strict=True)))
    return member


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
