"""Seeds and numbers of threads among the parameters of an estimator.

Seeds are set from ξ, so that a fit is a function of its rows and ξ alone; inner
threads are set to one, since trials run side by side: two workers with two
threads each were measured to be 4 to 168 times slower, not faster.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

from poise.errors import AlgorithmError

__all__ = ["cloned", "is_thread_safe", "plain_parameters", "seeds", "threads", "threads_from"]

_SEEDS = ("random_state", "random_seed", "seed")
_THREADS = ("n_jobs", "nthread", "num_threads", "thread_count")
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
# CatBoost lists only parameters that were set; unset means random seed and all cores.
# It refuses two names for one parameter.
_UNLISTED = {"catboost": {"random_seed": "random_state", "thread_count": "thread_count"}}
# Modules whose fits run mostly in compiled code, if there are enough rows.
_NATIVE = ("sklearn.tree.", "sklearn.ensemble.", "sklearn.svm.")
_NOT_NATIVE = ("sklearn.ensemble._hist_gradient_boosting.", "sklearn.svm._classes.LinearSVC")


def seeds(estimator: Any) -> list[str]:
    """List the parameters that hold a seed, at any depth, in a fixed order.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> seeds(BaggingRegressor(DecisionTreeRegressor()))
    ['estimator__random_state', 'random_state']
    """
    return [name for name, _, _ in _parameters(estimator, _SEEDS)]


def threads(estimator: Any) -> dict[str, int]:
    """Return the parameters that have to change so that one fit uses one thread.

    scikit-learn's ``n_jobs=None`` already means that, and some of its estimators
    object to being told; elsewhere None means every core.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> threads(RandomForestRegressor(n_jobs=-1)), threads(RandomForestRegressor())
    ({'n_jobs': 1}, {})
    """
    return {
        name: 1
        for name, value, owner in _parameters(estimator, _THREADS)
        if value != 1 and not (value is None and _library(owner) == "sklearn")
    }


def _parameters(estimator: Any, wanted: tuple[str, ...]) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, value, owner) of the parameters with these names, at any depth."""
    if not hasattr(estimator, "get_params"):
        return
    parameters = estimator.get_params(deep=True)
    owners = {"": estimator} | {k: v for k, v in parameters.items() if hasattr(v, "get_params")}
    for prefix, owner in owners.items():
        place = f"{prefix}__" if prefix else ""
        for name, other in _UNLISTED.get(_library(owner), {}).items():
            if place + other not in parameters:
                parameters.setdefault(place + name, None)
    for name in sorted(parameters):
        prefix, _, last = name.rpartition("__")
        if last in wanted:
            yield name, parameters[name], owners.get(prefix)


def _library(estimator: Any) -> str:
    return type(estimator).__module__.partition(".")[0]


def plain_parameters(estimator: Any) -> dict[str, Any] | None:
    """Return constructor arguments if calling the class again is the same as cloning.

    That holds when every parameter is a plain value and nothing customises
    cloning; it saves most of what poise would otherwise add to a cheap fit.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> plain_parameters(Ridge())["alpha"]
    1.0
    """
    if not hasattr(estimator, "get_params") or _library(estimator) != "sklearn":
        return None
    parameters: dict[str, Any] = estimator.get_params(deep=False)
    plain = all(isinstance(value, _PLAIN) for value in parameters.values())
    return parameters if plain else None


def is_thread_safe(estimator: Any) -> bool:
    """Tell whether an estimator uses no random numbers but those of its seed.

    scikit-learn's own with plain parameters do, and so do LightGBM and XGBoost,
    unless a parameter is a function, which may do anything.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> is_thread_safe(Ridge())
    True
    """
    if plain_parameters(estimator) is not None:
        return True
    if _library(estimator) not in ("lightgbm", "xgboost"):
        return False
    values = estimator.get_params(deep=True).values()
    return bool(seeds(estimator)) and all(isinstance(value, _PLAIN) for value in values)


def threads_from(estimator: Any) -> float:
    """Return the number of rows from which an estimator computes outside Python's lock.

    Trees, forests, boosting and SVM do. Measured on two cores: from 2,000 rows on, two
    threads gain 1.6 to 2.0; a forest on 60 rows is slowed down by a second thread, and so are
    linear models, neighbours and HistGradientBoosting at most sizes.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    >>> threads_from(RandomForestRegressor()), threads_from(HistGradientBoostingRegressor())
    (2000, inf)
    """
    kind = f"{type(estimator).__module__}.{type(estimator).__name__}"
    native = _library(estimator) in ("lightgbm", "xgboost") or kind.startswith(_NATIVE)
    return 2000 if native and not kind.startswith(_NOT_NATIVE) else math.inf


def cloned(estimator: Any) -> Any:
    """Return an unfitted copy of an estimator."""
    if not hasattr(estimator, "get_params"):
        return copy.deepcopy(estimator)
    from sklearn.base import clone

    try:
        return clone(estimator)
    except RuntimeError as error:
        raise AlgorithmError(f"{error}; {_how_to_clone(estimator)}") from error


def _how_to_clone(estimator: Any) -> str:
    """Say what helps where a constructor copies what it is given: CatBoost copies lists."""
    if any("cat_features" in name for name in estimator.get_params(deep=True)):
        return (
            "give cat_features as a tuple, such as cat_features=('colour',), instead of a list; or "
            "leave it out and give fit_params={'cat_features': [...]}; or make it in a function "
            "fit(X, y, seed) that returns the predict of the fitted model"
        )
    return "make it in a function fit(X, y, seed) that returns the predict of the fitted model"
