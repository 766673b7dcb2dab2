"""A JAX function ``(X, y, x, key) -> prediction`` as an algorithm.

JAX turns a function of one trial into a compiled program for thousands of trials. Such
a program is the algorithm itself, not a shortcut that must agree with it.
"""

from __future__ import annotations

import inspect
import uuid
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.algorithm import Algorithm, BatchAlgorithm, Predict, Stack
from poise.algorithms.class_codes import Labels
from poise.algorithms.code_digest import code_digest
from poise.algorithms.jax.jax_programs import Compiled, FitPredict, import_jax, key_data, platform
from poise.data.sample import Sample
from poise.errors import AlgorithmError, DataError
from poise.shortcuts.shortcut import Pairs

__all__ = ["JaxAlgorithm", "jax_algorithm"]

_DISTANCES = {"predict": "label", "predict_proba": "total_variation"}
_CACHE_BYTES = 4 << 20  # on a CPU, blocks that fit the cache are fastest
_DEVICE_BYTES = 4 << 30  # an accelerator is fastest with large blocks


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


class JaxAlgorithm(Algorithm):
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

    numbers_only = True
    thread_safe = True  # a pure function of its key; compiled code releases Python's lock
    threads_from = 0

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
        if memory is not None:
            arguments.count("memory", memory, minimum=1)
        self.name = name or str(getattr(fit_predict, "__name__", repr(fit_predict)))
        self.code = code_digest(fit_predict)
        self.memory = memory
        self.labels = labels
        self.response = "predict" if labels is None else labels.response
        self.natural_distance = "euclidean" if labels is None else _DISTANCES[labels.response]
        self.programs = Compiled(fit_predict, float64)
        self._workspace: dict[tuple[int, int], int] = {}
        self._token = uuid.uuid4().hex

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Return a predictor that trains and predicts in one compiled call."""
        labels, features = self.labels, _numbers("X", X)
        responses = _numbers("y", y) if labels is None else labels.encode_all(np.asarray(y))
        key = key_data(np.array([xi], dtype=np.uint64))[0]

        def predict(rows: Any) -> NDArray[Any]:
            points = _numbers("x", rows)
            with self.programs.precision():
                return self.predictions(self.programs.single(features, responses, points, key))

        return predict

    def prepared(self, sample: Sample) -> Algorithm:
        """Refuse rows that are not numbers, and unknown labels."""
        super().prepared(sample)
        first_row, _ = sample.training(slice(0, 1))
        _numbers("X", first_row)
        if self.labels is None:
            _numbers("y", sample.y.native)
        else:
            self.labels.encode_all(np.asarray(sample.y.native))
        return self

    def batch(self) -> BatchAlgorithm:
        """Return the same algorithm for many trials at once."""
        return _AllTrials(self)

    def predictions(self, values: Any) -> NDArray[Any]:
        """Turn the values of the function at several points into predictions."""
        array = np.asarray(values)
        if array.ndim > 2:
            raise TypeError(
                f"{self.name}(X, y, x, key) must return a number or a vector, "
                f"got an array of shape {array.shape[1:]}"
            )
        if self.labels is not None:
            array = self.labels.predictions(array)
        # bfloat16 and similar types are floats that NumPy does not know.
        return array.astype(np.float64) if array.dtype.kind in "fV" else array

    def workspace_bytes(self, n: int, d: int) -> int:
        """Return the memory that one trial needs beside its rows; computed once per shape."""
        if (n, d) not in self._workspace:
            response = np.float64 if self.labels is None else np.int32
            try:
                self._workspace[n, d] = self.programs.workspace_bytes(n, d, response)
            except Exception:  # if it cannot be compiled, every trial reports the reason
                self._workspace[n, d] = 0
        return self._workspace[n, d]

    def __reduce__(self) -> tuple[Any, ...]:
        options = {
            "name": self.name,
            "memory": self.memory,
            "float64": self.programs.float64,
            "labels": self.labels,
        }
        return _revived, (self._token, self.programs.fit_predict, options, self._workspace)


class _AllTrials:
    """A JAX algorithm as one that computes many trials at once."""

    exact = False

    def __init__(self, algorithm: JaxAlgorithm) -> None:
        self.algorithm = algorithm
        self.workspace_bytes = algorithm.workspace_bytes

    @property
    def name(self) -> str:
        return f"JAX, all trials at once ({platform()})"

    @property
    def block_bytes(self) -> int:
        return self.algorithm.memory or (_CACHE_BYTES if platform() == "cpu" else _DEVICE_BYTES)

    def pairs(self, stack: Stack) -> Pairs:
        """Compute both predictions, one program after the other."""
        on_device = import_jax().numpy.asarray
        programs = self.algorithm.programs
        y, trusted = self._responses(stack.y)
        with programs.precision():
            # The rows are sent once; a result is read before the next program starts.
            rows = [on_device(part) for part in (stack.X, y, stack.x)]
            full = self._predictions(programs.full(*rows, key_data(stack.xi)), stack.x)
            reduced = self._predictions(
                programs.reduced(*rows, key_data(stack.xi_reduced)), stack.x
            )
        return Pairs(full, reduced, trusted)

    def _predictions(self, values: Any, x: NDArray[np.float64]) -> NDArray[Any]:
        """Turn the values of the function into predictions, one per point of every trial."""
        array, places = np.asarray(values), x.shape[:-1]
        found = self.algorithm.predictions(array.reshape(-1, *array.shape[len(places) :]))
        return found.reshape(*places, *found.shape[1:])

    def _responses(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the responses, and which trials have only responses that a fit accepts."""
        if self.algorithm.labels is None:
            return _numbers("y", y), np.ones(len(y), dtype=np.bool_)
        codes = self.algorithm.labels.encode(y)
        return codes, np.asarray((codes >= 0).all(axis=1))


_REVIVED: dict[str, JaxAlgorithm] = {}


def _revived(
    token: str,
    fit_predict: FitPredict,
    options: dict[str, Any],
    workspace: dict[tuple[int, int], int],
) -> JaxAlgorithm:
    """Unpickle an algorithm; a worker keeps the last few with their compiled programs."""
    if token not in _REVIVED:
        while len(_REVIVED) >= 8:
            _REVIVED.pop(next(iter(_REVIVED)))
        _REVIVED[token] = JaxAlgorithm(fit_predict, **options)
        _REVIVED[token]._token = token
    _REVIVED[token]._workspace.update(workspace)
    return _REVIVED[token]


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Return floats, or say that a JAX function needs numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must hold numbers only for a function in JAX: {error}") from None


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
