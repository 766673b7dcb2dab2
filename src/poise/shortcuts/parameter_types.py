"""Checks of parameters: a value out of range gets no shortcut."""

from __future__ import annotations

import math
import numbers

import numpy as np

__all__ = ["is_count", "is_flag", "is_number"]


def is_number(value: object, minimum: float, below: float = math.inf) -> bool:
    """Tell whether ``value`` is one real number with minimum <= value < below."""
    return isinstance(value, numbers.Real) and minimum <= float(value) < below


def is_count(value: object, minimum: int) -> bool:
    """Tell whether ``value`` is one whole number, at least ``minimum``."""
    return isinstance(value, numbers.Integral) and int(value) >= minimum


def is_flag(value: object) -> bool:
    """Tell whether ``value`` is True or False, not merely truthy."""
    return isinstance(value, bool | np.bool_)
