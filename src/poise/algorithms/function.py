"""A Python function ``fit(X, y, seed) -> predict`` as an algorithm."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.code_digest import code_digest
from poise.algorithms.sklearn_suitability import require_arguments
from poise.data.sample import Sample
from poise.errors import AlgorithmError

__all__ = ["FunctionAlgorithm", "seed_from"]


def seed_from(xi: int) -> int:
    """Return 31 bits of ξ: a seed that every library accepts.

    Examples
    --------
    >>> seed_from(2**64 - 1) == 2**31 - 1
    True
    """
    return int(xi) >> 33


class FunctionAlgorithm(Algorithm):
    """Calls ``function(X, y, seed)``; it must return a function.

    Examples
    --------
    >>> def nearest(X, y, seed):
    ...     return lambda rows: [min(zip(X, y), key=lambda p: abs(p[0] - r))[1] for r in rows]
    >>> FunctionAlgorithm(nearest).fit([0.0, 5.0], [1.0, 2.0], xi=0)([4.0])
    [2.0]
    """

    def __init__(self, function: Callable[..., Predict], name: str = "") -> None:
        _check_signature(function)
        self.function = function
        self.code = code_digest(function)
        self.name = name or getattr(function, "__name__", repr(function))

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Call the function and check that it returned a function."""
        return self.fit_with(X, y, xi, {})

    def prepared(self, sample: Sample) -> Algorithm:
        """Refuse ``fit_params`` that the function does not take, and missing ones that it needs."""
        if sample.fit_params is not None:
            require_arguments(self.function, 3, sample.fit_params.names)
        else:
            _check_signature(self.function, whole=True)
        return self.comparing(sample)

    def fit_with(self, X: Any, y: Any, xi: int, arguments: dict[str, Any]) -> Predict:
        """Call the function with further arguments by name."""
        predict = self.function(X, y, seed_from(xi), **arguments)
        if not callable(predict):
            raise TypeError(
                f"{self.name}(X, y, seed) must return a function from rows to predictions, "
                f"got {type(predict).__name__}"
            )
        return predict


def _check_signature(function: Callable[..., Any], whole: bool = False) -> None:
    """Refuse a function that cannot be called with (X, y, seed), and nothing else if ``whole``."""
    try:
        signature = inspect.signature(function)
        (signature.bind if whole else signature.bind_partial)(None, None, 0)
    except TypeError as error:
        raise AlgorithmError(
            f"algorithm function must accept (X, y, seed), got "
            f"{getattr(function, '__name__', function)!r}: {error}"
        ) from None
    except ValueError:
        return  # a built-in without a signature: the first call shows
