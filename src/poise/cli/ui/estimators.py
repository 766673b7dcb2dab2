"""Every estimator of scikit-learn, with its parameters and their defaults."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
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
    found = {_place(kind): kind for kind in _public_classes() if hasattr(kind, "predict")}
    return dict(sorted(found.items(), key=lambda item: item[1].__name__))


def _public_classes() -> Iterator[Any]:
    """Yield the estimators of every public module.

    ``sklearn.utils.discovery.all_estimators`` imports PyTorch and Dask too, where they are
    installed, and that takes longer than all the rest of the first page.
    """
    import sklearn

    for name in sklearn.__all__:
        with warnings.catch_warnings(), suppress(ImportError):  # of a function, such as clone
            warnings.simplefilter("ignore")
            module = import_module(f"sklearn.{name}")
            yield from filter(_is_estimator, vars(module).values())


def _is_estimator(kind: Any) -> bool:
    from sklearn.base import BaseEstimator

    usable = inspect.isclass(kind) and issubclass(kind, BaseEstimator)
    return usable and not inspect.isabstract(kind) and not kind.__name__.startswith("_")


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
