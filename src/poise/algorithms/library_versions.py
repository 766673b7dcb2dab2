"""The versions of what computes changes: Python, the machine and its libraries."""

from __future__ import annotations

import functools
import platform
import sys
from typing import Any

import numpy as np

from poise import __version__

__all__ = ["current_versions", "versions_that_compute"]

# A library that is loaded may have computed something.
_LIBRARIES = {
    "catboost": "catboost",
    "jax": "jax",
    "jaxlib": "jaxlib",
    "lightgbm": "lightgbm",
    "pandas": "pandas",
    "polars": "polars",
    "river": "river",
    "sklearn": "scikit-learn",
    "statsmodels": "statsmodels",
    "torch": "torch",
    "xgboost": "xgboost",
}


def current_versions() -> dict[str, str]:
    """Return the versions of the libraries that compute changes here.

    Examples
    --------
    >>> sorted(current_versions())[:3]
    ['machine', 'numpy', 'poise']
    """
    versions = {
        "poise": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "numpy": np.__version__,
    }
    if "sklearn" in sys.modules:
        versions["scikit-learn"] = sys.modules["sklearn"].__version__
    return versions


def versions_that_compute(algorithm: object) -> dict[str, str]:
    """Return the versions of everything that can decide the last digit of a change.

    Also those of the libraries that are loaded, of the library of the algorithm itself, and the
    routines of linear algebra with the kind of processor that they were chosen for.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> {"blas", "python", "scikit-learn"} <= set(versions_that_compute(Ridge()))
    True
    """
    import scipy  # p-values and limits come from it

    versions = {**current_versions(), "scipy": scipy.__version__, "blas": _blas()}
    own = type(algorithm).__module__.partition(".")[0]
    for module, name in {**_LIBRARIES, own: _LIBRARIES.get(own, own)}.items():
        version = getattr(sys.modules.get(module), "__version__", None)
        if isinstance(version, str):
            versions.setdefault(name, version)
    return versions


@functools.cache
def _blas() -> str:
    """Name the routines of linear algebra that NumPy uses, and for which processor."""
    from threadpoolctl import threadpool_info

    known: list[dict[str, Any]] = [each for each in threadpool_info() if each["user_api"] == "blas"]
    if not known:
        return "unknown"
    words = (known[0].get(key) for key in ("internal_api", "version", "architecture"))
    return " ".join(word for word in words if word)
