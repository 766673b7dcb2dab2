"""Ready-made models in JAX, for whoever asks whether a small network is stable on their data.

All trials are trained at once, on a CPU or on a GPU, whichever JAX finds. Each
function returns an algorithm for :func:`poise.stability_test`; on the command
line the same is ``--algorithm poise.networks:mlp_regressor --param hidden=(64,)``.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from poise import _check
from poise.adapters.compiled import import_jax
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.adapters.jax import JaxAlgorithm

__all__ = ["logistic_regression", "mlp_classifier", "mlp_regressor"]

_ACTIVATIONS = ("relu", "tanh", "logistic")
_PRECISIONS = ("float32", "tensorfloat32", "bfloat16")
_PREDICTIONS = ("probability", "label")


def mlp_regressor(
    hidden: int | Sequence[int] = (64,),
    *,
    steps: int = 500,
    learning_rate: float = 1e-3,
    batch_size: int | None = None,
    penalty: float = 1e-4,
    activation: str = "relu",
    standardize: bool = True,
    precision: str = "float32",
    float64: bool | None = None,
    memory: int | None = None,
) -> JaxAlgorithm:
    """Return a fully connected network for regression, trained by Adam.

    It trains for a fixed number of steps, without early stopping. What is tested
    is this network with this training, not networks in general.

    Parameters
    ----------
    hidden : int or sequence of int
        Units in each hidden layer, each >= 1.
    steps : int
        Gradient steps, >= 1.
    learning_rate : float
        Adam's step size, > 0.
    batch_size : int, optional
        Rows per step, >= 1, in a new random order each pass; None takes all rows.
    penalty : float
        Weight of the squared weights, >= 0 (``alpha`` in scikit-learn).
    activation : {"relu", "tanh", "logistic"}
        What follows every hidden layer.
    standardize : bool
        Bring features and responses to mean 0 and spread 1 on the training rows
        of each fit; predictions are in the units of the responses either way.
    precision : {"float32", "tensorfloat32", "bfloat16"}
        How a GPU may round the factors of matrix products; no effect on a CPU.
    float64, memory
        As in :func:`poise.jax_algorithm`.

    Returns
    -------
    JaxAlgorithm

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> network = poise.networks.mlp_regressor(hidden=(8,), steps=50, learning_rate=0.01)
    >>> trials = poise.measure(network, X, y, n=20, random_state=0)
    >>> trials.n_trials, bool((trials.changes > 0).all())
    (21, True)
    """
    import_jax()
    from poise.networks.perceptron import RegressorNetwork

    shape = _network(hidden, steps, learning_rate, batch_size, penalty, activation, precision)
    network = RegressorNetwork(**shape, standardize=standardize)
    return _algorithm(mlp_regressor, network, None, float64, memory)


def mlp_classifier(
    hidden: int | Sequence[int] = (64,),
    *,
    classes: int | Sequence[Any] = 2,
    steps: int = 500,
    learning_rate: float = 1e-3,
    batch_size: int | None = None,
    penalty: float = 1e-4,
    activation: str = "relu",
    standardize: bool = True,
    predict: str = "probability",
    precision: str = "float32",
    float64: bool | None = None,
    memory: int | None = None,
) -> JaxAlgorithm:
    """Return a fully connected network for classification, trained by Adam.

    Parameters
    ----------
    classes : int or sequence
        The labels, or their number K for the labels 0 to K − 1. All classes must
        be known beforehand: a sample of n rows may miss one.
    predict : {"probability", "label"}
        Whether a prediction is the vector of class probabilities (a change is
        the Euclidean distance, between 0 and √2) or the most probable label (a
        change is 0 or 1).
    hidden, steps, learning_rate, batch_size, penalty, activation, precision, float64, memory
        As in :func:`mlp_regressor`.
    standardize : bool
        Bring features to mean 0 and spread 1 on the training rows of each fit.

    Returns
    -------
    JaxAlgorithm

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> network = poise.networks.mlp_classifier(hidden=(8,), classes=3, steps=50)
    >>> poise.measure(network, X, y, n=14, random_state=0).n_trials
    10
    """
    import_jax()
    from poise.adapters.labels import Labels
    from poise.networks.perceptron import ClassifierNetwork

    shape = _network(hidden, steps, learning_rate, batch_size, penalty, activation, precision)
    labels = Labels(classes, _check.choice("predict", predict, _PREDICTIONS) == "label")
    network = ClassifierNetwork(
        **shape, standardize=standardize, classes=len(labels), predict=predict
    )
    return _algorithm(mlp_classifier, network, labels, float64, memory)


def logistic_regression(
    classes: int | Sequence[Any] = 2,
    *,
    penalty: float = 1.0,
    solver: str = "newton",
    steps: int = 200,
    standardize: bool = True,
    predict: str = "probability",
    float64: bool | None = True,
    memory: int | None = None,
) -> JaxAlgorithm:
    """Return penalised logistic regression, solved to convergence.

    The same minimiser as scikit-learn's ``LogisticRegression(C=1/penalty)`` after
    a ``StandardScaler``.

    Parameters
    ----------
    classes, predict
        As in :func:`mlp_classifier`.
    penalty : float
        Weight of half the squared weights, > 0.
    solver : {"newton", "lbfgs"}
        Newton's method is fastest up to a few hundred weights (features times classes).
    steps : int
        Most iterations of the solver, >= 1.
    standardize : bool
        Bring features to mean 0 and spread 1 on the training rows of each fit.
    float64, memory
        As in :func:`poise.jax_algorithm`, but in double precision unless told otherwise.

    Returns
    -------
    JaxAlgorithm

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> trials = poise.measure(poise.networks.logistic_regression(), X, y, n=50, random_state=0)
    >>> trials.n_trials, bool(trials.changes.max() < 2**0.5)
    (11, True)
    """
    import_jax()
    from poise.adapters.labels import Labels
    from poise.networks.logistic import LogisticRegression

    labels = Labels(classes, _check.choice("predict", predict, _PREDICTIONS) == "label")
    model = LogisticRegression(
        classes=len(labels),
        penalty=_at_least("penalty", penalty, 0.0, strictly=True),
        solver=_check.choice("solver", solver, ("newton", "lbfgs")),
        steps=int(_check.count("steps", steps, minimum=1)),
        standardize=standardize,
        predict=predict,
    )
    return _algorithm(logistic_regression, model, labels, float64, memory)


def _network(
    hidden: int | Sequence[int],
    steps: int,
    learning_rate: float,
    batch_size: int | None,
    penalty: float,
    activation: str,
    precision: str,
) -> dict[str, Any]:
    """Check what networks of both kinds share."""
    layers = (hidden,) if isinstance(hidden, int) else tuple(hidden)
    return {
        "hidden": tuple(int(_check.count("hidden", units, minimum=1)) for units in layers),
        "steps": int(_check.count("steps", steps, minimum=1)),
        "learning_rate": _at_least("learning_rate", learning_rate, 0.0, strictly=True),
        "batch_size": None
        if batch_size is None
        else int(_check.count("batch_size", batch_size, minimum=1)),
        "penalty": _at_least("penalty", penalty, 0.0),
        "activation": _check.choice("activation", activation, _ACTIVATIONS),
        "precision": _check.choice("precision", precision, _PRECISIONS),
    }


def _at_least(name: str, value: float, least: float, strictly: bool = False) -> float:
    number = float(value)
    enough = number > least if strictly else number >= least
    if not (enough and math.isfinite(number)):
        raise ArgumentError(
            f"{name} must be a finite number {'>' if strictly else '>='} {least:g}, got {value}"
        )
    return number


def _algorithm(
    factory: Callable[..., Any], model: Any, labels: Any, float64: bool | None, memory: int | None
) -> JaxAlgorithm:
    """Wrap a model under a name that says what was chosen other than by default."""
    from poise.adapters.jax import JaxAlgorithm

    defaults = {name: p.default for name, p in inspect.signature(factory).parameters.items()}
    chosen = [
        f"{field.name}={getattr(model, field.name)!r}"
        for field in dataclasses.fields(model)
        if field.name == "hidden" or getattr(model, field.name) != defaults[field.name]
    ]
    name = f"{factory.__name__}({', '.join(chosen)})"
    return JaxAlgorithm(model, name=name, memory=memory, float64=float64, labels=labels)
