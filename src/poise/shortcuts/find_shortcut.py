"""Which estimator has an exact shortcut.

A shortcut replaces the two fits on n and on n−1 rows, for many trials at once. It
exists for estimators of known type and parameters. It makes the computation faster and
does not alter the changes: a trial whose rounding error could matter is left to the
fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poise.shortcuts.discriminant_and_naive_bayes import find_gaussian_classes
from poise.shortcuts.dummy import find_dummy
from poise.shortcuts.dummy_classifier import find_dummy_classifier
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
    find_dummy_classifier,
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

    Only the exact type has a shortcut: a subclass may do anything. A parameter that the
    shortcut does not support, or that scikit-learn would refuse, gives None.

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
    # The name does not select the shortcut; it only avoids imports for other estimators.
    if response != "predict" or not type(estimator).__module__.startswith("sklearn."):
        return None
    return _find_plain(estimator) or find_standardized(estimator, _find_plain)


def _find_plain(estimator: Any) -> PlainShortcut | None:
    """Try every family in turn."""
    return next((found for find in _FINDERS if (found := find(estimator)) is not None), None)
