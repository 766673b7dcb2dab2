r"""The interface of algorithms: data and a random term give a predictor.

The paper writes :math:`\mathcal{A}[\mathcal{D}; \xi]`. Here that is
``algorithm.fit(X, y, xi)``, which returns a function from rows to predictions.
Everything else that poise can test (estimators, functions, programs) is turned into an
``Algorithm`` by :func:`as_algorithm`.
"""

from __future__ import annotations

import abc
import copy
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import LABELS_ONLY
from poise.data.sample import Sample
from poise.errors import AlgorithmError

if TYPE_CHECKING:
    from poise.shortcuts.shortcut import Pairs

__all__ = ["Algorithm", "BatchAlgorithm", "Predict", "Stack"]

Predict = Callable[[Any], Any]
"""A fitted model, seen from outside: rows in, one prediction per row out."""


class Algorithm(abc.ABC):
    r"""The algorithm to be tested: :math:`\mathcal{A}[\mathcal{D}; \xi]` as one method.

    Subclass it for a new kind of algorithm. A function or an estimator can be given as
    it is.

    Attributes
    ----------
    name : str
        One line that tells a reader which algorithm, with which parameters.
    natural_distance : str
        What ``distance="auto"`` means for these predictions.
    thread_safe : bool
        Whether two fits may run in threads of one process at once: no global
        state is used, random generators included.
    code : str
        Digest of user code, or "": a journal that is continued by another one warns.
    ignores_row_order : bool
        Whether a fit is known to be the same in whatever order its rows come, for one and
        the same random term. Leave it False if unknown: a forest with one seed is not.
    threads_from : float
        The number of rows from which a fit spends its time outside Python's global
        lock, so that threads serve it as well as processes, and need no start.

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
    thread_safe: bool = False
    threads_from: float = math.inf
    code: str = ""
    ignores_row_order: bool = False

    @abc.abstractmethod
    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Train on the rows with the random term ``xi`` (64 bits) and return the predictor.

        The same rows and the same ``xi`` must give the same predictions. ``X``
        and ``y`` are the algorithm's own copies: it may change them.
        """

    def fit_with(self, X: Any, y: Any, xi: int, arguments: dict[str, Any]) -> Predict:
        """Do what :meth:`fit` does with further arguments, such as the weights of the rows."""
        raise AlgorithmError(f"{self.name} takes no fit_params, got {', '.join(arguments)}")

    def prepared(self, sample: Sample) -> Algorithm:
        """Return the algorithm to run on these rows, or refuse them before the first fit.

        Called once per run. What is learnt from ``sample`` must not alter a prediction. It
        is used for checks, for names such as those of the classes, and for the natural
        distance if responses are text.
        """
        if sample.fit_params is not None and type(self).fit_with is Algorithm.fit_with:
            names = ", ".join(sample.fit_params.names)
            raise AlgorithmError(f"{self.name} takes no fit_params, got {names}")
        return self.comparing(sample)

    def comparing(self, sample: Sample) -> Self:
        """Return the same algorithm; its predictions are labels if the responses are.

        Numbers are subtracted; text cannot be. Which of the two it is has to be known
        before the first fit, because a record says how changes were computed.

        Examples
        --------
        >>> from poise.algorithms.as_algorithm import as_algorithm
        >>> mode = as_algorithm(lambda X, y, seed: lambda rows: [max(y)] * len(rows))
        >>> mode.comparing(Sample([[0], [1]], ["spam", "ham"])).natural_distance
        'labels only'
        """
        if self.natural_distance != "euclidean" or not sample.has_labels:
            return self
        labelled = copy.copy(self)
        with suppress(AttributeError):  # an algorithm with a distance of its own keeps it
            labelled.natural_distance = LABELS_ONLY
        return labelled

    def with_timeout(self, seconds: float) -> Algorithm | None:
        """Return the same algorithm, which itself ends a fit after this time.

        None if it cannot: its worker process is then ended after this time.
        """
        return None

    def model(self, predict: Predict) -> Any:
        """Return the fitted model behind ``predict`` (Definition 3, transparent models)."""
        return predict

    def batch(self) -> BatchAlgorithm | None:
        """Return a way to compute many trials at once, if there is one."""
        return None

    def skip_checks(self) -> AbstractContextManager[Any]:
        """Context entered once a first trial has passed with every check switched on.

        Estimators use it to skip checks that can no longer fail.
        """
        return nullcontext()


class Stack(NamedTuple):
    """The rows and random terms of many trials, trial by trial along the first axis.

    ``X`` has shape (trials, n, d); the last row of each trial is the one removed. ``x`` has
    shape (trials, d); for code that is not ``exact`` also (trials, points, d).
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    x: NDArray[np.float64]
    xi: NDArray[np.uint64]
    xi_reduced: NDArray[np.uint64]


class BatchAlgorithm(Protocol):
    """Computes both predictions of many trials at once.

    Attributes
    ----------
    name : str
        A few words for the record: what is done instead of two fits.
    exact : bool
        Whether it stands in for an algorithm that could also be fitted trial by
        trial, and must then agree with it to nine digits.
    block_bytes : int
        How much data and workspace to hand over at once: what fits the cache, or
        the memory of the device that computes.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def exact(self) -> bool: ...  # noqa: D102

    @property
    def block_bytes(self) -> int: ...  # noqa: D102

    def pairs(self, stack: Stack) -> Pairs:
        """Return predictions ``full`` and ``reduced``, and which trials are ``trusted``."""
        ...

    def workspace_bytes(self, n: int, d: int) -> int:
        """Estimate the memory that one trial needs beside its own rows."""
        ...
