"""One claim of the paper: what it says, and what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from poise.arguments import printed_numbers
from poise.simulation.worlds import Proportion

__all__ = [
    "CONFIDENCE",
    "Claim",
    "beyond",
    "claim_at_least",
    "claim_at_most",
    "computed",
    "equal",
    "holds",
    "simulated",
]

# A true claim fails with probability 1e-8; all of them together stay below 1e-6.
CONFIDENCE = 1 - 1e-8


@dataclass(frozen=True)
class Claim:
    """A row of the reproduction table.

    Attributes
    ----------
    section : str
        Where the paper says it.
    text : str
        What it says.
    expected, measured : str
        What should come out, and what did, with an interval where it was simulated.
    passed : bool
        Whether the two agree.

    Examples
    --------
    >>> equal("3.1", "powers of two", 8.0, 2.0**3).passed
    True
    """

    section: str
    text: str
    expected: str
    measured: str
    passed: bool


def computed(section: str, *rows: Callable[[], Claim | list[Claim]]) -> list[Claim]:
    """Compute rows one by one; a row that cannot be computed has failed.

    Examples
    --------
    >>> def a_seventh() -> Claim:
    ...     return equal("1", "one seventh", 1 / 7, 1 / 0)
    >>> [row.measured for row in computed("1", a_seventh)]
    ['ZeroDivisionError: division by zero']
    """
    claims: list[Claim] = []
    for row in rows:
        try:
            found = row()
        except Exception as error:  # a broken library may raise anything
            found = _not_computed(section, row, error)
        claims += found if isinstance(found, list) else [found]
    return claims


def _not_computed(section: str, row: Callable[..., object], error: Exception) -> Claim:
    function = row.func if isinstance(row, partial) else row
    name = function.__name__.strip("_").replace("_", " ")
    said = f"{type(error).__name__}: {error}"
    return Claim(section, f"{name} could be computed", "a result", said, False)


def equal(
    section: str, text: str, expected: float, measured: float, tolerance: float = 1e-9
) -> Claim:
    """Claim that a number was computed as the paper says, to a relative tolerance."""
    passed = math.isclose(expected, measured, rel_tol=tolerance, abs_tol=1e-12)
    return Claim(section, text, f"{expected:.6g}", f"{measured:.6g}", passed)


def holds(section: str, text: str, cases: int, failures: int) -> Claim:
    """Claim that something holds in every one of many cases, of which there is at least one."""
    passed = failures == 0 and cases > 0
    return Claim(section, text, f"all of {cases:,}", f"{cases - failures:,}", passed)


def simulated(section: str, text: str, expected: float, found: Proportion) -> Claim:
    """Claim that a simulated probability is the one expected."""
    return Claim(
        section, text, printed_numbers.number(expected), str(found), not found.excludes(expected)
    )


def claim_at_most(section: str, text: str, bound: float, found: Proportion) -> Claim:
    """Claim that a simulated probability does not exceed a bound."""
    return Claim(
        section, text, f"<= {printed_numbers.at_most(bound)}", str(found), found.low <= bound
    )


def claim_at_least(section: str, text: str, bound: float, found: Proportion) -> Claim:
    """Claim that a simulated probability does not fall short of a bound."""
    return Claim(
        section, text, f">= {printed_numbers.at_least(bound)}", str(found), found.high >= bound
    )


def beyond(section: str, text: str, bound: float, found: Proportion) -> Claim:
    """Claim that a simulated probability exceeds a bound: its whole interval does."""
    return Claim(
        section, text, f"> {printed_numbers.at_least(bound)}", str(found), found.low > bound
    )
