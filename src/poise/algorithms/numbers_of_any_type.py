"""Differences of numbers that are not floats: Decimal, Fraction, complex.

``Decimal``, ``Fraction``, whole numbers beyond 64 bits, complex numbers and long doubles
are numbers: they are subtracted in their own arithmetic, and only the difference becomes
a float. Text, dates and everything else are not, and have no difference.
"""

from __future__ import annotations

import cmath
import datetime
import decimal
import math
import numbers
from fractions import Fraction
from typing import Any

import numpy as np

from poise.errors import PoiseError

__all__ = ["Undefined", "difference", "is_missing", "is_number", "objection_to", "shown"]

# Wide enough for any exponent, and independent of what a fit has set in its thread.
_DECIMAL = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[], clamp=0)
_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


class Undefined(PoiseError, ValueError):
    """Two predictions that cannot be compared."""


def shown(value: object) -> str:
    """Write a value for a message, without the name of its NumPy type.

    Examples
    --------
    >>> shown(np.float64(0.5)), shown(np.str_("spam")), shown(np.array([1, 2]))
    ('0.5', "'spam'", '[1, 2]')
    """
    return repr(value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value)


def is_number(value: object) -> bool:
    """Tell whether a value is a number of any type; True and False count as 1 and 0.

    NumPy takes a time span for a whole number, and does not know bfloat16.

    Examples
    --------
    >>> is_number(Fraction(1, 3)), is_number(2**70), is_number(np.timedelta64(1)), is_number("1")
    (True, True, False, False)
    """
    if isinstance(value, (numbers.Number, np.bool_)):
        return not isinstance(value, np.timedelta64)
    # Types that others have registered: bfloat16 and the 8-bit floats of JAX and TensorFlow.
    return isinstance(value, np.generic) and value.dtype.isbuiltin == 2


def is_missing(value: object) -> bool:
    """Tell whether a value is missing: None, NaN, NaT, pandas' NA.

    Examples
    --------
    >>> is_missing(None), is_missing(math.nan), is_missing(np.datetime64("NaT")), is_missing("")
    (True, True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()  # a signalling NaN cannot even be compared
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA: neither equal to itself nor not
        return True


def difference(a: object, b: object) -> float:
    """Return the absolute difference of two numbers of any type.

    Examples
    --------
    >>> difference(decimal.Decimal("100.1"), decimal.Decimal("0.1"))
    100.0
    >>> difference(2**70 + 3, 2**70), difference(3j, 4), difference(Fraction(1, 2), 1)
    (3.0, 5.0, 0.5)
    >>> difference("100", "1")
    Traceback (most recent call last):
    poise.algorithms.numbers_of_any_type.Undefined: predictions are text ('100'), which is ...
    """
    for value in (a, b):
        reason = objection_to(value)
        if reason is not None:
            raise Undefined(reason)
    x, z = _plain(a), _plain(b)
    try:
        gap = 0.0 if x == z else _gap(x, z)
    except OverflowError:  # more than a float can hold
        gap = math.inf
    if math.isnan(gap):
        raise Undefined(f"the difference of {shown(a)} and {shown(b)} is not a number")
    return gap


def objection_to(value: object) -> str | None:
    """Say why a prediction is not a number, and what to do; None if it is one."""
    if is_number(value) and not is_missing(value):
        return None
    if isinstance(value, (str, bytes)):
        return (
            f"predictions are text ({shown(value)}), which is not a number; distance='label' "
            "compares labels, or return numbers"
        )
    if isinstance(value, float):
        return f"a prediction is not a number: {shown(value)}"
    if isinstance(value, _DATES) and not is_missing(value):
        return (
            f"predictions are dates or times ({value}); return the time since some moment as a "
            "number, in the unit of epsilon"
        )
    if is_missing(value):
        return f"a prediction is missing: {shown(value)}"
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return f"predictions of type {kind} cannot be compared; return numbers, or labels as text"


def _plain(number: object) -> Any:
    """Return the same number in a type of Python that keeps all digits, if there is one."""
    if isinstance(number, (bool, np.bool_, numbers.Integral)):
        return int(number)
    if isinstance(number, np.complexfloating):
        return complex(number)
    if isinstance(number, np.generic) and not isinstance(number, np.longdouble):
        return float(number)
    return number


def _gap(x: Any, z: Any) -> float:
    if isinstance(x, decimal.Decimal) or isinstance(z, decimal.Decimal):
        return abs(float(_DECIMAL.subtract(_decimal(x), _decimal(z))))
    if isinstance(x, complex) or isinstance(z, complex):
        first, second = complex(x), complex(z)
        return math.nan if cmath.isnan(first) or cmath.isnan(second) else abs(first - second)
    with np.errstate(all="ignore"):
        return float(abs(x - z))


def _decimal(number: Any) -> decimal.Decimal:
    if isinstance(number, (decimal.Decimal, int, float)):
        return decimal.Decimal(number)
    ratio = Fraction(number)
    return _DECIMAL.divide(decimal.Decimal(ratio.numerator), decimal.Decimal(ratio.denominator))
