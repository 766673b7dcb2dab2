"""Data that an estimator cannot use, found before the first fit.

scikit-learn estimators say in their tags what they need. Only what a tag states
for certain is refused here; everything else is left to the fit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from poise.algorithms.missing_values import wants_complete_rows
from poise.algorithms.sklearn_input_checks import (
    wants_numbers,
    wants_numeric_responses,
    wants_rows_and_columns,
)
from poise.data.sample import Sample
from poise.errors import AlgorithmError

__all__ = ["objection", "objection_to_fractions", "require_arguments", "require_suitable"]


def require_suitable(estimator: Any, sample: Sample) -> None:
    """Refuse data that this estimator is certain to refuse.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> require_suitable(LogisticRegression(), Sample([[0.0], [1.0]], [0.25, 0.75]))
    Traceback (most recent call last):
    poise.errors.AlgorithmError: LogisticRegression cannot be used with these data: it is a ...
    """
    reason = objection(estimator, sample)
    if reason is not None:
        raise AlgorithmError(f"{type(estimator).__name__} cannot be used with these data: {reason}")


def objection(estimator: Any, sample: Sample) -> str | None:
    """Return why this estimator cannot be fitted to these data, or None if no reason is known.

    Examples
    --------
    >>> from sklearn.linear_model import MultiTaskLasso
    >>> objection(MultiTaskLasso(), Sample([[0.0], [1.0]], [0.25, 0.75]))
    'it needs several responses; give y one column for each'
    """
    tags = _tags(estimator)
    if tags is None:
        return None
    return next((reason for find in _RULES if (reason := find(estimator, tags, sample))), None)


def _tags(estimator: Any) -> Any:
    """Return scikit-learn's description of an estimator, if it has one."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return None
    from sklearn.utils import get_tags

    try:
        return get_tags(estimator)
    except AttributeError:  # a composite of something without tags
        return None


def _wants_classes(estimator: Any, tags: Any, sample: Sample) -> str | None:
    return objection_to_fractions(sample) if tags.estimator_type == "classifier" else None


def objection_to_fractions(sample: Sample) -> str | None:
    """Refuse responses that are fractions if classes are needed; None if they are not."""
    values = np.asarray(sample.y.native)
    if values.dtype.kind != "f" or bool(np.all(values == np.floor(values))):
        return None
    return "it is a classifier and y holds fractions; use a regressor, or make y classes"


def _wants_two_classes(estimator: Any, tags: Any, sample: Sample) -> str | None:
    wants = tags.classifier_tags is not None and not tags.classifier_tags.multi_class
    if not wants or len(sample.classes) != 1 or len(sample.classes[0]) <= 2:
        return None
    return f"it takes two classes, and y holds {len(sample.classes[0])}"


def _wants_several_responses(estimator: Any, tags: Any, sample: Sample) -> str | None:
    if tags.target_tags.single_output or np.ndim(sample.y.native) != 1:
        return None
    return "it needs several responses; give y one column for each"


def _wants_positive_responses(estimator: Any, tags: Any, sample: Sample) -> str | None:
    wants = tags.target_tags.positive_only and _stands_alone(estimator)
    return "it needs responses >= 0" if wants and _has_negative(sample.y.native) else None


def _wants_positive_features(estimator: Any, tags: Any, sample: Sample) -> str | None:
    wants = tags.input_tags.positive_only and _stands_alone(estimator)
    return "it needs features >= 0" if wants and _has_negative(sample.X.native) else None


def _wants_one_feature(estimator: Any, tags: Any, sample: Sample) -> str | None:
    inputs = tags.input_tags
    columns = sample.X.columns()
    count = columns if columns is None or isinstance(columns, int) else len(columns)
    if inputs.two_d_array or not inputs.one_d_array or count in (None, 1):
        return None
    return f"it takes one feature, and X has {count}"


def _wants_as_many_responses_as_components(
    estimator: Any, tags: object, sample: Sample
) -> str | None:
    components = getattr(estimator, "n_components", None)
    if type(estimator).__name__ not in ("CCA", "PLSCanonical") or components is None:
        return None
    responses = 1 if np.ndim(sample.y.native) == 1 else np.shape(sample.y.native)[1]
    if components <= responses:
        return None
    return f"it needs at least n_components = {components} responses, and y has {responses}"


def _wants_other_labels(estimator: Any, tags: object, sample: Sample) -> str | None:
    text = np.asarray(sample.y.native).dtype.kind in "US"
    return _NO_TEXT.get(type(estimator).__name__) if text else None


_NO_TEXT = {
    "ClassifierChain": "it takes numbers as labels; encode the classes",
    "SelfTrainingClassifier": "it takes text labels of dtype object only; give y.astype(object)",
}

_RULES: tuple[Callable[[Any, Any, Sample], str | None], ...] = (
    wants_rows_and_columns,
    wants_numbers,
    wants_numeric_responses,
    wants_complete_rows,
    _wants_classes,
    _wants_several_responses,
    _wants_two_classes,
    _wants_positive_responses,
    _wants_positive_features,
    _wants_one_feature,
    _wants_as_many_responses_as_components,
    _wants_other_labels,
)


def _stands_alone(estimator: Any) -> bool:
    """Tell a single estimator from a composite, whose parts may change the data."""
    return not any("__" in name for name in estimator.get_params(deep=True))


def _has_negative(native: Any) -> bool:
    if not isinstance(native, np.ndarray) or native.dtype.kind not in "if":
        return False
    return bool(np.fmin.reduce(native, axis=None) < 0)  # ignores NaN, and needs no memory


def require_arguments(function: Callable[..., Any], fixed: int, names: Iterable[str]) -> None:
    """Refuse ``fit_params`` that are not arguments of a function.

    Examples
    --------
    >>> require_arguments(lambda X, y, sample_weight=None: None, 2, ["weight"])
    Traceback (most recent call last):
    poise.errors.AlgorithmError: fit_params must be arguments of <lambda>(X, y, ...: ... 'weight'
    """
    try:
        signature = inspect.signature(function)
    except ValueError:  # a built-in without a signature: the first call shows
        return
    try:
        signature.bind(*[None] * fixed, **dict.fromkeys(names))
    except TypeError as error:
        name = getattr(function, "__qualname__", repr(function))
        raise AlgorithmError(
            f"fit_params must be arguments of {name}{signature}: {error}"
        ) from None
