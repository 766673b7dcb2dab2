"""Turn a user's estimator or function into an :class:`~poise.Algorithm`."""

from __future__ import annotations

from poise import arguments
from poise.algorithms.algorithm import Algorithm
from poise.algorithms.response_method import RESPONSES
from poise.algorithms.user_code import blamed_on_user_code
from poise.errors import AlgorithmError

__all__ = ["as_algorithm"]


def as_algorithm(candidate: object, response: str = "predict") -> Algorithm:
    """Turn an estimator or a function into an algorithm, or say what is wrong with it.

    Parameters
    ----------
    candidate : estimator, function or Algorithm
        A scikit-learn-compatible estimator (``fit(X, y)`` and ``predict(X)``),
        a function ``fit(X, y, seed)`` that returns a prediction function, or
        an :class:`~poise.Algorithm`, which is returned as it is.
    response : {"predict", "predict_proba", "decision_function"}
        Which method of a fitted estimator is asked.

    See Also
    --------
    Algorithm, Program, jax_algorithm

    Examples
    --------
    >>> def mean(X, y, seed):
    ...     level = sum(y) / len(y)
    ...     return lambda rows: [level] * len(rows)
    >>> as_algorithm(mean).name
    'mean'
    >>> as_algorithm("ridge")
    Traceback (most recent call last):
    poise.errors.AlgorithmError: algorithm must be an estimator with fit and predict, ...
    """
    arguments.choice("response", response, RESPONSES)
    what = f"{type(candidate).__name__} cannot be described by its parameters, tags and repr"
    with blamed_on_user_code(what):
        return _as_algorithm(candidate, response)


def _as_algorithm(candidate: object, response: str) -> Algorithm:
    if isinstance(candidate, Algorithm):
        return _as_it_is(candidate, response)
    if isinstance(candidate, type):
        raise AlgorithmError(
            f"algorithm must be an instance, got the class {candidate.__name__}; "
            f"write {candidate.__name__}()"
        )
    if hasattr(candidate, "fit"):
        from poise.algorithms.estimator import EstimatorAlgorithm

        return EstimatorAlgorithm(candidate, response)
    if callable(candidate):
        from poise.algorithms.function import FunctionAlgorithm

        return _as_it_is(FunctionAlgorithm(candidate), response)
    raise AlgorithmError(
        "algorithm must be an estimator with fit and predict, or a function fit(X, y, seed) "
        f"that returns a prediction function, got {_in_short(candidate)}{_remedy(candidate)}"
    )


def _in_short(candidate: object) -> str:
    """Name the type of what was given, and its value on one line where it says more."""
    kind = type(candidate).__name__
    value = arguments.shortened(repr(candidate))
    return value if kind in ("str", "NoneType") or value.startswith(kind) else f"{kind} {value}"


def _remedy(candidate: object) -> str:
    if hasattr(candidate, "learn_one"):
        return "; wrap a model of river: river.compat.convert_river_to_sklearn(model)"
    if isinstance(candidate, tuple):
        return "; to give names, use a dictionary: {'name': algorithm}"
    return ""


def _as_it_is(algorithm: Algorithm, response: str) -> Algorithm:
    """Refuse ``response`` for an algorithm that is not an estimator: it has no choice."""
    if response != "predict" and getattr(algorithm, "response", None) != response:
        raise AlgorithmError(
            f"response={response!r} is for estimators; {algorithm.name} returns what it returns"
        )
    return algorithm
