"""A scikit-learn-compatible estimator as an algorithm."""

from __future__ import annotations

import copy
import hashlib
import itertools
import math
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.algorithms import seeds_and_threads
from poise.algorithms.algorithm import Algorithm, BatchAlgorithm, Predict, Stack
from poise.algorithms.code_digest import class_digest
from poise.algorithms.function import seed_from
from poise.algorithms.order_invariant import ignores_row_order
from poise.algorithms.response_method import (
    AlignedResponse,
    Classes,
    natural_distance,
    predicts_numbers,
    require_response,
)
from poise.algorithms.river_seeds import reseeded, river_models
from poise.algorithms.sklearn_suitability import require_arguments, require_suitable
from poise.algorithms.user_code import blamed_on_user_code
from poise.arguments import without_addresses
from poise.data.sample import Sample

if TYPE_CHECKING:
    from poise.shortcuts.shortcut import Pairs, Shortcut, TableShortcut

__all__ = ["EstimatorAlgorithm"]

_GOLDEN = 0x9E3779B97F4A7C15  # derives the seeds of nested estimators from one ξ
_MASK = 0xFFFFFFFFFFFFFFFF


class EstimatorAlgorithm(Algorithm):
    """Fits a fresh copy of ``estimator`` each time; the user's object is never changed.

    Every parameter that holds a seed (``random_state``, ``random_seed``, ``seed``),
    at any depth, is set from ξ, and every number of threads to one: poise runs
    trials in parallel, not the inside of a fit.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit(X, y)`` and ``predict(X)``.
    response : {"predict", "predict_proba", "decision_function"}
        The method whose output is compared.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> algorithm = EstimatorAlgorithm(Ridge(alpha=0.0))
    >>> predict = algorithm.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], xi=0)
    >>> round(float(predict([[5.0]])[0]), 6)
    5.0
    """

    def __init__(self, estimator: Any, response: str = "predict") -> None:
        require_response(estimator, response)
        self.estimator = estimator
        self.response = response
        self.name = _name(estimator, response)
        self.natural_distance = natural_distance(estimator, response)
        self.ignores_row_order = ignores_row_order(estimator)
        self.code = class_digest(estimator, *_inner(estimator))
        self._classes: Classes | None = None
        self._weighted = False
        self._seeds = seeds_and_threads.seeds(estimator)
        self._river = river_models(estimator)
        self._threads = seeds_and_threads.threads(estimator)
        self._shallow = seeds_and_threads.plain_parameters(estimator)
        if self._shallow is not None:
            self._shallow |= self._threads
        self.thread_safe = seeds_and_threads.is_thread_safe(estimator)
        self.threads_from = (
            seeds_and_threads.threads_from(estimator) if self.thread_safe else math.inf
        )

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Fit a fresh copy with its random states taken from ``xi``."""
        estimator = self._fresh(xi)
        return self._ask(estimator, estimator.fit(X, y))

    def fit_with(self, X: Any, y: Any, xi: int, arguments: dict[str, Any]) -> Predict:
        """Fit a fresh copy with further arguments, such as the weights of the rows."""
        estimator = self._fresh(xi)
        return self._ask(estimator, estimator.fit(X, y, **arguments))

    def _ask(self, estimator: Any, fitted: object) -> Predict:
        # A few libraries return nothing from fit; the estimator itself is then the model.
        model = estimator if fitted is None else fitted
        if self._classes is None or self.response == "predict":
            return getattr(model, self.response)  # type: ignore[no-any-return]
        return AlignedResponse(model, self.response, self._classes)

    def prepared(self, sample: Sample) -> EstimatorAlgorithm:
        """Find the classes; refuse data that the estimator is certain to refuse."""
        with blamed_on_user_code(f"{self.name} cannot be described by its tags"):
            require_suitable(self.estimator, sample)
        if self._shallow is None:
            with blamed_on_user_code(f"{self.name} cannot be copied"):
                seeds_and_threads.cloned(self.estimator)
        if sample.fit_params is not None:
            require_arguments(self.estimator.fit, 2, sample.fit_params.names)
        unsaid = self.response == "predict" and not predicts_numbers(self.estimator)
        ready = copy.copy(self.comparing(sample) if unsaid else self)
        ready._weighted = sample.fit_params is not None
        ready._classes = None if self.response == "predict" else sample.classes
        return ready

    def model(self, predict: Predict) -> Any:
        """Return the fitted estimator."""
        if isinstance(predict, AlignedResponse):
            return predict.model
        return getattr(predict, "__self__", predict)

    def batch(self) -> BatchAlgorithm | None:
        """Return the exact shortcut for this estimator and its parameters, if there is one."""
        from poise.shortcuts.find_shortcut import find_shortcut
        from poise.shortcuts.shortcut import TableShortcut

        if self._weighted:
            return None
        shortcut = find_shortcut(self.estimator, self.response)
        if isinstance(shortcut, TableShortcut):
            return _ExactTables(shortcut)
        return None if shortcut is None else _Exact(shortcut)

    def skip_checks(self) -> AbstractContextManager[Any]:
        """Skip scikit-learn's own checks, for its own plain estimators only.

        Inside a composite (a pipeline, a search) a check may protect intermediate values,
        and weights may be bad in any trial; there the checks stay on.
        """
        if self._shallow is None or self._weighted:
            return nullcontext()
        import sklearn

        relaxed: AbstractContextManager[Any] = sklearn.config_context(
            assume_finite=True, skip_parameter_validation=True
        )
        return relaxed

    def _fresh(self, xi: int) -> Any:
        """Return an unfitted copy with seeds from ``xi``."""
        if self._shallow is not None:
            seeds = {name: seed_from(xi) for name in self._seeds}
            return type(self.estimator)(**(self._shallow | seeds))
        estimator = seeds_and_threads.cloned(self.estimator)
        seeds = {name: _spread(xi, i) for i, name in enumerate(self._seeds)}
        if seeds or self._threads:
            estimator.set_params(**seeds, **self._threads)
        if self._river:
            others = (_spread(xi, i) for i in itertools.count(len(seeds)))
            models = estimator.get_params(deep=True)
            estimator.set_params(**{name: reseeded(models[name], others) for name in self._river})
        return estimator


class _Exact:
    """A shortcut for a deterministic estimator: the random terms are not needed."""

    exact = True
    block_bytes = 8 << 20  # larger blocks leave the cache; smaller ones cost more calls

    def __init__(self, shortcut: Shortcut) -> None:
        self.shortcut = shortcut
        self.name = shortcut.name
        self.workspace_bytes = shortcut.workspace_bytes

    def pairs(self, stack: Stack) -> Pairs:
        from poise.shortcuts.block_memory import keep_freed_memory

        keep_freed_memory()
        return self.shortcut.pairs(stack.X, stack.y, stack.x)


class _ExactTables(_Exact):
    """The same with every removal, at several points."""

    def __init__(self, shortcut: TableShortcut) -> None:
        super().__init__(shortcut)
        self.removes_all, self.tables = shortcut.removes_all, shortcut.tables
        self.seldom_needs_fits = shortcut.seldom_needs_fits


def _spread(xi: int, index: int) -> int:
    """Give each nested random state its own seed; the first is that of a single estimator."""
    return seed_from((xi + index * _GOLDEN) & _MASK)


def _inner(estimator: Any) -> list[object]:
    """Return the parameters of an estimator, and those of the estimators among them."""
    try:
        return list(estimator.get_params(deep=True).values())
    except Exception:  # it has none, or code of the user fails: cloning it says so
        return []


def _name(estimator: Any, response: str) -> str:
    """Name the estimator, its parameters and its response method."""
    name = " ".join(_in_words(estimator).split())
    return name if response == "predict" else f"{name}.{response}"


def _in_words(estimator: Any) -> str:
    """Return the repr of the estimator or, if it has none, its class and parameters."""
    words: Any = type(estimator).__repr__
    if words is not object.__repr__ or not hasattr(estimator, "get_params"):
        return f"{estimator!r}{_what_is_left_out(estimator)}"
    parameters = (f"{name}={value!r}" for name, value in estimator.get_params(deep=False).items())
    return f"{type(estimator).__name__}({', '.join(parameters)})"


def _what_is_left_out(estimator: Any) -> str:
    """Return a short digest of the part that scikit-learn leaves out of a long repr.

    Without it, a journal would take two pipelines that differ there for one algorithm.
    """
    from sklearn.base import BaseEstimator

    if type(estimator).__repr__ is not BaseEstimator.__repr__:
        return ""
    with np.printoptions(threshold=sys.maxsize):
        everything = estimator.__repr__(N_CHAR_MAX=sys.maxsize)
    if everything == repr(estimator):
        return ""
    digest = hashlib.blake2s(without_addresses(everything).encode(), digest_size=4).hexdigest()
    return f" [{digest}]"
