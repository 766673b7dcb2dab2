"""Numbers as text: few digits; limits are rounded to the safe side.

A bound is printed by :func:`at_most` or :func:`at_least`, so that the sentence around it is true;
a number of the question by :func:`exactly`; an observed number or an estimate by :func:`number`.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from poise.arguments.decimal_noise import without_noise

__all__ = [
    "at_least",
    "at_most",
    "confidence",
    "exactly",
    "level_in_words",
    "number",
    "rounded_up",
]

_LARGE = 1000  # numbers from here on are written without decimals
_DIGITS = 4
_DIGITS_BY_HAND = 10  # nobody writes more: a level with more of them was computed


def number(value: float | None) -> str:
    """Write a number with few digits; None is written as "not known".

    Examples
    --------
    >>> number(0.123456), number(math.inf), number(12345.6), number(1e-9)
    ('0.1235', 'infinity', '12,346', '1e-09')
    """
    if value is None:
        return "not known"
    if math.isinf(value):
        return "infinity"
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.{_DIGITS}g}"


def exactly(value: float | None) -> str:
    """Write a number of the question with all its digits: the verdict holds for no other number.

    Examples
    --------
    >>> exactly(0.123449), exactly(0.1), exactly(5.0), exactly(12345.0), exactly(1e-9)
    ('0.123449', '0.1', '5', '12,345', '1e-09')
    >>> exactly(None)
    'not known'
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
    return number(None if limit is None else rounded_up(limit))


def rounded_up(limit: float) -> float:
    """Return the number that :func:`at_most` writes: what holds for a limit holds for it, too.

    Examples
    --------
    >>> rounded_up(0.14811), rounded_up(12345.2), rounded_up(0.5), rounded_up(math.inf)
    (0.1482, 12346.0, 0.5, inf)
    """
    return _rounded(limit, ROUND_CEILING)


def at_least(limit: float | None) -> str:
    """Write a lower limit as :func:`number` does, rounded down.

    Examples
    --------
    >>> at_least(0.123489), at_least(1234.9), at_least(0.0)
    ('0.1234', '1,234', '0')
    """
    return number(None if limit is None else _rounded(limit, ROUND_FLOOR))


def _rounded(limit: float, direction: str) -> float:
    if math.isinf(limit):
        return limit
    if abs(limit) >= _LARGE:
        return float(math.ceil(limit) if direction == ROUND_CEILING else math.floor(limit))
    return float(_shortened(limit, direction))


def _shortened(value: float, direction: str) -> Decimal:
    return Context(prec=_DIGITS, rounding=direction).create_decimal(repr(float(value)))


def confidence(alpha: float) -> str:
    """Write 1 − α with as many digits as α has, rounded down: "1" only where α is 0.

    Examples
    --------
    >>> confidence(0.05), confidence(1e-5), confidence(0.05 / 3), confidence(0.0)
    ('0.95', '0.99999', '0.98333', '1')
    """
    left = Context(rounding=ROUND_FLOOR).subtract(Decimal(1), _shortened(alpha, ROUND_CEILING))
    return f"{left.copy_abs().normalize():f}"  # the floor of 1 - 1 is -0


def level_in_words(level: float | None, algorithms: int = 1) -> str:
    """Write the level of one test and, if several algorithms share a level, its origin.

    A level that somebody gave has all its digits. One that was computed is rounded up: a verdict
    at a level is a verdict at every larger one.

    Examples
    --------
    >>> level_in_words(0.123456), level_in_words(0.005726416897022347)
    ('0.123456', '0.005727')
    >>> level_in_words(0.05 / 3, 3)
    '0.01667 (= 0.05 / 3 algorithms)'
    """
    if level is None:
        return number(level)
    if algorithms == 1:
        given = float(f"{level:.{_DIGITS_BY_HAND}g}") == level
        return exactly(level) if given else at_most(level)
    shared = level_in_words(without_noise(level * algorithms))
    return f"{at_most(level)} (= {shared} / {algorithms} algorithms)"
