"""What computed the changes: a digest of the user's code, and the versions of libraries."""

from __future__ import annotations

import functools
import hashlib
import inspect
import platform
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from poise.data.copies import hashed

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
_CONTAINERS = (list, tuple, dict, set, frozenset)
_STATELESS = ("sklearn", "numpy", "scipy", "pandas", "polars", "builtins")


def code_digest(*objects: object) -> str:
    """Return a digest of the user's code behind functions and objects; "" if there is none.

    It covers instructions, constants and defaults, everything that a function encloses, the
    functions, classes and values of modules of the user's own that it names, and the attributes of
    objects. Comments and line numbers do not matter; the version of Python does. Of a path it is
    what the file holds.
    """
    parts = list(_Walk(*objects).own)
    return hashlib.blake2s(repr(parts).encode(), digest_size=8).hexdigest() if parts else ""


def versions(*objects: object) -> dict[str, str]:
    """Return the versions of what can decide the last digit of a change.

    Beside Python, NumPy and SciPy these are the libraries that the objects, their parts and the
    user's functions belong to or name, and the routines of linear algebra with the processor that
    they were chosen for.
    """
    import scipy  # noqa: F401 - p-values and limits come from it

    walk = _Walk(*objects)
    list(walk.own)
    found = {"python": platform.python_version(), "machine": platform.machine(), "blas": _blas()}
    for name in sorted(walk.packages - sys.stdlib_module_names | {"poise", "numpy", "scipy"}):
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            found["scikit-learn" if name == "sklearn" else name] = str(version)  # of a subclass
    return found


def holds_own_code(value: object) -> bool:
    """Tell whether a part of an estimator is code from outside scikit-learn.

    Such code might remember earlier fits, in a class attribute or a global variable.
    """
    walk = _Walk(value)
    if any(True for _ in walk.own):  # the first part is enough
        return True
    return bool(walk.packages - set(_STATELESS) - sys.stdlib_module_names)


class _Walk:
    """Visits what objects are made of; each part is written once."""

    def __init__(self, *objects: object) -> None:
        self.seen: dict[int, object] = {}  # kept alive: a number may be used again
        self.packages: set[str] = set()
        self.own = (part for each in objects for part in self.own_code(each))

    def own_code(self, value: Any) -> Iterator[str]:
        """Yield the user's own code among the parts of an object; parameters are known by name."""
        if isinstance(value, (*_PLAIN, ModuleType)) or not self._is_new(value):
            return
        if isinstance(value, Path):  # a script in another language
            yield hashed(value.read_bytes())
        elif not isinstance(value, _CONTAINERS) and self._is_own(value):
            self.seen.pop(id(value))
            yield from self.everything(value)
        else:
            for part in _contents(value):
                yield from self.own_code(part)

    def everything(self, value: Any) -> Iterator[str]:
        """Yield all that decides what a value does or holds."""
        if isinstance(value, _PLAIN):
            yield f"{type(value).__name__} {value!r}"
        elif isinstance(value, ModuleType):
            self.packages.add(value.__name__.partition(".")[0])
            yield value.__name__
        elif type(value) in (tuple, frozenset):
            yield from self._items(value)
        elif not self._is_new(value):
            yield "seen above"
        elif type(value) in _CONTAINERS:
            yield from self._items(value)
        elif isinstance(value, CodeType):
            yield f"{value.co_code!r} {value.co_names} {value.co_varnames} {value.co_freevars}"
            yield from self.everything(value.co_consts)
        elif isinstance(value, (FunctionType, MethodType, functools.partial)):
            yield from self._function(value)
        elif isinstance(value, type):
            yield from self._class(value)
        elif self._is_own(value) or hasattr(type(value), "get_params"):
            yield from self._class(type(value))
            yield from self._items(_attributes(value))
            yield from self._items(value) if isinstance(value, _CONTAINERS) else ()
        elif hasattr(value, "__wrapped__"):  # such as functools.cache, staticmethod
            yield from self.everything(value.__wrapped__)
        else:
            yield hashed(value)

    def _items(self, value: Any) -> Iterator[str]:
        yield f"{type(value).__name__} of {len(value)}"
        if isinstance(value, (set, frozenset)):  # in another order in every process
            yield from sorted(" ".join(_Walk().everything(item)) for item in value)
            return
        for item in value.items() if isinstance(value, dict) else value:
            yield from self.everything(item)

    def _function(self, value: Any) -> Iterator[str]:
        if isinstance(value, functools.partial):
            parts: tuple[Any, ...] = value.func, value.args, value.keywords
        elif isinstance(value, MethodType):
            parts = value.__func__, value.__self__
        elif self._is_own(value):
            parts = value.__code__, value.__defaults__, value.__kwdefaults__, *_referred(value)
        else:
            parts = (f"{value.__module__}.{value.__qualname__}",)
        for part in parts:
            yield from self.everything(part)

    def _class(self, kind: type) -> Iterator[str]:
        for each in kind.__mro__:
            if not self._is_own(each):
                yield f"{each.__module__}.{each.__qualname__}"
                continue
            for name, member in sorted(vars(each).items()):
                if isinstance(member, property):
                    member = member.fget, member.fset
                elif inspect.isdatadescriptor(member):  # slots
                    continue
                if not name.startswith("__") or callable(member):
                    yield name
                    yield from self.everything(member)

    def _is_new(self, value: object) -> bool:
        if id(value) in self.seen:
            return False
        self.seen[id(value)] = value
        return True

    def _is_own(self, value: Any) -> bool:
        """Tell whether a function, a class or the class of an object was written by the user."""
        if isinstance(value, (functools.partial, MethodType)):
            return True
        kinds = (value,) if isinstance(value, (FunctionType, type)) else type(value).__mro__
        self.packages.add(str(kinds[0].__module__).partition(".")[0])
        return any(_is_own_module(str(kind.__module__)) for kind in kinds)


def _contents(value: Any) -> Iterable[Any]:
    """Return what a container or an object holds."""
    if isinstance(value, _CONTAINERS):
        return list(value.values()) if isinstance(value, dict) else value
    return *_attributes(value).values(), getattr(value, "__wrapped__", None)


def _attributes(value: object) -> dict[str, Any]:
    """Return the attributes of an object, slots included."""
    state = object.__getstate__(value)
    parts = state if isinstance(state, tuple) else (state,)
    return {name: item for part in parts if part for name, item in sorted(part.items())}


@functools.cache
def _is_own_module(name: str) -> bool:
    """Tell whether a module is the user's: neither poise's, nor Python's, nor installed."""
    if name.partition(".")[0] in sys.stdlib_module_names:
        return name == "__main__"
    return not str(getattr(sys.modules.get(name), "__file__", "")).startswith(_installed())


@functools.cache
def _installed() -> tuple[str, ...]:
    """Return the folders of Python, its libraries and poise."""
    folders = sysconfig.get_paths()
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    return (*(folders[kind] for kind in kinds), str(Path(__file__).parents[1]), "<frozen")


def _referred(function: FunctionType) -> Iterator[object]:
    """Yield what a function encloses, and the global values that it names."""
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # an empty cell
            yield cell.cell_contents
    names = dict.fromkeys(_names_in(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        yield value
        if isinstance(value, ModuleType) and _is_own_module(value.__name__):
            yield from (vars(value).get(other) for other in names)


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


@functools.cache
def _blas() -> str:
    """Name the routines of linear algebra that NumPy uses, and for which processor."""
    from threadpoolctl import threadpool_info

    known = [each for each in threadpool_info() if each["user_api"] == "blas"]
    own = next((each for each in known if "numpy" in each["filepath"]), known[0] if known else {})
    words = (own.get(key) for key in ("internal_api", "version", "architecture"))
    return " ".join(word for word in words if word) or "unknown"
