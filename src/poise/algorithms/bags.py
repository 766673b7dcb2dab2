"""Random bags of rows that hardly change when the last row is removed, and averages over them.

What one seed gives an ordinary bagging ensemble on n and on n - 1 rows depends on how its generator
draws numbers below n: scikit-learn's bags are nearly the same, but unrelated where n - 1 is a power
of two. Here row i reads the i-th number of the bag's stream, whatever the number of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise import checks
from poise.algorithms.algorithm import Algorithm, Predict, as_algorithm
from poise.algorithms.estimator import Estimator
from poise.algorithms.predictions import as_array
from poise.data.randomness import Ids, Randomness
from poise.data.rows import as_rows
from poise.data.sample import Sample
from poise.errors import AlgorithmError

# P(Poisson(1) <= k) for k = 0, 1, ..., 19; the rest is smaller than a rounding error.
_POISSON = np.exp(-1.0) * np.cumsum(1.0 / np.cumprod(np.maximum(np.arange(20.0), 1.0)))


def poisson_bag(randomness: Randomness, bag: int, n_rows: int) -> Ids:
    """Draw each row Poisson(1) times: the bag of n - 1 rows is that of n without the last row."""
    uniform = randomness.generator("bag", bag).random(n_rows)
    return np.repeat(np.arange(n_rows), np.searchsorted(_POISSON, uniform, side="right"))


def subbag(randomness: Randomness, bag: int, n_rows: int, size: int) -> Ids:
    """Draw ``size`` rows without replacement, in random order.

    Reservoir sampling: the bag of n - 1 rows is that of n unless the last row is in it, and then
    the row that it had replaced is back in its place.
    """
    rows = randomness.generator("order in the bag", bag).permutation(size)
    later = np.arange(size, n_rows)
    uniform = randomness.generator("bag", bag).random(n_rows)[size:]
    places = (uniform * (later + 1)).astype(np.int64)
    taken = places < size
    rows[places[taken]] = later[taken]  # the last row to take a place keeps it
    return rows


def coupled_bags(algorithm: Any, *, n_bags: int = 10, response: str = "predict") -> Algorithm:
    """Average an algorithm over random bags of its rows, coupled between n and n - 1 rows.

    Each row is in each bag Poisson(1) times. With the same random term, the bags without the last
    row are those of all rows with its copies erased: the coupling of Appendix E of the paper, which
    ``coupling="shared"`` then tests. How much such an average changes is for a test to say.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        What is fitted to each bag; predictions are numbers, such as probabilities.
    n_bags : int
        Number of bags.
    response : {"predict", "predict_proba", "decision_function"}
        Method of the estimator whose output is averaged.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bagged = poise.coupled_bags(DecisionTreeRegressor(), n_bags=20)
    >>> poise.measure(bagged, X, y, n=20, check=False).n_trials
    21
    """
    return _CoupledBags(as_algorithm(algorithm, response), checks.count("n_bags", n_bags, 1))


class _CoupledBags(Algorithm):
    def __init__(self, base: Algorithm, n_bags: int) -> None:
        self.base, self.n_bags, self._each = base, n_bags, base
        self.name = f"average of {base.name} over {checks.counted(n_bags, 'coupled bag')}"
        self.natural_distance, self.is_classifier = base.natural_distance, base.is_classifier
        self.user_code, self.has_own_code = (base,), base.has_own_code
        self._per_row: tuple[str, ...] = ()  # arguments of fit that hold a value for each row

    @property
    def identity(self) -> str:
        """The name with every parameter written out."""
        return self.name.replace(self.base.name, self.base.identity)

    def prepared(self, sample: Sample) -> Algorithm:
        """Prepare what is fitted to the bags; refuse labels, which have no average."""
        base = self.base.prepared(sample)
        if base.natural_distance not in ("euclidean", "absolute", "total_variation"):
            problem = f"{base.name} predicts labels, which have no average"
            raise AlgorithmError(problem, remedy={"response": "predict_proba"})
        ready = _CoupledBags(base, self.n_bags)
        ready.n_outputs, ready.n_classes = base.n_outputs, base.n_classes
        ready._each, ready._per_row = fit_to_bags(base, sample), tuple(sample.per_row)
        return ready

    def fit(self, X: Any, y: Any, xi: int, **fit_params: Any) -> Predict:
        """Fit each bag with a random term of its own."""
        randomness, rows = Randomness(int(xi)), as_rows(X, "X")
        terms = randomness.block("fit of the bag", 0, self.n_bags)[:, 0].tolist()
        members = []
        for bag, term in enumerate(terms):
            drawn = poisson_bag(randomness, bag, len(rows))
            places = drawn if drawn.size else np.arange(len(rows))  # no empty training set
            more = {name: as_rows(fit_params[name], name).take(places) for name in self._per_row}
            responses = as_rows(y, "y").take(places)
            members.append(self._each.fit(rows.take(places), responses, term, **fit_params | more))
        return lambda points: np.mean([as_array(predict(points)) for predict in members], axis=0)


def fit_to_bags(prepared: Algorithm, sample: Sample) -> Algorithm:
    """Return what is fitted to a bag: of a bag of one class, which many refuse, that class."""
    if not (isinstance(prepared, Estimator) and prepared.is_classifier):
        return prepared
    if prepared.response == "decision_function":
        return prepared
    from sklearn.dummy import DummyClassifier

    return _AnyBag(prepared, Estimator(DummyClassifier(), prepared.response).prepared(sample))


class _AnyBag(Algorithm):
    def __init__(self, base: Algorithm, one_class: Algorithm) -> None:
        self.base, self.one_class, self.name = base, one_class, base.name

    def fit(self, X: Any, y: Any, xi: int, **fit_params: Any) -> Predict:
        labels = as_rows(y, "y").column(0)
        chosen = self.one_class if (labels == labels[0]).all() else self.base
        return chosen.fit(X, y, xi, **fit_params)
