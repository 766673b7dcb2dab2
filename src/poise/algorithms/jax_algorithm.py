"""A JAX function ``(X, y, x, key) -> prediction`` as an algorithm, thousands of fits at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import checks
from poise.algorithms.algorithm import name_of, require_arguments
from poise.algorithms.batched import Batched, Stack, missing

try:
    import jax
except ModuleNotFoundError:  # told when it is needed
    jax = None


def jax_algorithm(
    fit_predict: Callable[..., Any],
    *,
    classes: bool = False,
    response: str = "predict_proba",
    float64: bool = False,
    at_once: int | None = None,
) -> JaxAlgorithm:
    """Turn a JAX function into an algorithm whose fits are computed many at once.

    ``jax.vmap`` and ``jax.jit`` make one program of many fits, for a CPU or a GPU, whichever JAX
    finds. It is compiled twice in a run: for n rows, and for n − 1.

    Parameters
    ----------
    fit_predict : callable
        ``fit_predict(X, y, x, key)`` trains on rows X of shape (n, d) and responses y, and returns
        its prediction for one point x of shape (d,): a number or a vector. With ``classes`` it
        gets codes of labels as y and, as fifth argument, the number of classes, and returns one
        score (logit) for each. Random numbers must come from ``key``.
    classes : bool
        Whether responses are classes; they are those of all rows.
    response : {"predict_proba", "predict"}
        Whether a classifier's prediction is the softmax of its scores, or a label.
    float64 : bool
        Compute in double precision; single precision is another algorithm.
    at_once : int, optional
        Fits in one program; 32 on a CPU and 8,192 on a GPU by default. Memory grows with it. The
        last digits may depend on it.

    Examples
    --------
    >>> import jax.numpy as jnp, poise
    >>> from sklearn.datasets import load_diabetes
    >>> def ridge(X, y, x, key):
    ...     return x @ jnp.linalg.solve(X.T @ X + jnp.eye(X.shape[1]), X.T @ y)
    >>> X, y = load_diabetes(return_X_y=True)
    >>> poise.measure(poise.jax_algorithm(ridge), X, y, n=10).n_trials
    40
    """
    if jax is None:
        raise missing("JAX", "jax")
    further = ("n_classes",) if classes else ()
    require_arguments(fit_predict, ("X", "y", "x", "key", *further))
    algorithm = JaxAlgorithm(name_of(fit_predict), classes, response, at_once)
    algorithm.fit_predict = fit_predict
    algorithm.float64 = checks.flag("float64", float64)
    algorithm.user_code = (fit_predict, jax.jit)
    return algorithm


class JaxAlgorithm(Batched):
    """Trains by a JAX function; see :func:`jax_algorithm`."""

    library = "JAX"
    has_own_code = False  # compiled code is a function of its arguments: it remembers nothing
    fit_predict: Callable[..., Any]
    float64: bool

    def where(self) -> str:
        """Name the device that JAX computes on."""
        device = jax.devices()[0]
        return "" if device.platform == "cpu" else str(device.device_kind)

    def outputs(self, X: Stack, y: Stack, points: Stack, xi: NDArray[np.uint64]) -> Stack:
        """Call the compiled function."""
        halves = np.stack([xi >> np.uint64(32), xi & np.uint64(0xFFFFFFFF)], axis=1)
        compiled = _compiled(self.fit_predict, self.n_classes, self.response)
        # Else a GPU rounds the factors of products to 10 bits.
        with jax.enable_x64(self.float64), jax.default_matmul_precision("float32"):
            return np.asarray(compiled(X, y, points, halves.astype(np.uint32)))


@lru_cache(maxsize=16)
def _compiled(fit_predict: Callable[..., Any], n_classes: int | None, response: str) -> Any:
    """Compile a function for stacks of data sets, and of points."""

    def fit(X: Any, y: Any, x: Any, halves: Any) -> Any:
        # Naming the generator makes results independent of JAX's configuration.
        key = jax.random.wrap_key_data(halves, impl="threefry2x32")
        if n_classes is None:
            return fit_predict(X, y, x, key)
        scores = fit_predict(X, y, x, key, n_classes)
        return scores.argmax(-1) if response == "predict" else jax.nn.softmax(scores)

    # What does not depend on the point is computed once for all points: the training.
    return jax.jit(jax.vmap(jax.vmap(fit, in_axes=(None, None, 0, None))))
