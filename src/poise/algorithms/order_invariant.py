"""Estimators that are known not to look at the order of their rows.

For one and the same random term, A[D; ξ] = A[D in another order; ξ]: only then may one
fit on all rows serve every removal of a trial. A forest with one seed is symmetric in
distribution and no more: each tree draws *positions*, so that one fit would be compared
with fits it has another law with, and be certified falsely. Nearest neighbours break ties
by position. Neither is listed here.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ignores_row_order"]

# Exact types only, as a subclass may do anything; with the values of a parameter that is decisive.
_KNOWN: dict[str, dict[str, tuple[Any, ...]]] = {
    "sklearn.linear_model._ridge.Ridge": {"solver": ("auto", "cholesky", "svd")},
    "sklearn.linear_model._base.LinearRegression": {"positive": (False,)},
    "sklearn.kernel_ridge.KernelRidge": {},
    "sklearn.naive_bayes.GaussianNB": {},
    "sklearn.dummy.DummyRegressor": {},
    "sklearn.dummy.DummyClassifier": {"strategy": ("prior", "most_frequent")},
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": {},
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": {},
}


def ignores_row_order(estimator: Any) -> bool:
    """Tell whether an estimator is one of those whose fit is the same in any order of the rows.

    Up to rounding, and for every data set. False means only that it is not known.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.linear_model import Ridge
    >>> ignores_row_order(Ridge()), ignores_row_order(Ridge(solver="sag"))
    (True, False)
    >>> ignores_row_order(RandomForestRegressor(random_state=0))
    False
    """
    kind = type(estimator)
    decisive = _KNOWN.get(f"{kind.__module__}.{kind.__qualname__}")
    if decisive is None:
        return False
    return all(getattr(estimator, name, None) in values for name, values in decisive.items())
