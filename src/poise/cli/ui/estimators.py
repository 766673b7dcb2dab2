"""Every estimator of scikit-learn, with its parameters and their defaults."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

from poise.arguments import did_you_mean
from poise.errors import ArgumentError

__all__ = ["estimators", "parameters"]


@functools.cache
def estimators() -> dict[str, Any]:
    """Return the classes of scikit-learn that predict, by the names the command line knows.

    Examples
    --------
    >>> "sklearn.linear_model:Ridge" in estimators()
    True
    """
    from sklearn.utils.discovery import all_estimators

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = all_estimators()
    return {_place(kind): kind for _, kind in found if hasattr(kind, "predict")}


def _place(kind: Any) -> str:
    """Name a class by the public module that offers it: parts that begin with _ are private."""
    public = []
    for part in kind.__module__.split("."):
        if part.startswith("_"):
            break
        public.append(part)
    return f"{'.'.join(public)}:{kind.__name__}"


def parameters(place: str) -> dict[str, str]:
    """Return the parameters of an estimator, and their defaults as Python writes them.

    Examples
    --------
    >>> parameters("sklearn.linear_model:Ridge")["alpha"]
    '1.0'
    """
    known = estimators()
    if place not in known:
        raise ArgumentError(
            f"scikit-learn has no estimator {place!r}{did_you_mean(place, known) or '.'}"
        )
    accepted = inspect.signature(known[place]).parameters.values()
    return {
        each.name: "" if each.default is each.empty else repr(each.default)
        for each in accepted
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    }
