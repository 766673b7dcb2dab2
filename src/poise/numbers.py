"""Numbers as text: few digits, and limits rounded to the safe side.

An upper limit is printed by :func:`at_most`, a lower one by :func:`at_least`, so that the sentence
around it is true; a number of the question by :func:`exactly`; an estimate by :func:`number`.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_LARGE = 1000  # numbers from here on are written without decimals
_DIGITS = 4
_DIGITS_BY_HAND = 10  # nobody types more: a level with more of them was computed


def number(value: float | None, digits: int = _DIGITS) -> str:
    """Write a number with few digits; None is written as "not known".

    Examples
    --------
    >>> number(0.123456), number(math.inf), number(12345.6), number(1e-9)
    ('0.1235', 'infinity', '12,346', '1e-09')
    """
    if value is None or math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.{digits}g}"


def exactly(value: float | None) -> str:
    """Write a number of the question with all its digits: the verdict holds for no other number.

    Examples
    --------
    >>> exactly(0.123449), exactly(0.1), exactly(5.0), exactly(12345.0), exactly(1e-9)
    ('0.123449', '0.1', '5', '12,345', '1e-09')
    """
    if value is None:
        return number(value)
    if float(value).is_integer() and abs(value) < 1e16:
        return f"{int(value):,}"
    return repr(float(value))


def at_most(limit: float | None) -> str:
    """Write an upper limit as :func:`number` does, rounded up: a smaller number may be wrong.

    Examples
    --------
    >>> at_most(0.123411), at_most(1234.1), at_most(0.5), at_most(None)
    ('0.1235', '1,235', '0.5', 'not known')
    """
    return number(None if limit is None else _rounded(limit, ROUND_CEILING))


def at_least(limit: float | None) -> str:
    """Write a lower limit as :func:`number` does, rounded down.

    Examples
    --------
    >>> at_least(0.123489), at_least(1234.9), at_least(0.0)
    ('0.1234', '1,234', '0')
    """
    return number(None if limit is None else _rounded(limit, ROUND_FLOOR))


def rounded_down(value: float) -> float:
    """Return the number that :func:`at_least` writes.

    Examples
    --------
    >>> rounded_down(3.7944227), rounded_down(1234.9)
    (3.794, 1234.0)
    """
    return _rounded(value, ROUND_FLOOR)


def percent(share: float) -> str:
    """Write a share as a percentage with all its digits, free of the noise of doubles.

    Examples
    --------
    >>> percent(0.1), percent(0.025), percent(1 - 0.05), percent(0.29)
    ('10%', '2.5%', '95%', '29%')
    """
    value = Decimal(repr(without_noise(share))) * 100
    return f"{value.normalize():f}%"


def confidence(alpha: float) -> str:
    """Write 1 − α as a percentage, rounded down: "100%" for no α.

    Examples
    --------
    >>> confidence(0.05), confidence(1e-5), confidence(0.05 / 3)
    ('95%', '99.999%', '98.333%')
    """
    spent = Context(prec=_DIGITS, rounding=ROUND_CEILING).create_decimal(repr(float(alpha)))
    left = Context(rounding=ROUND_FLOOR).subtract(Decimal(1), spent) * 100
    return f"{left.copy_abs().normalize():f}%"


def level(alpha: float) -> str:
    """Write an error level: with all its digits if somebody typed it, else rounded up.

    Examples
    --------
    >>> level(0.123456), level(0.05 / 3)
    ('0.123456', '0.01667')
    """
    typed = float(f"{alpha:.{_DIGITS_BY_HAND}g}") == alpha
    return exactly(alpha) if typed else at_most(alpha)


def without_noise(probability: float) -> float:
    """Return a sum or product of decimals with twelve digits, as nobody gives more of them.

    Examples
    --------
    >>> 0.1 + 0.2, without_noise(0.1 + 0.2)
    (0.30000000000000004, 0.3)
    """
    return float(f"{probability:.12g}")


def complement(probability: float) -> float:
    """Return 1 − p of a decimal.

    Examples
    --------
    >>> 1 - 0.9, complement(0.9)
    (0.09999999999999998, 0.1)
    """
    return float(1 - Decimal(repr(float(probability))))


def _rounded(limit: float, direction: str) -> float:
    if not math.isfinite(limit):
        return limit
    if abs(limit) >= _LARGE:
        return float(math.ceil(limit) if direction == ROUND_CEILING else math.floor(limit))
    return float(Context(prec=_DIGITS, rounding=direction).create_decimal(repr(float(limit))))
