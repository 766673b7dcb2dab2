"""The versions of what computes changes: Python, the machine and its libraries."""

from __future__ import annotations

import functools
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from poise import __version__
from poise.algorithms.code_digest import is_own_module, names_in

__all__ = ["current_versions", "versions_that_compute"]

_CALLED = {"sklearn": "scikit-learn"}  # where a library has another name than its module
_BESIDE = {"jax": ("jaxlib",)}
_MOST_ITEMS = 100
_MOST_PARTS = 2_000


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


def versions_that_compute(*objects: object) -> dict[str, str]:
    """Return the versions of everything that can decide the last digit of a change.

    Beside Python, NumPy and SciPy these are the libraries that the algorithm, its parts and its
    rows belong to or name, and the routines of linear algebra with the kind of processor that
    they were chosen for. What else is loaded does not matter.

    Parameters
    ----------
    *objects
        The algorithm, its distance and the tables of rows.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> {"blas", "python", "scipy", "scikit-learn"} <= set(versions_that_compute(Ridge()))
    True
    >>> "pandas" in versions_that_compute(Ridge())
    False
    """
    import scipy  # p-values and limits come from it

    versions = {**current_versions(), "scipy": scipy.__version__, "blas": _blas()}
    versions.pop("scikit-learn", None)
    for name in sorted(_packages(objects)):
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str) and name not in sys.stdlib_module_names:
            versions[_CALLED.get(name, name)] = version
    return versions


def _packages(objects: tuple[object, ...]) -> set[str]:
    """Return the top-level packages that these objects belong to, or that their code names."""
    found: set[str] = set()
    waiting, seen = list(objects), set[int]()
    while waiting and len(seen) < _MOST_PARTS:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        with suppress(Exception):  # objects of the user may refuse to be looked at
            found |= {home.partition(".")[0] for home in _homes(each)}
            waiting += _parts(each)
    return found | {other for name in found for other in _BESIDE.get(name, ())}


def _homes(value: object) -> Iterator[str]:
    """Yield the modules in which a value, and what it inherits from, are defined."""
    if isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, (FunctionType, type)):
        yield value.__module__ or ""
        yield from (each.__module__ for each in getattr(value, "__mro__", ()))
    else:
        yield from (each.__module__ for each in type(value).__mro__)
    if isinstance(value, FunctionType):
        yield from (name for name in names_in(value.__code__) if name in sys.modules)
    for library in ("jax", "torch"):
        if type(value).__module__.startswith(f"poise.algorithms.{library}"):
            yield library


def _parts(value: object) -> list[Any]:
    """Return what a value is made of: parameters, or what the user's code refers to."""
    if isinstance(value, FunctionType):
        return _referred(value) if is_own_module(value.__module__ or "") else []
    if isinstance(value, (tuple, list)):
        return list(value)[:_MOST_ITEMS]
    made = not isinstance(value, (type, ModuleType)) and hasattr(value, "__dict__")
    # The attributes of tables, models and the like say nothing about what computes.
    walked = hasattr(value, "get_params") or not _is_foreign(type(value).__module__)
    return list(vars(value).values()) if made and walked else []


def _is_foreign(module: str) -> bool:
    return not (module.startswith("poise.algorithms") or is_own_module(module))


def _referred(function: FunctionType) -> list[Any]:
    known = function.__globals__
    inner = [known[name] for name in names_in(function.__code__) if name in known]
    return inner + [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # an empty closure cell
        return False


@functools.cache
def _blas() -> str:
    """Name the routines of linear algebra that NumPy uses, and for which processor."""
    from threadpoolctl import threadpool_info

    known: list[dict[str, Any]] = [each for each in threadpool_info() if each["user_api"] == "blas"]
    if not known:
        return "unknown"
    own = next((each for each in known if "numpy" in each["filepath"]), known[0])
    words = (own.get(key) for key in ("internal_api", "version", "architecture"))
    return " ".join(word for word in words if word)
