"""A digest of user code, so that a journal notices when the code has changed."""

from __future__ import annotations

import functools
import hashlib
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType, MethodType
from typing import Any

from poise.arguments import without_addresses

__all__ = ["class_digest", "code_digest", "is_own_module", "names_in"]

_VALUES = (bool, int, float, complex, str, bytes, type(None), tuple, frozenset)


def code_digest(function: object) -> str:
    """Return a digest of the code of a function, or "" if it is not known.

    The digest covers its code and defaults, its closure, and the constants and functions
    of its module that it uses; for a callable object, its method and its attributes.
    Comments and line numbers do not matter; the version of Python does.

    Examples
    --------
    >>> twice, again, thrice = (lambda x: 2 * x), (lambda x: 2 * x), (lambda x: 3 * x)
    >>> code_digest(twice) == code_digest(again), code_digest(twice) == code_digest(thrice)
    (True, False)
    >>> code_digest(len)
    ''
    """
    method = vars(type(function)).get("__call__")  # a callable object, not a function
    if isinstance(function, MethodType):
        parts = list(_parts_of_object(function.__self__, function.__func__))
    elif isinstance(method, FunctionType):
        parts = list(_parts_of_object(function, method))
    else:
        parts = list(_parts(function, set()))
    return _digest(parts)


def class_digest(*objects: object) -> str:
    """Return a digest of the classes of some objects, or "" if they are all installed ones.

    It covers the classes that were written by the user, and what they inherit from other such
    classes. The code of an installed library is known by the version of the library.

    Examples
    --------
    >>> class Mine:
    ...     __module__ = "my_models"
    ...     def fit(self, X, y): return self
    >>> len(class_digest(Mine())), class_digest(3, "text")
    (16, '')
    """
    every = [kind for each in objects for kind in type(each).__mro__]
    kinds = dict.fromkeys(kind for kind in every if is_own_module(kind.__module__))
    parts: list[Any] = []
    for kind in kinds:
        for name, value in sorted(vars(kind).items()):
            if not name.startswith("__") or callable(value):  # no documentation, no line numbers
                parts.append(name)
                with suppress(Exception):  # objects of the user may refuse to be looked at
                    parts += _parts(_function_of(value), set())
    return _digest(parts)


def _digest(parts: list[Any]) -> str:
    if not parts:
        return ""
    text = without_addresses(repr(parts))
    return hashlib.blake2s(text.encode(), digest_size=8).hexdigest()


def _function_of(value: object) -> object:
    """Return the function behind a property, a class method or a static method."""
    return getattr(value, "fget", None) or getattr(value, "__func__", value)


def is_own_module(name: str) -> bool:
    """Tell whether a module is the user's: neither poise's, nor Python's, nor installed.

    Examples
    --------
    >>> import numpy
    >>> [is_own_module(name) for name in ("my_models", "numpy", "json", "poise.errors")]
    [True, False, False, False]
    """
    top = str(name).partition(".")[0]
    if top == "poise" or top in sys.stdlib_module_names:
        return name == "__main__"
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return not file.startswith(_installed())


@functools.cache
def _installed() -> tuple[str, ...]:
    """Return the folders of installed libraries."""
    paths = sysconfig.get_paths()
    return tuple(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def _parts(value: object, seen: set[int]) -> Iterator[Any]:
    """Yield the parts of a value that enter the digest, with what it refers to."""
    if isinstance(value, functools.partial):
        yield from _parts(value.func, seen)
        yield _written((value.args, value.keywords))
    elif isinstance(value, FunctionType) and id(value) not in seen:
        seen.add(id(value))
        yield from _instructions(value.__code__)
        yield _written((value.__defaults__, value.__kwdefaults__))
        for content in _referred(value):
            yield from _parts(content, seen)
    elif isinstance(value, _VALUES):
        yield _written(value)


def _parts_of_object(instance: object, method: object) -> Iterator[Any]:
    """Yield the method that is called, and the attributes of the object."""
    seen: set[int] = set()
    yield from _parts(method, seen)
    for name, value in sorted(getattr(instance, "__dict__", {}).items()):
        yield name
        yield from _parts(value, seen)


def _instructions(code: CodeType) -> Iterator[Any]:
    yield code.co_code, code.co_names, code.co_varnames
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant)
        else:
            yield _written(constant)


def _written(value: object) -> str:
    """Write a value as text; sets are sorted, because their order differs between processes."""
    if isinstance(value, set | frozenset):
        return repr(sorted(map(_written, value)))
    if isinstance(value, tuple | list):
        return repr([_written(item) for item in value])
    if isinstance(value, dict):
        return repr([(_written(key), _written(item)) for key, item in value.items()])
    return repr(value)


def _referred(function: FunctionType) -> Iterator[Any]:
    """Yield the closure of a function, and the globals that it uses."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # an empty closure cell
            continue
    for name in names_in(function.__code__):
        value = function.__globals__.get(name)
        if not isinstance(value, FunctionType) or value.__module__ == function.__module__:
            yield value


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names that a piece of code looks up or imports, inner functions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
