"""Objects read from a file, checked against the types of their fields.

A file may have been damaged, edited, or written by somebody else. The annotations of a
dataclass say what its file may hold, so there is one schema for every format, and it is
checked here and nowhere else. Ranges are part of the annotations:
see :mod:`poise.arguments.field_rules`.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import reprlib
import sys
import types
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from poise.errors import ArgumentError, RecordError

__all__ = ["read_object"]

T = TypeVar("T")

_WHOLE_NUMBERS = range(-(2**63), 2**64)  # what NumPy can hold, seeds of 64 bits included


class _Misfit(Exception):
    """A value that does not have the type of its field."""


def read_object(kind: type[T], content: object, what: str, derived: bool = False) -> T:
    """Make an object of a dataclass from what a file holds; refuse what does not fit.

    Parameters
    ----------
    kind : type
        A dataclass. A field without a default must be in the file.
    content : object
        What JSON gave: an object whose keys are fields.
    what : str
        What the file should hold, for messages: "a result".
    derived : bool
        Whether the file also holds what follows from the fields, for other readers.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     n: int
    ...     shares: tuple[float, ...] = ()
    >>> read_object(Size, {"n": 5, "shares": [0.5, 1]}, "a size")
    Size(n=5, shares=(0.5, 1))
    >>> read_object(Size, {"n": "many"}, "a size")
    Traceback (most recent call last):
    poise.errors.RecordError: this is not a size written by poise: n is 'many'
    """
    if not isinstance(content, Mapping) or not all(isinstance(key, str) for key in content):
        raise _refusal(what, f"{_shown(content)} is no object with fields")
    known = {field.name: field for field in dataclasses.fields(kind) if field.compare}  # type: ignore[arg-type]
    strangers = [] if derived else [name for name in content if name not in known]
    if strangers:
        raise _refusal(what, f"it has a field {_shown(strangers[0])}")
    missing = [name for name, f in known.items() if name not in content and _is_needed(f)]
    if missing:
        raise _refusal(what, f"no {', '.join(missing)} in it")
    given = {name: content[name] for name in known if name in content}
    made: T = _made(kind, given, what)
    return made


def _made(kind: Any, given: dict[str, Any], what: str) -> Any:
    for name, value in given.items():
        try:
            given[name] = _converted(value, _hint(kind, name))
        except _Misfit:
            raise _refusal(what, f"{name} is {_shown(value)}") from None
    try:
        return kind(**given)
    except (ArgumentError, ArithmeticError, TypeError, ValueError) as error:
        raise _refusal(what, str(error)) from None


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return (field.default, field.default_factory) == (dataclasses.MISSING,) * 2


@cache
def _hint(kind: Any, name: str) -> Any:
    """Return the type of one field; others may be annotated with what is imported nowhere."""
    home = next(base for base in kind.__mro__ if name in inspect.get_annotations(base))
    hint = inspect.get_annotations(home)[name]
    return eval(hint, vars(sys.modules[home.__module__])) if isinstance(hint, str) else hint


def _converted(value: Any, hint: Any) -> Any:
    """Return the value as its field keeps it; raise where it has another type."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return value
    if origin in (Union, types.UnionType):
        return _first_that_fits(value, inner)
    if origin is Annotated:
        kept = _converted(value, inner[0])
        return _required(kept, all(rule.allows(kept) for rule in inner[1:]))
    if origin is Literal:
        return _required(value, isinstance(value, (str, int)) and value in inner)
    if origin is tuple:
        return _tuple(value, inner)
    if origin in (dict, Mapping):
        return _mapping(value, inner)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _member(value, hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _object(value, hint)
    return _required(value, _is_plain(value, hint))


def _object(value: Any, kind: Any) -> Any:
    """Read an object inside another; it may have checks of its own."""
    if hasattr(kind, "from_dict"):
        return kind.from_dict(value)
    return read_object(kind, value, f"a {kind.__name__.lower()}")


def _is_plain(value: Any, hint: Any) -> bool:
    """Tell whether a value is the number, word or flag that its field wants."""
    if hint is int:
        return type(value) is int and value in _WHOLE_NUMBERS
    if hint is float:
        return type(value) in (int, float) and value == value and _fits_float(value)
    if hint is str:
        return type(value) is str and _can_be_written(value)
    return type(value) is (types.NoneType if hint is None else hint)


def _can_be_written(text: str) -> bool:
    """Tell whether a text has no half of a character, which no file and no terminal can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fits_float(value: float) -> bool:
    return type(value) is float or value in _WHOLE_NUMBERS


def _first_that_fits(value: Any, hints: tuple[Any, ...]) -> Any:
    for hint in hints:
        try:
            return _converted(value, hint)
        except (_Misfit, RecordError):
            continue
    raise _Misfit


def _tuple(value: Any, inner: tuple[Any, ...]) -> tuple[Any, ...]:
    _required(value, isinstance(value, (list, tuple)))
    if inner[-1:] == (...,):
        return tuple(_converted(item, inner[0]) for item in value)
    _required(value, len(value) == len(inner))
    return tuple(_converted(item, hint) for item, hint in zip(value, inner, strict=True))


def _mapping(value: Any, inner: tuple[Any, ...]) -> dict[Any, Any]:
    _required(value, isinstance(value, Mapping))
    return {_converted(key, inner[0]): _converted(item, inner[1]) for key, item in value.items()}


def _member(value: Any, kind: type[enum.Enum]) -> enum.Enum:
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise _Misfit from None


def _required(value: Any, fits: bool) -> Any:
    if not fits:
        raise _Misfit
    return value


def _shown(value: object) -> str:
    text = reprlib.repr(value) if isinstance(value, (list, dict)) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _refusal(what: str, why: str) -> RecordError:
    return RecordError(f"this is not {what} written by poise: {why}")
