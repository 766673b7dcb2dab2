"""An allowed change ε given as a share of the spread of the responses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from poise import arguments
from poise.errors import ArgumentError
from poise.results.design import Design

__all__ = ["Relative", "in_units", "number_given", "read_epsilon", "relative"]

ROWS_SET_ASIDE = 30
_FEWEST_ROWS = 2
_TEXT = re.compile(r"\s*([0-9.eE+-]+)\s*(%?)\s*of\s+(?:the\s+)?(\w+)\s*")


@dataclass(frozen=True)
class Relative:
    """An allowed change as a share of a scale that is not known yet: see :func:`relative`.

    Attributes
    ----------
    share : float
        The share, >= 0.
    of : {"spread"}
        The scale: the standard deviation of the responses.
    rows : int
        Rows set aside to find the scale.
    """

    share: float
    of: str = "spread"
    rows: int = ROWS_SET_ASIDE

    def __post_init__(self) -> None:
        arguments.epsilon(arguments.scalar("share", self.share), "share")
        arguments.choice("of", self.of, ("spread",))
        arguments.count("rows", self.rows, _FEWEST_ROWS)


def relative(share: float, of: str = "spread", *, rows: int = ROWS_SET_ASIDE) -> Relative:
    """Give ε as a share of the spread of the responses.

    The spread is the standard deviation of the responses of a few rows, which are set aside
    for it and used in no trial. Given those rows ε is a fixed number, and the other rows are as
    independent as before: every guarantee stays the same (Theorem 1, given the rows set aside).
    The verdict is about the resulting ε, which every summary prints. With other rows set aside, ε
    would be a little different.

    Parameters
    ----------
    share : float, at least 0
        0.05 for 5%.
    of : {"spread"}
        What it is a share of.
    rows : int, at least 2
        How many rows to set aside.

    Returns
    -------
    Relative
        To be given as ``epsilon`` to :func:`stability_test`, :func:`compare` or
        :func:`testing.assert_stable`.

    See Also
    --------
    stability_test, advise

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> result = poise.stability_test(
    ...     Ridge(), X, y, n=10, epsilon=poise.relative(0.4), delta=0.2, random_state=0)
    >>> result.verdict.value, round(result.epsilon, 2), round(result.design.spread, 2)
    ('stable', 30.36, 75.89)
    """
    return Relative(share, of, rows)


def read_epsilon(text: str) -> float | Relative:
    """Read ``0.5``, ``5% of spread`` or ``0.05 of spread``.

    Examples
    --------
    >>> read_epsilon("0.5"), read_epsilon("5% of spread")
    (0.5, Relative(share=0.05, of='spread', rows=30))
    >>> read_epsilon("5%")
    Traceback (most recent call last):
    poise.errors.ArgumentError: epsilon must be a number, or a share as in '5% of spread', got '5%'
    """
    found = _TEXT.fullmatch(text)
    number = found[1] if found else text
    if not arguments.reads_as_number(number):
        raise ArgumentError(
            f"epsilon must be a number, or a share as in '5% of spread', got {text!r}"
        )
    if found is None:
        return float(text)
    return Relative(float(number) / (100 if found[2] else 1), found[3])


def number_given(epsilon: float | Relative) -> float:
    """Return the number that the user wrote: ε, or its share while the spread is not known.

    Examples
    --------
    >>> number_given(0.5), number_given(Relative(0.05))
    (0.5, 0.05)
    """
    return epsilon.share if isinstance(epsilon, Relative) else epsilon


def in_units(epsilon: float | str | Relative, design: Design) -> float:
    """Return ε in the units of the predictions; a share needs a design that knows the spread.

    Examples
    --------
    >>> in_units(Relative(0.5), Design("x", 10, 300, spread=4.0, set_aside=30))
    2.0
    """
    asked = read_epsilon(epsilon) if isinstance(epsilon, str) else epsilon
    if not isinstance(asked, Relative):
        return asked
    if design.spread is None:
        raise ArgumentError(
            "epsilon must be a number here: no rows were set aside to find the spread of the "
            "responses"
        )
    return asked.share * design.spread
