"""Checks of arguments: each returns the value it accepts, or raises with name, value and rule.

numpy is imported only by the checks that take arrays, because ``poise --help`` needs none.
"""

from __future__ import annotations

import difflib
import math
import numbers
import re
from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from poise.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

LARGEST_COUNT = 2**63 - 1


def number(name: str, value: object, rule: str) -> float:
    """Return one number within the bounds that ``rule`` names: "a number in [0, 1)"."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentError(f"must be {rule}", argument=name, got=value)
    found = float(value)
    if not _inside(found, rule):
        raise ArgumentError(f"must be {rule}", argument=name, got=value)
    return found


@cache
def bounds(rule: str) -> tuple[float, bool, float, bool]:
    """Read both bounds off a rule, each with whether it is left out itself.

    Examples
    --------
    >>> bounds("a number in [0, 1)"), bounds("a finite number > 0 or None")
    ((0.0, False, 1.0, True), (0.0, True, inf, True))
    """
    if found := re.search(r"in (\[|\()(.+?), (.+?)(\]|\))", rule):
        return float(found[2]), found[1] == "(", float(found[3]), found[4] == ")"
    least, finite = re.search(r">(=?) (\S+)", rule), "finite" in rule
    if least:
        return float(least[2]), not least[1], math.inf, finite
    return -math.inf, finite, math.inf, finite


def _inside(value: Any, rule: str) -> Any:
    """Tell whether a number, or each of an array, is within the bounds of a rule."""
    low, after, high, before = bounds(rule)
    return (value > low if after else value >= low) & (value < high if before else value <= high)


def epsilon(value: object, name: str = "epsilon") -> float:
    """Return an allowed change: finite, at least 0."""
    return number(name, value, "a finite number >= 0")


def delta(value: object, name: str = "delta") -> float:
    """Return a probability in [0, 1)."""
    return number(name, value, "a number in [0, 1)")


def alpha(value: object, name: str = "alpha") -> float:
    """Return an error level in (0, 1)."""
    return number(name, value, "a number in (0, 1)")


def positive(name: str, value: object) -> float:
    """Return a finite number above 0."""
    return number(name, value, "a finite number > 0")


def count(name: str, value: object, minimum: float = 0, rule: str = "") -> int:
    """Return a whole number of at least ``minimum`` that 64 bits hold; ``1e6`` is one."""
    found: Any = value
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    whole = real and (isinstance(found, numbers.Integral) or float(found).is_integer())
    if not whole or found < minimum:
        rule = rule or f"a whole number >= {minimum:g}"
        raise ArgumentError(f"must be {rule}", argument=name, got=value)
    if found > LARGEST_COUNT:
        raise ArgumentError("must be below 2**63", argument=name, got=value)
    return int(found)


def flag(name: str, value: object) -> bool:
    """Return True or False; a word such as "no" is refused."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
        raise ArgumentError("must be True or False", argument=name, got=value)
    return bool(value)


def choice(name: str, value: object, allowed: Collection[object]) -> Any:
    """Return one of some values."""
    if not any(value is each or (type(value) is type(each) and value == each) for each in allowed):
        raise ArgumentError(f"must be {one_of(allowed)}", argument=name, got=value)
    return value


def one_of(words: Iterable[object]) -> str:
    """List alternatives.

    Examples
    --------
    >>> one_of(["last", "uniform"])
    "'last' or 'uniform'"
    """
    shown = [repr(word) for word in words]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def counted(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" where a known word is near, else an empty text."""
    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.65)
    if not near and len(word) > 2:
        near = [each for each in by_lower if each.startswith(word.lower())][:1]
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""


# The same for arrays, for the public functions of poise.theory.


def reals(name: str, value: ArrayLike, rule: str) -> Floats:
    """Return numbers as :func:`number` does, as float64; text, booleans and nan are refused."""
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        number(name, value, rule)
    array = array.astype(np.float64)
    for wrong in array[~_inside(array, rule)].flat:
        number(name, wrong.item(), rule)
    return array


def deltas(value: ArrayLike, name: str = "delta") -> Floats:
    """Return probabilities in [0, 1)."""
    return reals(name, value, "a number in [0, 1)")


def alphas(value: ArrayLike, name: str = "alpha") -> Floats:
    """Return error levels in (0, 1)."""
    return reals(name, value, "a number in (0, 1)")


def probabilities(name: str, value: ArrayLike) -> Floats:
    """Return numbers in [0, 1]."""
    return reals(name, value, "a number in [0, 1]")


def counts(name: str, value: ArrayLike, minimum: int = 0) -> NDArray[np.int64]:
    """Return whole numbers of at least ``minimum`` as int64."""
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        count(name, value, minimum)
    with np.errstate(invalid="ignore"):
        fine = (array >= minimum) & (array == np.floor(array)) & (array < 2.0**63)
    for wrong in array[~fine].flat:  # or very large
        count(name, wrong.item(), minimum)
    return array.astype(np.int64)
