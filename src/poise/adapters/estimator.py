"""A scikit-learn-compatible estimator as an algorithm."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from poise.adapters.function import seed_from
from poise.algorithm import Algorithm, BatchAlgorithm, Predict, Stack
from poise.errors import AlgorithmError

if TYPE_CHECKING:
    from poise.shortcuts.protocol import Pairs, Shortcut

__all__ = ["EstimatorAlgorithm"]

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_GOLDEN = 0x9E3779B97F4A7C15  # spreads one ξ over the seeds of nested estimators
_MASK = 0xFFFFFFFFFFFFFFFF


class EstimatorAlgorithm(Algorithm):
    """Fits a fresh copy of ``estimator`` each time; the user's object is never touched.

    Every parameter named ``random_state``, at any depth, is set from ξ, and
    every ``n_jobs`` to one: poise runs trials in parallel, not the inside of a fit.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit(X, y)`` and ``predict(X)``.
    response : str
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
        _check_estimator(estimator, response)
        self.estimator = estimator
        self.response = response
        self.name = " ".join(repr(estimator).split())
        self._seeds = _parameters_named(estimator, "random_state")
        self._threads = dict.fromkeys(_parameters_named(estimator, "n_jobs"), 1)
        self._shallow = _plain_parameters(estimator, self._threads)
        # A plain estimator of scikit-learn draws only from the random_state it was given.
        self.thread_safe = self._shallow is not None
        self.prefers_threads = self.thread_safe and _releases_the_lock(estimator)

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Fit a fresh copy with its random states taken from ``xi``."""
        estimator = self._fresh(xi)
        fitted = estimator.fit(X, y)
        # A few libraries return nothing from fit; the estimator itself is then the model.
        return getattr(estimator if fitted is None else fitted, self.response)  # type: ignore[no-any-return]

    def model(self, predict: Predict) -> Any:
        """Return the fitted estimator."""
        return getattr(predict, "__self__", predict)

    def batch(self) -> BatchAlgorithm | None:
        """Return the exact shortcut for this estimator and its parameters, if there is one."""
        from poise.shortcuts import find_shortcut

        shortcut = find_shortcut(self.estimator, self.response)
        return None if shortcut is None else _Exact(shortcut)

    def proven(self) -> AbstractContextManager[Any]:
        """Skip scikit-learn's own checks, for its own plain estimators only.

        Inside a composite (a pipeline, a search) a check may guard values made
        on the way, so there they stay on.
        """
        if self._shallow is None or not type(self.estimator).__module__.startswith("sklearn."):
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
        estimator = _cloned(self.estimator)
        seeds = {name: _spread(xi, i) for i, name in enumerate(self._seeds)}
        if seeds or self._threads:
            estimator.set_params(**seeds, **self._threads)
        return estimator


class _Exact:
    """A shortcut for a deterministic estimator: the random terms are not needed."""

    exact = True
    block_bytes = 4 << 20  # blocks that stay in the cache are fastest

    def __init__(self, shortcut: Shortcut) -> None:
        self.shortcut = shortcut
        self.name = shortcut.name
        self.workspace_bytes = shortcut.workspace_bytes

    def pairs(self, stack: Stack) -> Pairs:
        return self.shortcut.pairs(stack.X, stack.y, stack.x)


def _releases_the_lock(estimator: Any) -> bool:
    """Tell estimators that compute outside Python's lock: trees, forests, boosting, SVM.

    Measured: threads speed these up by 1.6 to 1.9 on two cores, and slow down
    linear models and neighbours.
    """
    module = type(estimator).__module__
    return module.startswith(("sklearn.tree.", "sklearn.ensemble.", "sklearn.svm."))


def _spread(xi: int, index: int) -> int:
    """Give each nested random state a seed of its own; the first is that of a plain estimator."""
    return seed_from((xi + index * _GOLDEN) & _MASK)


def _check_estimator(estimator: Any, response: str) -> None:
    """Refuse what cannot be fitted or asked."""
    kind = type(estimator).__name__
    if not callable(getattr(estimator, "fit", None)):
        raise AlgorithmError(f"algorithm must have a method fit(X, y), got {kind}")
    if not hasattr(estimator, response):
        raise AlgorithmError(
            f"algorithm must have a method {response}(X), got {kind}, which has none; "
            "wrap it in a pipeline that ends in a regressor or classifier"
        )


def _parameters_named(estimator: Any, wanted: str) -> list[str]:
    """List the parameters called ``wanted``, at any depth, in a fixed order."""
    if not hasattr(estimator, "get_params"):
        return []
    names = sorted(estimator.get_params(deep=True))
    return [name for name in names if name == wanted or name.endswith(f"__{wanted}")]


def _plain_parameters(estimator: Any, threads: dict[str, int]) -> dict[str, Any] | None:
    """Return constructor arguments if calling the class again is the same as cloning.

    That holds when every parameter is a plain value and nothing customises
    cloning; it saves most of what poise would otherwise add to a cheap fit.
    """
    if not hasattr(estimator, "get_params") or not type(estimator).__module__.startswith(
        "sklearn."
    ):
        return None
    parameters = estimator.get_params(deep=False)
    plain = all(isinstance(value, _PLAIN) for value in parameters.values())
    return parameters | threads if plain else None


def _cloned(estimator: Any) -> Any:
    """Copy an estimator without what it has learnt."""
    if not hasattr(estimator, "get_params"):
        return copy.deepcopy(estimator)
    from sklearn.base import clone

    return clone(estimator)
