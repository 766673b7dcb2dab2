r"""What poise calls an algorithm: data and a random term in, a prediction function out.

The paper writes :math:`\mathcal{A}[\mathcal{D}; \xi]`. Here that is
``algorithm.fit(X, y, xi)``, which returns a function from rows to predictions.
Everything else poise can test (estimators, functions, programs) is turned into
this by :func:`as_algorithm`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["Algorithm", "Predict"]

Predict = Callable[[Any], Any]
"""A fitted model, seen from outside: rows in, one prediction per row out."""


class Algorithm(abc.ABC):
    r"""The black box: :math:`\mathcal{A}[\mathcal{D}; \xi]` as one method.

    Subclass it to teach poise a new kind of algorithm; to test a function or
    an estimator, hand it over as it is.

    Attributes
    ----------
    name : str
        One line that tells a reader which algorithm, with which parameters.
    natural_distance : str
        What ``distance="auto"`` means for these predictions.

    Examples
    --------
    >>> class Mean(Algorithm):
    ...     name = "mean of the responses"
    ...     def fit(self, X, y, xi):
    ...         level = sum(y) / len(y)
    ...         return lambda rows: [level] * len(rows)
    >>> Mean().fit([[0], [1]], [1.0, 3.0], xi=7)([[5]])
    [2.0]
    """

    name: str
    natural_distance: str = "euclidean"

    @abc.abstractmethod
    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Train on the rows with the random term ``xi`` (64 bits) and return the predictor.

        The same rows and the same ``xi`` must give the same predictions. ``X``
        and ``y`` are the algorithm's own copies: it may change them.
        """

    def model(self, predict: Predict) -> Any:
        """Return the fitted model behind ``predict`` (Definition 2, transparent models)."""
        return predict

    def proven(self) -> AbstractContextManager[Any]:
        """Context entered once a first trial has passed with every check switched on.

        Estimators use it to skip validation that cannot fail any more.
        """
        return nullcontext()
