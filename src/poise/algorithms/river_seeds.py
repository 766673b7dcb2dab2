"""Seeds inside models of river, which keep them in ``seed`` and have no ``get_params``.

River's wrappers for scikit-learn have one parameter, the model. So its seeds, and those of
the models that it is made of, are found here: by the names of constructors, which river
keeps as attributes, and by ``clone``, which takes new values for them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from inspect import Parameter, signature
from typing import Any

__all__ = ["reseeded", "river_models"]


def river_models(estimator: Any) -> list[str]:
    """List the parameters that hold a model of river, at any depth, in a fixed order."""
    if not hasattr(estimator, "get_params"):
        return []
    parameters = estimator.get_params(deep=True)
    return sorted(name for name, value in parameters.items() if _is_model(value))


def _is_model(value: object) -> bool:
    library = type(value).__module__.partition(".")[0]
    return library == "river" and callable(getattr(value, "clone", None))


def reseeded(model: Any, seeds: Iterator[int]) -> Any:
    """Return an untrained copy in which every seed, at any depth, is the next of ``seeds``.

    A seed is an argument ``seed`` of a constructor. What draws random numbers without one
    gets none here; it may use Python's or NumPy's global generator, which is set from ξ too.

    Parameters
    ----------
    model : model of river
        It may be a pipeline, a union, or hold other models.
    seeds : iterator of int
        As many as are needed are taken, always in the same order.
    """
    parts: dict[str, Any] = {}
    for name, parameter in signature(type(model)).parameters.items():
        value = getattr(model, name, None)
        if parameter.kind is Parameter.VAR_POSITIONAL:  # the steps of a pipeline, by name
            if not isinstance(value, Mapping):
                return model.clone()
            return type(model)(*((key, _part(step, seeds)) for key, step in value.items()))
        if name == "seed":
            parts[name] = next(seeds)
        elif _is_model(value) or isinstance(value, list):
            parts[name] = _part(value, seeds)
    return model.clone(parts)


def _part(value: Any, seeds: Iterator[int]) -> Any:
    if _is_model(value):
        return reseeded(value, seeds)
    if type(value) is list:
        return [_part(each, seeds) for each in value]
    return copy.deepcopy(value)
