"""What a wrapper estimator accepts: the rows that its estimator accepts."""

from __future__ import annotations

from typing import Any

__all__ = ["checked_rows", "input_tags", "with_input_tags_of"]


def input_tags(base: Any) -> Any:
    """Return what the inner estimator says about its rows; scikit-learn's defaults if nothing.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> input_tags(DecisionTreeRegressor()).sparse, input_tags(len).sparse
    (True, False)
    """
    from sklearn.utils import InputTags, get_tags

    return get_tags(base).input_tags if hasattr(base, "__sklearn_tags__") else InputTags()


def checked_rows(outer: Any, base: Any, X: Any, *, reset: bool) -> Any:
    """Check rows as scikit-learn does, and leave tables and texts as they are."""
    from sklearn.utils.validation import validate_data

    tags = input_tags(base)
    if hasattr(X, "__dataframe__") or hasattr(X, "iloc") or not tags.two_d_array:
        validate_data(outer, X, reset=reset, skip_check_array=True)
        return X
    return validate_data(
        outer,
        X,
        reset=reset,
        dtype=None,
        accept_sparse=["csr"] if tags.sparse else False,
        ensure_all_finite=not tags.allow_nan,
    )


def with_input_tags_of(base: Any, tags: Any) -> Any:
    """Accept missing values and sparse matrices where the inner estimator does."""
    inner = input_tags(base)
    tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
    return tags
