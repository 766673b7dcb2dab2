"""Exact stand-ins for fits: which estimators have one, by exact type and exact parameters."""

from __future__ import annotations

import math
import numbers
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from poise.shortcuts.linear import Linear
    from poise.shortcuts.neighbours import Neighbours
    from poise.shortcuts.scaled import Scaled

    Plain: TypeAlias = Linear | Neighbours
    Family: TypeAlias = Plain | Scaled

_LARGEST_CONDITION = 1e4  # beyond, correct solvers of least squares begin to disagree
_KNOWN = {
    *("Ridge", "RidgeClassifier", "LinearRegression", "Pipeline"),
    *("KNeighborsRegressor", "KNeighborsClassifier"),
}
_EUCLIDEAN = {"euclidean", "l2"}


def has_formulas(estimator: object) -> bool:
    """Tell whether this may be an estimator with formulas, for some parameters."""
    return _name(estimator) in _KNOWN


def family_of(estimator: Any, n: int, d: int, classes: int = 0) -> Family | None:
    """Return the formulas for fits on n rows of d columns, None if there are none.

    A subclass may do anything, so it has none, and neither has a parameter that scikit-learn would
    refuse. Nothing of scikit-learn is imported to find out.
    """
    if _name(estimator) == "Pipeline":
        return _behind_scaler(estimator, n, d, classes)
    return _plain(estimator, n, d, classes)


def _plain(estimator: Any, n: int, d: int, classes: int) -> Plain | None:
    name = _name(estimator)
    if (classes > 0) != name.endswith("Classifier") or name not in _KNOWN - {"Pipeline"}:
        return None
    if name.startswith("KNeighbors"):
        return _neighbours(estimator, n, classes)
    return _linear(estimator, n, d, classes, least_squares=name == "LinearRegression")


def _name(estimator: Any) -> str:
    """Return the name of a class of scikit-learn's own, "" for any other, also of that name."""
    kind = type(estimator)
    home = sys.modules.get(kind.__module__) if kind.__module__.startswith("sklearn.") else None
    return kind.__name__ if getattr(home, kind.__name__, None) is kind else ""


def _linear(model: Any, n: int, d: int, classes: int, least_squares: bool) -> Linear | None:
    """Return ridge regression, or least squares for trials of which it drops no direction."""
    from poise.shortcuts.linear import Linear

    direct = getattr(model, "solver", "auto") in ("auto", "cholesky") and model.positive is False
    weighted = getattr(model, "class_weight", None) is not None
    # Below this share of the largest, singular values are dropped; no parameter before 1.7.
    cutoff = getattr(model, "tol", 0.0) if least_squares else 0.0
    penalty = 0.0 if least_squares else model.alpha
    numbers = _is_flag(model.fit_intercept) and _is_number(cutoff) and _is_number(penalty)
    if weighted or not (direct and numbers) or (least_squares and d + 2 >= n):
        return None
    limit = min(_LARGEST_CONDITION, 0.01 / (cutoff or 1e-9)) if least_squares else math.inf
    return Linear(float(penalty), bool(model.fit_intercept), limit, classes)


def _neighbours(model: Any, n: int, classes: int) -> Plain | None:
    from poise.shortcuts.neighbours import Neighbours

    metric, weights, by = model.metric, model.weights, model.algorithm
    if not isinstance(metric, str) or model.metric_params is not None:
        return None
    if metric not in _EUCLIDEAN and not (
        metric == "minkowski" and _is_number(model.p) and model.p == 2
    ):
        return None
    if weights is not None and not (isinstance(weights, str) and weights == "uniform"):
        return None
    known = by in ("auto", "brute", "kd_tree", "ball_tree") and _is_count(model.leaf_size)
    if not known or not _is_count(model.n_neighbors) or model.n_neighbors >= n:
        return None
    return Neighbours(int(model.n_neighbors), classes)


def _behind_scaler(pipeline: Any, n: int, d: int, classes: int) -> Scaled | None:
    """Return the family of exactly a plain StandardScaler and an estimator that has one."""
    from poise.shortcuts.scaled import Scaled

    steps = [step for _, step in pipeline.steps]
    special = pipeline.memory, getattr(pipeline, "transform_input", None)
    if len(steps) != 2 or special != (None, None) or _name(steps[0]) != "StandardScaler":
        return None
    flags = steps[0].with_mean, steps[0].with_std
    if not all(flag is True for flag in flags):
        return None
    inner = _plain(steps[1], n, d, classes)
    return None if inner is None else Scaled(inner)


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and 0 <= float(value) < math.inf


def _is_count(value: object) -> bool:
    return isinstance(value, numbers.Integral) and int(value) >= 1


def _is_flag(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")
