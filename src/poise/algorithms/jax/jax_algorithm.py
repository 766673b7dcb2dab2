"""A JAX function ``(X, y, x, key) -> prediction`` as an algorithm.

JAX turns a function of one trial into compiled code for thousands of trials. Such
code is the algorithm itself, not a shortcut that must agree with it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Stack
from poise.algorithms.batched_algorithm import AllAtOnce
from poise.algorithms.class_codes import Labels
from poise.algorithms.code_digest import code_digest
from poise.algorithms.jax.compiled_jax import (
    CompiledJax,
    FitPredict,
    import_jax,
    key_data,
    platform,
)
from poise.errors import AlgorithmError

__all__ = ["JaxAlgorithm", "jax_algorithm"]


def jax_algorithm(
    fit_predict: FitPredict,
    *,
    name: str | None = None,
    memory: int | None = None,
    float64: bool | None = None,
) -> JaxAlgorithm:
    """Make an algorithm of a JAX function, with all trials computed at once on CPU or GPU.

    The same ``random_state`` gives the same changes, bit for bit, on the same
    machine, whatever ``n_jobs``. Another machine, another ``memory`` or fitting
    trial by trial (``fast=False``) rounds differently; in float32 that can show in
    a change. Float32 is not a shortcut for the same
    algorithm in float64: it is another algorithm, with a stability of its own.

    Parameters
    ----------
    fit_predict : callable
        ``fit_predict(X, y, x, key)``: train on ``X`` of shape (n, d) and ``y`` of
        shape (n,), predict at the single point ``x`` of shape (d,). All three
        arrive as floating point numbers. ``key`` is a JAX random key made from ξ.
        The function must be pure, work under ``jax.jit`` and ``jax.vmap``, and
        return a number or a vector.
    name : str, optional
        How results refer to it; by default the function's name.
    memory : int, optional
        Bytes of data and workspace to compute at once, >= 1. By default 4 MiB on
        a CPU, what its cache holds, and 4 GiB elsewhere.
    float64 : bool, optional
        Double precision, or not; by default as JAX is configured.

    Returns
    -------
    JaxAlgorithm

    See Also
    --------
    poise.networks.mlp_regressor, as_algorithm

    Examples
    --------
    >>> import jax.numpy as jnp, numpy as np, poise
    >>> def ridge(X, y, x, key):
    ...     return x @ jnp.linalg.solve(X.T @ X + jnp.eye(X.shape[1]), X.T @ y)
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1500, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=1500)
    >>> result = poise.stability_test(poise.jax_algorithm(ridge), X, y,
    ...     n=40, epsilon=0.5, delta=0.1, random_state=0)
    >>> result.verdict.value
    'stable'
    """
    return JaxAlgorithm(fit_predict, name=name, memory=memory, float64=float64)


class JaxAlgorithm(AllAtOnce):
    """Calls a JAX function; see :func:`jax_algorithm`.

    Parameters
    ----------
    fit_predict, name, memory, float64
        As in :func:`jax_algorithm`.
    labels : Labels, optional
        Classes that the function is to see as 0, 1, 2, …

    Examples
    --------
    >>> mean = JaxAlgorithm(lambda X, y, x, key: y.mean(), name="mean")
    >>> mean.fit([[0.0], [1.0]], [1.0, 3.0], xi=7)([[5.0], [6.0]]).tolist()
    [2.0, 2.0]
    """

    library = "JAX"
    cache_bytes = 4 << 20
    thread_safe = True  # a pure function of its key; compiled code releases Python's lock

    def __init__(
        self,
        fit_predict: FitPredict,
        *,
        name: str | None = None,
        memory: int | None = None,
        float64: bool | None = None,
        labels: Labels | None = None,
    ) -> None:
        _check_signature(fit_predict)
        name = name or str(getattr(fit_predict, "__name__", repr(fit_predict)))
        super().__init__(name, code_digest(fit_predict), memory, labels)
        self.compiled = CompiledJax(fit_predict, float64)

    def fit_one(self, X: NDArray[Any], y: NDArray[Any], xi: int) -> Callable[[NDArray[Any]], Any]:
        """Return a function that trains and predicts in one compiled call."""
        key = key_data(np.array([xi], dtype=np.uint64))[0]

        def values(points: NDArray[Any]) -> Any:
            with self.compiled.precision():
                return self.compiled.single(X, y, points, key)

        return values

    def fit_all(self, stack: Stack) -> tuple[Any, Any]:
        """Compute both values of every trial, first with all rows and then without the last."""
        on_device = import_jax().numpy.asarray
        with self.compiled.precision():
            # The rows are sent once; a result is read before the next call starts.
            rows = [on_device(part) for part in (stack.X, stack.y, stack.x)]
            full = np.asarray(self.compiled.full(*rows, key_data(stack.xi)))
            reduced = np.asarray(self.compiled.reduced(*rows, key_data(stack.xi_reduced)))
        return full, reduced

    def platform(self) -> str:
        """Name the kind of device that JAX computes on."""
        return platform()

    def estimated_workspace(self, n: int, d: int) -> int:
        """See which intermediate results live at the same time."""
        response = np.float64 if self.labels is None else np.int32
        return self.compiled.workspace_bytes(n, d, response)

    def options(self) -> tuple[Callable[..., AllAtOnce], dict[str, Any]]:
        """Return what makes the same algorithm in another process."""
        return JaxAlgorithm, {
            "fit_predict": self.compiled.fit_predict,
            "name": self.name,
            "memory": self.memory,
            "float64": self.compiled.float64,
            "labels": self.labels,
        }


def _check_signature(function: FitPredict) -> None:
    """Refuse what cannot be called with (X, y, x, key)."""
    if not callable(function):
        raise AlgorithmError(f"fit_predict must be a function (X, y, x, key), got {function!r}")
    try:
        inspect.signature(function).bind(None, None, None, None)
    except TypeError as error:
        label = getattr(function, "__name__", function)
        raise AlgorithmError(
            f"fit_predict must accept (X, y, x, key), got {label!r}: {error}"
        ) from None
    except ValueError:
        return  # compiled, without a signature: the first call shows
