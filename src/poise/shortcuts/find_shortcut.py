"""Exact shortcuts: both fits of a trial for hardly more than the price of one.

A shortcut replaces the pair of fits on n and on n−1 rows for an estimator whose
exact type and parameters it knows, for many trials at once. It changes how fast
the changes are found, never what they are: every trial whose rounding error
might show is handed back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poise.shortcuts.discriminant_and_naive_bayes import find_gaussian_classes
from poise.shortcuts.dummy import find_dummy
from poise.shortcuts.gaussian_process import find_gaussian_process
from poise.shortcuts.kernel_ridge import find_kernel_ridge
from poise.shortcuts.nearest_neighbors import find_neighbors
from poise.shortcuts.ridge_and_least_squares import find_least_squares, find_ridge
from poise.shortcuts.ridge_classifier import find_ridge_classifier
from poise.shortcuts.scaler_pipeline import find_standardized
from poise.shortcuts.shortcut import AGREEMENT, Pairs, PlainShortcut, Shortcut

__all__ = ["AGREEMENT", "Pairs", "Shortcut", "find_shortcut"]

_FINDERS: tuple[Callable[[Any], PlainShortcut | None], ...] = (
    find_dummy,
    find_ridge,
    find_least_squares,
    find_neighbors,
    find_kernel_ridge,
    find_gaussian_process,
    find_ridge_classifier,
    find_gaussian_classes,
)


def find_shortcut(estimator: Any, response: str = "predict") -> Shortcut | None:
    """Return the exact shortcut for this estimator, or None if there is none.

    Only the exact type counts: a subclass may do anything. So do the parameters:
    one that the shortcut does not cover, or that scikit-learn would refuse, means None.

    Parameters
    ----------
    estimator : object
        An unfitted estimator.
    response : str
        The method whose output is compared; only ``"predict"`` has shortcuts.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso, Ridge
    >>> find_shortcut(Ridge(alpha=2.0)).name
    'rank-one downdate of ridge'
    >>> find_shortcut(Lasso()) is None
    True
    """
    # The name never selects a shortcut; it only spares other people's estimators the imports.
    if response != "predict" or not type(estimator).__module__.startswith("sklearn."):
        return None
    return _find_plain(estimator) or find_standardized(estimator, _find_plain)


def _find_plain(estimator: Any) -> PlainShortcut | None:
    """Ask every family in turn."""
    return next((found for find in _FINDERS if (found := find(estimator)) is not None), None)
