"""One JAX function, compiled: for one trial, or for a block of trials."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.jax.live_memory import peak_bytes
from poise.errors import AlgorithmError

__all__ = ["CompiledJax", "FitPredict", "import_jax", "key_data", "platform"]

FitPredict = Callable[[Any, Any, Any, Any], Any]
"""``(X, y, x, key) -> prediction``: train on the rows, predict at the point."""


class CompiledJax:
    """What is compiled from one function, each form when it is first called.

    The two fits of a pair are compiled separately: compiled code holds for one shape, and
    two batched solvers that are compiled together can wait for each other for ever on a
    machine with few cores.

    Parameters
    ----------
    fit_predict : callable
        ``fit_predict(X, y, x, key)``, as in :func:`poise.jax_algorithm`.
    float64 : bool or None
        Double precision or not; None leaves that to JAX's configuration.
    """

    def __init__(self, fit_predict: FitPredict, float64: bool | None) -> None:
        self.fit_predict = fit_predict
        self.float64 = float64

    @cached_property
    def single(self) -> Any:
        """One fit and any number of points; the training is done once.

        Called with (X, y, points, key data).
        """
        jax = import_jax()
        return jax.jit(jax.vmap(self._with_key, in_axes=(None, None, 0, None)))

    @cached_property
    def full(self) -> Any:
        """Many trials, with all rows; called with stacks of (X, y, x, key data)."""
        return import_jax().jit(self._trials)

    @cached_property
    def reduced(self) -> Any:
        """Many trials, without the last row of each; called as :attr:`full` is."""
        return import_jax().jit(lambda X, y, x, keys: self._trials(X[:, :-1], y[:, :-1], x, keys))

    def _trials(self, X: Any, y: Any, x: Any, keys: Any) -> Any:
        """Fit every trial once, and predict at its point, or at each of its points."""
        jax, fit = import_jax(), self._with_key
        if x.ndim == 3:  # what does not depend on the point is computed once: the training
            fit = jax.vmap(fit, in_axes=(None, None, 0, None))
        return jax.vmap(fit)(X, y, x, keys)

    def _with_key(self, X: Any, y: Any, x: Any, key: Any) -> Any:
        # Naming the generator makes results independent of JAX's configuration.
        typed = import_jax().random.wrap_key_data(key, impl="threefry2x32")
        return self.fit_predict(X, y, x, typed)

    def precision(self) -> AbstractContextManager[Any]:
        """Context in which the function is compiled and called."""
        if self.float64 is None:
            return nullcontext()
        jax = import_jax()
        home = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
        context: AbstractContextManager[Any] = home.enable_x64(self.float64)
        return context

    def workspace_bytes(self, n: int, d: int, response: type[np.generic]) -> int:
        """Estimate how much memory one trial needs beside its rows, without compiling it."""
        rows = np.zeros((n, d)), np.zeros(n, dtype=response), np.zeros(d)
        with self.precision():
            traced = import_jax().make_jaxpr(self._with_key)(*rows, np.zeros(2, dtype=np.uint32))
        return peak_bytes(traced.jaxpr)


def import_jax() -> Any:
    """Import JAX when it is first needed, or say how to get it."""
    try:
        import jax
    except ImportError as error:
        raise AlgorithmError("JAX is not installed: pip install 'poise[jax]'") from error
    return jax


def platform() -> str:
    """Name the kind of device that JAX computes on: cpu, gpu or tpu."""
    return str(import_jax().default_backend())


def key_data(xi: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Split 64-bit random terms into the two 32-bit halves that make a key.

    Examples
    --------
    >>> key_data(np.array([(5 << 32) + 7], dtype=np.uint64)).tolist()
    [[5, 7]]
    """
    halves = np.stack([xi >> np.uint64(32), xi & np.uint64(0xFFFFFFFF)], axis=-1)
    return halves.astype(np.uint32)
