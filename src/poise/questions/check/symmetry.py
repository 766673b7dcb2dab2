"""Whether the order of the rows matters; the paper assumes that it does not.

An algorithm is symmetric if A[D; ξ] and A[D_σ; ξ′] agree for every reordering σ
under some coupling of ξ and ξ′: exactly, or in distribution over ξ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.fit_warnings import counted_fit_warnings
from poise.algorithms.global_state import GlobalGenerators
from poise.algorithms.prediction_arrays import REORDERED_SUMS, as_array
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import exactly, number
from poise.data.tables import Table, as_table
from poise.errors import ArgumentError
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.theory.decision import declares

__all__ = ["SymmetryReport", "check_symmetry", "reordering_change"]


@dataclass(frozen=True)
class SymmetryReport(ShownAsCard):
    """What :func:`check_symmetry` found.

    Attributes
    ----------
    finding : {"exact", "in distribution", "not symmetric"}
        "exact": no reordering that was tried changed a prediction. "in
        distribution": predictions changed, but no more than they change with another
        ξ in the same order. "not symmetric": their distribution depends on the order.
    pvalue : float
        For the hypothesis that the distribution does not depend on the order; 1 if exact.
    level : float
        Upper bound for the chance that a symmetric algorithm is called "not symmetric".
    largest_change : float
        Largest change of a prediction when rows were reordered and ξ kept.
    n_fits : int
        Number of fits that were run.

    Examples
    --------
    >>> report = SymmetryReport("not symmetric", 1e-4, 1e-3, largest_change=2.0, n_fits=63)
    >>> report.symmetric
    False
    >>> print(report.summary())
    Not symmetric (p = 0.0001, level 0.001): the order of the rows matters. ...
    """

    finding: str
    pvalue: float
    level: float
    largest_change: float
    n_fits: int

    @property
    def symmetric(self) -> bool:
        """Whether no dependence on the order was found."""
        return self.finding != "not symmetric"

    def summary(self) -> str:
        """Say in a sentence what was found and what it does not mean."""
        if self.finding == "exact":
            return "Symmetric: no reordering that was tried changed a prediction."
        if self.finding == "in distribution":
            return (
                "Symmetric in distribution as far as seen: reordering the rows changes "
                f"predictions no more than another random term does (p = {number(self.pvalue)}). "
                "That is not a proof."
            )
        return (
            f"Not symmetric (p = {number(self.pvalue)}, level {exactly(self.level)}): the order of "
            "the rows matters. Wrap the algorithm in poise.notions.Symmetrized, which shuffles "
            "them."
        )

    def _card(self) -> Card:
        facts = {
            "p-value": number(self.pvalue),
            "largest change": number(self.largest_change),
            "fits": f"{self.n_fits:,}",
        }
        return Card(self.summary(), "ok" if self.symmetric else "failed", facts=facts)


@counted_fit_warnings()
def check_symmetry(
    algorithm: Any,
    X: Any,
    y: Any,
    *,
    n_draws: int = 30,
    level: float = 0.001,
    random_state: RandomStateLike = None,
) -> SymmetryReport:
    """Check whether the order of the rows matters to an algorithm.

    The algorithm is fitted to the first half of the rows in the given order, in
    reverse and in a random order. If a prediction at any row changes while ξ is kept,
    the predictions for ``n_draws`` fresh ξ in the given order are compared with as many
    in each other order. The comparison is an exact permutation test of the energy
    distance, at level ``level``/2 for each order. So a symmetric algorithm is called
    "not symmetric" with probability at most ``level``.

    "exact" and "in distribution" are not proofs: other rows and reorderings were
    not tried.

    Parameters
    ----------
    algorithm : Algorithm, estimator or function
        The black box.
    X, y : array, data frame, sparse matrix or list
        Labelled rows, at least 4; a few dozen are enough.
    n_draws : int
        Fresh random terms per order, at least 8.
    level : float
        Chance of calling a symmetric algorithm "not symmetric", in (0, 1).
    random_state : None, int, Generator or RandomState
        Decides the reordering, the random terms and the permutations.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    >>> check_symmetry(Ridge(), X, y, random_state=0).finding
    'exact'
    >>> def last_response(X, y, seed):
    ...     return lambda rows: [y[-1]] * len(rows)
    >>> check_symmetry(last_response, X, y, random_state=0).finding
    'not symmetric'
    """
    draws = int(arguments.count("n_draws", n_draws, minimum=8))
    limit = float(arguments.alpha(level, "level"))
    fitter = _Fitter(as_algorithm(algorithm), as_table(X, "X"), as_table(y, "y"))
    randomness = Randomness.from_state(random_state)
    given, others = fitter.orders(randomness)
    change = fitter.largest_observed_change(given, others)
    if change == 0.0:
        return SymmetryReport("exact", 1.0, limit, 0.0, fitter.n_fits)
    terms = randomness.block("xi", 0, draws * (1 + len(others)))[:, 0].reshape(-1, draws)
    reference = fitter.sample(given, terms[0])
    pvalues = [
        _permutation_pvalue(reference, fitter.sample(order, xi), limit / 2, randomness, index)
        for index, (order, xi) in enumerate(zip(others, terms[1:], strict=True))
    ]
    pvalue = min(1.0, len(others) * min(pvalues))
    finding = "not symmetric" if declares(pvalue, limit) else "in distribution"
    return SymmetryReport(finding, pvalue, limit, change, fitter.n_fits)


@counted_fit_warnings()
def reordering_change(
    algorithm: Any, X: Any, y: Any, *, random_state: RandomStateLike = None
) -> float:
    """Return the largest change of a prediction when rows are reordered and ξ is kept.

    The algorithm is fitted to the first half of the rows as given, in reverse and in a random
    order. 0 means that no departure from pointwise symmetry, A[D; ξ] = A[D_σ; ξ], was seen. This
    is stronger than symmetry in distribution, but it is not a proof.

    Parameters
    ----------
    algorithm, X, y, random_state
        As in :func:`check_symmetry`.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> X, y = np.arange(8.0).reshape(-1, 1), np.arange(8.0)
    >>> reordering_change(Ridge(), X, y, random_state=0)
    0.0
    """
    fitter = _Fitter(as_algorithm(algorithm), as_table(X, "X"), as_table(y, "y"))
    given, others = fitter.orders(Randomness.from_state(random_state))
    return fitter.largest_observed_change(given, others)


class _Fitter:
    """Fits on the first half of the rows, reordered, and predicts at all of them.

    Predictions at the training rows alone are not enough: an algorithm that reproduces its
    training rows would look symmetric.
    """

    def __init__(self, algorithm: Algorithm, features: Table, responses: Table) -> None:
        self.algorithm, self.features, self.responses = algorithm, features, responses
        self.n_fits = 0
        if len(features) != len(responses) or len(features) < 4:
            raise ArgumentError(
                "X and y must have the same number of rows, at least 4, got "
                f"{len(features)} and {len(responses)}"
            )

    def orders(self, randomness: Randomness) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """Return the given order, and the ones to compare it with."""
        given = np.arange(len(self.features) // 2)
        shuffled = randomness.generator("reordering").permutation(len(given))
        return given, [given[::-1].copy(), shuffled]

    def at(self, order: NDArray[Any], xi: int) -> NDArray[Any]:
        """Return the predictions at every row after training in this order."""
        self.n_fits += 1
        with GlobalGenerators() as generators:
            predict = generators.seeded(int(xi), lambda: self._trained(order, int(xi)))
            return as_array(predict(self.features.take(np.arange(len(self.features)))))

    def largest_observed_change(self, given: NDArray[Any], others: list[NDArray[Any]]) -> float:
        """Compare predictions after training in this order and in others, with one ξ."""
        before = self.at(given, 0)
        return max(_change(before, self.at(order, 0)) for order in others)

    def _trained(self, order: NDArray[Any], xi: int) -> Predict:
        return self.algorithm.fit(self.features.take(order), self.responses.take(order), xi)

    def sample(self, order: NDArray[Any], terms: NDArray[np.uint64]) -> NDArray[Any]:
        """Return predictions for several random terms, one row each."""
        return np.stack([self.at(order, int(xi)).ravel() for xi in terms])


def _change(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the largest change of a prediction; 0 if it is no more than rounding."""
    if a.dtype.kind not in "fiub":
        return float(np.max(a != b))
    change = float(np.max(np.abs(a.astype(float) - b.astype(float))))
    scale = float(np.max(np.abs(a.astype(float)), initial=0.0))
    return change if change > REORDERED_SUMS * scale else 0.0


def _permutation_pvalue(
    first: NDArray[Any], second: NDArray[Any], level: float, randomness: Randomness, index: int
) -> float:
    """Return an exact p-value: the rank of the statistic among random relabellings.

    Under the null hypothesis the pooled draws are exchangeable, so the p-value is valid
    for any number of relabellings. There are enough of them to reach ``level``.
    """
    gaps = _distances(np.concatenate([first, second]))
    labels = np.repeat([1.0, -1.0], len(first))
    rng = randomness.generator("relabelling", index)
    relabelled = np.stack([rng.permutation(labels) for _ in range(int(np.ceil(4 / level)))])
    # Energy distance up to a constant: larger means that the two samples lie further apart.
    observed = -labels @ gaps @ labels
    others = -np.einsum("ri,ij,rj->r", relabelled, gaps, relabelled, optimize=True)
    # Values that differ only by rounding count as ties.
    at_least = others >= observed - REORDERED_SUMS * abs(observed)
    return float((1 + np.count_nonzero(at_least)) / (1 + len(others)))


def _distances(pooled: NDArray[Any]) -> NDArray[np.float64]:
    """Return pairwise Euclidean distances, or the share of labels that differ."""
    if pooled.dtype.kind not in "fiub":
        return np.asarray((pooled[:, None] != pooled[None]).mean(axis=2), dtype=np.float64)
    values = pooled.astype(np.float64)
    return np.asarray(np.sqrt(((values[:, None] - values[None]) ** 2).sum(axis=2)))
