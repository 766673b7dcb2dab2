"""The public functions of ``poise.networks``: small models in JAX.

All trials are trained at once, on a CPU or on a GPU, whichever JAX finds. Each
function returns an algorithm for :func:`poise.stability_test`; on the command
line the same is ``--algorithm poise.networks:mlp_regressor --param hidden=(64,)``.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from poise import arguments
from poise.algorithms.algorithm import Algorithm
from poise.algorithms.class_codes import Labels
from poise.algorithms.jax.compiled_jax import import_jax
from poise.arguments import reads_as_number
from poise.arguments.printed_numbers import exactly
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.algorithms.jax.jax_algorithm import JaxAlgorithm

__all__ = ["logistic_regression", "mlp_classifier", "mlp_regressor"]

_ACTIVATIONS = ("relu", "tanh", "logistic")
_RESPONSES = ("predict_proba", "predict")
_PRECISIONS = ("float32", "tensorfloat32", "bfloat16")


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
    from poise.algorithms.jax.jax_algorithm import JaxAlgorithm
    from poise.algorithms.networks.perceptron import RegressorNetwork

    shape = _network(hidden, steps, learning_rate, batch_size, penalty, activation, precision)
    network = RegressorNetwork(**shape, standardize=arguments.flag("standardize", standardize))
    name = _name(mlp_regressor, network)
    return JaxAlgorithm(network, name=name, float64=float64, memory=memory)


def mlp_classifier(
    hidden: int | Sequence[int] = (64,),
    *,
    classes: int | Sequence[Any] | None = None,
    steps: int = 500,
    learning_rate: float = 1e-3,
    batch_size: int | None = None,
    penalty: float = 1e-4,
    activation: str = "relu",
    standardize: bool = True,
    response: str = "predict_proba",
    precision: str = "float32",
    float64: bool | None = None,
    memory: int | None = None,
) -> Algorithm:
    """Return a fully connected network for classification, trained by Adam.

    Parameters
    ----------
    classes : int or sequence, optional
        The labels, or their number K for the labels 0 to K − 1; by default those
        that occur in the data. They are the same in all fits, though n rows may
        miss one.
    response : {"predict_proba", "predict"}
        Whether a prediction is one probability per class (a change is their
        total variation, between 0 and 1) or the most probable label (a change
        is 0 or 1).
    hidden, steps, learning_rate, batch_size, penalty, activation, precision, float64, memory
        As in :func:`mlp_regressor`.
    standardize : bool
        Bring features to mean 0 and spread 1 on the training rows of each fit.

    Returns
    -------
    Algorithm

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> network = poise.networks.mlp_classifier(hidden=(8,), steps=50)
    >>> poise.measure(network, X, y, n=14, random_state=0).n_trials
    10
    """
    import_jax()
    from poise.algorithms.networks.perceptron import ClassifierNetwork

    shape = _network(hidden, steps, learning_rate, batch_size, penalty, activation, precision)
    network = ClassifierNetwork(
        **shape,
        standardize=arguments.flag("standardize", standardize),
        classes=0,
        response=arguments.choice("response", response, _RESPONSES),
    )
    return _classifier(mlp_classifier, network, classes, float64, memory)


def logistic_regression(
    classes: int | Sequence[Any] | None = None,
    *,
    penalty: float = 1.0,
    solver: str = "newton",
    steps: int = 200,
    standardize: bool = True,
    response: str = "predict_proba",
    float64: bool | None = True,
    memory: int | None = None,
) -> Algorithm:
    """Return penalised logistic regression, solved to convergence.

    The same minimiser as scikit-learn's ``LogisticRegression(C=1/penalty)`` after
    a ``StandardScaler``.

    Parameters
    ----------
    classes, response
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
    Algorithm

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> trials = poise.measure(poise.networks.logistic_regression(), X, y, n=50, random_state=0)
    >>> trials.n_trials, bool(trials.changes.max() < 1)
    (11, True)
    """
    import_jax()
    from poise.algorithms.networks.logistic import LogisticRegression

    model = LogisticRegression(
        classes=0,
        penalty=_at_least("penalty", penalty, 0.0, strictly=True),
        solver=arguments.choice("solver", solver, ("newton", "lbfgs")),
        steps=int(arguments.count("steps", steps, minimum=1)),
        standardize=arguments.flag("standardize", standardize),
        response=arguments.choice("response", response, _RESPONSES),
    )
    return _classifier(logistic_regression, model, classes, float64, memory)


def _network(
    hidden: int | Sequence[int],
    steps: int,
    learning_rate: float,
    batch_size: int | None,
    penalty: float,
    activation: str,
    precision: str,
) -> dict[str, Any]:
    """Check the parameters that both kinds of networks share."""
    layers = (hidden,) if isinstance(hidden, int) else tuple(hidden)
    return {
        "hidden": tuple(int(arguments.count("hidden", units, minimum=1)) for units in layers),
        "steps": int(arguments.count("steps", steps, minimum=1)),
        "learning_rate": _at_least("learning_rate", learning_rate, 0.0, strictly=True),
        "batch_size": None
        if batch_size is None
        else int(arguments.count("batch_size", batch_size, minimum=1)),
        "penalty": _at_least("penalty", penalty, 0.0),
        "activation": arguments.choice("activation", activation, _ACTIVATIONS),
        "precision": arguments.choice("precision", precision, _PRECISIONS),
    }


def _at_least(name: str, value: float, least: float, strictly: bool = False) -> float:
    number = float(value) if reads_as_number(value) else math.nan
    enough = number > least if strictly else number >= least
    if not (enough and math.isfinite(number)):
        raise ArgumentError(
            f"{name} must be a finite number {'>' if strictly else '>='} {exactly(least)}, got "
            f"{value!r}"
        )
    return number


def _classifier(
    factory: Callable[..., Any],
    model: Any,
    classes: int | Sequence[Any] | None,
    float64: bool | None,
    memory: int | None,
) -> Algorithm:
    """Wrap a classifier; its classes are given, or taken from the data."""
    from poise.algorithms.classes_from_data import ClassesFromData

    name = _name(factory, model, **({} if classes is None else {"classes": classes}))
    options = {"name": name, "float64": float64, "memory": memory}
    algorithm = ClassesFromData(partial(_with_classes, model, options), name, model.response)
    return algorithm if classes is None else algorithm.completed(classes)


def _with_classes(model: Any, options: dict[str, Any], labels: Labels) -> JaxAlgorithm:
    from poise.algorithms.jax.jax_algorithm import JaxAlgorithm

    return JaxAlgorithm(dataclasses.replace(model, classes=len(labels)), labels=labels, **options)


def _name(factory: Callable[..., Any], model: Any, **given: Any) -> str:
    """Write the call with the parameters that differ from their defaults."""
    defaults = {name: p.default for name, p in inspect.signature(factory).parameters.items()}
    values = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
    chosen = {
        name: value
        for name, value in values.items()
        if name == "hidden" or (name != "classes" and value != defaults[name])
    }
    arguments = ", ".join(f"{name}={value!r}" for name, value in (chosen | given).items())
    return f"{factory.__name__}({arguments})"
