"""Data that an estimator is certain to refuse, found before the first fit.

One such value fails one trial, a different one for every seed, perhaps after hours. What only the
first fit could say is left to the first fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from poise.algorithms.predictions import shown
from poise.data.suitable import first_missing, first_not_number
from poise.errors import AlgorithmError

if TYPE_CHECKING:
    from poise.data.rows import Rows
    from poise.data.sample import Sample

_TAKES_TEXT = ("categorical_features", "missing_values")  # parameters of boosting and of imputers
_REMEDY = "fill it in or encode it in a pipeline, or leave it out"


def require_suitable(estimator: Any, sample: Sample) -> None:
    """Refuse data that scikit-learn's tags rule out."""
    tags = tags_of(estimator)
    if tags is None:
        return
    reason = _about_responses(estimator, tags, sample.y) or _about_rows(estimator, sample)
    if reason:
        name = type(estimator).__name__
        raise AlgorithmError(f"{name} cannot be used with these data: {reason}")


def tags_of(estimator: Any) -> Any:
    """Return scikit-learn's tags of an estimator; None if it, or one of its parts, has none."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return None
    from sklearn.utils import get_tags

    try:
        return get_tags(estimator)
    except (AttributeError, TypeError):
        return None


def search_among_few(estimator: Any, n: int, unit: str, all_units: int) -> str | None:
    """Say that a search for parameters is another one on few rows, if the estimator is one."""
    if not hasattr(estimator, "refit"):
        return None
    return (
        f"{type(estimator).__name__} searches again in every training set of {n:,} {unit}s, where "
        f"it may find other parameters than in all {all_units:,}. You may want a larger n, or "
        "poise.deployed_test."
    )


def _about_responses(estimator: Any, tags: Any, y: Rows) -> str | None:
    """Name the response that one training set in many would hold; parts may change them."""
    if not _stands_alone(estimator):
        return None
    if tags.estimator_type == "regressor" and (found := first_not_number(y)):
        return f"it is a regressor, and {_holds('y', *found)}"
    if tags.target_tags.positive_only and any((v.astype(float) < 0).any() for v in y.columns()):
        return "it needs responses >= 0"
    return None


def _about_rows(estimator: Any, sample: Sample) -> str | None:
    """Let scikit-learn look at all rows as the first part of the estimator will at some."""
    from sklearn.utils import check_array, get_tags

    parts = list(_way_in(estimator))
    part = next((each for each in parts if not _hands_on(each)), None)
    if part is None or not _stands_alone(part) or any(hasattr(part, name) for name in _TAKES_TEXT):
        return None
    tags = get_tags(part)
    inputs = tags.input_tags
    if tags.no_validation or inputs.categorical or not inputs.two_d_array:
        return None
    finite = not inputs.allow_nan
    for name in ("X", "X_unlabeled"):
        rows: Rows | None = getattr(sample, name)
        if rows is None:
            continue
        try:
            check_array(
                rows.native,
                accept_sparse=True,
                dtype="numeric",
                ensure_all_finite=finite,
                ensure_non_negative=inputs.positive_only and part is parts[0],
                estimator=part,
            )
        except (TypeError, ValueError) as error:
            found = first_not_number(rows) or (first_missing(rows) if finite else None)
            text = f"{name}: {' '.join(str(error).split())[:300]}"
            return text if found is None else f"{_holds(name, *found)}; {_REMEDY}"
    return None


def _stands_alone(estimator: Any) -> bool:
    """Tell a single estimator of scikit-learn's own from composites and other people's."""
    own = type(estimator).__module__.startswith("sklearn.")
    return own and not any("__" in name for name in estimator.get_params(deep=True))


def _hands_on(part: Any) -> bool:
    """Tell a scaler, which hands missing values on to the next part."""
    return type(part).__module__ == "sklearn.preprocessing._data"


def _way_in(estimator: Any) -> Iterator[Any]:
    """Yield the parts of a composite in the order in which they get the features."""
    steps, inner = getattr(estimator, "steps", None), getattr(estimator, "estimator", None)
    if not type(estimator).__module__.startswith("sklearn.") or _exchanges_parts(estimator):
        yield estimator
    elif steps:
        for _, step in steps:
            if step not in ("passthrough", None):
                yield from _way_in(step)
    elif hasattr(inner, "fit"):
        yield from _way_in(inner)
    else:
        yield estimator


def _exchanges_parts(search: Any) -> bool:
    """Tell whether a search tries estimators, such as one imputer or another."""
    grid = getattr(search, "param_grid", None) or getattr(search, "param_distributions", None)
    grids = [grid] if isinstance(grid, dict) else grid or []
    lists = (values for each in grids for values in each.values())
    return any(hasattr(v, "fit") for values in lists if isinstance(values, list) for v in values)


def _holds(name: str, column: str | int, row: int, value: object) -> str:
    return f"column {column!r} of {name} holds {shown(value)} in row {row} (counting from 0)"
