"""Checks of arguments: the error names the argument, its value and the remedy.

A check of an argument returns its value, as a float or int (or an array of them), so that
a function validates and converts each argument in one line. NumPy is imported only by the
checks that need it, because ``poise --help`` needs none.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from poise.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "alpha",
    "choice",
    "count",
    "delta",
    "epsilon",
    "flag",
    "headline_name",
    "one_of",
    "positive",
    "probability",
    "reads_as_number",
    "scalar",
    "training_size",
]

_LARGEST_INT64 = 2**63 - 1


def _real(name: str, value: ArrayLike, remedy: str) -> NDArray[np.float64]:
    """Turn numbers into float64; refuse booleans, text, complex numbers and NaN."""
    import numpy as np

    number: object = value
    if isinstance(number, float) and number == number:  # most calls, dozens for a verdict
        return np.array(number)
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise ArgumentError(f"{name} must be a number{remedy}, got {value!r}")
    array = array.astype(np.float64)
    if np.isnan(array).any():
        raise ArgumentError(f"{name} must be a number{remedy}, got nan")
    return array


def _require(name: str, value: ArrayLike, ok: NDArray[np.bool_], rule: str) -> None:
    """Raise an error that names the first wrong element, unless ``ok`` is true everywhere."""
    import numpy as np

    if not (ok.all() if ok.ndim else ok):
        array = np.asarray(value)
        offender = array[~ok].flat[0] if array.ndim else array[()]
        raise ArgumentError(f"{name} must be {rule}, got {offender}")


def probability(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Check that ``value`` lies in [0, 1]."""
    array = _real(name, value, " in [0, 1]")
    _require(name, array, (array >= 0) & (array <= 1), "in [0, 1]")
    return array


def delta(value: ArrayLike, name: str = "delta") -> NDArray[np.float64]:
    """Check that ``delta`` lies in [0, 1)."""
    array = _real(name, value, " in [0, 1)")
    _require(name, array, (array >= 0) & (array < 1), "in [0, 1)")
    return array


def alpha(value: ArrayLike, name: str = "alpha") -> NDArray[np.float64]:
    """Check that ``alpha`` lies in (0, 1)."""
    array = _real(name, value, " in (0, 1)")
    _require(name, array, (array > 0) & (array < 1), "in (0, 1)")
    return array


def epsilon(value: ArrayLike, name: str = "epsilon") -> NDArray[np.float64]:
    """Check that ``epsilon`` is finite and not negative."""
    import numpy as np

    rule = "a finite number >= 0, in the units of the predictions"
    array = _real(name, value, " >= 0")
    _require(name, array, (array >= 0) & np.isfinite(array), rule)
    return array


def positive(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Check that ``value`` is finite and above 0."""
    array = _real(name, value, " above 0")
    _require(name, array, (array > 0) & (array < float("inf")), "a finite number above 0")
    return array


def count(name: str, value: ArrayLike, minimum: int = 0) -> NDArray[np.int64]:
    """Check that ``value`` holds whole numbers that are at least ``minimum``.

    Whole floats such as ``1e9`` are accepted: people write large counts that way. Numbers that 64
    bits cannot hold are refused: they would become others.
    """
    import numpy as np

    if type(value) is not bool and isinstance(value, int) and minimum <= value <= _LARGEST_INT64:
        return np.array(value, dtype=np.int64)
    array = _real(name, value, f", a whole number >= {minimum}")
    ok = np.isfinite(array) & (array == np.floor(array)) & (array >= minimum)
    _require(name, value, ok, f"a whole number >= {minimum}")
    whole = np.asarray(value)
    held = array < 2.0**63 if whole.dtype.kind not in "iu" else whole <= _LARGEST_INT64
    _require(name, value, np.asarray(held), "below 2**63")
    return whole.astype(np.int64)


def scalar(name: str, value: ArrayLike) -> ArrayLike:
    """Check that ``value`` is one number and not several."""
    import numpy as np

    if np.ndim(value):
        raise ArgumentError(f"{name} must be one number, got {value!r}")
    return value


def flag(name: str, value: object) -> bool:
    """Check that ``value`` is True or False; a word such as "no" is refused."""
    import numpy as np

    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def headline_name(value: str | None) -> str | None:
    """Check what headlines call an algorithm: text, or None for its own name."""
    given: object = value
    if given is not None and not (isinstance(given, str) and given.strip()):
        raise ArgumentError(f"name must be text, got {given!r}")
    return value


def training_size(value: object) -> int:
    """Check the training size ``n``: one whole number, at least 2."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentError(f"n must be a whole number >= 2, got {value!r}")
    size = float(value)
    if not size.is_integer() or size < 2:
        raise ArgumentError(
            f"n must be a whole number >= 2 (one row is removed from n), got {value}"
        )
    return int(size)


def choice(name: str, value: str, options: tuple[str, ...]) -> str:
    """Check that ``value`` is one of ``options``."""
    if value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise ArgumentError(f"{name} must be one of {listed}, got {value!r}")
    return value


def one_of(values: dict[str, object]) -> str:
    """Return the name of the only entry that is None; anything else is an error."""
    missing = [name for name, value in values.items() if value is None]
    if len(missing) != 1:
        listed = ", ".join(values)
        found = ", ".join(missing) if missing else "none"
        raise ArgumentError(f"leave exactly one of {listed} as None; None now: {found}")
    return missing[0]


def reads_as_number(value: Any) -> bool:
    """Say whether a value is a number, or text that can be read as one.

    Examples
    --------
    >>> reads_as_number("1e3"), reads_as_number("n/a"), reads_as_number(None)
    (True, False, False)
    """
    try:
        float(value)
    except OverflowError:
        return True  # a whole number that is too large for a float
    except (TypeError, ValueError):
        return False
    return True
