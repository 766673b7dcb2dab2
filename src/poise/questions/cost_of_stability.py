"""The accuracy of a stabilised estimator compared with the original."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import arguments
from poise.algorithms.seeds_and_threads import cloned, seeds
from poise.arguments import counted
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import number
from poise.data.tables import as_table
from poise.errors import DataError
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.results.text.table import TextTable

if TYPE_CHECKING:
    from poise.algorithms.stabilized.ensemble import Stabilized

__all__ = ["CostOfStability", "cost_of_stability"]

# The smallest share of the rows that is left out for scoring.
_SCORED_SHARE = 0.2
_COLUMNS = ("split", "before", "after")


@dataclass(frozen=True)
class CostOfStability(ShownAsCard):
    """Scores on rows left out, before and after: see :func:`cost_of_stability`.

    Attributes
    ----------
    score : {"R²", "accuracy"}
        What the numbers mean; larger is better.
    n_rows : int
        Number of training rows of each fit.
    original, stabilized : tuple of float
        One score per random split; both estimators were scored on the same splits.

    Examples
    --------
    >>> print(CostOfStability("R²", 40, (0.5, 0.3), (0.4, 0.3)).sentence)
    R² on rows left out, over 2 random splits with 40 training rows: 0.4 before, 0.35 after.
    """

    score: str
    n_rows: int
    original: tuple[float, ...]
    stabilized: tuple[float, ...]

    @property
    def sentence(self) -> str:
        """The two averages in words; they are estimates, without a guarantee."""
        before, after = (float(np.mean(scores)) for scores in (self.original, self.stabilized))
        return (
            f"{self.score} on rows left out, over {counted(len(self.original), 'random split')} "
            f"with {counted(self.n_rows, 'training row')}: {number(before)} before, "
            f"{number(after)} after."
        )

    def _card(self) -> Card:
        pairs = zip(self.original, self.stabilized, strict=True)
        rows = [[str(k), number(a), number(b)] for k, (a, b) in enumerate(pairs, 1)]
        said = "An estimate over random splits, without a guarantee."
        return Card(self.sentence, "estimate", [said], tables=[TextTable(_COLUMNS, rows)])


def cost_of_stability(
    stable: Stabilized, X: Any, y: Any, *, splits: int = 5, random_state: RandomStateLike = None
) -> CostOfStability:
    """Score a stabilised estimator and its original on rows left out, by repeated splits.

    Each split fits both to the same n random rows (the n of the promise, or four fifths of the
    rows if that is fewer) and scores them on the others. It is an estimate, not a bound.

    Parameters
    ----------
    stable : StabilizedRegressor or StabilizedClassifier
        What :func:`poise.stabilize` returns.
    X, y : array, data frame, sparse matrix or list
        Labelled rows.
    splits : int, at least 1
        Number of random splits.
    random_state : None, int, Generator or RandomState
        Decides the splits, and the seeds that neither estimator has: the same number gives the
        same scores.

    Returns
    -------
    CostOfStability

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> stable = poise.stabilize(
    ...     DecisionTreeRegressor(random_state=0), n=100, epsilon=0.3, delta=0.2, random_state=0
    ... )
    >>> cost = cost_of_stability(stable, X, y, splits=2, random_state=0)
    >>> cost.n_rows, sum(cost.stabilized) > sum(cost.original)  # trees like to be bagged
    (100, True)
    """
    from sklearn.base import is_classifier
    from sklearn.model_selection import ShuffleSplit

    features, responses = as_table(X, "X"), as_table(y, "y")
    n_rows = min(stable.n, int((1 - _SCORED_SHARE) * len(features)))
    if n_rows < 2:
        raise DataError(f"too few rows to leave some out: {len(features)}")
    seed = Randomness.from_state(random_state).root % 2**32
    count = int(arguments.count("splits", splits, minimum=1))
    chosen = ShuffleSplit(n_splits=count, train_size=n_rows, random_state=seed)
    # A stabilised estimator seeds what it bags by itself.
    original, bagged = (stable.estimator, seeds(stable.estimator)), (stable, ["random_state"])
    scores: tuple[list[float], list[float]] = [], []
    for train, test in chosen.split(np.empty(len(features))):
        for (model, names), list_of_scores in zip((original, bagged), scores, strict=True):
            with np.errstate(), warnings.catch_warnings():  # a fit may change them
                unfitted = _seeded(model, names, seed)
                fitted = unfitted.fit(features.take(train), responses.take(train))
                score = fitted.score(features.take(test), responses.take(test))
            list_of_scores.append(float(score))
    name = "accuracy" if is_classifier(stable) else "R²"
    return CostOfStability(name, n_rows, tuple(scores[0]), tuple(scores[1]))


def _seeded(model: Any, names: list[str], seed: int) -> Any:
    """Return an unfitted copy in which those of these seeds are set that were not."""
    copy = cloned(model)
    given = copy.get_params(deep=True)
    return copy.set_params(**{name: seed for name in names if given.get(name) is None})
