"""Names of a package that are imported when they are first used (:pep:`562`)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["imported_name"]


def imported_name(name: str, homes: Mapping[str, str], namespace: dict[str, Any]) -> Any:
    """Import a public name from the module that defines it, and keep it for the next use.

    Parameters
    ----------
    name : str
        What is asked of the package.
    homes : mapping of str to str
        Every name, and the module that defines it, relative to the package.
    namespace : dict
        ``globals()`` of the package.

    Examples
    --------
    >>> package = {"__name__": "poise.theory"}
    >>> imported_name("kappa", {"kappa": "number_of_trials"}, package)(2, 9)
    Fraction(3, 1)
    >>> sorted(package)
    ['__name__', 'kappa']
    """
    package = namespace["__name__"]
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = namespace[name] = getattr(import_module(f"{package}.{homes[name]}"), name)
    return value
